//! What bending costs: the right-hand side of the ODE ([`Plant::derivative`]), microseconds per evaluation.
//!
//! `cargo bench --bench flexible` times each craft beside the same craft with rigid links, in the same rounds: the examples
//! `ssrms_flexible` and `ssrms_type`, then chains of revolute joints on a floating base, whose links have two bending modes in
//! each plane and one of torsion.
//!
//! What is timed: kinematics, loads and the recursion at states around the start, as an integrator asks for them.

mod side_by_side;

use grapple::spec::Spec;
use side_by_side::{Craft, Time, measure, read};
use std::fmt::Write;

const LINKS: [usize; 5] = [1, 2, 4, 8, 16];

fn main() {
    println!(
        "{:16} {:>6} {:>27} {:>27} {:>7}",
        "", "", "flexible", "rigid", "ratio of"
    );
    println!(
        "{:16} {:>6} {:>9} {:>8} {:>8} {:>9} {:>8} {:>8} {:>8}",
        "µs", "modes", "median", "minimum", "per link", "median", "minimum", "per link", "medians"
    );
    let arm = read(include_str!("../examples/ssrms_flexible.toml"));
    line("ssrms", 7, &arm, &read(include_str!("../examples/ssrms_type.toml")));
    for n in LINKS {
        let flexible = read(&chain(n));
        let mut rigid = flexible.clone();
        rigid.body.values_mut().for_each(|body| body.beam = None);
        line(&format!("chain of {n}"), n, &flexible, &rigid);
    }
}

/// A floating base with `n` links that bend, hinged about y and z in turn.
fn chain(n: usize) -> String {
    let mut text = String::from("name = \"chain\"\n[body.b0]\nmass = 100.0\ninertia = [50.0, 50.0, 50.0]\n");
    for i in 1..=n {
        let (parent, axis) = (i - 1, if i % 2 == 0 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] });
        let root = if i == 1 { 0.5 } else { 1.0 };
        write!(
            text,
            "[body.b{i}]\nmass = 2.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.17, 0.17]\n\
             [body.b{i}.beam]\nlength = 1.0\nmass_per_length = 2.0\npolar_inertia_per_length = 0.01\nEI = 300.0\nGJ = 200.0\n\
             bending = 2\ntorsion = 1\ndamping_ratio = 0.01\n\
             [joint.j{i}]\ntype = \"revolute\"\nparent = \"b{parent}\"\nchild = \"b{i}\"\n\
             origin = [{root:?}, 0.0, 0.0]\naxis = {axis:?}\n"
        )
        .expect("strings grow");
    }
    text
}

/// Times a craft beside the same with rigid links.
fn line(name: &str, links: usize, flexible: &Spec, rigid: &Spec) {
    let mut craft = [flexible, rigid].map(Craft::new);
    let [flexible, rigid] = measure(&mut craft);
    let modes = (craft[0].state_count() - craft[1].state_count()) / 2;
    print!("{name:16} {modes:6}");
    for Time { median, minimum } in [flexible, rigid] {
        print!(" {median:9.3} {minimum:8.3} {:8.3}", median / links as f64);
    }
    println!(" {:8.2}", flexible.median / rigid.median);
}
