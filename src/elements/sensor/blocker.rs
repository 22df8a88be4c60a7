//! Solids that block a line of sight.

use crate::algebra::{Pose, Scalar, Vec3, lift33};
use crate::elements::{Compiler, View};
use crate::spec::{self, BlockerType, SURFACE, at};
use crate::system::{Bound, FrameRef, ParamId, Quantity, Unit};

/// Solid at a frame, with the parameters of its dimensions.
#[derive(Clone, Debug)]
pub(super) struct Blocker {
    frame: FrameRef,
    /// Pose in the frame.
    X_FS: Pose<f64>,
    dimensions: Dimensions,
}

/// Parameters of a solid's dimensions.
#[derive(Clone, Copy, Debug)]
enum Dimensions {
    Sphere {
        radius: ParamId,
    },
    /// First of three lengths.
    Box {
        size: ParamId,
    },
    Cylinder {
        radius: ParamId,
        length: ParamId,
    },
}

/// Segment of a line of sight in axes of a solid: from `p` along `r`, m.
#[derive(Clone, Copy, Debug)]
struct Segment<S: Scalar> {
    p: Vec3<S>,
    r: Vec3<S>,
}

impl Blocker {
    /// Declares the solids of a sensor.
    pub fn declare(name: &str, written: &spec::Sensor, from: &mut Compiler) -> Vec<Self> {
        let spec = from.spec;
        let solids: Vec<spec::Blocker> = written.blocked_by.iter().flat_map(|of| of.solids(spec)).collect();
        let mut counts = [0; 3];
        let mut declare = |from: &mut Compiler, field: usize, value: f64, frame: &str| {
            counts[field] += 1;
            let field_name = ["radius", "length", "size"][field];
            let what = format!("{field_name} of a solid at {frame} that blocks the sight of sensor {name}");
            let quantity = Quantity::new(
                format!("{name}.blocker_{field_name}[{}]", counts[field]),
                Unit::Metre,
                what,
            );
            let place = at("sensor", name, "blocked_by");
            (from.declare).parameter(quantity.bounded(Bound::Positive), value, true, &place)
        };
        let radii: Vec<Option<ParamId>> = solids
            .iter()
            .map(|of| of.radius.map(|radius| declare(from, 0, radius, &of.frame)))
            .collect();
        let lengths: Vec<Option<ParamId>> = solids
            .iter()
            .map(|of| of.length.map(|length| declare(from, 1, length, &of.frame)))
            .collect();
        let sizes: Vec<Option<ParamId>> = solids
            .iter()
            .map(|of| {
                of.size
                    .map(|size| size.map(|length| declare(from, 2, length, &of.frame))[0])
            })
            .collect();
        let dimensions = |i: usize| {
            Some(match solids[i].kind {
                BlockerType::Sphere => Dimensions::Sphere { radius: radii[i]? },
                BlockerType::Box => Dimensions::Box { size: sizes[i]? },
                BlockerType::Cylinder => Dimensions::Cylinder {
                    radius: radii[i]?,
                    length: lengths[i]?,
                },
            })
        };
        let mut blockers = Vec::new();
        for (i, solid) in solids.iter().enumerate() {
            let frame = from.frame(["sensor", name, "blocked_by"], &solid.frame);
            if let (Some(frame), Some(dimensions)) = (frame, dimensions(i)) {
                blockers.push(Self {
                    frame,
                    X_FS: solid.pose(),
                    dimensions,
                });
            }
        }
        blockers
    }

    /// Returns 1 if the segment from `from` along `r` (m, world axes) passes by the solid, else 0;
    /// without an end, the ray.
    pub fn passed<S: Scalar>(&self, view: &View<S>, from: &Vec3<S>, r: &Vec3<S>, has_end: bool) -> S {
        let now = &view.now;
        let X_WF = now.configuration().pose(self.frame);
        let R_WS = X_WF.R * lift33::<S>(&self.X_FS.R);
        let p = R_WS.tr_mul(&(from - X_WF.p)) - self.X_FS.R.tr_mul(&self.X_FS.p).map(S::lift);
        let along = R_WS.tr_mul(r);
        let parameters = S::numbers(now.parameters);
        let of = |id: ParamId| id.of(parameters) * (1.0 - SURFACE);
        let reach = match self.dimensions {
            Dimensions::Sphere { radius } => of(radius),
            Dimensions::Box { size } => [0, 1, 2].map(|i| of(size.nth(i))).iter().sum::<f64>(),
            Dimensions::Cylinder { radius, length } => of(radius) + of(length),
        };
        let r = match has_end {
            true => along,
            // Beyond this distance a ray has left the solid.
            false => along * (norm_1(&p) + S::lift(reach)),
        };
        let segment = Segment { p, r };
        match self.dimensions {
            Dimensions::Sphere { radius } => segment.passes_sphere(of(radius)),
            Dimensions::Box { size } => segment.passes_box([0, 1, 2].map(|i| 0.5 * of(size.nth(i)))),
            Dimensions::Cylinder { radius, length } => segment.passes_cylinder(of(radius), 0.5 * of(length)),
        }
    }
}

/// Returns the sum of the magnitudes of the components, which is at least the length.
fn norm_1<S: Scalar>(p: &Vec3<S>) -> S {
    magnitude(p[0]) + magnitude(p[1]) + magnitude(p[2])
}

fn magnitude<S: Scalar>(x: S) -> S {
    S::select(x.exceeds(0.0), x, -x)
}

/// Returns the number nearest to `s` in `low … high`.
fn clamped<S: Scalar>(s: S, [low, high]: [S; 2]) -> S {
    let s = S::select((low - s).exceeds(0.0), low, s);
    S::select((s - high).exceeds(0.0), high, s)
}

impl<S: Scalar> Segment<S> {
    /// Returns 1 if its distance from the origin exceeds the radius, else 0.
    fn passes_sphere(&self, radius: f64) -> S {
        let rr = self.r.dot(&self.r);
        let s = clamped(-self.p.dot(&self.r) / not_zero(rr), [S::zero(), S::one()]);
        let off: Vec3<S> = self.p + self.r * s;
        S::select(off.dot(&off).exceeds(radius * radius), S::one(), S::zero())
    }

    /// Returns 1 if an axis separates it from a box with these half lengths, else 0: the axes of the box,
    /// and their cross products with the segment.
    fn passes_box(&self, half: [f64; 3]) -> S {
        let h = self.r * S::lift(0.5);
        let m = self.p + h;
        let reach = h.map(magnitude);
        let mut passed = S::zero();
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let along = magnitude(m[i]) - reach[i];
            passed = S::select(along.exceeds(half[i]), S::one(), passed);
            let across =
                magnitude(m[j] * h[k] - m[k] * h[j]) - reach[k] * S::lift(half[j]) - reach[j] * S::lift(half[k]);
            passed = S::select(across.exceeds(0.0), S::one(), passed);
        }
        passed
    }

    /// Returns 1 if the part between the planes of the ends of a cylinder about z is empty or farther
    /// from the axis than the radius, else 0.
    fn passes_cylinder(&self, radius: f64, half_length: f64) -> S {
        let (zero, one) = (S::zero(), S::one());
        let (p, r) = (&self.p, &self.r);
        let slope = not_zero(r[2]);
        let ends = [-half_length, half_length].map(|z| (S::lift(z) - p[2]) / slope);
        let is_rising = r[2].exceeds(0.0);
        let low = S::select(is_rising, ends[0], ends[1]);
        let high = S::select(is_rising, ends[1], ends[0]);
        // A segment perpendicular to the axis is between the planes for its whole length, or beyond.
        let is_level = |then: S, other: S| S::select(magnitude(r[2]).exceeds(0.0), other, then);
        let beyond = S::select(magnitude(p[2]).exceeds(half_length), one, zero);
        let low = is_level(zero, S::select(low.exceeds(0.0), low, zero));
        let high = is_level(one, S::select(high.exceeds(1.0), one, high));
        let is_apart = is_level(beyond, S::select((low - high).exceeds(0.0), one, zero));
        let rr = r[0] * r[0] + r[1] * r[1];
        let s = clamped(-(p[0] * r[0] + p[1] * r[1]) / not_zero(rr), [low, high]);
        let (x, y) = (p[0] + r[0] * s, p[1] + r[1] * s);
        let is_wide = S::select((x * x + y * y).exceeds(radius * radius), one, zero);
        S::select(is_apart.exceeds(0.5), one, is_wide)
    }
}

/// Returns a divisor: 1 in place of zero.
fn not_zero<S: Scalar>(x: S) -> S {
    S::select(magnitude(x).exceeds(0.0), x, S::one())
}
