use super::{AncfBeam, NodalConstants, PER_NODE, PointKinematics, across};
use crate::algebra::{Vec3, Wrench};
use crate::nodal::interpolate;
use crate::system::JointState;

/// Derivatives of a function with respect to position and motion of a point of an ANCF beam.
#[derive(Clone, Copy, Debug)]
pub struct PointGradient {
    /// With respect to the pose of the point's axes: the moment belongs to rotations in world axes.
    pub pose: Wrench<f64>,
    /// With respect to the velocity.
    pub velocity: Wrench<f64>,
    /// With respect to the angular part of `A_bias`.
    pub bias: Vec3<f64>,
    /// With respect to the slope.
    pub slope: Vec3<f64>,
}

impl PointKinematics<f64> {
    /// Returns the slope of the beam at the point.
    pub fn slope(&self) -> &Vec3<f64> {
        &self.slope
    }

    /// Adds the derivatives of a function with the gradient `of` with respect to nodal coordinates
    /// and rates to `q_bar` and `qd_bar` (`docs/theory/adjoint.md`, (22)).
    pub(crate) fn add_adjoint(
        &self,
        beam: &AncfBeam,
        constants: &NodalConstants,
        joints: JointState<f64>,
        of: &PointGradient,
        q_bar: &mut [f64],
        qd_bar: &mut [f64],
    ) {
        let (site, s) = (&self.site, &self.slope);
        let rate = interpolate(site.slope, &AncfBeam::of_element(joints.qd, beam.v, site.element));
        let per_ss = 1.0 / s.dot(s);
        let (w, stretching) = (self.at.V_WB.w, s.dot(&rate) * per_ss);
        // The bias is −2 σ w with the stretching rate σ = (s·ṡ)/|s|², and w = s × ṡ/|s|².
        let of_stretching = -2.0 * of.bias.dot(&w);
        let of_w = of.velocity.t - of.bias * (2.0 * stretching);
        let of_square = of_w.dot(&w) + of_stretching * stretching;
        let by_slope = of.slope
            + (rate.cross(&of_w) + rate * of_stretching - s * (2.0 * of_square)) * per_ss
            + self.turn_by_slope(&constants.z, &of.pose.t);
        let by_rate = (of_w.cross(s) + s * of_stretching) * per_ss;
        let first = PER_NODE * site.element;
        let add = |bars: &mut [f64], by_position: &Vec3<f64>, by_slope: &Vec3<f64>| {
            let weights = site.shape.into_iter().zip(site.slope);
            for (bars, (shape, slope)) in bars.chunks_exact_mut(3).zip(weights) {
                let by = by_position * shape + by_slope * slope;
                bars.iter_mut().zip(&by).for_each(|(bar, by)| *bar += by);
            }
        };
        add(&mut q_bar[beam.q + first..], &of.pose.f, &by_slope);
        add(&mut qd_bar[beam.v + first..], &of.velocity.f, &by_rate);
    }

    /// Returns the derivative of `moment·θ` with respect to the slope, for the rotation `θ` of the
    /// point's axes.
    fn turn_by_slope(&self, z: &Vec3<f64>, moment: &Vec3<f64>) -> Vec3<f64> {
        let R = &self.at.R_WB;
        let (x, z_axis) = (R.column(0).into_owned(), R.column(2).into_owned());
        let (towards, perpendicular) = across(&x, z);
        // The spin about x keeps y perpendicular to the constant direction.
        let by_x = z_axis.cross(&towards) * (moment.dot(&x) / perpendicular.norm());
        (moment.cross(&x) + by_x - x * x.dot(&by_x)) / self.slope.norm()
    }
}
