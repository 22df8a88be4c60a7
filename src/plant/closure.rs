//! Captured frames: constraints between bodies beside the joints', closed by the wrenches that it takes.

use super::{Discrete, Model};
use crate::Error;
use crate::algebra::{Mat3, Scalar, Twist, Vec3, Wrench, lift3, lift33, spd};
use crate::dynamics::{Applied, Dynamics};
use crate::loads::{Capture, Contact, Pair};
use crate::system::{Derived, Kinematics, System};

/// How captured frames are held together: the origin of a stays where it was in b (pin), and a does not turn in b either (grasp).
///
/// Each row forbids one relative rotation or translation at the origin of a. A frame on a nodal beam has no attitude about the beam's direction, so a grasp
/// holds only the two rotations across it: five rows. With `φ` by how far they are off, in axes of b,
///
/// ```text
///     φ̈ + 2α φ̇ + β² φ = 0   ⟺   W λ = target − J A,     W = J M⁻¹ Jᵀ
/// ```
///
/// where `A` is the acceleration without them. `W` is found by unit wrenches through the formulation, row by row
/// ([`Dynamics::respond`]). Which rows bear is chosen at events ([`Discrete`]): two arms on one body say some of them twice.
#[derive(Clone, Debug)]
pub(super) struct Closure<S: Scalar> {
    rows: Vec<Row>,
    held: Vec<Held<S>>,
    /// The loads beside the closing wrenches.
    loads: Applied<S>,
    /// `W`, row by row, then its factors.
    W: Vec<S>,
    lambda: Vec<S>,
    /// What the outputs tell of each capture.
    pub state: Vec<Closed<S>>,
}

/// A capture at one instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closed<S: Scalar> {
    /// Whether it holds.
    pub held: bool,
    /// Offset of the origin of a from where it was captured, m, and of the turn of a since the sine of its angle along its axis; axes of b.
    pub gap: Twist<S>,
    /// On a, about its origin, world axes.
    pub wrench: Wrench<S>,
}

impl<S: Scalar> Closed<S> {
    /// Nothing is captured.
    pub fn none() -> Self {
        Self {
            held: false,
            gap: Twist::zero(),
            wrench: Wrench::zero(),
        }
    }
}

/// One row that bears.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Its place among the captures that hold now.
    held: usize,
    /// Its place among the pair's rows.
    row: usize,
}

impl Row {
    /// Its part of a relative motion of its pair.
    fn of<S: Scalar>(self, pair: &Pair<S>, relative: &Twist<S>) -> S {
        pair.components(relative)[self.row]
    }
}

/// A capture that holds now.
#[derive(Clone, Copy, Debug)]
struct Held<S: Scalar> {
    /// Its number.
    capture: usize,
    pair: Pair<S>,
    /// What the relative acceleration shall be, beyond the bias: world axes.
    target: Twist<S>,
}

impl<S: Scalar> Closure<S> {
    /// Room for a model's captures; none if it has none.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let n = model.loads.captures().count();
        (n > 0).then(|| {
            Box::new(Self {
                rows: Vec::with_capacity(6 * n),
                held: Vec::with_capacity(n),
                loads: Applied::none(&model.system),
                W: vec![S::zero(); 36 * n * n],
                lambda: vec![S::zero(); 6 * n],
                state: vec![Closed::none(); n],
            })
        })
    }

    /// Adds the closing wrenches to the loads, and solves with them, after the solution without them. With `None` for parameters nothing is stabilised, as for
    /// the velocity jumps of an impulse.
    ///
    /// # Errors
    /// [`Error::SingularLoop`] where the rows that bear depend on each other; those of the dynamics.
    pub fn hold(
        &mut self,
        model: &Model,
        (derived, parameters): (&Derived, Option<&[f64]>),
        discrete: &Discrete,
        (kinematics, applied, dynamics): (&Kinematics<S>, &mut Applied<S>, &mut Dynamics<S>),
        (q, qdd): (&[S], &mut [S]),
    ) -> Result<(), Error> {
        let system = &model.system;
        self.set_up(model, (derived, parameters), discrete, kinematics);
        let n = self.rows.len();
        if n == 0 {
            return Ok(());
        }
        for (lambda, row) in self.lambda.iter_mut().zip(&self.rows) {
            let held = &self.held[row.held];
            *lambda = row.of(&held.pair, &held.missing(system, kinematics, dynamics.A(), qdd));
        }
        self.loads.copy_from(applied);
        for k in 0..n {
            let Row { held, row } = self.rows[k];
            applied.clear();
            let pair = &self.held[held].pair;
            pair.push(system, kinematics, applied, pair.unit(row));
            dynamics.respond(system, derived, kinematics, applied, qdd);
            for (l, row) in self.rows.iter().enumerate() {
                let held = &self.held[row.held];
                self.W[l * n + k] = row.of(&held.pair, &held.accelerates(system, kinematics, dynamics.A(), qdd));
            }
        }
        let lambda = &mut self.lambda[..n];
        spd::factor(&mut self.W[..n * n], n).map_err(|row| {
            let capture = self.held[self.rows[row].held].capture;
            let name = model
                .loads
                .captures()
                .nth(capture)
                .map_or("", |(contact, _)| &contact.name);
            Error::SingularLoop {
                contact: name.to_owned(),
            }
        })?;
        spd::solve(&self.W[..n * n], lambda);
        for (Row { held, row }, &lambda) in self.rows.iter().zip(&*lambda) {
            let Held { capture, pair, .. } = &self.held[*held];
            let closed = &mut self.state[*capture];
            closed.wrench = closed.wrench + pair.unit(*row) * lambda;
        }
        applied.copy_from(&self.loads);
        for held in &self.held {
            let F = self.state[held.capture].wrench;
            held.pair.push(system, kinematics, applied, F);
        }
        dynamics
            .solve(system, derived, kinematics, applied, (q, qdd))
            .map_err(|singular| model.named(singular))
    }

    /// Which pairs are held, which rows bear, how far they are off and what is to be done about it.
    fn set_up(
        &mut self,
        model: &Model,
        (derived, parameters): (&Derived, Option<&[f64]>),
        discrete: &Discrete,
        kinematics: &Kinematics<S>,
    ) {
        self.rows.clear();
        self.held.clear();
        self.state.fill(Closed::none());
        for (contact, capture) in model.loads.captures() {
            let bearing = discrete.bearing(model, capture.number);
            if bearing.held {
                let held = self.held.len();
                let rows = (0..6).filter(|&row| bearing.rows[row]);
                self.rows.extend(rows.map(|row| Row { held, row }));
                let captured = discrete.captured(model, capture.number);
                let of = (&model.system, derived, kinematics);
                let (held, gap) = Held::of(of, (contact, capture), captured, parameters);
                let closed = &mut self.state[capture.number];
                (closed.held, closed.gap) = (true, gap);
                self.held.push(held);
            }
        }
    }
}

impl<S: Scalar> Held<S> {
    /// A capture, and by how far it is off from how it was captured: the place of a in b, m, and its attitude there.
    fn of(
        of: (&System, &Derived, &Kinematics<S>),
        (contact, capture): (&Contact, Capture),
        (p_BA, R_BA): (Vec3<f64>, Mat3<f64>),
        parameters: Option<&[f64]>,
    ) -> (Self, Twist<S>) {
        let (system, derived, kinematics) = of;
        let pair = contact.captured_pair(of, capture);
        let frames = [contact.a, contact.b].map(|frame| kinematics.pose(system, derived, frame));
        let ((p_now, R_now), R_then) = (Contact::relative_pose(&frames), lift33::<S>(&R_BA));
        // Of a small turn, the sine of its angle along its axis.
        let turned = |k: usize| R_then.column(k).cross(&R_now.column(k));
        let gap = Twist::new(
            match pair.rows().start {
                0 => (turned(0) + turned(1) + turned(2)) * S::lift(0.5),
                1 => turned(0),
                _ => Vec3::zeros(),
            },
            p_now - lift3::<S>(&p_BA),
        );
        let u = pair.relative(|on| kinematics.carrier(on).V_WB);
        let w_B = kinematics.carrier(pair.carriers()[1]).V_WB.w;
        // With the accelerations a of the two points that meet now, φ̈ is, seen from b, a_A − a_B − 2 w_B × u; of the turning it is α_A − α_B − w_B × u.
        let mut target = Twist::new(w_B.cross(&u.w), w_B.cross(&u.v) * S::lift(2.0)) - pair.bias(kinematics);
        if let Some(parameters) = parameters {
            let [alpha, beta] = capture.gains(parameters);
            target = target - u * S::lift(2.0 * alpha) - gap.express(&frames[1].R) * S::lift(beta * beta);
        }
        let capture = capture.number;
        (Self { capture, pair, target }, gap)
    }

    /// What of its target the relative acceleration lacks, of the accelerations of the bodies beyond their bias and of the rates' derivatives.
    fn missing(&self, system: &System, kinematics: &Kinematics<S>, A: &[Twist<S>], qdd: &[S]) -> Twist<S> {
        self.target - self.accelerates(system, kinematics, A, qdd)
    }

    /// The relative acceleration, of the same.
    fn accelerates(&self, system: &System, kinematics: &Kinematics<S>, A: &[Twist<S>], qdd: &[S]) -> Twist<S> {
        self.pair.relative(|on| kinematics.beyond_bias_of(system, on, A, qdd))
    }
}
