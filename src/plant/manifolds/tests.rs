//! Gaps of the points of polyhedra along a motion.

use super::*;
use crate::algebra::{Quaternion, exp};
use crate::larger::Larger;
use crate::plant::Model;
use std::path::Path;

unit_tests![rates_and_accelerations_of_gaps_equal_differences];

/// Two free boxes, a above b; a as a box or a mesh.
fn two_boxes(is_mesh: bool) -> Plant {
    let half = [0.2, 0.15, 0.1];
    let shape = match is_mesh {
        false => "{ type = \"box\", size = [0.4, 0.3, 0.2] }".to_owned(),
        true => {
            let corner = |k: usize| [0, 1, 2].map(|i| if k >> i & 1 == 0 { -half[i] } else { half[i] });
            format!(
                "{{ type = \"mesh\", vertices = {:?} }}",
                [0, 1, 2, 3, 4, 5, 6, 7].map(corner)
            )
        }
    };
    let text = format!(
        "name = \"two\"\n[body.one]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\nstart = {{ position = [0.0, 0.0, 1.0] }}\n\
         [body.other]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[contact.c]\na = \"one\"\nb = \"other\"\nshape_a = {shape}\n\
         shape_b = {{ type = \"box\", size = [0.3, 0.5, 0.25] }}\nrest = 0.01\ne = 0.0\n"
    );
    Plant::new(Model::read(&text, Path::new(".")).expect("valid").into()).expect("its own values")
}

/// Pose and velocities of a free body; the angular velocity in its own axes, constant.
struct Motion {
    r: Vec3<f64>,
    turned: Quaternion<f64>,
    v: Vec3<f64>,
    w: Vec3<f64>,
}

impl Motion {
    /// Writes position, attitude and velocities at a time (s) into the states.
    fn write(&self, model: &Model, body: &str, t: f64, x: &mut [f64]) {
        let attitude = self.turned * exp(self.w * t);
        let (r, q) = (self.r + self.v * t, attitude.to_array());
        let own = [
            ("r", r.as_slice()),
            ("q", &q),
            ("v", self.v.as_slice()),
            ("w", self.w.as_slice()),
        ];
        for (field, values) in own {
            for (i, value) in values.iter().enumerate() {
                let name = format!("{body}.{field}[{}]", i + 1);
                let place = model.states.iter().position(|state| state.name == name);
                x[place.unwrap_or_else(|| panic!("no state {name}"))] = *value;
            }
        }
    }
}

/// Gaps of all kinds of points of two boxes that move and turn with constant velocities: rate and
/// acceleration are those of differences of fourth order, whose error is 625 times as large in steps
/// five times as long. For faces that are flat on each other the boxes turn about their common normal.
fn rates_and_accelerations_of_gaps_equal_differences() {
    let random = |k: usize| libm::sin(k as f64 * 12.9898);
    let vector = |k: usize| Vec3::new(random(k), random(k + 1), random(k + 2));
    let kinds = [SlotKind::CornerA, SlotKind::CornerB, SlotKind::Crossing];
    for is_mesh in [false, true] {
        for is_flat in [false, true] {
            let mut plant = two_boxes(is_mesh);
            let (mut worst, mut points) = ([0.0_f64; 2], 0);
            for seed in 0..4 {
                let turned = exp(vector(100 + seed) * 0.8);
                let tilt = if is_flat {
                    Vec3::zeros()
                } else {
                    vector(110 + seed) * 0.2
                };
                let spin = |k: usize| if is_flat { Vec3::z() * random(k) } else { vector(k) };
                let b = Motion {
                    r: vector(120 + seed),
                    turned,
                    v: vector(130 + seed),
                    w: spin(140 + seed),
                };
                let a = Motion {
                    r: b.r + turned.rotation() * Vec3::new(0.03, -0.02, 0.24),
                    turned: turned * exp(Vec3::z() * 0.4) * exp(tilt),
                    v: vector(150 + seed),
                    w: spin(160 + seed),
                };
                let of = plant.base.constants();
                let (contact, rest, manifold) = with_manifolds(of).next().expect("a contact");
                let polyhedra = contact.polyhedra(of.parameters).expect("boxes");
                let down = |side: usize, z: f64| {
                    let faces = 0..polyhedra[side].facets.len();
                    faces.max_by(|one, other| {
                        let along = |face: usize| z * polyhedra[side].normal(face).z;
                        along(*one).total_cmp(&along(*other))
                    })
                };
                let pair = FacePair {
                    is_active: true,
                    is_flat,
                    faces: [down(0, -1.0), down(1, 1.0)].map(|face| face.expect("faces")),
                };
                let mut discrete = of.model.discrete();
                discrete.manifolds[manifold.number] = pair;
                for kind in kinds {
                    for k in 0..16 {
                        discrete.slots[manifold.first] = Slot {
                            kind,
                            corners: [k / 4, k % 4],
                            near: 0,
                        };
                        let mut x = vec![0.0; of.model.states.len()];
                        let mut at = |t: f64| {
                            a.write(of.model, "one", t, &mut x);
                            b.write(of.model, "other", t, &mut x);
                            plant.evaluation.update_kinematics(of, &x);
                            let at = of.at(&plant.evaluation.kinematics);
                            let seen = contact.touching(0, of.parameters, &discrete, at);
                            [seen.gap, seen.rate, seen.n.dot(&seen.bias) + seen.n_dot.dot(&seen.u)]
                        };
                        let h = 4e-4;
                        let [far, before, now, after, farther] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|k| at(k * h));
                        let slope = |i: usize| (8.0 * (after[i] - before[i]) - farther[i] + far[i]) / (12.0 * h);
                        let off = [now[1] - slope(0), now[2] - slope(1)].map(f64::abs);
                        worst = [0, 1].map(|i| worst[i].larger(off[i] / (1.0 + now[i + 1].abs())));
                        points += 1;
                    }
                }
                assert_eq!(rest.count, 8);
            }
            println!(
                "mesh {is_mesh}, flat {is_flat}: {points} points, rates within {:.1e} m/s, accelerations within {:.1e} m/s²",
                worst[0], worst[1]
            );
            assert!(worst[0] < 1e-8 && worst[1] < 1e-7, "{worst:?}");
        }
    }
}
