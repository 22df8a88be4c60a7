//! Spring-damper in six directions, of grasps and interfaces.

use crate::algebra::fused::{rotated, rotated_back};
use crate::algebra::{Mat3, Scalar, Twist, Vec3, Wrench, lift3};
use crate::spec::{BushingFields, PerAxis, at};
use crate::system::{Declarations, ParamId, Unit};

/// Spring-damper in six directions between two frames, relaxed when they coincide.
///
/// With the displacement `g` (m) of b relative to a, the relative rotation vector `θ` (rad) and the
/// relative angular velocity `w` (rad/s), all in axes of a,
///
/// ```text
///     F = k g + c ġ,      T = k_t θ + c_t w
/// ```
///
/// are the force and the moment on a at the origin of b. (Yang et al. 2023, Eqs. 66–68, in the
/// plane; their angle has the sign of `θ` here.)
#[derive(Clone, Debug)]
pub(super) struct Bushing {
    /// Index of the first of three parameters, as for the gains below.
    pub stiffness: ParamId,
    damping: ParamId,
    pub angular_stiffness: Option<ParamId>,
    angular_damping: Option<ParamId>,
}

impl Bushing {
    /// Declares the gains of the table `section.name`; `axes_of` is the frame in whose axes it acts.
    pub fn declare(
        [section, name]: [&str; 2],
        axes_of: &str,
        fields: &BushingFields,
        declare: &mut Declarations,
    ) -> Self {
        let mut gain = |field: &str, value: &PerAxis, unit, what: &str| {
            let what = format!("{what} of {section} {name}, axes of {axes_of}");
            declare.gains(
                &format!("{name}.{field}"),
                value,
                unit,
                &what,
                &at(section, name, field),
            )
        };
        let stiffness = gain("stiffness", fields.stiffness, Unit::NewtonPerMetre, "stiffness");
        let damping = gain("damping", fields.damping, Unit::NewtonSecondPerMetre, "damping");
        let mut turning =
            |field: &str, value: Option<&PerAxis>, unit, what: &str| value.map(|value| gain(field, value, unit, what));
        Self {
            stiffness,
            damping,
            angular_stiffness: turning(
                "angular_stiffness",
                fields.angular_stiffness,
                Unit::NewtonMetrePerRadian,
                "rotational stiffness",
            ),
            angular_damping: turning(
                "angular_damping",
                fields.angular_damping,
                Unit::NewtonMetreSecondPerRadian,
                "rotational damping",
            ),
        }
    }

    /// Returns the gains whose values along y and z differ.
    pub fn uneven_across(&self, parameters: &[f64]) -> impl Iterator<Item = ParamId> {
        let gains = [
            Some(self.stiffness),
            Some(self.damping),
            self.angular_stiffness,
            self.angular_damping,
        ];
        gains.into_iter().flatten().filter(|id| {
            let [_, y, z] = id.vector(parameters).into();
            y != z
        })
    }

    /// Returns the wrench on a about the origin of b, world axes, from the axes of a, the
    /// displacement `g` (m) and its rate in axes of a (m/s), `θ` (rad, axes of a) and `w` (rad/s);
    /// all but `θ` in world axes.
    pub fn wrench<S: Scalar>(
        &self,
        parameters: &[f64],
        R_WA: &Mat3<S>,
        [gap, gap_rate, w]: [Vec3<S>; 3],
        turn: &Vec3<S>,
    ) -> Wrench<S> {
        let gain = |id: ParamId| lift3::<S>(&id.vector(parameters));
        let [g, g_dot, w] = [gap, gap_rate, w].map(|v| rotated_back(R_WA, &v));
        let f = gain(self.stiffness).component_mul(&g) + gain(self.damping).component_mul(&g_dot);
        let of_turn = |id: Option<ParamId>, v: &Vec3<S>| id.map_or_else(Vec3::zeros, |id| gain(id).component_mul(v));
        let t = of_turn(self.angular_stiffness, turn) + of_turn(self.angular_damping, &w);
        Wrench::new(rotated(R_WA, &t), rotated(R_WA, &f))
    }

    /// Returns the derivatives of the power of [`wrench`](Self::wrench) on the motion `along` about
    /// the same point.
    pub fn weigh(
        &self,
        parameters: &[f64],
        R_WA: &Mat3<f64>,
        [gap, gap_rate, w]: [Vec3<f64>; 3],
        turn: &Vec3<f64>,
        along: &Twist<f64>,
    ) -> BushingBars {
        let F = self.wrench(parameters, R_WA, [gap, gap_rate, w], turn);
        let [of_t, of_f] = [along.w, along.v].map(|v| R_WA.tr_mul(&v));
        let gain = |id: ParamId, v: &Vec3<f64>| id.vector(parameters).component_mul(v);
        let of_turn = |id: Option<ParamId>| id.map_or_else(Vec3::zeros, |id| gain(id, &of_t));
        let of_gap = R_WA * gain(self.stiffness, &of_f);
        let of_rate = R_WA * gain(self.damping, &of_f);
        let of_w = R_WA * of_turn(self.angular_damping);
        let of_wrench = F.f.cross(&along.v) + F.t.cross(&along.w);
        BushingBars {
            gap: of_gap,
            gap_rate: of_rate,
            w: of_w,
            turn: of_turn(self.angular_stiffness),
            axes: of_wrench + of_gap.cross(&gap) + of_rate.cross(&gap_rate) + of_w.cross(&w),
        }
    }
}

/// Derivatives with respect to the arguments of [`Bushing::wrench`], and to a rotation of the axes
/// of a.
pub(super) struct BushingBars {
    pub gap: Vec3<f64>,
    pub gap_rate: Vec3<f64>,
    pub w: Vec3<f64>,
    /// Axes of a.
    pub turn: Vec3<f64>,
    pub axes: Vec3<f64>,
}
