//! Impacts with friction against closed-form solutions.

use super::*;

unit_tests![
    without_friction_all_laws_agree,
    impulse_without_initial_slip_is_a_straight_line,
    planar_impact_equals_rouths_solution,
    friction_increases_the_approach_until_the_slip_stops,
    turning_slip_conserves_the_isotropic_integrals,
    normal_impulse_along_a_principal_axis_is_independent_of_the_slip,
    infinite_friction_is_the_limit,
    driven_wedge_has_no_end,
];

fn stronge(point: &PointImpact, e: f64, mu: f64) -> Vector3<f64> {
    let outcome = point.impulse(&Law::Stronge { e, mu });
    outcome.expect("definite: the impact ends").p
}

fn without_friction_all_laws_agree() {
    let mut random = Random(21);
    let mut worst: f64 = 0.0;
    for _ in 0..3000 {
        let point = random.point_impact();
        let e = random.between(0.0, 1.0);
        let expected = point.p_I() * (1.0 + e);
        let r_E = point.normal_share() * (1.0 - e * e);
        let energy_friction = Law::EnergyFriction {
            r_E,
            r_f: 0.0,
            tangential: Tangential::Plastic,
            on_inconsistent: Inconsistent::Reject,
        };
        for law in [
            Law::Stronge { e, mu: 0.0 },
            Law::Restitution { e, e_t: 0.3, mu: 0.0 },
            energy_friction,
        ] {
            let p = point.impulse(&law).expect("no friction, no obstacle").p;
            // In the energy law, the error of e is inversely proportional to the normal share of
            // the plastic loss and to e.
            let known = if law == energy_friction {
                point.normal_share() * e
            } else {
                1.0
            };
            keep(&mut worst, known * (p - expected).norm() / expected.norm());
        }
    }
    println!("{worst:.1e}");
    assert!(worst < 1e-11); // the condition number 1e4 times some round-offs
}

fn impulse_without_initial_slip_is_a_straight_line() {
    // The contact sticks, or slip starts in the unique admissible direction.
    let mut random = Random(22);
    let [mut sticks, mut leaves]: [f64; 2] = [0.0; 2];
    for case in 0..3000 {
        let R = random.rotation();
        let W = random.positive(3.0);
        let (T, b) = (
            W.fixed_view::<2, 2>(0, 0).into_owned(),
            W.fixed_view::<2, 1>(0, 2).into_owned(),
        );
        let phi = -T.try_inverse().expect("definite") * b;
        let u_n = -random.decades(-2.0, 2.0);
        let n = R * Vector3::z();
        let point = PointImpact::new(R * W * R.transpose(), n * u_n, n).expect("definite");
        let e = random.between(0.0, 1.0);
        let stuck = case % 2 == 0;
        let mu = phi.norm()
            * if stuck {
                random.between(1.0, 3.0)
            } else {
                random.between(0.02, 0.98)
            };
        let p = stronge(&point, e, mu);
        let local = R.transpose() * p;
        let q = local / local.z;
        // On a straight path, Stronge's condition is u_n⁺ = −e u_n.
        let expected = q * (-(1.0 + e) * u_n / (W * q).z);
        let worst = if stuck { &mut sticks } else { &mut leaves };
        keep(worst, (local - expected).norm() / local.norm());
        if stuck {
            keep(worst, (q.xy() - phi).norm() / phi.norm());
            continue;
        }
        let d = q.xy() / -mu;
        let outwards = (b - T * d * mu).dot(&d);
        assert!(outwards > 0.0);
        keep(worst, (d.norm() - 1.0).abs());
        keep(worst, (b - T * d * mu - d * outwards).norm() / b.norm());
        // Of all directions in which the slip would not turn, only one has growing slip.
        let at = |angle: f64| {
            let d = nalgebra::Vector2::new(angle.cos(), angle.sin());
            let rate = b - T * d * mu;
            (d.perp(&rate), d.dot(&rate))
        };
        let outwards = (0..2000).filter(|&i| {
            let [mut low, mut high] = [i, i + 1].map(|i| f64::from(i) * PI / 1000.0 + 1e-4);
            let (first, last) = (at(low).0, at(high).0);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                *(if at(middle).0 * first > 0.0 {
                    &mut low
                } else {
                    &mut high
                }) = middle;
            }
            first * last < 0.0 && at(high).1 > 0.0
        });
        assert_eq!(outwards.count(), 1);
    }
    println!("sticks {sticks:.1e}, leaves {leaves:.1e}");
    assert!(sticks < 1e-10 && leaves < 1e-10); // the condition number 1e3 times some round-offs, once more for φ
}

/// Returns tangential and normal impulse of Routh's piecewise linear solution in the plane, for
/// `W = [W_tt, W_tn, W_nn]` and `u = [u_t, u_n]`.
fn in_the_plane(W: [f64; 3], u: [f64; 2], e: f64, mu: f64) -> [f64; 2] {
    let ([tt, tn, nn], [u_t, u_n]) = (W, u);
    let first = -mu * u_t.signum();
    let slowing = -(tn + tt * first) * u_t.signum();
    let stop = if u_t == 0.0 {
        0.0
    } else if slowing > 0.0 {
        u_t.abs() / slowing
    } else {
        f64::INFINITY
    };
    let then = if (tn / tt).abs() <= mu {
        -tn / tt
    } else {
        -mu * tn.signum()
    };
    let [k1, k2] = [first, then].map(|slope| nn + tn * slope);
    let way = |p: f64| [p.min(stop), (p - stop).max(0.0)];
    let speed = |p: f64| u_n + k1 * way(p)[0] + k2 * way(p)[1];
    let work = |p: f64| {
        let [a, b] = way(p);
        let middle = u_n + k1 * a;
        a * 0.5 * (u_n + middle) + b * (middle + 0.5 * k2 * b)
    };
    // Normal velocity and remaining work change sign once, from negative to positive.
    let zero = |mut low: f64, f: &dyn Fn(f64) -> f64| {
        let mut high = low + 1.0;
        while f(high) < 0.0 {
            high = low + 2.0 * (high - low);
        }
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            *(if f(middle) < 0.0 { &mut low } else { &mut high }) = middle;
        }
        high
    };
    let half = zero(0.0, &speed);
    let end = zero(half, &|p| work(p) - (1.0 - e * e) * work(half));
    let [a, b] = way(end);
    [first * a + then * b, end]
}

fn planar_impact_equals_rouths_solution() {
    let mut random = Random(23);
    let mut worst: f64 = 0.0;
    let (mut driven_in, mut stopped, mut reversed) = (0, 0, 0);
    for case in 0..3000 {
        let [tt, nn] = [random.decades(-1.0, 1.0), random.decades(-1.0, 1.0)];
        let tn = random.between(-0.98, 0.98) * f64::sqrt(tt * nn);
        let (mu, e) = (random.decades(-1.0, 1.0), random.between(0.05, 1.0));
        let u = [
            if case % 10 == 0 { 0.0 } else { random.between(-1.0, 1.0) },
            -random.decades(-1.0, 0.0),
        ];
        let R = random.rotation();
        let mut W = Matrix3::new(tt, 0.0, tn, 0.0, 1.0, 0.0, tn, 0.0, nn);
        if case % 3 == 0 {
            W[(1, 1)] = 0.0; // a planar mechanism
        }
        let point = PointImpact::new(
            R * W * R.transpose(),
            R * Vector3::new(u[0], 0.0, u[1]),
            R * Vector3::z(),
        );
        let p = R.transpose() * stronge(&point.expect("definite"), e, mu);
        let [p_t, p_n] = in_the_plane([tt, tn, nn], u, e, mu);
        keep(&mut worst, (p - Vector3::new(p_t, 0.0, p_n)).norm() / p_n.hypot(p_t));
        driven_in += usize::from(nn - mu * tn * u[0].signum() < 0.0);
        let after = u[0] + tt * p_t + tn * p_n;
        stopped += usize::from(after.abs() < 1e-10 && u[0] != 0.0);
        reversed += usize::from(after * u[0] < -1e-10);
    }
    println!("{worst:.1e}; {driven_in} driven in, {stopped} stopped, {reversed} reversed");
    assert!(driven_in > 100 && stopped > 100 && reversed > 10);
    assert!(worst < 1e-11); // the work near the end determines the impulse to some 1e-14 / e²
}

fn friction_increases_the_approach_until_the_slip_stops() {
    // Painlevé's case: with W_nt = 0.8 and mu = 2, the normal velocity first changes from −1 to
    // −1.5, up to p_n = 5/6; then the contact sticks.
    let W = Matrix3::new(1.0, 0.0, 0.8, 0.0, 1.0, 0.0, 0.8, 0.0, 1.0);
    let point = PointImpact::new(W, Vector3::new(1.0, 0.0, -1.0), Vector3::z()).expect("definite");
    let mut worst: f64 = 0.0;
    for e in [0.0, 0.5, 1.0] {
        let p = stronge(&point, e, 2.0);
        let compression: f64 = 5.0 / 6.0 * 1.25 + 1.5 * 1.5 / 0.72;
        let u_n = e * (2.0 * 0.36 * compression).sqrt();
        let p_n = 5.0 / 6.0 + (1.5 + u_n) / 0.36;
        let p_t = -2.0 * 5.0 / 6.0 - 0.8 * (1.5 + u_n) / 0.36;
        keep(&mut worst, (p - Vector3::new(p_t, 0.0, p_n)).norm() / p_n);
        assert!(point.loss(&p) >= 0.0 && (p_n > point.n.dot(&point.p_II()) || e == 0.0));
    }
    println!("{worst:.1e}");
    assert!(worst < 1e-14); // round-off
}

fn turning_slip_conserves_the_isotropic_integrals() {
    // W_TT = λ: with the angle ψ from b to the slip s, k = mu λ,
    //     s sin ψ tan(ψ/2)^(−k/|b|)  and  k s + b·u_T − (b² − k²) p_n  are constant.
    let mut random = Random(24);
    let [mut curve, mut line]: [f64; 2] = [0.0; 2];
    let (mut count, mut turned) = (0, 0.0_f64);
    for _ in 0..3000 {
        let (lambda, b) = (random.decades(-1.0, 1.0), random.decades(-1.0, 1.0));
        let (nn, mu) = (
            b * b / lambda * random.between(1.05, 3.0),
            b / lambda * random.between(0.2, 4.0),
        );
        let W = Matrix3::new(lambda, 0.0, b, 0.0, lambda, 0.0, b, 0.0, nn);
        let R = random.rotation();
        let u = Vector3::new(
            random.between(-1.0, 1.0),
            random.between(-1.0, 1.0),
            -random.decades(-1.0, 1.0),
        );
        let point = PointImpact::new(R * W * R.transpose(), R * u, R * Vector3::z()).expect("definite");
        let p = R.transpose() * stronge(&point, random.between(0.0, 1.0), mu);
        let after = u + W * p;
        let (k, s) = (mu * lambda, |u: &Vector3<f64>| u.x.hypot(u.y));
        let angle = |u: &Vector3<f64>| u.y.abs().atan2(u.x);
        // The angle of a vanishing slip is undefined.
        if s(&after) < 1e-3 || angle(&after).sin() < 1e-3 || angle(&u).sin() < 1e-3 {
            continue;
        }
        let logarithm = |u: &Vector3<f64>| (s(u) * angle(u).sin()).ln() - k / b * (0.5 * angle(u)).tan().ln();
        keep(&mut curve, (logarithm(&after) - logarithm(&u)).abs());
        let integral = |u: &Vector3<f64>, p_n: f64| k * s(u) + b * u.x - (b * b - k * k) * p_n;
        let size = (k + b) * s(&u) + (b * b + k * k) * p.z;
        keep(&mut line, (integral(&after, p.z) - integral(&u, 0.0)).abs() / size);
        assert!(after.y * u.y > 0.0);
        keep(&mut turned, (angle(&after) - angle(&u)).abs());
        count += 1;
    }
    println!("{count} slips, by up to {turned:.2} rad: curve {curve:.1e}, line {line:.1e}");
    assert!(count > 1000 && turned > 1.5);
    assert!(curve < 1e-10 && line < 1e-13); // accuracy of the angles: round-off / 1e-3; k/b is at most 4
}

fn normal_impulse_along_a_principal_axis_is_independent_of_the_slip() {
    // For any slip direction, the normal velocity is linear in p_n, so that u_n⁺ = −e u_n.
    let mut random = Random(26);
    let mut worst: f64 = 0.0;
    for _ in 0..3000 {
        let W = Matrix3::from_diagonal(&Vector3::from_fn(|_, _| random.decades(-2.0, 0.0)));
        let u = Vector3::new(
            random.between(-1.0, 1.0),
            random.between(-1.0, 1.0),
            -random.decades(-1.0, 0.0),
        );
        let (R, e, mu) = (random.rotation(), random.between(0.0, 1.0), random.decades(-3.0, 2.0));
        let point = PointImpact::new(R * W * R.transpose(), R * u, R * Vector3::z()).expect("definite");
        let p_n = (R.transpose() * stronge(&point, e, mu)).z;
        keep(&mut worst, (p_n * W[(2, 2)] / (-(1.0 + e) * u.z) - 1.0).abs());
    }
    println!("{worst:.1e}");
    assert!(worst < 1e-12); // the condition number 1e2, and friction a hundred times the normal impulse
}

fn infinite_friction_is_the_limit() {
    let mut random = Random(25);
    let [mut worst, mut pulls]: [f64; 2] = [0.0, f64::NEG_INFINITY];
    for _ in 0..1000 {
        let point = random.pair().point_impact();
        let e = random.between(0.1, 1.0);
        let size = point.p_I().norm() + point.p_II().norm();
        let [finite, infinite] = [1e10, f64::INFINITY].map(|mu| stronge(&point, e, mu));
        keep(&mut worst, (finite - infinite).norm() / size);
        keep(&mut pulls, -point.n.dot(&infinite) / size);
    }
    println!("{worst:.1e}; pulls by {pulls:.1e}");
    assert!(worst < 1e-4 && pulls < 1e-15); // √(1/mu), for little work before sticking
}

fn driven_wedge_has_no_end() {
    // The response along v = (1, 0, 1)/√2 is zero. While the contact sticks, the impulse grows
    // along v, and the velocity along v does not change.
    let v = Vector3::new(1.0, 0.0, 1.0).normalize();
    let W = Matrix3::identity() - v * v.transpose();
    let driven = PointImpact::new(W, -Vector3::z(), Vector3::z()).expect("answers along n");
    let law = |mu| Law::Stronge { e: 0.5, mu };
    for mu in [1.1, 1e9, f64::INFINITY] {
        assert_eq!(driven.impulse(&law(mu)), Err(Refusal::NoEnd));
    }
    assert!(driven.impulse(&law(0.9)).is_ok());
    // If the velocity is in the range of W, the impact ends with zero relative velocity.
    let free = PointImpact::new(W, Vector3::new(1.0, 0.3, -1.0), Vector3::z()).expect("answers along n");
    let p = stronge(&free, 0.5, 1.1);
    println!("left: {:.1e}", free.after(&p).norm());
    assert!(free.after(&p).norm() < 1e-13);
}
