//! The coefficients satisfy the order conditions, at the end of the step and for the dense output.
//!
//! HNW section II.2: a method has order p if `Σ bᵢ Φᵢ(τ) = 1/γ(τ)` for all rooted trees τ with at
//! most p nodes, and a continuous method if `Σ bᵢ(θ) Φᵢ(τ) = θ^|τ| / γ(τ)`.

use super::super::dense::Dense;
use super::super::tableau::{ErrorEstimate, Row, Tableau};
use super::super::{auto, bogacki_shampine, dop853, dopri5, rk4};
use crate::larger::Larger;

unit_tests![
    numbers_of_rooted_trees_equal_the_book,
    nodes_are_the_row_sums,
    end_of_the_step_has_exactly_the_order_of_the_method,
    dense_output_has_exactly_its_order,
    error_estimates_are_differences_to_methods_of_the_order_claimed,
    error_of_the_pair_of_order_three_is_estimated_by_stages_of_dopri5,
];

/// A rooted tree: the subtrees of its root, in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Tree(Vec<Tree>);

impl Tree {
    fn nodes(&self) -> usize {
        1 + self.0.iter().map(Tree::nodes).sum::<usize>()
    }

    fn gamma(&self) -> f64 {
        self.nodes() as f64 * self.0.iter().map(Tree::gamma).product::<f64>()
    }

    /// Returns all trees with `n` nodes: those with `n − 1` nodes, with a leaf added at each node.
    fn all(n: usize) -> Vec<Tree> {
        if n == 1 {
            return vec![Tree(Vec::new())];
        }
        let mut trees: Vec<Tree> = Tree::all(n - 1).iter().flat_map(Tree::grown).collect();
        trees.sort();
        trees.dedup();
        trees
    }

    fn grown(&self) -> Vec<Tree> {
        let mut grown = vec![self.with(|children| children.push(Tree(Vec::new())))];
        for i in 0..self.0.len() {
            for child in self.0[i].grown() {
                grown.push(self.with(|children| children[i] = child.clone()));
            }
        }
        grown
    }

    fn with(&self, change: impl Fn(&mut Vec<Tree>)) -> Tree {
        let mut tree = self.clone();
        change(&mut tree.0);
        tree.0.sort();
        tree
    }

    /// Returns the elementary weights of all stages.
    fn weights(&self, tableau: &Tableau) -> Vec<f64> {
        let children: Vec<Vec<f64>> = self.0.iter().map(|t| t.weights(tableau)).collect();
        let weight = |row: &Row| children.iter().map(|child| apply(row, child)).product();
        tableau.a.iter().map(weight).collect()
    }
}

fn apply(row: Row, values: &[f64]) -> f64 {
    row.iter().map(|&(j, a)| a * values[j]).sum()
}

fn dense_vector(row: Row, stages: usize) -> Vec<f64> {
    let mut vector = vec![0.0; stages];
    for &(j, a) in row {
        vector[j] += a;
    }
    vector
}

/// Returns the weights `bᵢ(θ)`, from the interpolant of a problem in which stage `i` is the `i`-th
/// unit vector.
fn weights_inside(tableau: &Tableau, theta: f64) -> Vec<f64> {
    let stages = tableau.c.len();
    let unit = |i: usize| (0..stages).map(|j| f64::from(u8::from(i == j))).collect();
    let (x0, x1) = (vec![0.0; stages], dense_vector(tableau.a[tableau.end], stages));
    let (f0, f1): (Vec<f64>, Vec<f64>) = (unit(0), unit(tableau.end));
    let r2: Vec<f64> = (0..stages).map(|i| f0[i] - x1[i]).collect();
    let r3: Vec<f64> = (0..stages).map(|i| x1[i] - f1[i] - r2[i]).collect();
    let mut rows = [x1.clone(), r2, r3].concat();
    for row in tableau.dense {
        rows.extend(dense_vector(row, stages));
    }
    let dense = Dense {
        t0: 0.0,
        t1: 1.0,
        x0: &x0,
        x1: &x1,
        rows: &rows,
    };
    let mut weights = vec![0.0; stages];
    dense.interpolate(theta, &mut weights);
    weights
}

fn tableaus() -> [(&'static str, &'static Tableau); 4] {
    [
        ("rk4", &rk4::TABLEAU),
        ("dopri5", &dopri5::TABLEAU),
        ("dop853", &dop853::TABLEAU),
        ("bogacki_shampine", &bogacki_shampine::TABLEAU),
    ]
}

/// Returns the largest residual of the conditions of order `n`, for the weights at `theta`.
fn residual(tableau: &Tableau, n: usize, weights: &[f64], theta: f64) -> f64 {
    let condition = |tree: &Tree| {
        let sum: f64 = tree.weights(tableau).iter().zip(weights).map(|(p, b)| p * b).sum();
        (sum - theta.powi(n as i32) / tree.gamma()).abs()
    };
    Tree::all(n).iter().map(condition).fold(0.0, f64::larger)
}

/// Round-off of sums over 16 stages with coefficients of up to 60 that nearly cancel: 60 · 16 · ε.
const ROUND_OFF: f64 = 2e-13;

fn numbers_of_rooted_trees_equal_the_book() {
    // HNW Table II.2.1.
    let counts: Vec<usize> = (1..=8).map(|n| Tree::all(n).len()).collect();
    assert_eq!(counts, [1, 1, 2, 4, 9, 20, 48, 115]);
}

fn nodes_are_the_row_sums() {
    for (name, tableau) in tableaus() {
        for (i, row) in tableau.a.iter().enumerate() {
            let sum: f64 = row.iter().map(|(_, a)| a).sum();
            assert!((sum - tableau.c[i]).abs() < ROUND_OFF, "{name}: stage {i}");
        }
    }
}

fn end_of_the_step_has_exactly_the_order_of_the_method() {
    for (name, tableau) in tableaus() {
        let weights = dense_vector(tableau.a[tableau.end], tableau.c.len());
        for n in 1..=tableau.order as usize {
            let residual = residual(tableau, n, &weights, 1.0);
            println!("{name}: order {n} end residual {residual:.1e}");
            assert!(residual < ROUND_OFF, "{name}: order {n}: {residual:e}");
        }
        assert!(residual(tableau, tableau.order as usize + 1, &weights, 1.0) > 1e-6);
    }
}

fn dense_output_has_exactly_its_order() {
    for (name, tableau) in tableaus() {
        for theta in [0.1, 0.37, 0.5, 0.81, 0.99] {
            let weights = weights_inside(tableau, theta);
            for n in 1..=tableau.dense_order as usize {
                let residual = residual(tableau, n, &weights, theta);
                assert!(residual < 1e-12, "{name}: order {n} at {theta}: {residual:e}");
            }
        }
        let weights = weights_inside(tableau, 0.37);
        let next = residual(tableau, tableau.dense_order as usize + 1, &weights, 0.37);
        assert!(next > 1e-7, "{name}: {next:e}");
    }
}

fn error_estimates_are_differences_to_methods_of_the_order_claimed() {
    let check = |name: &str, tableau: &Tableau, row: Row, order: usize| {
        let stages = tableau.c.len();
        let difference = dense_vector(row, stages);
        for n in 1..=order {
            // Both solutions satisfy the conditions of order n, so the sum over their difference is
            // zero: the right-hand side at θ = 0.
            let residual = residual(tableau, n, &difference, 0.0);
            assert!(residual < ROUND_OFF, "{name}: order {n}: {residual:e}");
        }
        assert!(residual(tableau, order + 1, &difference, 0.0) > 1e-6, "{name}");
    };
    for (name, tableau) in tableaus() {
        match tableau.error {
            ErrorEstimate::None => {}
            ErrorEstimate::Embedded(row) => check(name, tableau, row, tableau.order as usize - 1),
            ErrorEstimate::FifthAndThird { fifth, third } => {
                check(name, tableau, fifth, 5);
                check(name, tableau, third, 3);
            }
        }
    }
}

/// The estimate from DOPRI5's stages has the elementary differentials of the pair's own estimate up
/// to order 3.
fn error_of_the_pair_of_order_three_is_estimated_by_stages_of_dopri5() {
    let ErrorEstimate::Embedded(own) = bogacki_shampine::TABLEAU.error else {
        panic!("embedded");
    };
    let sums = |tableau: &Tableau, row: Row, n: usize| -> Vec<f64> {
        let trees = Tree::all(n);
        trees.iter().map(|tree| apply(row, &tree.weights(tableau))).collect()
    };
    for n in 1..=3 {
        let estimated = sums(&dopri5::TABLEAU, auto::THIRD_DERIVATIVE, n);
        let own = sums(&bogacki_shampine::TABLEAU, own, n);
        println!("order {n}: {estimated:?}, {own:?}");
        let residual = estimated
            .iter()
            .zip(&own)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::larger);
        assert!(residual < 1e-15, "order {n}: {residual:e}");
    }
}
