//! Impacts with friction against inequalities and against numerical integration.

use super::*;

unit_tests![
    stronge_impact_satisfies_the_cone_and_gains_no_energy,
    euler_steps_converge_to_the_impulse,
    second_compression_adds_to_the_first,
    turning_slip_equals_a_fourth_order_integration,
];

fn stronge(point: &PointImpact, e: f64, mu: f64) -> Vector3<f64> {
    let outcome = point.impulse(&Law::Stronge { e, mu });
    outcome.expect("definite: the impact ends").p
}

fn stronge_impact_satisfies_the_cone_and_gains_no_energy() {
    let mut random = Random(31);
    let [mut cone, mut gain, mut enters]: [f64; 3] = [f64::NEG_INFINITY; 3];
    let (mut pulls, mut stuck, mut slips, mut driven_in) = (f64::NEG_INFINITY, 0, 0, 0);
    for _ in 0..3000 {
        let point = random.point_impact();
        let (n, u) = (point.n, point.u);
        let (e, mu) = (random.between(0.0, 1.0), random.decades(-2.0, 2.0));
        let p = stronge(&point, e, mu);
        let (p_n, p_T) = parts(&p, &n);
        let (u_n, slip) = parts(&point.after(&p), &n);
        keep(&mut pulls, -p_n / p.norm());
        keep(&mut cone, (p_T - mu * p_n) / p.norm() / (1.0 + mu));
        keep(&mut gain, -point.loss(&p) / point.plastic_loss());
        keep(&mut enters, -u_n / u.norm());
        *(if slip < 1e-10 * u.norm() {
            &mut stuck
        } else {
            &mut slips
        }) += 1;
        let direction = (u - n * n.dot(&u)).normalize();
        driven_in += usize::from(n.dot(&(point.W * (n - direction * mu))) < 0.0);
    }
    println!("cone {cone:.1e}, gain {gain:.1e}, enters {enters:.1e}, most pull {pulls:.1e}");
    println!("{stuck} stick at the end, {slips} slip; {driven_in} are first driven in");
    assert!(stuck > 500 && slips > 500 && driven_in > 500);
    // The tolerances are round-off; that of the velocity times the condition number 1e4.
    assert!(cone < 1e-14 && gain < 1e-14 && enters < 1e-11 && pulls < 0.0);
}

/// Work of the normal impulse, in compression (negative) and in restitution.
struct Work {
    compression: f64,
    restitution: f64,
}

impl Work {
    fn add(&mut self, work: f64) {
        *(if work < 0.0 {
            &mut self.compression
        } else {
            &mut self.restitution
        }) += work;
    }
}

/// Integrates with Euler steps in `p_n`, of which the normal impulse of `exact` has `number`, to
/// the end of the impact. Returns the deviation of the impulse from `exact`, relative, and the part
/// of the compression's work that follows some restitution. At vanishing slip its direction
/// alternates from step to step; the mean of the steps sticks or slips.
fn plain_steps(point: &PointImpact, e: f64, mu: f64, exact: &Vector3<f64>, number: usize) -> (f64, f64) {
    let (n, W) = (point.n, point.W);
    let dp_n = n.dot(exact) / number as f64;
    let (mut u, mut p, mut again) = (point.u, Vector3::zeros(), 0.0);
    let mut work = Work {
        compression: 0.0,
        restitution: 0.0,
    };
    for _ in 0..2 * number {
        let slip = u - n * n.dot(&u);
        let dp = (n - slip / slip.norm().max(1e-300) * mu) * dp_n;
        let du = W * dp;
        let done = n.dot(&(u + du * 0.5)) * dp_n;
        work.add(done);
        again += if work.restitution > 0.0 { done.min(0.0) } else { 0.0 };
        (u, p) = (u + du, p + dp);
        if n.dot(&u) > 0.0 && work.restitution >= -e * e * work.compression {
            break;
        }
    }
    ((p - exact).norm() / exact.norm(), again / work.compression)
}

fn euler_steps_converge_to_the_impulse() {
    let mut random = Random(32);
    let [mut worst, mut before]: [f64; 2] = [0.0; 2];
    let (mut stuck, mut slips) = (0, 0);
    for _ in 0..50 {
        let point = random.pair().point_impact();
        let (e, mu) = (random.between(0.2, 1.0), random.decades(-1.0, 0.5));
        let exact = stronge(&point, e, mu);
        keep(&mut before, plain_steps(&point, e, mu, &exact, 50_000).0);
        keep(&mut worst, plain_steps(&point, e, mu, &exact, 500_000).0);
        let (u_n, slip) = parts(&point.after(&exact), &point.n);
        *(if slip < 1e-10 * u_n { &mut stuck } else { &mut slips }) += 1;
    }
    println!("5e4 steps {before:.1e}, 5e5 steps {worst:.1e}; {stuck} stick, {slips} slip at the end");
    assert!(stuck > 10 && slips > 10);
    assert!(worst < 1e-4 && worst < 0.2 * before); // first order
}

fn second_compression_adds_to_the_first() {
    // A rare but valid case: while the slip turns, friction causes a second approach after the
    // start of restitution.
    let W = Matrix3::new(
        0.1332, -0.0103, -0.0049, -0.0103, 0.3398, -0.0047, -0.0049, -0.0047, 0.9696,
    );
    let n = Vector3::new(-0.708, -0.3427, -0.6175);
    let point = PointImpact::new(W, Vector3::new(0.7336, -0.9759, 0.1485), n).expect("definite");
    let (e, mu) = (0.898, 1.82);
    let exact = stronge(&point, e, mu);
    let [(before, _), (after, again)] = [50_000, 500_000].map(|n| plain_steps(&point, e, mu, &exact, n));
    println!("5e4 steps {before:.1e}, 5e5 steps {after:.1e}; {again:.4} of the compression");
    assert!(again > 0.01 && after < 1e-4 && after < 0.2 * before); // first order
}

fn turning_slip_equals_a_fourth_order_integration() {
    let mut random = Random(33);
    let [mut path, mut ends]: [f64; 2] = [0.0; 2];
    let (mut count, mut turned) = (0, 0.0_f64);
    for _ in 0..3000 {
        let point = random.pair().point_impact();
        let (n, W) = (point.n, point.W);
        let (e, mu) = (random.between(0.0, 1.0), random.decades(-1.5, 0.5));
        let p = stronge(&point, e, mu);
        let slip = |u: &Vector3<f64>| u - n * n.dot(u);
        let rate = |u: &Vector3<f64>| W * (n - slip(u).normalize() * mu);
        const STEPS: usize = 2000;
        let h = n.dot(&p) / STEPS as f64;
        let mut u = point.u;
        let mut work = Work {
            compression: 0.0,
            restitution: 0.0,
        };
        let mut least = f64::INFINITY;
        for _ in 0..STEPS {
            let k1 = rate(&u);
            let k2 = rate(&(u + k1 * (0.5 * h)));
            let k3 = rate(&(u + k2 * (0.5 * h)));
            let k4 = rate(&(u + k3 * h));
            let next = u + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6.0);
            let middle = (u + next) * 0.5 + (k1 - rate(&next)) * (h / 8.0);
            let [a, m, b] = [u, middle, next].map(|u| n.dot(&u));
            if a * b < 0.0 {
                // The zero of the normal velocity divides the area into two triangles.
                let cut = h * a / (a - b);
                work.add(0.5 * a * cut);
                work.add(0.5 * b * (h - cut));
            } else {
                work.add(h * (a + 4.0 * m + b) / 6.0);
            }
            u = next;
            least = least.min(slip(&u).norm());
        }
        // Cases near a stop are skipped: a step in p_n would not resolve it.
        if least < 0.1 * point.u.norm() {
            continue;
        }
        let speed = point.u.norm() + u.norm();
        keep(&mut path, (u - point.after(&p)).norm() / speed);
        keep(
            &mut ends,
            (work.restitution + e * e * work.compression).abs() / -work.compression,
        );
        keep(&mut turned, slip(&u).angle(&slip(&point.u)));
        count += 1;
    }
    println!("{count} slips, by up to {turned:.2} rad: velocity {path:.1e}, work {ends:.1e}");
    // The error is of fourth order, (1/2000)⁴ times powers of a rate of up to 10; that of the work
    // is of third order at the zero of the normal velocity.
    assert!(count > 500 && turned > 1.0 && path < 1e-9 && ends < 1e-7);
}
