//! Invariants of free-floating spacecraft over time.

use crate::numbers::{Larger, few};
use crate::random_tree::random_craft;
use crate::run::Run;
use grapple::spec::JointType;
use std::collections::BTreeSet;

/// Seed and number of joints of random spacecraft; seeds are odd, so that about half of the bodies
/// are flexible. Seeds 3, 15, 21 and 27 have two spacecraft.
const CRAFT: [(u64, usize); 8] = [(1, 5), (3, 6), (5, 6), (15, 7), (25, 6), (17, 7), (27, 8), (21, 9)];

/// Sets moderate rates, with which the stiff beams bend by one or two hundredths of their length;
/// the initial amplitudes are zero.
fn set_in_motion(run: &mut Run, seed: u64) {
    let model = run.model();
    let system = model.system();
    let x = &mut run.simulation.state.x;
    let wave = |i: usize| (1.7 * i as f64 + seed as f64).sin();
    for body in &system.bodies {
        let joint = &body.joint;
        if joint.kind == JointType::Free {
            (0..3).for_each(|i| x[joint.q + 4 + i] = wave(joint.q + i));
        } else {
            (0..joint.nq).for_each(|i| x[joint.q + i] = wave(joint.q + i));
        }
        if matches!(joint.kind, JointType::Free | JointType::Spherical) {
            let part = &mut x[joint.q..joint.q + 4];
            (0..4).for_each(|i| part[i] = 0.2 + wave(joint.q + i).abs());
            let norm = part.iter().map(|x| x * x).sum::<f64>().sqrt();
            part.iter_mut().for_each(|x| *x /= norm);
        }
        for v in joint.v..joint.v + joint.nv {
            x[system.nq + v] = 0.3 * wave(v + 100);
        }
    }
    run.simulation.invalidate();
}

/// Without loads and dampers. The tolerance is 1e-12 per step; the errors are round-off, because
/// the step is limited by the shortest period. Drifts are relative to the largest sum of the
/// bodies' momentum magnitudes, and to the maximum kinetic energy.
#[test]
fn random_flexible_spacecraft_conserve_momentum_and_energy() {
    let mut kinds = BTreeSet::new();
    let mut with_modal_data = 0;
    for (seed, joints) in CRAFT {
        let mut run = Run::new(&random_craft(seed, joints, 300.0), 1e-12);
        set_in_motion(&mut run, seed);
        let model = run.model();
        let system = model.system();
        kinds.extend(system.bodies.iter().map(|body| body.joint.kind.name()));
        let beams: Vec<String> = system
            .bodies
            .iter()
            .filter(|body| body.beam.is_some())
            .map(|body| body.name.clone())
            .collect();
        let data = system.bodies.iter().filter(|body| body.modal.is_some());
        let data: Vec<String> = data.map(|body| format!("{}.elastic_energy", body.name)).collect();
        with_modal_data += data.len();
        let (mut bent, mut stored): (f64, f64) = (0.0, 0.0);
        let (mut scale, mut first, mut off) = ([0.0_f64; 3], [0.0; 7], [0.0_f64; 3]);
        for i in 0..=100 {
            run.go(0.05 * f64::from(i));
            let now = run.values([
                "system.momentum[1]",
                "system.momentum[2]",
                "system.momentum[3]",
                "system.angular_momentum[1]",
                "system.angular_momentum[2]",
                "system.angular_momentum[3]",
                "system.energy",
            ]);
            let sizes = run.values([
                "system.momentum_scale",
                "system.angular_momentum_scale",
                "system.kinetic_energy",
            ]);
            for body in &beams {
                bent = bent.larger(run.vector(&format!("{body}.tip_deflection")).norm() / 1.3);
            }
            for energy in &data {
                stored = stored.larger(run.value(energy) / sizes[2]);
            }
            if i == 0 {
                first = now;
            }
            let apart = |range: std::ops::Range<usize>| range.map(|i| (now[i] - first[i]).powi(2)).sum::<f64>().sqrt();
            for (k, range) in [0..3, 3..6, 6..7].into_iter().enumerate() {
                off[k] = off[k].larger(apart(range));
                scale[k] = scale[k].larger(sizes[k]);
            }
        }
        let off: Vec<f64> = off.iter().zip(scale).map(|(off, scale)| off / scale).collect();
        println!(
            "seed {seed}, {} of {} bodies are beams that bend by {:.1} %, {} have modal data and {stored:.0e} of the energy: momentum, angular momentum, energy {}; {}",
            beams.len(),
            system.bodies.len(),
            100.0 * bent,
            data.len(),
            few(&off),
            run.simulation.statistics()
        );
        // Deflections are in the range for which the modes are intended.
        assert!(beams.is_empty() || bent > 1e-3 && bent < 0.05, "seed {seed}: {bent}");
        assert!(data.is_empty() || stored > 1e-6, "seed {seed}: {stored}");
        assert!(off.iter().all(|off| *off < 1e-12), "seed {seed}: {off:?}");
    }
    println!("{kinds:?}");
    assert!(with_modal_data > 5, "{with_modal_data}");
    assert_eq!(kinds.len(), 10, "all kinds of joints: {kinds:?}");
}
