//! Captures with several rows, and several simultaneous contacts.

use super::*;

unit_tests![
    capture_ends_all_motion_for_any_rows_and_units,
    capture_at_one_point_is_the_sticking_impulse,
    inconsistent_rows_are_reported_by_the_residual,
    impulses_of_several_contacts_equal_those_of_the_active_set,
    dependent_contacts_have_unique_velocities_and_no_energy_gain,
    contacts_without_solution_are_reported,
];

/// Returns a random `L Lᵀ`, `n × n`, of the given rank.
fn semidefinite(random: &mut Random, n: usize, rank: usize) -> DMatrix<f64> {
    let L = random.matrix(n, rank);
    &L * L.transpose()
}

fn capture_ends_all_motion_for_any_rows_and_units() {
    let mut random = Random(41);
    let [mut after, mut loss, mut same]: [f64; 3] = [0.0; 3];
    for _ in 0..1000 {
        let rank = 1 + random.next() as usize % 6;
        let n = rank + random.next() as usize % 6;
        // Some rows are combinations of others; each has its own unit.
        let mut L = random.matrix(n, 8).columns(0, 6).into_owned();
        let mix = random.matrix(n - rank, rank);
        let dependent = mix * L.rows(0, rank);
        L.rows_mut(rank, n - rank).copy_from(&dependent);
        let units = DVector::from_fn(n, |_, _| random.decades(-3.0, 3.0));
        let L = DMatrix::from_diagonal(&units) * L;
        let qd = DVector::from_fn(6, |_, _| random.between(-1.0, 1.0));
        let (W, u) = (&L * L.transpose(), &L * &qd);
        let found = plastic(&W, &u).expect("finite");
        assert_eq!(found.rank, rank);
        assert_eq!(found.impulse.iter().filter(|&&p| p != 0.0).count(), rank);
        keep(&mut after, found.residual);
        let left = (&u + &W * &found.impulse).component_div(&W.diagonal().map(f64::sqrt));
        keep(
            &mut same,
            (left.norm() / u.component_div(&W.diagonal().map(f64::sqrt)).norm() - found.residual).abs(),
        );
        // With a unit mass matrix, the loss is the energy of the part of the rates in the span of
        // the rows.
        let projected = L
            .transpose()
            .svd(true, false)
            .u
            .expect("asked for")
            .columns(0, rank)
            .transpose()
            * &qd;
        let lost = -0.5 * found.impulse.dot(&u);
        keep(
            &mut loss,
            (lost - 0.5 * projected.norm_squared()).abs() / qd.norm_squared(),
        );
    }
    println!("left {after:.1e}, residual {same:.1e}, loss {loss:.1e}");
    assert!(after < 1e-9 && same < 1e-12 && loss < 1e-9); // the condition number of up to six random rows
}

fn capture_at_one_point_is_the_sticking_impulse() {
    let mut random = Random(42);
    let mut worst: f64 = 0.0;
    for _ in 0..1000 {
        let point = random.point_impact();
        let W = DMatrix::from_iterator(3, 3, point.W.iter().copied());
        let found = plastic(&W, &DVector::from_column_slice(point.u.as_slice())).expect("finite");
        assert_eq!(found.rank, 3);
        let p: Vector3<f64> = found.impulse.fixed_rows::<3>(0).into();
        keep(&mut worst, (p - point.p_II()).norm() / point.p_II().norm());
    }
    println!("{worst:.1e}");
    assert!(worst < 1e-10); // the condition number 1e4 times some round-offs
}

fn inconsistent_rows_are_reported_by_the_residual() {
    let one = DMatrix::from_element(2, 2, 1.0);
    let agree = plastic(&one, &DVector::from_vec(vec![1.0, 1.0])).expect("finite");
    assert!(agree.rank == 1 && agree.residual < 1e-15);
    let contradict = plastic(&one, &DVector::from_vec(vec![1.0, -1.0])).expect("finite");
    assert!(contradict.rank == 1 && (contradict.residual - 2.0_f64.sqrt()).abs() < 1e-15);
    let unmoved = DMatrix::from_diagonal(&DVector::from_vec(vec![2.0, 0.0]));
    let moving = plastic(&unmoved, &DVector::from_vec(vec![1.0, 1.0])).expect("finite");
    assert!(moving.rank == 1 && (moving.residual - 0.5_f64.sqrt()).abs() < 1e-15);
    let resting = plastic(&unmoved, &DVector::from_vec(vec![1.0, 0.0])).expect("finite");
    assert!(resting.residual == 0.0 && resting.impulse[0] == -0.5);
    let none = plastic(&DMatrix::zeros(2, 2), &DVector::zeros(2)).expect("finite");
    assert!(none.rank == 0 && none.residual == 0.0);
    assert!(plastic(&DMatrix::zeros(0, 0), &DVector::zeros(0)).is_some_and(|found| found.rank == 0));
    assert_eq!(plastic(&one, &DVector::zeros(3)), None);
    assert_eq!(plastic(&one, &DVector::repeat(2, f64::NAN)), None);
    assert_eq!(plastic(&DMatrix::repeat(2, 2, f64::INFINITY), &DVector::zeros(2)), None);
}

/// Returns the solution of `0 ≤ p ⟂ W p + q ≥ 0` by enumeration of all active sets.
fn by_enumeration(W: &DMatrix<f64>, q: &DVector<f64>) -> Option<DVector<f64>> {
    let n = q.len();
    (0..1_usize << n).find_map(|set| {
        let active: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        if set == 0 {
            return (q.min() >= 0.0).then(|| DVector::zeros(n));
        }
        let reduced = W.select_rows(&active).select_columns(&active);
        let solution = reduced.svd(true, true).solve(&-q.select_rows(&active), 1e-11).ok()?;
        let mut p = DVector::zeros(n);
        for (&i, x) in active.iter().zip(&solution) {
            p[i] = *x;
        }
        let w = W * &p + q;
        let bears = active.iter().all(|&i| w[i].abs() < 1e-9);
        (bears && p.min() > -1e-9 && w.min() > -1e-9).then_some(p)
    })
}

fn impulses_of_several_contacts_equal_those_of_the_active_set() {
    let mut random = Random(43);
    let [mut velocity, mut impulse, mut complement]: [f64; 3] = [0.0; 3];
    let mut sets = [0; 6];
    for _ in 0..3000 {
        let n = 1 + random.next() as usize % 5;
        let W = semidefinite(&mut random, n, n + 1);
        let u_n = DVector::from_fn(n, |_, _| random.between(-1.0, 0.5));
        let e: Vec<f64> = (0..n).map(|_| random.between(0.0, 1.0)).collect();
        let q = DVector::from_fn(n, |i, _| (1.0 + e[i]) * u_n[i]);
        let p = frictionless(&W, &u_n, &e).expect("definite");
        let expected = by_enumeration(&W, &q).expect("definite");
        let w = &W * &p + &q;
        keep(&mut velocity, (&W * (&p - &expected)).amax());
        keep(&mut impulse, (&p - &expected).amax() / (1.0 + p.amax()));
        keep(&mut complement, p.dot(&w).abs() / (1.0 + p.amax()));
        assert!(p.min() >= 0.0 && w.min() >= -1e-10);
        sets[p.iter().filter(|&&p| p > 0.0).count()] += 1;
    }
    println!("velocity {velocity:.1e}, impulse {impulse:.1e}, p·w {complement:.1e}; bearing {sets:?}");
    assert!(sets.iter().all(|&count| count > 20));
    assert!(velocity < 1e-9 && impulse < 1e-7 && complement < 1e-11); // some of the W are nearly singular
}

fn dependent_contacts_have_unique_velocities_and_no_energy_gain() {
    // One body has up to twelve normals of rank six at most; some are repeated, some opposite.
    let mut random = Random(44);
    let [mut velocity, mut gain]: [f64; 2] = [0.0, f64::NEG_INFINITY];
    let (mut large, mut compared) = (0, 0);
    for _ in 0..3000 {
        let n = 2 + random.next() as usize % 11;
        let rank = 1 + random.next() as usize % 6;
        let mut N = random.matrix(n, rank);
        for i in 1..n {
            let (kind, j) = (random.next() % 4, random.next() as usize % i);
            if kind < 2 {
                let copy = N.row(j) * if kind == 0 { 1.0 } else { -1.0 };
                N.set_row(i, &copy);
            }
        }
        let qd = DVector::from_fn(rank, |_, _| random.between(-1.0, 1.0));
        let (W, u_n) = (&N * N.transpose(), &N * &qd);
        let e = random.between(0.0, 1.0);
        let p = frictionless(&W, &u_n, &vec![e; n]).expect("one e for all");
        let after = &u_n + &W * &p;
        keep(&mut gain, p.dot(&(&u_n + &after)) / qd.norm_squared());
        assert!(p.min() >= 0.0 && (after + &u_n * e).min() > -1e-9);
        large += usize::from(n > 8);
        if n <= 5
            && let Some(expected) = by_enumeration(&W, &(&u_n * (1.0 + e)))
        {
            keep(&mut velocity, (&W * (&p - &expected)).amax());
            compared += 1;
        }
    }
    println!("{compared} compared, {large} large: velocity {velocity:.1e}, gain {gain:.1e}");
    assert!(compared > 900 && large > 900 && velocity < 1e-8 && gain < 1e-9); // some of the W are nearly singular
}

fn contacts_without_solution_are_reported() {
    let face_to_face = DMatrix::from_row_slice(2, 2, &[1.0, -1.0, -1.0, 1.0]);
    let u_n = DVector::from_vec(vec![-1.0, 1.0]);
    // Two opposite contacts bound one velocity on both sides: −e₁ u ≤ u⁺ ≤ −e₂ u.
    let p = frictionless(&face_to_face, &u_n, &[0.3, 0.3]).expect("one e for both");
    assert!((p[0] - p[1] - 1.3).abs() < 1e-14);
    assert!(frictionless(&face_to_face, &u_n, &[0.3, 0.4]).is_some());
    assert_eq!(frictionless(&face_to_face, &u_n, &[0.4, 0.3]), None);
    let unmoved = DMatrix::zeros(1, 1);
    assert_eq!(frictionless(&unmoved, &DVector::from_vec(vec![-1.0]), &[0.0]), None);
    assert_eq!(
        frictionless(&unmoved, &DVector::from_vec(vec![0.0]), &[0.0]),
        Some(DVector::zeros(1))
    );
    assert_eq!(
        frictionless(&DMatrix::zeros(0, 0), &DVector::zeros(0), &[]),
        Some(DVector::zeros(0))
    );
    // One contact approaches slowly while another separates fast.
    let apart = frictionless(
        &DMatrix::identity(2, 2),
        &DVector::from_vec(vec![-1e-9, 1.0]),
        &[0.5, 0.5],
    );
    assert!(apart.is_some_and(|p| (p[0] / 1.5e-9 - 1.0).abs() < 1e-15 && p[1] == 0.0));
    for bad in [f64::NAN, f64::INFINITY, -0.1] {
        assert_eq!(frictionless(&face_to_face, &u_n, &[0.3, bad]), None);
    }
    assert_eq!(
        frictionless(&face_to_face, &DVector::repeat(2, f64::NAN), &[0.3, 0.3]),
        None
    );
    assert_eq!(frictionless(&DMatrix::repeat(2, 2, f64::NAN), &u_n, &[0.3, 0.3]), None);
    assert_eq!(frictionless(&face_to_face, &u_n, &[0.3]), None);
}
