//! What bending costs: the right-hand side of the ODE ([`Plant::derivative`]), microseconds per evaluation.
//!
//! `cargo bench --bench flexible` times each craft beside the same craft with rigid links, in the same rounds: the examples
//! `ssrms_flexible` and `ssrms_type`, then chains of revolute joints on a floating base, whose links have two bending modes in
//! each plane and one of torsion.
//!
//! What is timed: kinematics, loads and the recursion at states around the start, as an integrator asks for them.

use grapple::plant::{Model, Plant};
use grapple::spec::{self, Spec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// How long each pair is measured, s.
const SECONDS: f64 = 3.0;
/// States at which a craft is evaluated.
const STATES: usize = 16;
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

fn read(text: &str) -> Spec {
    spec::read(text, Path::new(".")).unwrap_or_else(|e| panic!("{e}"))
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
    let mut times = [Vec::new(), Vec::new()];
    let (start, mut seconds) = (Instant::now(), 0.0);
    for round in 0.. {
        for place in 0..2 {
            let which = (place + round) % 2;
            let time = craft[which].batch();
            // The first tenth warms up.
            if seconds > 0.1 * SECONDS {
                times[which].push(time);
            }
        }
        seconds = start.elapsed().as_secs_f64();
        if seconds > SECONDS && times[0].len() > 30 {
            break;
        }
    }
    let [flexible, rigid] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        (times[times.len() / 2], times[0])
    });
    let modes = (craft[0].dx.len() - craft[1].dx.len()) / 2;
    print!("{name:16} {modes:6}");
    for (median, minimum) in [flexible, rigid] {
        print!(" {median:9.3} {minimum:8.3} {:8.3}", median / links as f64);
    }
    println!(" {:8.2}", flexible.0 / rigid.0);
}

struct Craft {
    plant: Plant,
    states: Vec<Vec<f64>>,
    u: Vec<f64>,
    modes: Vec<i32>,
    dx: Vec<f64>,
}

impl Craft {
    fn new(spec: &Spec) -> Self {
        let model = Model::compile(spec).unwrap_or_else(|e| panic!("{e}"));
        let (mut start, mut modes) = (vec![0.0; model.states.len()], vec![0; model.mode_count()]);
        let plant = Plant::new(model.into()).unwrap_or_else(|e| panic!("{e}"));
        plant.start(0.0, &mut start, &mut modes);
        // Around the start by a tenth of each state's nominal.
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let nominals = plant.model().states.iter().map(|state| state.nominal);
        let mut around = || {
            let moved = start.iter().zip(nominals.clone());
            moved
                .map(|(x, nominal)| x + 0.1 * nominal * rng.random_range(-1.0..1.0))
                .collect()
        };
        Self {
            states: (0..STATES).map(|_| around()).collect(),
            u: plant.model().inputs.iter().map(|input| input.start).collect(),
            modes,
            dx: vec![0.0; start.len()],
            plant,
        }
    }

    /// µs per evaluation.
    fn batch(&mut self) -> f64 {
        const SWEEPS: usize = 20;
        let start = Instant::now();
        for _ in 0..SWEEPS {
            for x in &self.states {
                self.plant
                    .derivative(0.0, black_box(x), &self.u, &self.modes, &mut self.dx)
                    .expect("regular");
                black_box(&self.dx);
            }
        }
        1e6 * start.elapsed().as_secs_f64() / (SWEEPS * STATES) as f64
    }
}
