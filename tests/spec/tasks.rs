//! Task-space control, and Jacobians as outputs.

use crate::{GOOD, NODAL_BEAM, messages, report};

const TASK: &str = "motion = \"prescribed\"\n[frame.tip]\nbody = \"arm\"\n[task.reach]\nframe = \"tip\"\njoints = [\"elbow\"]\n\
                    components = [\"rz\"]\nkp = 1.0\nkd = 9.0\n";

/// Errors: joints that take no acceleration, more components than axes, incomplete waypoints, and
/// parts of a model that tasks do not include.
#[test]
fn invalid_tasks_are_reported_with_their_names() {
    let _section = messages::of_this_test();
    let good = format!("{GOOD}{TASK}");
    assert_eq!(report(&good), Vec::<String>::new());
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        report(&good.replace(from, to))
    };
    let components = |list: &str| changed("components = [\"rz\"]", &format!("components = [{list}]"));
    assert_eq!(components("\"x\", \"y\""), ["19: task.reach.components"]);
    assert_eq!(components("\"x\", \"x\""), ["19: task.reach.components"]);
    assert_eq!(components(""), ["16: task.reach"]);
    let joints = |list: &str| changed("joints = [\"elbow\"]", &format!("joints = [{list}]"));
    assert_eq!(joints("\"elbow\", \"elbow\""), ["18: task.reach.joints"]);
    assert_eq!(joints("\"elbwo\""), ["18: task.reach.joints"]);
    assert_eq!(changed("motion = \"prescribed\"", ""), ["18: task.reach.joints"]);
    let servo = "servo = { kp = 1.0, kd = 1.0 }";
    assert_eq!(changed("motion = \"prescribed\"", servo), ["18: task.reach.joints"]);
    assert_eq!(changed("\"revolute\"", "\"spherical\""), ["18: task.reach.joints"]);
    assert_eq!(changed("frame = \"tip\"", "frame = \"tpi\""), ["17: task.reach.frame"]);
    assert_eq!(changed("kp = 1.0", "kp = 0.0"), ["20: task.reach.kp"]);
    let relative = changed("kp = 1.0", "relative_to = \"tip\"\nkp = 1.0");
    assert_eq!(relative, ["20: task.reach.relative_to"]);
    let lvlh = |more: &str| changed("kp = 1.0", &format!("axes = \"lvlh\"\n{more}kp = 1.0"));
    assert_eq!(lvlh(""), ["20: task.reach.axes"]);
    assert_eq!(lvlh("relative_to = \"base\"\n"), ["20: task.reach.axes"]);
    let orbit = "[environment.orbit]\nsemi_major_axis = 7e6\n";
    let orbiting = good.replace("kp = 1.0", "axes = \"lvlh\"\nkp = 1.0") + orbit;
    assert_eq!(report(&orbiting), Vec::<String>::new());
    let ratio = changed("kp = 1.0", "damping_ratio = 0.5\nkp = 1.0");
    assert_eq!(ratio, ["20: task.reach.damping_ratio"]);
    let signal = "[signal.\"elbow.qdd\"]\ntype = \"constant\"\n";
    assert_eq!(report(&format!("{good}{signal}")), ["22: signal.elbow.qdd"]);
    let waypoints = |poses: &[&str]| {
        let tables = poses.iter().map(|pose| format!("[[task.reach.waypoint]]\n{pose}\n"));
        report(&format!("{good}{}", tables.collect::<String>()))
    };
    assert_eq!(
        waypoints(&["time = 0.0\nrpy_deg = [0.0, 0.0, 9.0]"]),
        Vec::<String>::new()
    );
    assert_eq!(
        waypoints(&["time = 0.0\nposition = [0.0, 0.0, 9.0]"]),
        ["22: task.reach.waypoint"]
    );
    let turn = "time = 2.0\norientation = [1.0, 0.0, 0.0, 0.0]";
    assert_eq!(waypoints(&[turn, turn]), ["22: task.reach.waypoint"]);
    assert_eq!(
        waypoints(&["time = 2.0\norientation = [1.0, 0.1, 0.0, 0.0]"]),
        ["22: task.reach.waypoint"]
    );
    let second = good.replace(
        "[frame.tip]",
        "[body.other]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.wrist]\ntype = \"revolute\"\nparent = \"arm\"\nchild = \"other\"\n\
         motion = \"prescribed\"\n[task.turn]\nframe = \"other\"\njoints = [\"wrist\"]\ncomponents = [\"rz\"]\nkp = 1.0\nkd = 9.0\n[frame.tip]",
    );
    assert_eq!(report(&second), ["32: task.reach.joints"]);
    let apart = good.replace("[\"elbow\"]", "[\"elbow\", \"wrist\"]")
        + "[body.other]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.wrist]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"other\"\n\
           motion = \"prescribed\"\n";
    assert_eq!(report(&apart), ["18: task.reach.joints"]);
    // A free joint separates spacecraft, each with a task.
    let released = "[body.other]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.release]\ntype = \"free\"\nparent = \"arm\"\n\
                    child = \"other\"\n[body.hand]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.wrist]\ntype = \"revolute\"\n\
                    parent = \"other\"\nchild = \"hand\"\nmotion = \"prescribed\"\n[task.turn]\nframe = \"hand\"\n\
                    joints = [\"wrist\"]\ncomponents = [\"rz\"]\nkp = 1.0\nkd = 9.0\n";
    assert_eq!(report(&format!("{good}{released}")), Vec::<String>::new());
    let far = "[body.far]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n";
    let one_body = changed("kp = 1.0", "relative_to = \"arm\"\nkp = 1.0");
    assert_eq!(one_body, ["20: task.reach.relative_to"]);
    let off = report(&(good.replace("frame = \"tip\"", "frame = \"far\"") + far));
    assert_eq!(off, ["17: task.reach.frame"]);
    assert_eq!(
        report(&format!("{good}[input]\n\"elbow.qdd\" = 0.1\n")),
        ["23: input.elbow.qdd"]
    );
    let waypoint = "[[task.reach.waypoint]]\ntime = 0.0\nrpy_deg = [0.0, 0.0, 9.0]\n";
    let course = "[signal.\"reach.s\"]\ntype = \"constant\"\n";
    assert_eq!(report(&format!("{good}{waypoint}{course}")), ["25: signal.reach.s"]);
    let upright = "time = 0.0\norientation = [1.0, 0.0, 0.0, 0.0]";
    let half_turn = "time = 2.0\norientation = [0.0, 1.0, 0.0, 0.0]";
    assert_eq!(waypoints(&[upright, half_turn]), ["22: task.reach.waypoint"]);
}

/// Errors of virtual inertias, of contacts that are no forces on the frame, and of sample times.
#[test]
fn invalid_impedances_are_reported_with_their_names() {
    let _section = messages::of_this_test();
    let with = |lines: &str, more: &str| report(&format!("{GOOD}{TASK}{lines}\n{more}"));
    let touch =
        |a: &str, law: &str| format!("[contact.touch]\na = \"{a}\"\nb = \"world\"\nsurface = \"plane\"\n{law}\n");
    let compliant = "law = \"compliant\"\nforce = 9.0\ndepth = 0.01";
    let contacts = "contacts = [\"touch\"]";
    let none = Vec::<String>::new();
    assert_eq!(with("inertia = 2.0\nsample_time = 0.01", ""), none);
    assert_eq!(
        with(
            &format!("inertia = [1.0, 1.0, 2.0]\n{contacts}"),
            &touch("tip", compliant)
        ),
        none
    );
    assert_eq!(with(contacts, &touch("arm", compliant)), none);
    assert_eq!(with("mass = 2.0", ""), ["22: task.reach.mass"]);
    let turns = "components = [\"rz\"]";
    let moves = format!("{GOOD}{TASK}inertia = 2.0\n").replace(turns, "components = [\"x\"]");
    assert_eq!(report(&moves), ["22: task.reach.inertia"]);
    assert_eq!(with("inertia = 0.0", ""), ["22: task.reach.inertia"]);
    assert_eq!(with("inertia = [1.0, 2.0]", ""), ["22: task.reach.inertia"]);
    assert_eq!(with("sample_time = 0.0", ""), ["22: task.reach.sample_time"]);
    assert_eq!(with("sample_time = 1e-9", ""), ["22: task.reach.sample_time"]);
    assert_eq!(
        with("contacts = [\"tuch\"]", &touch("tip", compliant)),
        ["22: task.reach.contacts"]
    );
    assert_eq!(with(contacts, &touch("tip", "e = 0.5")), ["22: task.reach.contacts"]);
    assert_eq!(with(contacts, &touch("base", compliant)), ["22: task.reach.contacts"]);
    let port = |frame: &str| format!("[port.push]\nframe = \"{frame}\"\n");
    let ports = "ports = [\"push\"]";
    assert_eq!(with(ports, &port("arm")), none);
    assert_eq!(with(ports, &port("base")), ["22: task.reach.ports"]);
    assert_eq!(with("ports = [\"pull\"]", &port("arm")), ["22: task.reach.ports"]);
    let twice = with("contacts = [\"touch\", \"touch\"]", &touch("tip", compliant));
    assert_eq!(twice, ["22: task.reach.contacts"]);
}

/// The friction of a contact that sticks is a reaction, which a task does not measure.
#[test]
fn task_does_not_measure_contacts_that_stick() {
    let _section = messages::of_this_test();
    let with = |slip: f64| {
        report(&format!(
            "{GOOD}{TASK}contacts = [\"touch\"]\n[contact.touch]\na = \"tip\"\nb = \"world\"\nsurface = \"plane\"\n\
             law = \"compliant\"\nforce = 9.0\ndepth = 0.01\nmu = 0.3\nslip = {slip:?}\n"
        ))
    };
    assert_eq!(with(1e-3), Vec::<String>::new());
    assert_eq!(with(0.0), ["22: task.reach.contacts"]);
}

/// Parts of a model that the rigid spacecraft of a task does not include, and joints that a task
/// cannot move, are reported with the task's name.
#[test]
fn parts_that_tasks_do_not_include_are_reported() {
    let good = format!("{GOOD}{TASK}");
    let panel = "[body.panel]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.wrist]\ntype = \"revolute\"\nparent = \"arm\"\nchild = \"panel\"\n";
    let beam = "[body.boom.geometrically_exact_beam]\nlength = 3.0\nelements = 4\nmass_per_length = 0.7\n\
                polar_inertia_per_length = 0.03\nEA = 9e3\nGA = 400.0\nGJ = 50.0\nEI_y = 60.0\nEI_z = 90.0\n\
                [joint.root]\ntype = \"revolute\"\nparent = \"arm\"\nchild = \"boom\"\n";
    let included = "task \"reach\" does not include";
    for (more, expected) in [
        (
            "[loop.closing]\ntype = \"spherical\"\na = \"arm\"\nb = \"base\"\n".to_owned(),
            format!("{included} loops"),
        ),
        (
            format!("{panel}[coupling.gear]\njoint = \"wrist\"\nfollows = \"elbow\"\nratio = 2.0\n"),
            format!("{included} couplings"),
        ),
        (
            "[interface.dock]\nframe = \"base\"\nstiffness = 100.0\ndamping = 1.0\n".to_owned(),
            format!("{included} interfaces"),
        ),
        (beam.to_owned(), format!("{included} geometrically exact beams")),
        (
            format!("{panel}friction = {{ coulomb = 0.1 }}\n"),
            format!("{included} friction that sticks"),
        ),
        (
            "[body.far]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[grasp.hold]\na = \"arm\"\nb = \"far\"\n\
             stiffness = 100.0\ndamping = 1.0\n"
                .to_owned(),
            "task \"reach\" includes only grasps".to_owned(),
        ),
        (
            "[joint.elbow.drive_train]\nratio = 20.0\nrotor_mass = 0.1\nrotor_inertia = 1e-3\nstiffness = 30.0\n"
                .to_owned(),
            "joint \"elbow\" has a drive train".to_owned(),
        ),
        (
            "[task.other]\nframe = \"tip\"\njoints = [\"elbow\"]\ncomponents = [\"rz\"]\nkp = 1.0\nkd = 9.0\n"
                .to_owned(),
            "joint \"elbow\" is in several tasks".to_owned(),
        ),
        (
            "[plan.go]\njoints = [\"elbow\"]\nuntil = 9.0\n[[plan.go.goal]]\nframe = \"tip\"\nto = { x = 1.0 }\n"
                .to_owned(),
            "joint \"elbow\" is in a plan too".to_owned(),
        ),
    ] {
        let found: Vec<String> = crate::problems(&format!("{good}{more}"))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(
            found.iter().any(|what| what.contains(&expected)),
            "{expected}: {found:?}"
        );
    }
}

/// Errors of `[kinematics]`: outputs that need a free-floating base, frames that do not move.
#[test]
fn invalid_kinematics_are_reported_with_their_names() {
    let _section = messages::of_this_test();
    let of = |frame: &str, outputs: &str| {
        format!(
            "[frame.tip]\nbody = \"arm\"\n[kinematics.hand]\nframe = \"{frame}\"\njoints = [\"elbow\"]\noutputs = [{outputs}]\n"
        )
    };
    let written = |frame: &str, outputs: &str| report(&format!("{GOOD}{}", of(frame, outputs)));
    assert_eq!(written("tip", "\"jacobian\", \"base_motion\""), Vec::<String>::new());
    assert_eq!(written("tip", "\"singular_value\""), ["15: kinematics.hand.components"]);
    assert_eq!(written("tip", ""), ["15: kinematics.hand"]);
    assert_eq!(written("tpi", "\"jacobian\""), ["16: kinematics.hand.frame"]);
    let base = |outputs: &str, components: &str| {
        let table = of("tip", outputs).replace("outputs", &format!("base_components = [{components}]\noutputs"));
        report(&format!("{GOOD}{table}"))
    };
    assert_eq!(base("\"reaction_null_space\"", "\"rx\", \"z\""), Vec::<String>::new());
    for (outputs, components) in [
        ("\"jacobian\"", "\"z\""),
        ("\"reaction_null_space\"", ""),
        ("\"reaction_null_space\"", "\"z\", \"z\""),
    ] {
        assert_eq!(base(outputs, components), ["18: kinematics.hand.base_components"]);
    }
    let fixed = GOOD.replace("parent = \"base\"", "parent = \"world\"");
    assert_eq!(
        report(&format!("{fixed}{}", of("tip", "\"jacobian\""))),
        Vec::<String>::new()
    );
    assert_eq!(
        report(&format!("{fixed}{}", of("tip", "\"base_motion\""))),
        ["18: kinematics.hand.outputs"]
    );
    let mount = "[joint.mount]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"base\"\n";
    assert_eq!(
        report(&format!("{GOOD}{mount}{}", of("base", "\"jacobian\""))),
        ["20: kinematics.hand.frame"]
    );
    let far = "[body.far]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[body.panel]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n\
               [joint.hinge]\ntype = \"revolute\"\nparent = \"far\"\nchild = \"panel\"\n";
    let off = of("tip", "\"jacobian\"").replace("[\"elbow\"]", "[\"elbow\", \"hinge\"]");
    assert_eq!(report(&format!("{GOOD}{off}{far}")), ["17: kinematics.hand.joints"]);
    let with_beam = |outputs: &str| report(&format!("{GOOD}{}{NODAL_BEAM}", of("tip", outputs)));
    assert_eq!(with_beam("\"jacobian\""), Vec::<String>::new());
    assert_eq!(with_beam("\"generalized_jacobian\""), ["18: kinematics.hand.outputs"]);
    let gear = "[body.panel]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.wrist]\ntype = \"revolute\"\nparent = \"arm\"\n\
                child = \"panel\"\n[coupling.gear]\njoint = \"wrist\"\nfollows = \"elbow\"\nratio = 2.0\n";
    let geared = report(&format!("{GOOD}{}{gear}", of("tip", "\"jacobian\"")));
    assert_eq!(geared, ["17: kinematics.hand.joints"]);
}
