//! Cost of flexibility: the right-hand side of the ODE ([`Plant::derivative`]), microseconds per
//! evaluation.
//!
//! `cargo bench --bench flexible` times each spacecraft, and the same one with rigid links in the
//! same rounds: the examples `ssrms_flexible` and `ssrms_type`, then chains of revolute joints on a
//! floating base, whose links have two bending modes in each plane and one of torsion.
//!
//! Then free beams of 100 m, by their number of elements: ANCF beams and geometrically exact beams.
//!
//! The measured time covers kinematics, loads and the recursion, at states around the start, as an
//! integrator evaluates them.

mod chain;
mod side_by_side;
mod spacecraft;

use chain::flexible_chain;
use grapple::spec::Spec;
use side_by_side::{Time, measure};
use spacecraft::{STATES, Spacecraft, read};

const LINKS: [usize; 5] = [1, 2, 4, 8, 16];
const ELEMENTS: [usize; 5] = [1, 4, 16, 64, 256];
/// Largest number of elements of a geometrically exact beam.
const DIRECTOR_ELEMENTS: usize = 100;

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
        let flexible = read(&flexible_chain(n));
        let mut rigid = flexible.clone();
        rigid.body.values_mut().for_each(|body| body.beam = None);
        line(&format!("chain of {n}"), n, &flexible, &rigid);
    }
    println!("\n{:16} {:>27} {:>27}", "", "ANCF beam", "geometrically exact beam");
    println!(
        "{:16} {:>9} {:>8} {:>8} {:>9} {:>8} {:>8}",
        "µs", "median", "minimum", "each", "median", "minimum", "each"
    );
    for n in ELEMENTS {
        let counts = [n, n.min(DIRECTOR_ELEMENTS)];
        let mut beams = [ancf_beam(n), geometrically_exact_beam(counts[1])].map(|text| Spacecraft::new(&read(&text)));
        let [nodal, director] = measure(&mut beams, Spacecraft::sweep, STATES);
        print!("{:16}", format!("{n} elements"));
        for (Time { median, minimum }, n) in [nodal, director].into_iter().zip(counts) {
            print!(" {median:9.3} {minimum:8.3} {:8.3}", minimum / n as f64);
        }
        println!(
            "{}",
            if counts[1] < n {
                format!(" (of {})", counts[1])
            } else {
                String::new()
            }
        );
    }
}

/// Returns an ANCF beam of 100 m.
fn ancf_beam(elements: usize) -> String {
    format!(
        "name = \"beam\"\n[ancf_beam.span]\nlength = 100.0\nelements = {elements}\nmass_per_length = 30.0\nEA = 6.9e9\nEI = 9.545e7\n"
    )
}

/// Returns a geometrically exact beam of 100 m, with torsion and shear.
fn geometrically_exact_beam(elements: usize) -> String {
    format!(
        "name = \"beam\"\n[body.span.geometrically_exact_beam]\nlength = 100.0\nelements = {elements}\nmass_per_length = 30.0\npolar_inertia_per_length = 0.4\n\
         EA = 6.9e9\nGA = 1e9\nGJ = 5e7\nEI = 9.545e7\n"
    )
}

/// Times a spacecraft and the same one with rigid links, and prints a row of the table.
fn line(name: &str, links: usize, flexible: &Spec, rigid: &Spec) {
    let mut spacecraft = [flexible, rigid].map(Spacecraft::new);
    let [flexible, rigid] = measure(&mut spacecraft, Spacecraft::sweep, STATES);
    let modes = (spacecraft[0].states[0].len() - spacecraft[1].states[0].len()) / 2;
    print!("{name:16} {modes:6}");
    for Time { median, minimum } in [flexible, rigid] {
        print!(" {median:9.3} {minimum:8.3} {:8.3}", median / links as f64);
    }
    println!(" {:8.2}", flexible.median / rigid.median);
}
