use super::mesh::Mesh;
use crate::{CompiledSpec, Error};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

unit_tests![
    shapes_do_not_change_the_model_in_the_fmu,
    each_wrong_field_is_reported_at_its_place,
    all_formats_contain_the_same_mesh,
    a_mesh_that_cannot_be_used_is_an_error_at_its_field,
    materials_outside_the_folder_of_a_mesh_are_not_read,
    mesh_of_an_included_spec_is_in_the_folder_of_that_spec,
];

const BODY: &str = "name = \"m\"\n[body.bus]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n";
const VERTICES: [[f32; 3]; 4] = [[0.0; 3], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 4.0]];
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

/// Compiles a body with shapes; returns its errors, each with line and column.
fn problems(folder: &Path, shapes: &str) -> Vec<(String, Option<(usize, usize)>)> {
    match CompiledSpec::parse(&format!("{BODY}{shapes}"), folder, "m.toml") {
        Ok(_) => Vec::new(),
        Err(Error::Problems(problems)) => problems.each().map(|(what, place)| (what.to_owned(), place)).collect(),
        Err(other) => panic!("{other}"),
    }
}

fn shapes_do_not_change_the_model_in_the_fmu() {
    let shapes = "[body.bus.shape.a]\ntype = \"sphere\"\nradius = 1.0\n";
    let [plain, shaped] = ["", shapes].map(|shapes| {
        let compiled = CompiledSpec::parse(&format!("{BODY}{shapes}"), Path::new(""), "m.toml").expect("a spec");
        compiled.model.to_bytes().expect("it is written")
    });
    assert_eq!(plain, shaped);
}

fn each_wrong_field_is_reported_at_its_place() {
    for (fields, part) in [
        (
            "type = \"box\"",
            "shape.hull.size: missing field `size`: a box needs it",
        ),
        ("type = \"mesh\"", "shape.hull.file: missing field `file`"),
        (
            "type = \"sphere\"\nradius = -1.0",
            "shape.hull.radius: -1 is not positive",
        ),
        (
            "type = \"panel\"\nsize = [1.0, 0.0, 1.0]",
            "shape.hull.size: 0 is not positive",
        ),
        (
            "type = \"sphere\"\nradius = 1.0\nlength = 2.0",
            "a sphere has no `length`",
        ),
        (
            "type = \"truss\"\nsize = [1.0, 1.0, 1.0]\nscale = [1.0, 1.0, 1.0]",
            "a truss has no `scale`",
        ),
        (
            "type = \"sphere\"\nradius = 1.0\ncolour = \"blurple\"",
            "\"blurple\" is not a colour of CSS",
        ),
        (
            "type = \"sphere\"\nradius = 1.0\norientation = [1.0, 1.0, 0.0, 0.0]",
            "not of unit length",
        ),
        (
            "type = \"sphere\"\nradius = 1.0\norientation = [1.0, 0.0, 0.0, 0.0]\nrpy_deg = [1.0, 0.0, 0.0]",
            "write either `orientation` or `rpy_deg`",
        ),
    ] {
        let found = problems(Path::new(""), &format!("[body.bus.shape.hull]\n{fields}\n"));
        let [(what, place)] = found.as_slice() else {
            panic!("{fields}: {found:?}")
        };
        assert!(
            what.starts_with("body \"bus\", shape.hull.") && what.contains(part),
            "{what}"
        );
        assert!(place.is_some_and(|(line, _)| line >= 5), "{what}");
    }
    // Those of the model and those of a shape are reported together.
    let both = "[body.bus.shape.hull]\ntype = \"box\"\n[frame.tip]\nbody = \"bos\"\n";
    assert_eq!(problems(Path::new(""), both).len(), 2);
}

fn ascii_stl() -> String {
    let vertex = |&i: &usize| format!("vertex {} {} {}\n", VERTICES[i][0], VERTICES[i][1], VERTICES[i][2]);
    let facet = |face: &[usize; 3]| {
        let vertices: String = face.iter().map(vertex).collect();
        format!("facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n")
    };
    let facets: String = FACES.iter().map(facet).collect();
    format!("solid t\n{facets}endsolid t\n")
}

fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend(4u32.to_le_bytes());
    for face in FACES {
        bytes.extend([0; 12]);
        bytes.extend(face.iter().flat_map(|&i| VERTICES[i]).flat_map(f32::to_le_bytes));
        bytes.extend([0; 2]);
    }
    bytes
}

fn obj() -> String {
    let vertices = VERTICES.map(|[x, y, z]| format!("v {x} {y} {z}\n")).concat();
    let faces = FACES
        .map(|[a, b, c]| format!("f {} {} {}\n", a + 1, b + 1, c + 1))
        .concat();
    format!("mtllib paint.mtl\n{vertices}usemtl red\n{faces}")
}

const MTL: &str = "newmtl red\nKd 1 0 0\n";

fn dae() -> String {
    let positions = VERTICES
        .as_flattened()
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ");
    let indices = FACES
        .as_flattened()
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ");
    format!(
        "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">\
         <asset><unit meter=\"1\"/></asset><library_geometries><geometry id=\"g\"><mesh>\
         <source id=\"p\"><float_array id=\"a\" count=\"12\">{positions}</float_array><technique_common>\
         <accessor source=\"#a\" count=\"4\" stride=\"3\"><param name=\"X\" type=\"float\"/>\
         <param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor></technique_common></source>\
         <vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>\
         <triangles count=\"4\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>{indices}</p></triangles>\
         </mesh></geometry></library_geometries><library_visual_scenes><visual_scene id=\"s\"><node id=\"n\">\
         <instance_geometry url=\"#g\"/></node></visual_scene></library_visual_scenes>\
         <scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>"
    )
}

/// Returns a glTF file with the buffer at `uri`, whose node has `fields`.
fn gltf(uri: &str, count: usize, fields: &str) -> String {
    format!(
        r##"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0{fields}}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1,"material":0}}]}}],
        "materials":[{{"pbrMetallicRoughness":{{"baseColorFactor":[1,0,0,1]}}}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],"max":[2,3,4]}},
        {{"bufferView":1,"componentType":5123,"count":{count},"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":24}}],
        "buffers":[{{"byteLength":72,"uri":"{uri}"}}]}}"##
    )
}

fn buffer() -> Vec<u8> {
    let positions = VERTICES.as_flattened().iter().flat_map(|x| x.to_le_bytes());
    let indices = FACES.as_flattened().iter().flat_map(|&i| (i as u16).to_le_bytes());
    positions.chain(indices).collect()
}

fn data_uri() -> String {
    format!(
        "data:application/octet-stream;base64,{}",
        BASE64_STANDARD.encode(buffer())
    )
}

fn write(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("it is written");
    path
}

/// Returns six times the volume enclosed by a mesh, m³.
fn volume(mesh: &Mesh) -> f32 {
    let of_part = |part: &super::mesh::Part| -> f32 {
        let corner = |i: u32| nalgebra::Vector3::from(part.vertices[i as usize]);
        let each = part
            .triangles
            .iter()
            .map(|t| corner(t[0]).dot(&corner(t[1]).cross(&corner(t[2]))));
        each.sum()
    };
    mesh.parts.iter().map(of_part).sum()
}

fn all_formats_contain_the_same_mesh() {
    let folder = TempDir::new().expect("a folder");
    write(&folder, "paint.mtl", MTL);
    write(&folder, "points.bin", buffer());
    let red = Some([1.0, 0.0, 0.0, 1.0]);
    for (name, bytes, colour, factor) in [
        ("a.stl", ascii_stl().into_bytes(), None, 1.0),
        ("b.STL", binary_stl(), None, 1.0),
        ("solid.stl", [b"solid x", &binary_stl()[7..]].concat(), None, 1.0),
        ("c.obj", obj().into_bytes(), red, 1.0),
        ("d.dae", dae().into_bytes(), None, 1.0),
        ("e.gltf", gltf(&data_uri(), 12, "").into_bytes(), red, 1.0),
        (
            "f.gltf",
            gltf("points.bin", 12, ",\"scale\":[1,2,1]").into_bytes(),
            red,
            2.0,
        ),
    ] {
        let mesh = Mesh::read(&write(&folder, name, bytes)).unwrap_or_else(|what| panic!("{name}: {what}"));
        let [part] = mesh.parts.as_slice() else {
            panic!("{name}: {} parts", mesh.parts.len())
        };
        assert_eq!((part.vertices.len(), part.triangles.len()), (4, 4), "{name}");
        if name != "d.dae" {
            assert_eq!(part.colour.map(super::hex), colour.map(super::hex), "{name}");
        }
        assert!(
            (volume(&mesh) - 24.0 * factor).abs() < 1e-4,
            "{name}: {}",
            volume(&mesh)
        );
    }
}

fn a_mesh_that_cannot_be_used_is_an_error_at_its_field() {
    let folder = TempDir::new().expect("a folder");
    std::fs::create_dir(folder.path().join("spec")).expect("a folder");
    write(&folder, "outside.stl", ascii_stl());
    write(&folder, "paint.mtl", MTL);
    let short = binary_stl()[..180].to_vec();
    let many = gltf(&data_uri(), 4_000_000_000, "");
    let deep = gltf(&data_uri(), 12, ",\"children\":[0]");
    let stolen = gltf("../outside.stl", 12, "");
    let no_vertex = obj().replace("f 1 3 2", "f 1 3 9");
    let infinite = ascii_stl().replace("vertex 2", "vertex inf");
    let panicking = dae().replace("0 2 1 0", "0 2 99 0");
    let bomb = "<!DOCTYPE d [<!ENTITY a \"aaaaaaaaaa\">".to_owned()
        + &(0..9)
            .map(|i| {
                format!(
                    "<!ENTITY {0} \"&{1};&{1};&{1};&{1};&{1};&{1};&{1};&{1};\">",
                    (b'b' + i) as char,
                    (b'a' + i) as char
                )
            })
            .collect::<String>()
        + "]><COLLADA version=\"1.4.1\">&j;</COLLADA>";
    for (name, bytes, part) in [
        ("none.stl", None, "No such file"),
        ("empty.stl", Some(Vec::new()), "cannot be read"),
        ("short.stl", Some(short), "it ends before the last of its 4 triangles"),
        ("words.obj", Some(b"hello".to_vec()), "it has no triangles"),
        ("vertex.obj", Some(no_vertex.into_bytes()), "cannot be read"),
        ("inf.stl", Some(infinite.into_bytes()), "cannot be read"),
        ("index.dae", Some(panicking.into_bytes()), "cannot be read"),
        ("bomb.dae", Some(bomb.into_bytes()), "cannot be read"),
        ("cycle.gltf", Some(deep.into_bytes()), "cannot be read"),
        ("many.gltf", Some(many.into_bytes()), "cannot be read"),
        ("stolen.gltf", Some(stolen.into_bytes()), "outside the mesh's folder"),
        ("part.step", Some(b"x".to_vec()), "does not end in .stl"),
        ("../outside.stl", None, "outside the folder of the spec"),
    ] {
        if let Some(bytes) = bytes {
            write(&folder, &format!("spec/{name}"), bytes);
        }
        let shape = format!("[body.bus.shape.hull]\ntype = \"mesh\"\nfile = {name:?}\n");
        let found = problems(&folder.path().join("spec"), &shape);
        let [(what, place)] = found.as_slice() else {
            panic!("{name}: {found:?}")
        };
        assert!(what.contains(name) && what.contains(part), "{what}");
        assert_eq!(*place, Some((7, 1)), "{what}");
    }
}

fn materials_outside_the_folder_of_a_mesh_are_not_read() {
    let folder = TempDir::new().expect("a folder");
    std::fs::create_dir(folder.path().join("meshes")).expect("a folder");
    write(&folder, "paint.mtl", MTL);
    let path = write(&folder, "meshes/a.obj", obj().replace("paint.mtl", "../paint.mtl"));
    let mesh = Mesh::read(&path).expect("a mesh");
    assert_eq!((mesh.parts[0].colour, mesh.reads), (None, vec![path]));
}

fn mesh_of_an_included_spec_is_in_the_folder_of_that_spec() {
    let folder = TempDir::new().expect("a folder");
    for inner in ["robot", "study"] {
        std::fs::create_dir(folder.path().join(inner)).expect("a folder");
    }
    write(&folder, "robot/a.stl", ascii_stl());
    let shape = "[body.bus.shape.hull]\ntype = \"mesh\"\nfile = \"a.stl\"\n";
    write(&folder, "robot/robot.toml", format!("{BODY}{shape}"));
    let study = write(&folder, "study/study.toml", "include = [\"../robot/robot.toml\"]\n");
    let compiled = CompiledSpec::read(&study).expect("a spec");
    assert_eq!(compiled.meshes.all().count(), 1);
    assert!(compiled.reads.iter().any(|path| path.ends_with("robot/a.stl")));
}
