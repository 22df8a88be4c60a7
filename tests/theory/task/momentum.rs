//! Momentum matrices and the projector onto the reaction null space, as outputs of `[kinematics]`.

use super::{DRIVEN, arm, names, reaching, run_in};
use crate::numbers::few;
use crate::run::Run;
use grapple::algebra::Vec3;
use grapple::plant::Mechanics;
use grapple::spec::Formulation;
use nalgebra::{DMatrix, Matrix3};

const OUTPUTS: &str = "outputs = [\"base_motion\", \"base_inertia\", \"coupling_inertia\", \"reaction_null_space\"]";
const ALL: &str = "base_components = [\"x\", \"y\", \"z\", \"rx\", \"ry\", \"rz\"]";

/// Returns the outputs of the seven joints of [`arm`]: `hand`, and `whole` with all components of
/// the base.
fn tables() -> String {
    let table = |name: &str, more: &str| {
        format!(
            "[kinematics.{name}]\nframe = \"tip\"\njoints = [{}]\n{OUTPUTS}\n{more}\n",
            names()
        )
    };
    table("hand", "") + &table("whole", ALL)
}

fn matrix(run: &Run, name: &str, [rows, columns]: [usize; 2]) -> DMatrix<f64> {
    DMatrix::from_fn(rows, columns, |i, k| run.value(&format!("{name}[{},{}]", i + 1, k + 1)))
}

/// Returns `H_b` and `H_m` of the outputs.
fn inertias(run: &Run) -> [DMatrix<f64>; 2] {
    [("base_inertia", 6), ("coupling_inertia", 7)].map(|(field, n)| matrix(run, &format!("hand.{field}"), [6, n]))
}

/// In mid-course the momentum matrices are those of [`Mechanics`], about the origin of the base in
/// place of the mass centre, and the momentum of the spacecraft is `H_b V + H_m q̇`. They are the
/// same in all formulations. Tolerances: round-off, relative to the largest entries.
#[test]
fn momentum_matrices_are_those_of_the_mechanics() {
    let mut run = Run::new(&reaching(DRIVEN, &tables()), 1e-9);
    run.go(3.0);
    let [H_b, H_m] = inertias(&run);
    let (model, x) = (run.model(), run.simulation.state.x.clone());
    let mut mechanics = Mechanics::new(&model).expect("no ANCF beams");
    let mut A = vec![0.0; 6 * 13];
    let plant = &mut run.simulation.plant;
    mechanics.momentum_matrix(plant, &x, &mut A);
    let centre = plant.invariants(&x).mass_centre;
    let mut A = DMatrix::from_row_slice(6, 13, &A);
    let r = centre - run.vector("base.r");
    let moved = r.cross_matrix() * A.rows(3, 3);
    A.rows_mut(0, 3).zip_apply(&moved, |t, more| *t += more);
    // Angular rates of the base are in its own axes.
    let mut R = DMatrix::identity(6, 6);
    R.view_mut((0, 0), (3, 3)).copy_from(&run.attitude("base").rotation());
    let off = [
        (&H_b * &R - A.columns(0, 6)).amax() / H_b.amax(),
        (&H_m - A.columns(6, 7)).amax() / H_m.amax(),
    ];
    let rates = DMatrix::from_fn(7, 1, |k, _| run.value(&format!("joint_{}.qd", k + 1)));
    let V = DMatrix::from_fn(6, 1, |i, _| {
        let w = run.attitude("base").rotation() * run.vector("base.w");
        if i < 3 { w[i] } else { run.vector("base.v")[i - 3] }
    });
    let of_arm = &H_m * rates;
    let momentum = (H_b * V + &of_arm).amax() / of_arm.amax();
    println!("base {:.1e}, coupling {:.1e}, momentum {momentum:.1e}", off[0], off[1]);
    assert!(off.into_iter().all(|off| off < 1e-13) && of_arm.amax() > 0.5 && momentum < 1e-12);

    let mut expected: Option<[DMatrix<f64>; 2]> = None;
    for formulation in Formulation::ALL {
        let found = inertias(&run_in(formulation, &(arm(DRIVEN) + &tables()), 1e-9));
        let expected = expected.get_or_insert_with(|| found.clone());
        for (found, expected) in found.iter().zip(expected) {
            let off = (found - &*expected).amax() / expected.amax();
            assert!(off < 1e-13, "{}: {off:e}", formulation.name());
        }
    }
}

/// `P` is the orthogonal projector onto the null space of the base's motion: `I − C⁺ C` by a
/// singular value decomposition, of rank 4 for the attitude of the base and of rank 1 for all six
/// components, where it moves neither and has no momentum. Tolerance: round-off.
#[test]
fn reaction_null_space_is_that_of_the_motion_of_the_base() {
    let mut run = Run::new(&reaching(DRIVEN, &tables()), 1e-9);
    for t in [0.0, 3.0] {
        if t > 0.0 {
            run.go(t);
        }
        run.look();
        let [_, H_m] = inertias(&run);
        for (name, rows, rank) in [("hand", 3, 4.0), ("whole", 6, 1.0)] {
            let C = matrix(&run, &format!("{name}.base_motion"), [6, 7])
                .rows(0, rows)
                .into_owned();
            let P = matrix(&run, &format!("{name}.reaction_null_space"), [7, 7]);
            let pseudoinverse = C.clone().pseudo_inverse(1e-9).expect("finite");
            let expected = DMatrix::identity(7, 7) - pseudoinverse * &C;
            let off = [
                (&P - expected).amax(),
                (&P * &P - &P).amax(),
                (&P - P.transpose()).amax(),
                (C * &P).amax(),
                (P.trace() - rank).abs(),
            ];
            println!("{name}, {t} s: {}", few(&off));
            assert!(off.into_iter().all(|off| off < 1e-13));
            if rows == 6 {
                let momentum = (&H_m * P).amax() / H_m.amax();
                assert!(momentum < 1e-13, "{momentum:e}");
            }
        }
    }
}

/// One joint turns the base, so that its null space is zero; a component that no rate moves leaves
/// all rates. Joints that turn and translate have a projector that is orthogonal in rates in units
/// of `length`.
#[test]
fn reaction_null_space_of_other_arms() {
    let text = "name = \"arm\"\n[body.base]\nmass = 20.0\ninertia = [3.0, 4.0, 5.0]\n[body.slider]\nmass = 3.0\n\
                inertia = [0.1, 0.1, 0.1]\n[body.link]\nmass = 2.0\nmass_centre = [0.0, 0.5, 0.0]\ninertia = [0.2, 0.05, 0.2]\n\
                [joint.slide]\ntype = \"prismatic\"\nparent = \"base\"\nchild = \"slider\"\norigin = [0.0, 0.7, 0.0]\naxis = [1.0, 0.0, 0.0]\n\
                [joint.hinge]\ntype = \"revolute\"\nparent = \"slider\"\nchild = \"link\"\naxis = [0.0, 0.0, 1.0]\n\
                start = { position = 0.6 }\n";
    let table = |name: &str, joints: &str, more: &str| {
        format!(
            "[kinematics.{name}]\nframe = \"link\"\njoints = [{joints}]\noutputs = [\"base_motion\", \"reaction_null_space\"]\n{more}\n"
        )
    };
    let both = "\"slide\", \"hinge\"";
    let tables = table("one", "\"hinge\"", "")
        + &table("none", both, "base_components = [\"rx\"]")
        + &table("both", both, "length = 0.25")
        + &table("other", both, "length = 4.0");
    let mut run = Run::new(&(text.to_owned() + &tables), 1e-9);
    run.look();
    assert!(run.value("one.reaction_null_space[1,1]").abs() < 1e-15);
    assert_eq!(
        matrix(&run, "none.reaction_null_space", [2, 2]),
        DMatrix::identity(2, 2)
    );
    let found = [("both", 0.25), ("other", 4.0)].map(|(name, length)| {
        let P = matrix(&run, &format!("{name}.reaction_null_space"), [2, 2]);
        let c = matrix(&run, &format!("{name}.base_motion"), [6, 2]).row(2).into_owned();
        assert!(c.amin() != 0.0 && c[0].abs() > 1e-3 && c[1].abs() > 1e-3, "{c}");
        let off = [
            (&c * &P).amax(),
            (&P * &P - &P).amax(),
            // D⁻¹ P D is symmetric, with D = diag(length, 1).
            (P[(0, 1)] / length - P[(1, 0)] * length).abs(),
            (P.trace() - 1.0).abs(),
        ];
        assert!(off.into_iter().all(|off| off < 1e-14), "{name}: {off:?}");
        P
    });
    assert!(
        (&found[0] - &found[1]).amax() > 0.01,
        "the weight of a translation matters"
    );
}

/// An inclined base has round-off in all three rows of the motion of a planar arm, whose rank
/// remains one: see [`super::planar`] for the closed form.
#[test]
fn rank_of_an_inclined_planar_arm_is_one() {
    let link = |n: usize, parent: &str| {
        format!(
            "[body.link_{n}]\nmass = 3.0\nmass_centre = [0.4, 0.0, 0.0]\ninertia = [0.02, 0.3, 0.3]\n[joint.joint_{n}]\n\
             type = \"revolute\"\nparent = \"{parent}\"\nchild = \"link_{n}\"\norigin = [0.8, 0.0, 0.0]\naxis = [0.0, 0.0, 1.0]\n\
             start = {{ position = {:?} }}\n",
            0.4 + 0.3 * n as f64
        )
    };
    let joints = "\"joint_1\", \"joint_2\", \"joint_3\"";
    let text = format!(
        "name = \"planar\"\n[body.base]\nmass = 30.0\ninertia = [4.0, 5.0, 6.0]\nstart = {{ attitude = [0.8, 0.36, -0.48, 0.0] }}\n\
         {}{}{}[kinematics.hand]\nframe = \"link_3\"\njoints = [{joints}]\noutputs = [\"base_motion\", \"reaction_null_space\"]\n",
        link(1, "base"),
        link(2, "link_1"),
        link(3, "link_2")
    );
    let mut run = Run::new(&text, 1e-9);
    run.look();
    let R: Matrix3<f64> = run.attitude("base").rotation();
    let C = matrix(&run, "hand.base_motion", [6, 3]);
    let along = R.column(2).into_owned();
    let c = DMatrix::from_fn(1, 3, |_, k| along.dot(&Vec3::new(C[(0, k)], C[(1, k)], C[(2, k)])));
    let expected = DMatrix::identity(3, 3) - c.transpose() * &c / (&c * c.transpose())[0];
    let off = (matrix(&run, "hand.reaction_null_space", [3, 3]) - expected).amax();
    println!("{off:.1e}");
    assert!(c.amin().abs() > 1e-3 && off < 1e-14, "{off:e}");
}
