//! Sensors.

use crate::{GOOD, NODAL_BEAM, messages, report};

/// Returns the problems of a spec with a sensor of this type and these fields, which begin in line
/// 16.
fn sensor(kind: &str, fields: &str) -> Vec<String> {
    report(&format!("{GOOD}[sensor.probe]\ntype = \"{kind}\"\n{fields}"))
}

const SAMPLED: &str = "frame = \"arm\"\nsample_time = 0.1\n";
const NONE: [&str; 0] = [];

#[test]
fn valid_sensors_of_all_types_have_no_problem() {
    let _section = messages::of_this_test();
    let of_frame =
        "frame = \"arm\"\nsample_time = 0.1\ndelay = 3\nseed = 7\nerror = { bias = 0.1, noise = [0.1, 0.2, 0.0] }\n";
    for kind in ["gyro", "accelerometer", "star_tracker"] {
        assert_eq!(sensor(kind, of_frame), NONE, "{kind}");
    }
    let imu = "frame = \"arm\"\ngyro = { bias = 0.1 }\naccelerometer = { misalignment = [0.1, 0.0, 0.0] }\n";
    assert_eq!(sensor("imu", imu), NONE);
    assert_eq!(sensor("encoder", "joint = \"elbow\"\n"), NONE);
    assert_eq!(sensor("resolver", "joint = \"elbow\"\npole_pairs = 4\n"), NONE);
    assert_eq!(
        sensor("force_torque", "joint = \"elbow\"\nforce = { bias = 1.0 }\n"),
        NONE
    );
    let camera = format!(
        "{SAMPLED}target = \"base\"\nfield_of_view_deg = 60.0\nmax_distance = 9.0\nblocked_by = [{{ frame = \"base\", radius = 0.1, origin = [0.0, 0.0, 0.2] }}]\n"
    );
    assert_eq!(sensor("camera", &camera), NONE);
    assert_eq!(sensor("range", "frame = \"arm\"\ntarget = \"world\"\n"), NONE);
}

/// Fields that are missing, belong to another type, or name nothing.
#[test]
fn fields_of_other_types_and_unknown_names_are_reported() {
    let _section = messages::of_this_test();
    assert_eq!(sensor("gyro", ""), ["13: sensor.probe"]);
    assert_eq!(sensor("gyro", "frame = \"amr\"\n"), ["15: sensor.probe.frame"]);
    assert_eq!(sensor("gyro", "frame = \"world\"\n"), ["15: sensor.probe.frame"]);
    assert_eq!(
        sensor("gyro", "frame = \"arm\"\njoint = \"elbow\"\n"),
        ["16: sensor.probe.joint"]
    );
    assert_eq!(sensor("encoder", ""), ["13: sensor.probe"]);
    assert_eq!(sensor("encoder", "joint = \"elbwo\"\n"), ["15: sensor.probe.joint"]);
    assert_eq!(sensor("compass", "frame = \"arm\"\n"), ["14: sensor.probe.type"]);
    let frame = "frame = \"arm\"\n";
    assert_eq!(
        sensor("gyro", &format!("{frame}gyro = {{ bias = 0.1 }}\n")),
        ["16: sensor.probe.gyro"]
    );
    assert_eq!(
        sensor("imu", &format!("{frame}error = {{ bias = 0.1 }}\n")),
        ["16: sensor.probe.error"]
    );
    assert_eq!(sensor("range", frame), ["13: sensor.probe"]);
    assert_eq!(
        sensor("range", &format!("{frame}target = \"arm\"\n")),
        ["16: sensor.probe.target"]
    );
    assert_eq!(
        sensor("range", &format!("{frame}target = \"moon\"\n")),
        ["16: sensor.probe.target"]
    );
    let camera = format!(
        "{SAMPLED}target = \"base\"\nfield_of_view_deg = 60.0\nblocked_by = [{{ frame = \"wall\", radius = 0.1 }}]\n"
    );
    assert_eq!(sensor("camera", &camera), ["19: sensor.probe.blocked_by"]);
    assert_eq!(
        sensor("resolver", "joint = \"elbow\"\npole_pairs = 0\n"),
        ["16: sensor.probe.pole_pairs"]
    );
    let spherical = GOOD.replace("revolute", "spherical");
    for kind in ["encoder", "resolver"] {
        let text = format!("{spherical}[sensor.probe]\ntype = \"{kind}\"\njoint = \"elbow\"\n");
        assert_eq!(report(&text), ["15: sensor.probe.joint"]);
    }
    let free = GOOD.replace("revolute", "free");
    let text = format!("{free}[sensor.probe]\ntype = \"force_torque\"\njoint = \"elbow\"\n");
    assert_eq!(report(&text), ["15: sensor.probe.joint"]);
    let beam = format!("{GOOD}[sensor.probe]\ntype = \"gyro\"\nframe = \"span\"\n{NODAL_BEAM}");
    assert_eq!(report(&beam), ["15: sensor.probe.frame"]);
}

/// Noise, rounding, limits, delay, seed and sight need samples.
#[test]
fn fields_of_samples_need_a_sample_time() {
    let _section = messages::of_this_test();
    let frame = "frame = \"arm\"\n";
    for field in [
        "noise = 0.1",
        "noise_density = 0.1",
        "bias_walk = 0.1",
        "quantisation = 0.1",
        "saturation = 0.1",
    ] {
        assert_eq!(
            sensor("gyro", &format!("{frame}error = {{ {field} }}\n")),
            ["16: sensor.probe.error"]
        );
    }
    assert_eq!(
        sensor("gyro", &format!("{frame}delay = 1\n")),
        ["16: sensor.probe.delay"]
    );
    assert_eq!(sensor("gyro", &format!("{frame}seed = 1\n")), ["16: sensor.probe.seed"]);
    let camera = format!("{frame}target = \"base\"\nfield_of_view_deg = 60.0\n");
    assert_eq!(sensor("camera", &camera), ["13: sensor.probe"]);
    assert_eq!(sensor("range", &camera), ["13: sensor.probe"]);
}

/// Values out of range, and lists of another length.
#[test]
fn invalid_values_of_sensors_are_reported() {
    let _section = messages::of_this_test();
    let error = |field: &str| sensor("gyro", &format!("{SAMPLED}error = {{ {field} }}\n"));
    for (field, value) in [
        ("noise", "-0.1"),
        ("noise_density", "[0.1, -0.1, 0.1]"),
        ("bias_walk", "-0.1"),
        ("saturation", "0.0"),
        ("quantisation", "-0.1"),
    ] {
        assert_eq!(
            error(&format!("{field} = {value}")),
            [format!("17: sensor.probe.error.{field}")]
        );
    }
    assert_eq!(error("noise = [0.1, 0.2]"), ["17: sensor.probe.error"]);
    assert_eq!(error("nosie = 0.1"), ["17: sensor.probe.error.nosie"]);
    let encoder = "joint = \"elbow\"\nsample_time = 0.1\nerror = { noise = [0.1, 0.2] }\n";
    assert_eq!(sensor("encoder", encoder), ["17: sensor.probe.error"]);
    let encoder = "joint = \"elbow\"\nerror = { misalignment = [0.1, 0.2, 0.3] }\n";
    assert_eq!(sensor("encoder", encoder), ["16: sensor.probe.error"]);
    let tracker = format!("{SAMPLED}error = {{ quantisation = 0.1 }}\n");
    assert_eq!(sensor("star_tracker", &tracker), ["17: sensor.probe.error"]);
    let time = |time: &str| sensor("gyro", &format!("frame = \"arm\"\nsample_time = {time}\n"));
    assert_eq!(time("0.0"), ["16: sensor.probe.sample_time"]);
    assert_eq!(time("1e-9"), ["16: sensor.probe.sample_time"]);
    assert_eq!(
        sensor("gyro", &format!("{SAMPLED}delay = 1001\n")),
        ["17: sensor.probe.delay"]
    );
    assert_eq!(
        sensor("gyro", &format!("{SAMPLED}delay = -1\n")),
        ["17: sensor.probe.delay"]
    );
    assert_eq!(
        sensor("gyro", &format!("{SAMPLED}delay = 1.5\n")),
        ["17: sensor.probe.delay"]
    );
    assert_eq!(
        sensor("gyro", &format!("{SAMPLED}seed = 3000000000\n")),
        ["17: sensor.probe.seed"]
    );
    let camera = |more: &str| sensor("camera", &format!("{SAMPLED}target = \"base\"\n{more}\n"));
    assert_eq!(
        camera("field_of_view_deg = 190.0"),
        ["18: sensor.probe.field_of_view_deg"]
    );
    assert_eq!(
        camera("field_of_view_deg = 0.0"),
        ["18: sensor.probe.field_of_view_deg"]
    );
    assert_eq!(camera(""), ["13: sensor.probe"]);
    assert_eq!(
        camera("field_of_view_deg = 90.0\nmax_distance = -1.0"),
        ["19: sensor.probe.max_distance"]
    );
    let blocked = "field_of_view_deg = 90.0\nblocked_by = [{ frame = \"base\", radius = 0.0 }]";
    assert_eq!(camera(blocked), ["19: sensor.probe.blocked_by"]);
}

/// The axis of an approach has a direction, and the other frame an attitude.
#[test]
fn invalid_axes_of_measures_are_reported() {
    let _section = messages::of_this_test();
    let places = |fields: &str| {
        let text = format!("{GOOD}[measure.aim]\nfrom = \"base\"\nto = \"arm\"\n{fields}\n");
        let report = report(&text).into_iter();
        let place = |of: String| {
            of.split_once(": ")
                .map_or_else(|| of.clone(), |(_, place)| place.to_owned())
        };
        report.map(place).collect::<Vec<_>>()
    };
    assert_eq!(places("axis = [1.0, 0.0, 2.0]\naxis_to = [0.0, 3.0, 0.0]"), [""; 0]);
    assert_eq!(places("axis = [0.0, 0.0, 0.0]"), ["measure.aim.axis"]);
    assert_eq!(
        places("axis = [1.0, 0.0, 0.0]\naxis_to = [0.0, 0.0, 0.0]"),
        ["measure.aim.axis_to"]
    );
    assert_eq!(places("axis_to = [1.0, 0.0, 0.0]"), ["measure.aim.axis_to"]);
}
