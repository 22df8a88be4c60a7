//! Captured frames: constraints between bodies beside the joints', closed by the wrenches that it takes.

use super::evaluation::named;
use super::{Discrete, Model};
use crate::Error;
use crate::algebra::{Scalar, Twist, Vec3, Wrench, lift3, lift33, spd};
use crate::dynamics::{Applied, Dynamics};
use crate::loads::Contact;
use crate::system::{Carrier, Derived, Kinematics, System};

/// How captured frames are held together: the origin of a stays where it was in b (pin), and a does not turn in b either (grasp).
///
/// What the rows excludes is relative motion, in world axes, at the origin of a. With `φ` by how far they are off, in axes of b,
///
/// ```text
///     φ̈ + 2α φ̇ + β² φ = 0   ⟺   W λ = target − J A,     W = J M⁻¹ Jᵀ
/// ```
///
/// where `A` is the acceleration without them. `W` is found by unit wrenches through the formulation, row by row: what an evaluation adds to the
/// accelerations is linear in the loads, in every formulation. Which rows bear is chosen at events ([`Discrete`]): two arms on one body say some of them twice.
#[derive(Clone, Debug)]
pub(super) struct Closure<S: Scalar> {
    rows: Vec<Row>,
    pairs: Vec<Held<S>>,
    /// The loads beside the closing wrenches.
    loads: Applied<S>,
    /// `W`, row by row, then its factors.
    W: Vec<S>,
    lambda: Vec<S>,
    /// By how far each captured pair is off, in axes of b: a length and an angle as a vector, and the wrench on a about its origin, world axes.
    pub state: Vec<Closed<S>>,
}

/// A captured pair at one instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closed<S: Scalar> {
    /// Offset of the origin of a from where it was captured, m, and angle by which a has turned since, rad; axes of b.
    pub gap: Twist<S>,
    /// On a, about its origin, world axes.
    pub wrench: Wrench<S>,
}

impl<S: Scalar> Closed<S> {
    /// Nothing is captured.
    pub fn none() -> Self {
        Self {
            gap: Twist::zero(),
            wrench: Wrench::zero(),
        }
    }
}

/// One row that bears.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Its pair among those that are held now.
    pair: usize,
    /// 0 to 2: along an axis of the world; 3 to 5: about one.
    axis: usize,
}

impl Row {
    fn of<S: Scalar>(self, relative: &Twist<S>) -> S {
        match self.axis {
            0..3 => relative.v[self.axis],
            axis => relative.w[axis - 3],
        }
    }

    fn unit<S: Scalar>(self) -> Wrench<S> {
        let axis = |first: usize| Vec3::from_fn(|i, _| if first + i == self.axis { S::one() } else { S::zero() });
        Wrench::new(axis(3), axis(0))
    }
}

/// A pair that is held now.
#[derive(Clone, Copy, Debug)]
struct Held<S: Scalar> {
    capture: usize,
    on: [Carrier; 2],
    /// From the origins of what carries the frames to that of a, m, world axes.
    arms: [Vec3<S>; 2],
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
                pairs: Vec::with_capacity(n),
                loads: Applied::none(&model.system),
                W: vec![S::zero(); 36 * n * n],
                lambda: vec![S::zero(); 6 * n],
                state: vec![Closed::none(); n],
            })
        })
    }

    /// Adds the closing wrenches to the loads, and solves with them, after the solution without them. `gains`: the parameters, of which the gaps' gains are; none where
    /// nothing closes gaps, at an impulse.
    pub fn hold(
        &mut self,
        model: &Model,
        (derived, gains): (&Derived, Option<&[f64]>),
        discrete: &Discrete,
        (kinematics, applied, dynamics): (&Kinematics<S>, &mut Applied<S>, &mut Dynamics<S>),
        (q, qdd): (&[S], &mut [S]),
    ) -> Result<(), Error> {
        let system = &model.system;
        self.set_up(model, (derived, gains), discrete, kinematics);
        let n = self.rows.len();
        if n == 0 {
            return Ok(());
        }
        for (lambda, row) in self.lambda.iter_mut().zip(&self.rows) {
            let pair = &self.pairs[row.pair];
            let A = pair.relative(system, kinematics, dynamics.A(), qdd);
            *lambda = row.of(&(pair.target - A));
        }
        self.loads.copy_from(applied);
        for k in 0..n {
            let row = self.rows[k];
            applied.copy_from(&self.loads);
            self.pairs[row.pair].push(system, kinematics, applied, row.unit());
            dynamics
                .solve(system, derived, kinematics, applied, (q, &mut *qdd))
                .map_err(|singular| named(model, singular))?;
            for (l, row) in self.rows.iter().enumerate() {
                let pair = &self.pairs[row.pair];
                let with = pair.target - pair.relative(system, kinematics, dynamics.A(), qdd);
                self.W[l * n + k] = self.lambda[l] - row.of(&with);
            }
        }
        let lambda = &mut self.lambda[..n];
        spd::factor(&mut self.W[..n * n], n).map_err(|row| Error::Singular {
            what: format!("contact \"{}\"", self.pairs[self.rows[row].pair].name(model)),
        })?;
        spd::solve(&self.W[..n * n], lambda, |x| x);
        applied.copy_from(&self.loads);
        for (row, &lambda) in self.rows.iter().zip(&*lambda) {
            let (pair, F) = (&self.pairs[row.pair], row.unit() * lambda);
            pair.push(system, kinematics, applied, F);
            let closed = &mut self.state[pair.capture];
            closed.wrench = closed.wrench + F;
        }
        dynamics
            .solve(system, derived, kinematics, applied, (q, qdd))
            .map_err(|singular| named(model, singular))
    }

    /// Which pairs are held, which rows bear, how far they are off and what is to be done about it.
    fn set_up(
        &mut self,
        model: &Model,
        (derived, gains): (&Derived, Option<&[f64]>),
        discrete: &Discrete,
        kinematics: &Kinematics<S>,
    ) {
        self.rows.clear();
        self.pairs.clear();
        self.state.fill(Closed::none());
        for (capture, (_, contact)) in model.loads.captures().enumerate() {
            let bearing = discrete.bearing(model, capture);
            if !bearing.held {
                continue;
            }
            let pair = self.pairs.len();
            let axes = (0..6).filter(|&axis| bearing.rows[axis]);
            self.rows.extend(axes.map(|axis| Row { pair, axis }));
            let (held, gap) = held(model, (derived, gains), (contact, capture), discrete, kinematics);
            self.state[capture].gap = gap;
            self.pairs.push(held);
        }
    }
}

/// A captured pair, and by how far it is off.
fn held<S: Scalar>(
    model: &Model,
    (derived, gains): (&Derived, Option<&[f64]>),
    (contact, capture): (&Contact, usize),
    discrete: &Discrete,
    kinematics: &Kinematics<S>,
) -> (Held<S>, Twist<S>) {
    let system = &model.system;
    let [A, B] = [contact.a, contact.b].map(|frame| kinematics.pose(system, derived, frame));
    let on = [contact.a, contact.b].map(|frame| system.carrier(frame));
    let at = on.map(|on| kinematics.carrier(on));
    let [a, b] = [contact.a, contact.b].map(|frame| kinematics.arm(system, derived, frame).p);
    let arms = [a, b + (A.p - B.p)];
    let (p_BA, R_BA) = discrete.captured(model, capture);
    // Of a small turn, the sine of its angle along its axis.
    let turned = B.R.tr_mul(&A.R) * lift33::<S>(&R_BA).transpose();
    let skew = |i: usize, j: usize| (turned[(i, j)] - turned[(j, i)]) * S::lift(0.5);
    let mut gap = Twist::new(
        Vec3::new(skew(2, 1), skew(0, 2), skew(1, 0)),
        B.R.tr_mul(&(A.p - B.p)) - lift3::<S>(&p_BA),
    );
    if contact.turns() != Some(true) {
        gap.w = Vec3::zeros();
    }
    let [a, b] = [0, 1].map(|i| at[i].V_WB.shift(&arms[i]));
    let [bias_a, bias_b] = [0, 1].map(|i| {
        let w = &at[i].V_WB.w;
        let mut bias = at[i].A_bias.shift(&arms[i]);
        bias.v += w.cross(&w.cross(&arms[i]));
        bias
    });
    // u, seen from b, changes by R_B (u̇ − w_B × u); and u̇ has w_B × (v_A − v_B(O_B)) of what is seen from there.
    let u = a - b;
    let w_B = &at[1].V_WB.w;
    let carried = Twist::new(w_B.cross(&u.w), (w_B.cross(&u.v)) * S::lift(2.0));
    let mut target = carried - (bias_a - bias_b);
    if let Some(parameters) = gains {
        let [alpha, beta] = contact.gains(parameters);
        target = target - u * S::lift(2.0 * alpha) - gap.express(&B.R) * S::lift(beta * beta);
    }
    (
        Held {
            capture,
            on,
            arms,
            target,
        },
        gap,
    )
}

impl<S: Scalar> Held<S> {
    /// The user's name of the contact.
    fn name<'a>(&self, model: &'a Model) -> &'a str {
        let contact = model.loads.captures().nth(self.capture);
        contact.map_or("", |(_, contact)| &contact.name)
    }

    /// The relative acceleration at the origin of a, beyond the bias.
    fn relative(&self, system: &System, kinematics: &Kinematics<S>, A: &[Twist<S>], qdd: &[S]) -> Twist<S> {
        let [a, b] = [0, 1].map(|i| {
            kinematics
                .beyond_bias_of(system, self.on[i], A, qdd)
                .shift(&self.arms[i])
        });
        a - b
    }

    /// Adds a wrench on a, about its origin, and its reverse on b.
    fn push(&self, system: &System, kinematics: &Kinematics<S>, applied: &mut Applied<S>, F: Wrench<S>) {
        applied.push(system, kinematics, self.on[0], F.shift(&self.arms[0]));
        applied.push(
            system,
            kinematics,
            self.on[1],
            (Wrench::zero() - F).shift(&self.arms[1]),
        );
    }
}
