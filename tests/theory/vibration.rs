//! Small vibrations of spacecraft at rest: `K φ = ω² M φ`.

use grapple::dynamics::recursive::mass_matrix;
use grapple::plant::Plant;
use grapple::system::Kinematics;
use nalgebra::DMatrix;

/// Returns mass matrix and modal stiffness at the start.
pub fn mass_and_stiffness(plant: &Plant) -> (DMatrix<f64>, DMatrix<f64>) {
    let (system, derived) = (plant.model().system(), plant.derived());
    let (mut q, mut qd) = (vec![0.0; system.nq], vec![0.0; system.nv]);
    plant.model().start_coordinates(plant.parameters(), &mut q, &mut qd);
    let mut kinematics = Kinematics::new(system);
    kinematics.update(system, derived, &q, &vec![0.0; system.nv]);
    let mut K = DMatrix::zeros(system.nv, system.nv);
    for (body, constants) in system.bodies.iter().zip(&derived.bodies) {
        if let (Some(modes), Some(elastic)) = (&body.modes, &constants.elastic) {
            for (v, mode) in modes.rates().zip(&elastic.modes) {
                K[(v, v)] = mode.stiffness;
            }
        }
    }
    (mass_matrix(system, derived, &kinematics), K)
}

/// Returns the eigenvalues `ω²` (1/s²), ascending; those of rigid motions are zero up to round-off
/// of the largest.
pub fn squares((M, K): &(DMatrix<f64>, DMatrix<f64>)) -> Vec<f64> {
    let factor = M.clone().cholesky().expect("positive").unpack();
    let half = factor.solve_lower_triangular(K).expect("regular");
    let whole = factor.solve_lower_triangular(&half.transpose()).expect("regular");
    let mut squares: Vec<f64> = whole.symmetric_eigenvalues().iter().copied().collect();
    squares.sort_by(f64::total_cmp);
    squares
}
