//! Equations of motion by the natural orthogonal complement, compared with the recursive
//! formulation. X. Cyril, S.-W. Kim, M. Ingham, A. Misra and G. Jaar, *Acta Astronautica* (1998),
//! Eq. 1, state the equations of a manipulator with flexible links in this form,
//! `M̃ ψ̈ = c(ψ, ψ̇) + f`. The method is due to J. Angeles and S. K. Lee, *J. Applied Mechanics* 55
//! (1988) 243–244.
//!
//! The twists of all bodies and the rates of all modes form one vector `t`. The joint constraints
//! are `K t = 0`; the free motions are the rates, `Y t = q̇`. Together these are as many rows as
//! unknowns:
//!
//! ```text
//!     [Y; K] N = [1; 0]                  t = N q̇,   K N = 0       (1)
//!     [Y; K] a = −[Ẏ; K̇] t               ṫ = N q̈ + a,   a = Ṅ q̇    (2)
//!     M = Σ Nᵢᵀ Mᵢ Nᵢ + diag ρ                                     (3)
//!     h = Σ Nᵢᵀ (Mᵢ aᵢ + γᵢ − wᵢ)        M q̈ + h = τ               (4)
//! ```
//!
//! with rotor inertias `ρ`, and for each body `i` its rows of `N` and `a`, the mass matrix `Mᵢ` and
//! gyroscopic load `γᵢ` of the unconstrained body, and the wrench `wᵢ` on it. Twists are about each
//! body's own origin, in its own axes. `τ − h` is the paper's `c + f`.
//!
//! The test takes from the library: the bodies' positions, the constants of masses, joints and
//! modes, and the positions of stations as functions of the amplitudes; but not its joint columns,
//! velocities and accelerations. The rows are derived from the bodies' poses and the joint type,
//! and their rates are exact, by dual numbers along `t`. `Mᵢ` and `γᵢ` follow from Lagrange's
//! equations with a kinetic energy derived here, for all modes including foreshortening.

use crate::every_load::{FAR, every_load};
use crate::numbers::{Larger, relative_distance};
use crate::random_tree::{ByRecursion, KINDS, RandomTree, random_tree};
use grapple::algebra::{Dual, Mat3, Pose, Scalar, TurnedFrame, Twist, Vec3, Wrench, cross_matrix, lift3, lift33};
use grapple::dynamics::recursive::{InverseDynamics, mass_matrix};
use grapple::plant::{Model, Plant};
use grapple::spec::{JointMotion, JointType, Spec};
use grapple::system::{
    Amplitude, BodyConstants, Carrier, Configuration, Field, Joint, ParamId, StationConstants, System,
};
use nalgebra::{DMatrix, DVector};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;
use std::ops::{Mul, Sub};

/// The matrix and the vector of (3) and (4) for a tree.
struct Assembled {
    M: DMatrix<f64>,
    h: DVector<f64>,
}

impl Assembled {
    /// Assembles the equations at the bodies' poses of the recursive formulation, with its
    /// wrenches.
    fn of(tree: &RandomTree, recursion: &ByRecursion) -> Self {
        let (system, derived) = (tree.plant.model().system(), tree.plant.derived());
        let places = recursion.kinematics.bodies.iter();
        let places: Vec<Pose<f64>> = places.map(|at| Pose { R: at.R_WB, p: at.p_WB }).collect();
        let first = first_columns(system);
        // (1)
        let rows = rows(tree, &places, &tree.q).lu();
        let unit_rates = DMatrix::identity(first[system.bodies.len()], system.nv);
        let N = rows.solve(&unit_rates).expect("independent rows");
        let t = &N * DVector::from_column_slice(&tree.qd);
        // (2)
        let a = rows.solve(&-(rows_rate(tree, &places, &t) * &t));
        let a = a.expect("independent rows");
        let mut assembled = Self {
            M: DMatrix::from_diagonal(&DVector::from_column_slice(&derived.rotor_inertia)),
            h: DVector::zeros(system.nv),
        };
        for (i, body) in system.bodies.iter().enumerate() {
            let (own, size) = (first[i], first[i + 1] - first[i]);
            let eta = body.modes.as_ref().map_or(0..0, |modes| modes.coordinates());
            let (N, t) = (N.rows(own, size), t.rows(own, size).into_owned());
            let (M, gamma) = alone(&derived.bodies[i], &tree.q[eta], &t);
            let mut F = &M * a.rows(own, size) + gamma;
            let w = recursion.applied.wrench[i].express(&places[i].R.transpose());
            F.iter_mut().zip(w.to_array()).for_each(|(F, w)| *F -= w);
            assembled.M += N.transpose() * M * N; // (3)
            assembled.h += N.transpose() * F; // (4)
        }
        assembled
    }
}

/// Returns the first column of each body (six of its twist, then its modes' rates), and the total
/// number of columns.
fn first_columns(system: &System) -> Vec<usize> {
    let sizes = system
        .bodies
        .iter()
        .map(|body| 6 + body.modes.as_ref().map_or(0, |modes| modes.n));
    let ends = sizes.scan(0, |end, size| {
        *end += size;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Returns `[Y; K]`, for bodies at their poses `places` and the amplitudes among the coordinates
/// `q`.
fn rows<S: Scalar>(tree: &RandomTree, places: &[Pose<S>], q: &[S]) -> DMatrix<S> {
    let (system, derived) = (tree.plant.model().system(), tree.plant.derived());
    let first = first_columns(system);
    let n = first[system.bodies.len()];
    let mut rows = DMatrix::zeros(n, n);
    let mut next = system.nv;
    for (i, body) in system.bodies.iter().enumerate() {
        if let Some(modes) = &body.modes {
            for (k, v) in modes.rates().enumerate() {
                rows[(v, first[i] + 6 + k)] = S::one();
            }
        }
        // Body B is attached to C: the body P, or a station on it.
        let world = Pose::identity();
        let (P, bent) = match body.carrier() {
            Carrier::World | Carrier::Point(_) => (&world, Bent::rigid()),
            Carrier::Body(parent) => (&places[parent], Bent::rigid()),
            Carrier::Station(s) => {
                let parent = system.stations[s].body;
                let modes = system.bodies[parent].modes.as_ref().expect("stations bend");
                (
                    &places[parent],
                    Bent::new(&derived.stations[s], &q[modes.coordinates()]),
                )
            }
        };
        let X_WC = P.compose(&bent.X_PC);
        let r = places[i].p - X_WC.p;
        let [rates, held] = seen(&body.joint, tree.plant.parameters(), &X_WC.R, &places[i].R);
        let held_rows = next..next + held.len();
        next = held_rows.end;
        let rates = rates.into_iter().zip(body.joint.v..);
        for (W, row) in rates.chain(held.into_iter().zip(held_rows)) {
            // The row contains the power of W on the twist of B relative to C.
            let mut see = |body: usize, W: &Wrench<S>| {
                for (c, part) in W.to_array().into_iter().enumerate() {
                    rows[(row, first[body] + c)] = part;
                }
            };
            see(i, &W.express(&places[i].R.transpose()));
            let Some(parent) = body.parent else { continue };
            let on_C = (Wrench::zero() - W.shift(&r)).express(&P.R.transpose());
            see(parent, &on_C.shift(&bent.X_PC.p));
            for (k, T) in bent.T.iter().enumerate() {
                rows[(row, first[parent] + 6 + k)] = on_C.power(T);
            }
        }
    }
    assert_eq!(next, n, "as many rows as unknowns");
    rows
}

/// Returns `[Ẏ; K̇]` along the motion `t`.
fn rows_rate(tree: &RandomTree, places: &[Pose<f64>], t: &DVector<f64>) -> DMatrix<f64> {
    let system = tree.plant.model().system();
    let first = first_columns(system);
    let moving = |value: f64, rate: f64| Dual::<1>::new(value, [rate]);
    let mut q: Vec<Dual<1>> = tree.q.iter().map(|&q| moving(q, 0.0)).collect();
    let mut places_moving = Vec::new();
    for (i, (body, X)) in system.bodies.iter().zip(places).enumerate() {
        let own = &t.as_slice()[first[i]..first[i + 1]];
        let V = Twist::from_slice(own);
        places_moving.push(Pose {
            R: X.R.zip_map(&(X.R * V.w.cross_matrix()), moving),
            p: X.p.zip_map(&(X.R * V.v), moving),
        });
        if let Some(modes) = &body.modes {
            let rates = q[modes.coordinates()].iter_mut().zip(&own[6..]);
            rates.for_each(|(eta, &rate)| eta.eps = [rate]);
        }
    }
    rows(tree, &places_moving, &q).map(|entry| entry.eps[0])
}

/// Returns the motion and constraint wrenches of a joint between its carrier C and its body B,
/// about the origin of B, world axes: the powers of the former on the twist of B relative to C are
/// the rates, those of the latter are zero.
fn seen<S: Scalar>(joint: &Joint, parameters: &[f64], R_WC: &Mat3<S>, R_WB: &Mat3<S>) -> [Vec<Wrench<S>>; 2] {
    let attitude = |id: ParamId| id.quaternion(parameters).rotation();
    let R_WM = R_WC * lift33(&joint.orientation.map_or_else(Mat3::identity, attitude));
    // At zero coordinates, B has the axes of M.
    let direction = |id: Option<ParamId>| id.map_or_else(Vec3::z, |id| id.vector(parameters).normalize());
    let (axis, axis2) = (direction(joint.axis), direction(joint.axis2));
    let across = axis.cross(&Vec3::ith(axis.iamin(), 1.0));
    let [a, b, c] = [axis, across, axis.cross(&across)].map(|axis| R_WM * lift3(&axis));
    let turn = |axis: Vec3<S>| Wrench::new(axis, Vec3::zeros());
    let slide = |axis: Vec3<S>| Wrench::new(Vec3::zeros(), axis);
    let axes = |R: &Mat3<S>| R.column_iter().map(|axis| axis.into_owned()).collect::<Vec<_>>();
    let turns = |R: &Mat3<S>| axes(R).into_iter().map(turn).collect::<Vec<_>>();
    let slides = |R: &Mat3<S>| axes(R).into_iter().map(slide).collect::<Vec<_>>();
    match joint.kind {
        JointType::Fixed => [vec![], [turns(&R_WM), slides(&R_WM)].concat()],
        JointType::Revolute => [vec![turn(a)], [vec![turn(b), turn(c)], slides(&R_WM)].concat()],
        JointType::Prismatic => [vec![slide(a)], [turns(&R_WM), vec![slide(b), slide(c)]].concat()],
        JointType::Cylindrical => [vec![turn(a), slide(a)], vec![turn(b), turn(c), slide(b), slide(c)]],
        JointType::Screw => {
            // The column is (a, l a) with the travel l per radian; (l a, −a) is orthogonal to it.
            let lead = joint.pitch.expect("a screw").of(parameters) / std::f64::consts::TAU;
            let (size, l) = (S::lift(1.0 + lead * lead), S::lift(lead));
            let moved = Wrench::new(a / size, a * (l / size));
            let tied = Wrench::new(a * (l / size.sqrt()), -a / size.sqrt());
            [vec![moved], vec![tied, turn(b), turn(c), slide(b), slide(c)]]
        }
        JointType::Planar => {
            // Rodrigues' rotation from z to the axis about z × axis.
            let (cross, cosine) = (Vec3::z().cross(&axis), axis.z);
            let image = |v: Vec3<f64>| v * cosine + cross.cross(&v) + cross * (cross.dot(&v) / (1.0 + cosine));
            let [x, y] = [Vec3::x(), Vec3::y()].map(|v| R_WM * lift3(&image(v)));
            [vec![turn(a), slide(x), slide(y)], vec![turn(b), turn(c), slide(a)]]
        }
        JointType::Rectangular => {
            let (moved, held) = (slides(&R_WM), turns(&R_WM));
            [moved[..2].to_vec(), [held, moved[2..].to_vec()].concat()]
        }
        JointType::Cartesian => [slides(&R_WM), turns(&R_WM)],
        JointType::Spherical => [turns(R_WB), slides(&R_WM)],
        JointType::Universal => {
            // ω = a q̇₁ + a₂ q̇₂, with the second axis fixed in B; n is orthogonal to both.
            let a_2 = R_WB * lift3(&axis2);
            let n = a.cross(&a_2);
            let dual = |side: Vec3<S>| turn(side / n.dot(&n));
            let held = [vec![turn(n)], slides(&R_WM)].concat();
            [vec![dual(a_2.cross(&n)), dual(n.cross(&a))], held]
        }
        JointType::Free => [[turns(R_WB), slides(&R_WM)].concat(), vec![]],
    }
}

/// A point C of a flexible body P: pose and twists in axes of P.
struct Bent<S: Scalar> {
    X_PC: Pose<S>,
    /// Twist of C for a unit rate of each mode.
    T: Vec<Twist<S>>,
}

impl<S: Scalar> Bent<S> {
    /// Returns the origin of a rigid body.
    fn rigid() -> Self {
        Self {
            X_PC: Pose::identity(),
            T: Vec::new(),
        }
    }

    /// Returns a station at the amplitudes `eta`.
    fn new(station: &StationConstants, eta: &[S]) -> Self {
        let turned = TurnedFrame::new(station.turn(eta));
        let T = (0..eta.len()).map(|k| {
            let turn = station.turn(&unit(eta.len(), k));
            Twist::new(turned.velocity() * turn, slope(|eta| station.place(eta), eta, k))
        });
        Self {
            X_PC: Pose {
                R: turned.rotation(),
                p: station.place(eta),
            },
            T: T.collect(),
        }
    }
}

/// Returns a unit amplitude of mode `k`.
fn unit<S: Scalar>(n: usize, k: usize) -> Vec<S> {
    (0..n).map(|i| S::lift(f64::from(u8::from(i == k)))).collect()
}

/// Returns `∂f/∂η_k` of a quadratic function: its central difference quotient, exact for any step.
fn slope<S: Scalar, T: Sub<Output = T> + Mul<S, Output = T>>(f: impl Fn(&[S]) -> T, eta: &[S], k: usize) -> T {
    let (mut ahead, mut behind) = (eta.to_vec(), eta.to_vec());
    ahead[k] += S::one();
    behind[k] -= S::one();
    (f(&ahead) - f(&behind)) * S::lift(0.5)
}

/// Returns `Mᵢ` and `γᵢ` of a body with the velocities `ξ = (ω, v, η̇)`: Lagrange's equations in
/// the body's own axes, with `T = ½ ξᵀ M(η) ξ` and `π = M ξ`,
///
/// ```text
///     t = π̇_ω + ω × π_ω + v × π_v,   f = π̇_v + ω × π_v,   Q_k = π̇_k − ½ ξᵀ ∂M/∂η_k ξ
/// ```
fn alone(body: &BodyConstants, eta: &[f64], xi: &DVector<f64>) -> (DMatrix<f64>, DVector<f64>) {
    let M = mass_matrix_alone(body, eta);
    let pi = Wrench::from_slice((&M * xi).as_slice());
    // In `pi`, angular momentum takes the position of a torque, momentum that of a force.
    let V = Twist::from_slice(xi.as_slice());
    let carried = Wrench::new(V.w.cross(&pi.t) + V.v.cross(&pi.f), V.w.cross(&pi.f));
    let mut gamma = DVector::zeros(xi.len());
    gamma.rows_mut(0, 6).copy_from_slice(&carried.to_array());
    for k in 0..eta.len() {
        let along = |(l, &eta): (usize, &f64)| Dual::<1>::new(eta, [f64::from(u8::from(k == l))]);
        let eta: Vec<Dual<1>> = eta.iter().enumerate().map(along).collect();
        let by_eta = mass_matrix_alone(body, &eta).map(|entry| entry.eps[0]) * xi;
        gamma[6 + k] -= 0.5 * xi.dot(&by_eta);
        gamma += by_eta * xi[6 + k];
    }
    (M, gamma)
}

/// Returns the mass matrix over `(ω, v, η̇)` of a body with the displacement `Σ f_i e_i z_i(η)`:
/// with `a_i = ∫ f_i dm`, `Y_i = ∫ x f_i dm` and `A_ij = ∫ f_i f_j dm`
///
/// ```text
///     ∫ p dm     = h + Σ a_i e_i z_i
///     ∫ p pᵀ dm  = ∫ x xᵀ dm + Σ (Y_i e_iᵀ + e_i Y_iᵀ) z_i + Σ A_ij e_i e_jᵀ z_i z_j
///     ∫ p f_i dm = Y_i + Σ A_ij e_j z_j
/// ```
///
/// and each field's part of the modes is `∂z_i/∂η_k`. The spin of sections and the remaining modal
/// inertia are constant.
fn mass_matrix_alone<S: Scalar>(body: &BodyConstants, eta: &[S]) -> DMatrix<S> {
    let modes = eta.len();
    let mut M = DMatrix::zeros(6 + modes, 6 + modes);
    let mut h = lift3::<S>(&body.h);
    let J = body.J_Bo.lift::<S>().full();
    let mut P = Mat3::identity() * (J.trace() * S::lift(0.5)) - J;
    if let Some(elastic) = &body.elastic {
        let fields = elastic.fields.len();
        let in_body = |v: &Vec3<f64>| lift3::<S>(&(elastic.axes * v));
        let A = |i: usize, j: usize| S::lift(elastic.products[i * fields + j]);
        let e: Vec<Vec3<S>> = elastic
            .fields
            .iter()
            .map(|field| in_body(&Vec3::ith(field.axis, 1.0)))
            .collect();
        let Y: Vec<Vec3<S>> = elastic.fields.iter().map(|field| in_body(&field.Y)).collect();
        let z = |eta: &[S]| DVector::from_fn(fields, |i, _| amplitude(&elastic.fields[i], eta));
        let slopes = |eta: &[S]| (0..modes).map(|k| slope(z, eta, k)).collect::<Vec<_>>();
        let (z, dz, dz_at_rest) = (z(eta), slopes(eta), slopes(&vec![S::zero(); modes]));
        for (k, mode) in elastic.modes.iter().enumerate() {
            M.fixed_view_mut::<3, 1>(0, 6 + k).copy_from(&in_body(&mode.b));
            for l in 0..modes {
                M[(6 + k, 6 + l)] = S::lift(elastic.mass[k * modes + l]);
            }
        }
        for (i, field) in elastic.fields.iter().enumerate() {
            let ae = e[i] * S::lift(field.a);
            let mut moved = Y[i];
            h += ae * z[i];
            P += (Y[i] * e[i].transpose() + e[i] * Y[i].transpose()) * z[i];
            for j in 0..fields {
                moved += e[j] * (A(i, j) * z[j]);
                P += e[i] * e[j].transpose() * (A(i, j) * z[i] * z[j]);
                for k in 0..modes {
                    for l in 0..modes {
                        let bent = dz[k][i] * dz[l][j] - dz_at_rest[k][i] * dz_at_rest[l][j];
                        M[(6 + k, 6 + l)] += A(i, j) * e[i].dot(&e[j]) * bent;
                    }
                }
            }
            for k in 0..modes {
                let momentum = Wrench::new(moved.cross(&e[i]), ae) * dz[k][i];
                for (row, part) in momentum.to_array().into_iter().enumerate() {
                    M[(row, 6 + k)] += part;
                }
            }
        }
    }
    M.fixed_view_mut::<3, 3>(0, 0)
        .copy_from(&(Mat3::identity() * P.trace() - P));
    M.fixed_view_mut::<3, 3>(0, 3).copy_from(&cross_matrix(&h));
    M.fixed_view_mut::<3, 3>(3, 3).fill_diagonal(S::lift(body.m));
    M.fill_lower_triangle_with_upper_triangle();
    M
}

/// Returns `z(η)` of a field.
fn amplitude<S: Scalar>(field: &Field, eta: &[S]) -> S {
    match field.amplitude {
        Amplitude::Mode(k) => eta[k],
        Amplitude::Pair(k, l) if k == l => eta[k] * eta[k] * S::lift(0.5),
        Amplitude::Pair(k, l) => eta[k] * eta[l],
    }
}

/// Returns a spacecraft at a random state.
fn at_random(plant: Plant, seed: u64) -> RandomTree {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let system = plant.model().system();
    let mut numbers = |n: usize| -> Vec<f64> { (0..n).map(|_| rng.random_range(-1.5..1.5)).collect() };
    let [mut q, qd, qdd] = [system.nq, system.nv, system.nv].map(&mut numbers);
    let modes = system.bodies.iter().filter_map(|body| body.modes.as_ref());
    modes.for_each(|modes| q[modes.coordinates()].iter_mut().for_each(|eta| *eta *= 0.1));
    RandomTree { q, qd, qdd, plant }
}

fn compiled(spec: &Spec) -> Plant {
    let model = Model::compile(spec).expect("a sound craft");
    Plant::new(model.into()).expect("the spec's own values")
}

/// Returns another spacecraft at a random state: its first body is attached to the world by a joint
/// like its first joint, and its last fixed joint is replaced by a free one.
fn on_the_world(tree: &RandomTree, seed: u64) -> RandomTree {
    let mut spec = tree.plant.model().spec.clone();
    let mut ground = spec.joint[0].clone();
    (ground.parent, ground.child) = ("world".to_owned(), "b0".to_owned());
    let weld = spec.joint.values_mut().rfind(|joint| joint.kind == JointType::Fixed);
    weld.into_iter().for_each(|weld| weld.kind = JointType::Free);
    spec.joint.insert("ground".to_owned(), ground);
    at_random(compiled(&spec), seed)
}

const TREES: u64 = 120;

/// Returns random spacecraft, half of them on the world, and one with every joint and with beams in
/// segments, at ten random states.
fn trees() -> impl Iterator<Item = (u64, RandomTree)> {
    let random = (0..TREES).map(|seed| {
        let tree = random_tree(seed, 5 + (seed as usize * 7) % 56, 1.0);
        (seed, if seed % 4 < 2 { tree } else { on_the_world(&tree, seed) })
    });
    // Prescribed joints move under their loads here, since a prescribed motion has no equation of
    // its own.
    let mut spec = crate::plant(&every_load(FAR)).model().spec.clone();
    spec.joint
        .values_mut()
        .for_each(|joint| joint.motion = JointMotion::Loads);
    let everything = (TREES..TREES + 10).map(move |seed| (seed, at_random(compiled(&spec), seed)));
    random.chain(everything)
}

/// `M` and `h` equal those of the composite-rigid-body algorithm and of inverse dynamics, and the
/// accelerations of the articulated-body algorithm satisfy `M q̈ + h = τ`: for floating and fixed,
/// rigid and flexible trees, with all types of joints. Every rate is scaled by its own inertia, so
/// that light and heavy bodies have equal weight. Tolerance: 1e-12, some thousand round-offs for
/// chains of up to 61 bodies.
#[test]
fn natural_orthogonal_complement_equals_the_recursive_formulation() {
    let mut worst = [[0.0_f64; 3]; 2];
    let mut kinds = HashSet::new();
    for (seed, tree) in trees() {
        let (system, derived) = (tree.plant.model().system(), tree.plant.derived());
        let recursion = ByRecursion::of(&tree);
        let ByRecursion {
            kinematics,
            applied,
            qdd,
            ..
        } = &recursion;
        let M = mass_matrix(system, derived, kinematics);
        let (rest, mut h) = (vec![0.0; system.nv], vec![0.0; system.nv]);
        let at = Configuration {
            system,
            derived,
            kinematics,
        };
        InverseDynamics::new(system).solve(at, applied, &rest, &mut h);
        let found = Assembled::of(&tree, &recursion);

        let size = M.diagonal().map(f64::sqrt);
        let scaled = |torque: &DVector<f64>| torque.component_div(&size);
        let off_M = (&found.M - &M).component_div(&(&size * size.transpose())).amax();
        let off_h = relative_distance(scaled(&found.h).as_slice(), scaled(&DVector::from_vec(h)).as_slice());
        let [qdd, tau] = [qdd, &applied.tau].map(|numbers| DVector::from_column_slice(numbers));
        let left = &found.M * &qdd + &found.h - tau;
        let off_tau = scaled(&left).norm() / qdd.component_mul(&size).norm();
        for off in [off_M, off_h, off_tau] {
            assert!(off < 1e-12, "seed {seed}: M {off_M:e}, h {off_h:e}, left {off_tau:e}");
        }
        let flexible = usize::from(system.bodies.iter().any(|body| body.modes.is_some()));
        for (worst, off) in worst[flexible].iter_mut().zip([off_M, off_h, off_tau]) {
            *worst = worst.larger(off);
        }
        kinds.extend(system.bodies.iter().map(|body| body.joint.kind.name()));
    }
    for (name, [M, h, left]) in ["rigid", "flexible"].into_iter().zip(worst) {
        println!("{name}: mass matrix {M:.1e}, bias {h:.1e}, what the accelerations leave {left:.1e} (1e-12)");
    }
    assert_eq!(
        kinds.len(),
        KINDS.len() + 2,
        "free and rectangular joints besides: {kinds:?}"
    );
}
