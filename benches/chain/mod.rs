//! Chains of links.

#![allow(dead_code)] // Not every benchmark has all of them.

use std::fmt::Write;

/// Returns a floating base with a chain of `n` links, hinged about y and z in turn, straight and at
/// rest.
pub fn chain(n: usize) -> String {
    links(n, 1.0, |_| String::new(), "")
}

/// Returns the same chain, bent and moving.
pub fn moving_chain(n: usize) -> String {
    links(n, 1.0, |_| String::new(), "start = { position = 0.1, rate = 0.1 }\n")
}

/// Returns a chain of flexible links; its first hinge is nearer to the centre of the base.
pub fn flexible_chain(n: usize) -> String {
    let beam = |i: usize| {
        format!(
            "[body.b{i}.beam]\nlength = 1.0\nmass_per_length = 2.0\npolar_inertia_per_length = 0.01\nEI = 300.0\nGJ = 200.0\n\
             bending = 2\ntorsion = 1\ndamping_ratio = 0.01\n"
        )
    };
    links(n, 0.5, beam, "")
}

/// Returns a chain of `n` links, the first hinged at `root` (m); `more(i)` are further lines of the
/// spec for link i, `start` is a line of each joint's table.
fn links(n: usize, root: f64, more: impl Fn(usize) -> String, start: &str) -> String {
    let mut text = String::from("name = \"chain\"\n[body.b0]\nmass = 100.0\ninertia = [50.0, 50.0, 50.0]\n");
    for i in 1..=n {
        let (parent, axis) = (i - 1, if i % 2 == 0 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] });
        let (origin, more) = (if i == 1 { root } else { 1.0 }, more(i));
        write!(
            text,
            "[body.b{i}]\nmass = 2.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.17, 0.17]\n{more}\
             [joint.j{i}]\ntype = \"revolute\"\nparent = \"b{parent}\"\nchild = \"b{i}\"\n\
             origin = [{origin:?}, 0.0, 0.0]\naxis = {axis:?}\n{start}"
        )
        .expect("strings grow");
    }
    text
}

/// Returns a chain of seven links and a payload, captured with the law `law`, or separate for
/// `None`.
pub fn with_payload(law: Option<&str>) -> String {
    let mut text = chain(7)
        + "[body.payload]\nmass = 50.0\ninertia = [20.0, 25.0, 30.0]\nstart = { position = [8.0, 0.0, 0.0] }\n";
    if let Some(law) = law {
        let contact = format!(
            "[frame.hand]\nbody = \"b7\"\norigin = [1.0, 0.0, 0.0]\n[contact.grip]\na = \"hand\"\nb = \"payload\"\nlaw = \"{law}\"\n"
        );
        text += &contact;
        text += "[signal.\"grip.capture\"]\ntype = \"constant\"\nfrom_importer = false\n";
    }
    text
}
