use super::super::LEAST_SQUARE;
use super::feature::{Feature, Rim, Ruled};
use crate::algebra::{Scalar, Vec3, lift3};

/// Square of a sine below which two directions count as parallel: every point of the stretch that two
/// lines have in common is then nearest to round-off.
const PARALLEL: f64 = 1e-26;
/// Square of a sine below which the common normal of two lines has lost digits.
const NEARLY_PARALLEL: f64 = 1e-6;
/// Ratio of two lengths below which the smaller one is round-off.
const ROUND_OFF: f64 = 1e-13;
/// Largest step of a normal in Newton's method, rad.
const STEP: f64 = 0.2;

/// Normal and nearest points of two features, each of one solid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting<S: Scalar> {
    /// Signed distance, m.
    pub gap: S,
    /// Unit normal from the second feature towards the first.
    pub n: Vec3<S>,
    /// Nearest point of the first feature, m.
    pub on_first: Vec3<S>,
}

/// Returns true if the nearest points of the features have no closed form: [`meet`] is then one step
/// of Newton's method.
pub(super) fn is_iterative<S: Scalar>(pair: [&Feature<S>; 2]) -> bool {
    use Feature::{Rim, Ruled};
    matches!(pair, [Rim(_), Rim(_) | Ruled(_)] | [Ruled(_), Rim(_)])
}

/// Returns normal and nearest points of two features, with a normal near the unit vector `n`; `None`
/// if there are none.
///
/// Two rims, or a rim and a ruled side, have one step of Newton's method from `n`: at a converged `n`
/// the first derivatives of the normal and of the points are exact, and the second ones of the gap.
/// All others are closed forms.
pub(super) fn meet<S: Scalar>([first, second]: [&Feature<S>; 2], n: &Vec3<f64>) -> Option<Meeting<S>> {
    if let Some(found) = ordered([first, second], n) {
        return found;
    }
    let Meeting { gap, n, on_first } = ordered([second, first], &-n)??;
    Some(Meeting {
        gap,
        n: -n,
        on_first: on_first - n * gap,
    })
}

/// Returns [`meet`] of features in one order; `None` for the other order.
fn ordered<S: Scalar>([first, second]: [&Feature<S>; 2], n: &Vec3<f64>) -> Option<Option<Meeting<S>>> {
    use Feature::{Face, Point};
    match (first, second) {
        (Point { p, round }, Point { p: q, round: r_b }) => {
            let (distance, n) = length(&(p - q), n);
            Some(rounded(distance, n, *p, [*round, *r_b]))
        }
        (Point { p, round }, Face { p: q, m }) => Some(rounded(m.dot(&(p - q)), *m, *p, [*round, 0.0])),
        (Point { p, round }, Feature::Rim(rim)) => {
            let from = p - rim.p;
            Some(across(&from, &rim.w).and_then(|radial| {
                let (distance, n) = length(&(from - radial * S::lift(rim.radius)), n);
                rounded(distance, n, *p, [*round, 0.0])
            }))
        }
        (Point { p, round }, Feature::Ruled(side)) => {
            let from = p - side.p;
            let rounds = [*round, side.round];
            Some(side.normal(&from, n).and_then(|n| rounded(n.dot(&from), n, *p, rounds)))
        }
        (Feature::Rim(rim), Face { p: q, m }) => {
            let x = rim.point(&-m).map_or(rim.p, |(x, _)| x);
            Some(rounded(m.dot(&(x - q)), *m, x, [0.0; 2]))
        }
        (Feature::Rim(rim), Feature::Ruled(side)) => Some(rim.meet_side(side, n)),
        (Feature::Rim(rim), Feature::Rim(other)) => Some(rim.meet_rim(other, n)),
        (Feature::Ruled(side), Feature::Ruled(other)) => Some(side.meet_side(other, n)),
        _ => None,
    }
}

/// Returns the meeting of features at the signed distance `distance` (m), each of which is at a
/// distance (m) from the surface of its solid.
fn rounded<S: Scalar>(distance: S, n: Vec3<S>, on_first: Vec3<S>, [r_a, r_b]: [f64; 2]) -> Option<Meeting<S>> {
    Some(Meeting {
        gap: distance - S::lift(r_a + r_b),
        n,
        on_first: on_first - n * S::lift(r_a),
    })
}

/// Returns the unit vector along the component of `v` perpendicular to the unit vector `w`; `None` for
/// a `v` along `w` to round-off.
fn across<S: Scalar>(v: &Vec3<S>, w: &Vec3<S>) -> Option<Vec3<S>> {
    let across = v - w * w.dot(v);
    if across.dot(&across).value() <= ROUND_OFF * ROUND_OFF * ROUND_OFF * v.dot(v).value() {
        return None;
    }
    // Round-off along w is large relative to a small component.
    let across = across - w * w.dot(&across);
    Some(across / across.dot(&across).sqrt())
}

/// Returns length and direction of a vector; at zero the direction is `n`.
fn length<S: Scalar>(d: &Vec3<S>, n: &Vec3<f64>) -> (S, Vec3<S>) {
    let square = d.dot(d);
    if square.value() > LEAST_SQUARE {
        let length = square.sqrt();
        (length, d / length)
    } else {
        let n = lift3(n);
        (n.dot(d), n)
    }
}

/// Returns the signed distance of two lines and its normal from the vector (m) between points of both,
/// the unit vectors along them, the places (m) of their nearest points and their common normal.
///
/// For nearly parallel lines the direction of the difference of the nearest points loses fewer digits
/// than the common normal. The distance is stationary in both places, whose large derivatives would
/// contribute round-off only.
fn between_lines<S: Scalar>(from: Vec3<S>, [u, v]: [&Vec3<S>; 2], places: [S; 2], n: Vec3<S>) -> (S, Vec3<S>) {
    let between = |[s, t]: [S; 2]| from + u * s - v * t;
    let [moving, fixed] = [places, places.map(|place| S::lift(place.value()))].map(between);
    let square = moving.dot(&moving);
    let side = n.map(Scalar::value).dot(&moving.map(Scalar::value));
    let sine = u.cross(v).map(Scalar::value);
    if square.value() > sine.norm_squared() * from.dot(&from).value() {
        let sign = S::lift(1f64.copysign(side));
        (fixed.dot(&fixed).sqrt() * sign, moving * (sign / square.sqrt()))
    } else {
        (n.dot(&fixed), n)
    }
}

impl<S: Scalar> Ruled<S> {
    fn cosine(&self) -> f64 {
        (1.0 - self.sine * self.sine).sqrt()
    }

    /// Returns the outward normal of the side in the half-plane of its axis and the vector `towards`;
    /// on the axis, of `or`; `None` if this is along the axis too.
    fn normal(&self, towards: &Vec3<S>, or: &Vec3<f64>) -> Option<Vec3<S>> {
        let [radial, _] = self.radial(towards, or)?;
        Some(radial * S::lift(self.cosine()) + self.w * S::lift(self.sine))
    }

    /// Returns the unit vectors across the axis in the half-plane of `towards`, on the axis of `or`,
    /// and around the axis.
    fn radial(&self, towards: &Vec3<S>, or: &Vec3<f64>) -> Option<[Vec3<S>; 2]> {
        let radial = across(towards, &self.w).or_else(|| across(&lift3(or), &self.w))?;
        Some([radial, self.w.cross(&radial)])
    }

    /// Returns a point and the direction of the straight line of the side with the outward normal
    /// `m`.
    pub fn line(&self, m: &Vec3<S>) -> [Vec3<S>; 2] {
        let along = self.w - m * S::lift(self.sine);
        let across = m - self.w * S::lift(self.sine);
        let cosine = self.cosine();
        [self.p + across * S::lift(self.round / (cosine * cosine)), along]
    }

    fn meet_side(&self, other: &Self, near: &Vec3<f64>) -> Option<Meeting<S>> {
        let k = self.w.cross(&other.w);
        let square = k.dot(&k);
        let from = self.p - other.p;
        let are_lines = self.sine == 0.0 && other.sine == 0.0;
        if square.value() < PARALLEL {
            return are_lines.then(|| self.meet_parallel(other, near))?;
        }
        // n = α w_a + β w_b + γ w_a × w_b with n·w_a = −s_a, n·w_b = s_b, |n| = 1.
        let q = self.w.dot(&other.w);
        let [s_a, s_b] = [self.sine, other.sine].map(S::lift);
        let (alpha, beta) = ((-s_a - q * s_b) / square, (s_b + q * s_a) / square);
        let rest = S::one() - (alpha * alpha + beta * beta + alpha * beta * q * S::lift(2.0));
        if rest.value() <= LEAST_SQUARE {
            return None;
        }
        let side = S::lift(1f64.copysign(k.map(Scalar::value).dot(near)));
        let mut n = self.w * alpha + other.w * beta + k * (side * (rest / square).sqrt());
        let is_nearly_parallel = square.value() < NEARLY_PARALLEL;
        if is_nearly_parallel {
            n = self.across_both(other, n);
        }
        let [[p_a, g_a], [p_b, g_b]] = [self.line(&-n), other.line(&n)];
        let crossing = g_a.cross(&g_b).dot(&n);
        let along = (p_b - p_a).cross(&g_b).dot(&n) / crossing;
        let on_first = p_a + g_a * along;
        let mut gap = n.dot(&from);
        if are_lines {
            let on_second = match is_nearly_parallel {
                // Nearest to a point of the first line, whose place has lost digits.
                true => on_first,
                false => p_b + g_b * ((p_b - p_a).cross(&g_a).dot(&n) / crossing),
            };
            let places = [self.place(&on_first), other.place(&on_second)];
            (gap, n) = between_lines(from, [&self.w, &other.w], places, n);
            if is_nearly_parallel {
                n = self.across_both(other, n);
            }
        }
        gap -= S::lift(self.round + other.round);
        Some(Meeting { gap, n, on_first })
    }

    /// Returns the common normal n of two nearly parallel sides without the components along their axes
    /// that are round-off, large relative to their small angle or distance. With them other points than
    /// those of the sides would be the farthest ones along n; its rotation about the axes has no effect.
    fn across_both(&self, other: &Self, mut n: Vec3<S>) -> Vec3<S> {
        n -= self.w * (self.w.dot(&n) + S::lift(self.sine));
        n -= other.w * (other.w.dot(&n) - S::lift(other.sine));
        n / n.dot(&n).sqrt()
    }

    /// Returns the coordinate along the axis of a point, m.
    fn place(&self, x: &Vec3<S>) -> S {
        self.w.dot(&(x - self.p))
    }

    /// Returns the meeting of two parallel lines at the middle of the stretch that they have in
    /// common.
    fn meet_parallel(&self, other: &Self, near: &Vec3<f64>) -> Option<Meeting<S>> {
        let from = self.p - other.p;
        // In coordinates along the first line the second spans `middle ± other.half`.
        let middle = -self.w.dot(&from).value();
        let low = (-self.half).max(middle - other.half);
        let high = self.half.min(middle + other.half);
        let place = (0.5 * (low + high)).clamp(-self.half, self.half);
        let x = self.p + self.w * S::lift(place);
        let n = other.normal(&(x - other.p), near)?;
        rounded(n.dot(&(x - other.p)), n, x, [self.round, other.round])
    }
}

impl<S: Scalar> Rim<S> {
    /// Returns the point of the rim that is farthest along the unit vector `u` and the tangent there,
    /// with a length that is the root of the second derivative of its support function, √m; `None` for
    /// a `u` along the axis.
    fn point(&self, u: &Vec3<S>) -> Option<(Vec3<S>, Vec3<f64>)> {
        let radial = across(u, &self.w)?;
        let tangent = self.w.cross(&radial).map(Scalar::value);
        let sine = radial.dot(u).value();
        Some((
            self.p + radial * S::lift(self.radius),
            tangent * (self.radius / sine).sqrt(),
        ))
    }

    /// Returns one step of Newton's method for the normal n of a ruled side at which the signed
    /// distance of this rim from it along n is stationary.
    fn meet_side(&self, side: &Ruled<S>, near: &Vec3<f64>) -> Option<Meeting<S>> {
        let [radial, around] = side.radial(&lift3(near), near)?;
        let (cosine, sine) = (side.cosine(), S::lift(side.sine));
        let n = radial * S::lift(cosine) + side.w * sine;
        let (x, tangent) = self.point(&-n)?;
        let slope = around.dot(&(x - side.p)) * S::lift(cosine);
        let [around_now, radial_now, from] = [around, radial, x - side.p].map(|v| v.map(Scalar::value));
        let bend = cosine * tangent.dot(&around_now);
        let curvature = -cosine * radial_now.dot(&from) - bend * bend;
        let turn = ascent(slope, curvature);
        let radial = (radial + around * turn) / (S::one() + turn * turn).sqrt();
        let n = radial * S::lift(cosine) + side.w * sine;
        let (x, _) = self.point(&-n)?;
        rounded(n.dot(&(x - side.p)), n, x, [0.0, side.round])
    }

    /// Returns one step of Newton's method for the normal at which the signed distance of two rims
    /// along it is stationary.
    fn meet_rim(&self, other: &Self, near: &Vec3<f64>) -> Option<Meeting<S>> {
        let n = lift3::<S>(near);
        let ((x_a, t_a), (x_b, t_b)) = (self.point(&-n)?, other.point(&n)?);
        let from = x_a - x_b;
        // The axes of the step are those of the second derivatives.
        let e = near.cross(&Vec3::ith(near.iamin(), 1.0)).normalize();
        let f = near.cross(&e);
        let product = |a: &Vec3<f64>, b: &Vec3<f64>| -(t_a.dot(a) * t_a.dot(b) + t_b.dot(a) * t_b.dot(b));
        let apart = near.dot(&from.map(Scalar::value));
        let [ee, ef, ff] = [product(&e, &e) - apart, product(&e, &f), product(&f, &f) - apart];
        let slopes = [e, f].map(|e| lift3::<S>(&e).dot(&from));
        let square = ee * ff - ef * ef;
        let turns = if ee + ff < 0.0 && square > 0.0 {
            let by = S::lift(1.0 / square);
            [
                (slopes[1] * S::lift(ef) - slopes[0] * S::lift(ff)) * by,
                (slopes[0] * S::lift(ef) - slopes[1] * S::lift(ee)) * by,
            ]
        } else {
            slopes.map(|slope| ascent(slope, 0.0))
        };
        let size = turns.map(Scalar::value);
        let size = (size[0] * size[0] + size[1] * size[1]).sqrt();
        let shorter = S::lift(if size > STEP { STEP / size } else { 1.0 });
        let n = n + (lift3::<S>(&e) * turns[0] + lift3::<S>(&f) * turns[1]) * shorter;
        let n = n / n.dot(&n).sqrt();
        let ((x_a, _), (x_b, _)) = (self.point(&-n)?, other.point(&n)?);
        rounded(n.dot(&(x_a - x_b)), n, x_a, [0.0; 2])
    }
}

/// Returns a step of Newton's method towards a maximum, no longer than [`STEP`]; along the slope where
/// the function is not concave.
fn ascent<S: Scalar>(slope: S, curvature: f64) -> S {
    let step = if curvature < 0.0 {
        slope * S::lift(-1.0 / curvature)
    } else {
        slope
    };
    match step.value() {
        size if size.abs() > STEP || curvature >= 0.0 => S::lift(STEP.copysign(size)),
        _ => step,
    }
}
