//! Contacts that rest: both interfaces agree, restored states continue.

use super::runs::Importer;
use crate::driver::integration::integrate;
use crate::driver::*;

/// A box that lands on an edge, falls flat, slides and stops on the floor within a second.
const BOX: &str = r#"
name = "arm"
[environment]
gravity = [0.0, 0.0, -9.81]
[body.crate]
mass = 2.0
inertia = [0.022, 0.033, 0.042]
start = { position = [0.0, 0.0, 0.13], rpy_deg = [0.0, 4.0, 0.0], velocity = [1.0, 0.2, 0.0] }
[contact.feet]
a = "crate"
b = "world"
shape_a = { type = "box", size = [0.4, 0.3, 0.2] }
shape_b = { type = "plane" }
e = 0.2
mu = 0.3
rest = 0.01
"#;

const POSITION: [&str; 4] = ["crate.r[1]", "crate.r[2]", "crate.r[3]", "feet.force[3]"];

/// Returns an instance in Continuous-Time Mode of Model Exchange.
fn started(fmu: &Fmu) -> Importer<'_> {
    let me = fmu.instance(ME);
    me.initialise(Some(1e-10));
    let info = me.new_discrete_states();
    me.enter_continuous_time_mode();
    Importer { fmu: me, info }
}

#[test]
fn body_comes_to_rest_alike_in_both_interfaces() {
    let fmu = Fmu::of(BOX);
    let mut importer = started(&fmu);
    let x = importer.fmu.states();
    let (_, events) = integrate(&mut importer, x, 0.0, 2.0, 1e-3);
    let me = importer.fmu;
    let cs = fmu.instance(CS);
    cs.initialise(Some(1e-10));
    for i in 0..200 {
        ok(cs.step(f64::from(i) * 0.01, 0.01));
    }
    let [resting, sliding] = [&me, &cs].map(|of| ["feet.resting", "feet.sliding"].map(|name| of.get(name)));
    println!(
        "{} events in Model Exchange; points that rest and slide: {resting:?}, {sliding:?}",
        events.len()
    );
    assert_eq!((resting, sliding), ([4.0, 0.0], [4.0, 0.0]));
    // The importer handles each event 1e-10 s late.
    for name in POSITION {
        let [of_me, of_cs] = [&me, &cs].map(|of| of.get(name));
        assert!((of_me - of_cs).abs() < 1e-6, "{name}: {of_me} {of_cs}");
    }
    assert!(cs.get("crate.r[1]") > 0.05);
    logged();
}

/// States saved in flight, while a box rests on an edge, while it slides and at rest continue in another
/// instance with the same bits; so do events in Model Exchange. `text` is its spec.
fn continue_with_identical_bits(text: &str) {
    let fmu = Fmu::of(text);
    let [a, mut b, mut c] = [(); 3].map(|()| {
        let instance = fmu.instance(CS);
        instance.initialise(Some(1e-8));
        instance
    });
    let mut seen = [false; 3];
    for i in 0..150 {
        let t = 0.01 * f64::from(i);
        ok(a.step(t, 0.01));
        ok(b.step(t, 0.01));
        assert_eq!(a.bytes(), b.bytes(), "at {t} s");
        let (status, state) = c.deserialize(&b.bytes());
        ok(status);
        c.restore(state);
        c.free_state(state);
        std::mem::swap(&mut b, &mut c);
        let [resting, sliding] = ["feet.resting", "feet.sliding"].map(|name| a.get(name));
        seen[0] |= (1.0..4.0).contains(&resting);
        seen[1] |= sliding == 4.0;
        seen[2] |= resting == 4.0 && sliding == 0.0;
    }
    assert_eq!(seen, [true; 3], "on an edge, sliding, at rest");
    // In Model Exchange a state saved before an event has the same event and the same states after it.
    let mut importer = started(&fmu);
    let x = importer.fmu.states();
    let (x, _) = integrate(&mut importer, x, 0.0, 0.2, 1e-3);
    let state = importer.fmu.save();
    let [first, second] = [(); 2].map(|()| {
        importer.fmu.restore(state);
        let (x, events) = integrate(&mut importer, x.clone(), 0.2, 1.5, 1e-3);
        (x.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), events)
    });
    importer.fmu.free_state(state);
    assert!(first.1.len() > 1 && first == second);
    logged();
}

#[test]
fn states_saved_in_mid_rest_continue_with_identical_bits() {
    continue_with_identical_bits(BOX);
}

/// On a table that ends, the pair of faces and the points where they overlap are part of the state.
#[test]
fn states_saved_in_mid_rest_on_a_table_continue_with_identical_bits() {
    let on_table = BOX
        .replace("0.0, 0.13]", "0.0, 0.18]")
        .replace("{ type = \"plane\" }", "{ type = \"box\", size = [2.0, 2.0, 0.1] }");
    continue_with_identical_bits(&on_table);
}

/// Returns a sled on four round feet, on soft ground, that turns while it slides and stops within a
/// second.
fn sled() -> String {
    let mut text = r#"
name = "arm"
[environment]
gravity = [0.0, 0.0, -9.81]
[body.sled]
mass = 2.0
inertia = [0.022, 0.033, 0.042]
start = { position = [0.0, 0.0, 0.146], velocity = [1.0, 0.2, 0.0], angular_velocity = [0.0, 0.0, 2.0] }
"#
    .to_owned();
    for (k, [x, y]) in [[0.2, 0.1], [0.2, -0.1], [-0.2, 0.1], [-0.15, -0.12]]
        .into_iter()
        .enumerate()
    {
        text += &format!(
            "[frame.foot_{k}]\nbody = \"sled\"\norigin = [{x}, {y}, -0.1]\n[contact.feet_{k}]\na = \"foot_{k}\"\nb = \"world\"\n\
             surface = \"plane\"\nradius_a = 0.05\nlaw = \"compliant\"\nforce = 20.0\ndepth = 0.01\ndissipation = 2.0\nmu = 0.3\n\
             slip = 0.0\n"
        );
    }
    text
}

/// Compliant contacts slide, stop and stick alike in both interfaces: the difference falls with the step
/// of Model Exchange. Its events leave all indicators positive; saved states continue with the same bits.
#[test]
fn sled_on_compliant_feet_stops_alike_in_both_interfaces() {
    let fmu = Fmu::of(&sled());
    let [cs, mut b, mut c] = [(); 3].map(|()| {
        let instance = fmu.instance(CS);
        instance.initialise(Some(1e-10));
        instance
    });
    let mut seen = [false; 2];
    for i in 0..150 {
        for instance in [&cs, &b] {
            ok(instance.step(f64::from(i) * 0.01, 0.01));
        }
        // A saved state continues with the same bits.
        assert_eq!(cs.bytes(), b.bytes(), "at step {i}");
        let (status, state) = c.deserialize(&b.bytes());
        ok(status);
        c.restore(state);
        c.free_state(state);
        std::mem::swap(&mut b, &mut c);
        let sticks = (0..4).filter(|k| cs.get(&format!("feet_{k}.sticks")) != 0.0).count();
        seen = [seen[0] | (sticks == 0), seen[1] | (sticks == 4)];
    }
    assert_eq!(seen, [true; 2], "slides, sticks");
    let off = [1e-3, 5e-4].map(|h| {
        let mut importer = started(&fmu);
        let x = importer.fmu.states();
        let (_, events) = integrate(&mut importer, x, 0.0, 1.5, h);
        let me = importer.fmu;
        assert!(me.indicators().iter().all(|&z| z > 0.0));
        let names = ["sled.r[1]", "sled.r[2]", "sled.r[3]", "sled.w[3]"];
        let off = names.map(|name| (me.get(name) - cs.get(name)).abs());
        println!(
            "steps of {h} s: {} events in Model Exchange, off by {off:?}",
            events.len()
        );
        off.into_iter().fold(0.0, f64::max)
    });
    assert!(off[0] < 3e-5 && off[1] < 0.7 * off[0], "{off:?}");
    assert!(cs.get("sled.r[1]") > 0.1 && cs.get("sled.v[1]").abs() < 1e-4);
    logged();
}
