//! Cost of an evaluation of the dynamics, and the work limit of a communication step that follows
//! from it.

use super::Model;
use crate::spec::{AncfBeam, Formulation};

/// Time that a communication step may take on an ordinary core by default, ns.
const LONGEST: u64 = 2_000_000_000;

/// Lower bound of the default limit: steps of large models take longer rather than fail.
const FEWEST: u64 = 50_000;

/// Upper bound of the default limit.
const MOST: u64 = 1_000_000;

impl Model {
    /// Returns the largest number of evaluations of the dynamics in one communication step: that of
    /// the spec, or as many as take about two seconds, but from 50 000 to 1 000 000.
    ///
    /// The default is computed from the counts of bodies, modes, elements and states alone, so that
    /// it is the same on every machine and for all values of parameters.
    pub fn work_limit(&self) -> f64 {
        let default = || {
            let limit = (LONGEST / self.evaluation_time()).clamp(FEWEST, MOST);
            // The limit is rounded down to two digits, the accuracy of the estimate.
            let mut unit = 1;
            while limit / unit >= 100 {
                unit *= 10;
            }
            (limit / unit * unit) as f64
        };
        self.spec.solver.work_limit.unwrap_or_else(default)
    }

    /// Returns an estimate of the time of one evaluation, ns, including its share of the
    /// integration method's matrices. It was measured on the examples with implausible parameters
    /// (`docs/robustness.md`).
    fn evaluation_time(&self) -> u64 {
        let system = self.system();
        let of_body = match self.spec.formulation {
            Formulation::Recursive => 400,
            Formulation::DualQuaternion => 2300,
            Formulation::Quaternion | Formulation::Natural => 3500,
        };
        let modes = system.bodies.iter().filter_map(|body| body.modes.as_ref());
        // The modal mass matrix depends on the amplitudes and is factored in each evaluation.
        let of_modes = modes.map(|modes| modes.n as u64).map(|n| 200 * n + 8 * n.pow(3));
        let of_nodes = self.spec.ancf_beam.values().map(AncfBeam::nodes).sum::<usize>() as u64 * 300;
        // Each row of a capture or a loop needs a response, and their matrix is factored.
        let rows = self.elements.most_rows() as u64;
        let of_rows = 150 * rows * system.bodies.len() as u64 + rows.pow(3);
        let n = self.states.len() as u64;
        // The Newton matrices are factored at worst for every sixth evaluation.
        let of_matrices = if self.spec.solver.method.is_dense() {
            n.pow(3) / 10
        } else {
            0
        };
        600 + system.bodies.len() as u64 * of_body + of_modes.sum::<u64>() + of_nodes + of_rows + of_matrices
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use std::path::Path;

    unit_tests![the_default_limit_falls_with_the_cost_of_an_evaluation];

    fn limit(example: &str, more: &str) -> f64 {
        let text = example.to_owned() + more;
        Model::read(&text, Path::new(".")).expect("an example").work_limit()
    }

    fn the_default_limit_falls_with_the_cost_of_an_evaluation() {
        let two_link = include_str!("../../examples/two_link.toml");
        let dual_arm = include_str!("../../examples/dual_arm.toml");
        let servicer = include_str!("../../examples/servicer_orbit.toml");
        assert_eq!(limit(two_link, ""), 1e6);
        assert_eq!(limit(dual_arm, ""), 77_000.0);
        assert_eq!(limit(servicer, ""), 170_000.0);
        // A limit in the spec has no upper bound.
        assert_eq!(limit(two_link, "[solver]\nwork_limit = 1e12\n"), 1e12);
    }
}
