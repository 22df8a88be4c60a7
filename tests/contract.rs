//! The contract of FMI 2.0.4, driven through the exported C functions as a host drives them: a run in
//! Model Exchange, one in Co-Simulation, and misuse of both.

use grapple::fmu::c_abi::*;
use grapple::fmu::description::{Interfaces, describe};
use grapple::fmu::fmi2::*;
use grapple::fmu::registry::{Guid, Naming, Registry};
use grapple::plant::Model;
use grapple::spec;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// A free base with two links: a sine on the elbow and a pulse on the shoulder run inside the FMU, so that
/// there are time events; the port and the wrist are the host's.
const TWO_LINK: &str = r#"
name = "two_link"
[body.base]
mass = 4.0
inertia = [0.4, 0.5, 0.45]
[body.upper]
mass = 1.0
mass_centre = [0.5, 0.1, 0.0]
inertia = [0.1, 0.12, 0.15]
[body.lower]
mass = 1.2
mass_centre = [0.4, 0.0, 0.1]
inertia = [0.1, 0.11, 0.13]
[joint.shoulder]
type = "revolute"
parent = "base"
child = "upper"
origin = [0.5, 0.0, 0.0]
damping = 0.1
[joint.elbow]
type = "revolute"
parent = "upper"
child = "lower"
origin = [1.0, 0.0, 0.0]
range = { min_deg = -150.0, max_deg = 150.0 }
servo = { kp = 3.0, kd = 1.0, on = false }
start = { position = 0.3, rate = 0.1 }
[port.push]
frame = "lower"
[signal."shoulder.tau"]
type = "constant"
amplitude = 0.7
from = 0.23
until = 0.61
from_host = false
"#;

/// An unpacked FMU: its `resources/`, its GUID, its variables.
struct Fmu {
    resources: PathBuf,
    guid: CString,
    registry: Registry,
}

impl Fmu {
    fn new(name: &str, naming: Naming) -> Self {
        let spec = spec::read(TWO_LINK, Path::new(".")).expect("the spec is right");
        let model = Arc::new(Model::compile(&spec).expect("the model is right"));
        let bytes = model.to_bytes().expect("a model can be written");
        let resources = std::env::temp_dir().join(format!("grapple contract {name} {}", std::process::id()));
        std::fs::create_dir_all(&resources).expect("the temporary directory can be written");
        std::fs::write(resources.join("model.json"), &bytes).expect("the temporary directory can be written");
        let guid = Guid::new(&bytes, naming).to_string();
        let xml = describe(&model, naming, Interfaces::Both).expect("the model can be described");
        assert_eq!(xml.guid, guid);
        Self {
            resources,
            guid: CString::new(guid).expect("no zero inside"),
            registry: Registry::new(model, naming),
        }
    }

    fn location(&self) -> CString {
        let path = self.resources.to_str().expect("the test chose the name");
        CString::new(format!("file://{}", path.replace(' ', "%20"))).expect("no zero inside")
    }

    fn vr(&self, name: &str) -> u32 {
        self.registry
            .find(name)
            .unwrap_or_else(|| panic!("no variable {name}"))
            .value_reference
    }

    fn states(&self) -> usize {
        self.registry.model().states.len()
    }

    fn instance(&self, kind: fmi2Type) -> Instance<'_> {
        let host = Box::new(Host::default());
        let c = instantiate(kind, Some(&self.guid), Some(&self.location()), Some(&host.callbacks()));
        assert!(!c.is_null(), "{:?}", host.take());
        Instance { fmu: self, host, c }
    }
}

impl Drop for Fmu {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.resources);
    }
}

fn instantiate(
    kind: fmi2Type,
    guid: Option<&CStr>,
    location: Option<&CStr>,
    callbacks: Option<&fmi2CallbackFunctions>,
) -> fmi2Component {
    let pointer = |s: Option<&CStr>| s.map_or(null(), CStr::as_ptr);
    let callbacks = callbacks.map_or(null(), std::ptr::from_ref);
    // SAFETY: null, or strings and a structure that live during the call.
    unsafe {
        fmi2Instantiate(
            c"arm".as_ptr(),
            kind,
            pointer(guid),
            pointer(location),
            callbacks,
            fmi2True,
            fmi2True,
        )
    }
}

/// What the host's logger has heard: status, category, message.
#[derive(Default)]
struct Host {
    heard: RefCell<Vec<(fmi2Status, String, String)>>,
}

impl Host {
    fn callbacks(&self) -> fmi2CallbackFunctions {
        type Fixed = unsafe extern "C" fn(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String);
        // SAFETY: stable Rust cannot define a variadic function; on the platforms tested the fixed arguments
        // of one are passed like those of any other.
        let logger = unsafe { std::mem::transmute::<Fixed, fmi2CallbackLogger>(listen) };
        fmi2CallbackFunctions {
            logger: Some(logger),
            allocateMemory: None,
            freeMemory: None,
            stepFinished: None,
            componentEnvironment: std::ptr::from_ref(self).cast_mut().cast::<c_void>(),
        }
    }

    fn take(&self) -> Vec<(fmi2Status, String, String)> {
        self.heard.take()
    }

    /// The one message heard, which is of this status and mentions all of these.
    fn heard(&self, status: fmi2Status, words: &[&str]) {
        let heard = self.take();
        let [(said, category, message)] = heard.as_slice() else {
            panic!("one message expected: {heard:?}");
        };
        let expected = if status == fmi2Status::DISCARD {
            "logStatusDiscard"
        } else {
            "logStatusError"
        };
        assert_eq!((*said, category.as_str()), (status, expected), "{message}");
        for word in words {
            assert!(message.contains(word), "{word:?} is not in {message:?}");
        }
    }
}

unsafe extern "C" fn listen(
    environment: fmi2ComponentEnvironment,
    instance: fmi2String,
    status: fmi2Status,
    category: fmi2String,
    message: fmi2String,
) {
    // SAFETY: the environment is the `Host` of a test that outlives the instance; the strings live during the call.
    unsafe {
        assert_eq!(CStr::from_ptr(instance), c"arm");
        let text = |s: fmi2String| CStr::from_ptr(s).to_string_lossy().into_owned();
        let host = &*environment.cast_const().cast::<Host>();
        host.heard.borrow_mut().push((status, text(category), text(message)));
    }
}

/// An instance, freed at the end.
struct Instance<'a> {
    fmu: &'a Fmu,
    host: Box<Host>,
    c: fmi2Component,
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        // SAFETY: a live handle, not used again.
        unsafe { fmi2FreeInstance(self.c) }
    }
}

const OK: fmi2Status = fmi2Status::OK;
const ERROR: fmi2Status = fmi2Status::ERROR;
const DISCARD: fmi2Status = fmi2Status::DISCARD;
const ME: fmi2Type = fmi2Type::MODEL_EXCHANGE;
const CS: fmi2Type = fmi2Type::CO_SIMULATION;

// SAFETY of this block: the handle lives as long as `self`, and every pointer comes from a slice of the
// count that stands beside it.
impl Instance<'_> {
    fn initialise(&self, tolerance: f64) {
        unsafe {
            assert_eq!(
                fmi2SetupExperiment(self.c, fmi2True, tolerance, 0.0, fmi2False, 0.0),
                OK
            );
            assert_eq!(fmi2EnterInitializationMode(self.c), OK);
            assert_eq!(fmi2ExitInitializationMode(self.c), OK);
        }
    }

    fn get(&self, name: &str) -> f64 {
        let mut value = f64::NAN;
        assert_eq!(
            unsafe { fmi2GetReal(self.c, &self.fmu.vr(name), 1, &mut value) },
            OK,
            "{name}"
        );
        value
    }

    fn set(&self, name: &str, value: f64) -> fmi2Status {
        unsafe { fmi2SetReal(self.c, &self.fmu.vr(name), 1, &value) }
    }

    fn step(&self, t: f64, h: f64) -> fmi2Status {
        unsafe { fmi2DoStep(self.c, t, h, fmi2True) }
    }

    fn new_discrete_states(&self) -> fmi2EventInfo {
        // Uninitialised as omc hands it over (O6): filled with what must not survive.
        let mut info = fmi2EventInfo {
            newDiscreteStatesNeeded: 77,
            terminateSimulation: 77,
            nominalsOfContinuousStatesChanged: 77,
            valuesOfContinuousStatesChanged: 77,
            nextEventTimeDefined: 77,
            nextEventTime: f64::NAN,
        };
        assert_eq!(unsafe { fmi2NewDiscreteStates(self.c, &mut info) }, OK);
        assert_eq!(info.newDiscreteStatesNeeded, fmi2False);
        assert_eq!(info.terminateSimulation, fmi2False);
        assert!(info.nextEventTime.is_finite());
        info
    }

    fn derivatives(&self, t: f64, x: &[f64], dx: &mut [f64]) {
        unsafe {
            assert_eq!(fmi2SetTime(self.c, t), OK);
            assert_eq!(fmi2SetContinuousStates(self.c, x.as_ptr(), x.len()), OK);
            assert_eq!(fmi2GetDerivatives(self.c, dx.as_mut_ptr(), dx.len()), OK);
        }
    }

    fn states(&self) -> Vec<f64> {
        let mut x = vec![f64::NAN; self.fmu.states()];
        assert_eq!(unsafe { fmi2GetContinuousStates(self.c, x.as_mut_ptr(), x.len()) }, OK);
        x
    }

    /// A host's own integration: the classical Runge-Kutta method between time events.
    fn integrate(&self, end: f64, step: f64) {
        let mut t = 0.0;
        let mut info = self.new_discrete_states();
        assert_eq!(unsafe { fmi2EnterContinuousTimeMode(self.c) }, OK);
        while t < end {
            let event = if info.nextEventTimeDefined == fmi2True {
                info.nextEventTime
            } else {
                f64::INFINITY
            };
            let limit = end.min(event);
            let n = ((limit - t) / step).ceil().max(1.0);
            let h = (limit - t) / n;
            for i in 0..n as usize {
                self.runge_kutta(t + i as f64 * h, h);
            }
            t = limit;
            if t == event {
                unsafe {
                    // Time events come late from some hosts (O6).
                    assert_eq!(fmi2SetTime(self.c, t + 1e-10), OK);
                    assert_eq!(fmi2EnterEventMode(self.c), OK);
                    assert_eq!(fmi2EnterEventMode(self.c), OK);
                    info = self.new_discrete_states();
                    assert_eq!(fmi2EnterContinuousTimeMode(self.c), OK);
                }
            }
        }
        unsafe {
            assert_eq!(fmi2SetTime(self.c, end), OK);
        }
    }

    fn runge_kutta(&self, t: f64, h: f64) {
        let x0 = self.states();
        let n = x0.len();
        let mut k = [(); 4].map(|()| vec![0.0; n]);
        let ahead = |k: &[f64], h: f64| -> Vec<f64> { x0.iter().zip(k).map(|(x, k)| x + h * k).collect() };
        self.derivatives(t, &x0, &mut k[0]);
        self.derivatives(t + h / 2.0, &ahead(&k[0], h / 2.0), &mut k[1]);
        self.derivatives(t + h / 2.0, &ahead(&k[1], h / 2.0), &mut k[2]);
        self.derivatives(t + h, &ahead(&k[2], h), &mut k[3]);
        let x: Vec<f64> = (0..n)
            .map(|i| x0[i] + h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]))
            .collect();
        let (mut enter, mut terminate) = (77, 77);
        unsafe {
            assert_eq!(fmi2SetContinuousStates(self.c, x.as_ptr(), n), OK);
            assert_eq!(
                fmi2CompletedIntegratorStep(self.c, fmi2True, &mut enter, &mut terminate),
                OK
            );
        }
        assert_eq!((enter, terminate), (fmi2False, fmi2False));
    }
}

const WATCHED: [&str; 6] = [
    "shoulder.q",
    "elbow.q",
    "elbow.qd",
    "base.r[2]",
    "base.w[3]",
    "lower.r[1]",
];

#[test]
fn model_exchange_and_co_simulation_agree_through_time_events() {
    let fmu = Fmu::new("agree", Naming::Structured);
    let me = fmu.instance(ME);
    me.initialise(1e-10);
    assert_eq!(me.set("elbow.tau", 0.4), OK);
    me.integrate(1.0, 1e-3);
    let cs = fmu.instance(CS);
    cs.initialise(1e-10);
    assert_eq!(cs.set("elbow.tau", 0.4), OK);
    for i in 0..100 {
        // A host's sum of steps, with its round-off.
        assert_eq!(cs.step(i as f64 * 0.01, 0.01), OK);
    }
    for name in WATCHED {
        let (a, b) = (me.get(name), cs.get(name));
        // Runge-Kutta at 1 ms leaves about 1e-12; ten digits were asked of the other.
        assert!((a - b).abs() < 1e-8, "{name}: {a} {b}");
    }
    assert!(cs.get("shoulder.q").abs() > 1e-3);
    // Nothing is said of what went well.
    assert_eq!((me.host.take(), cs.host.take()), (vec![], vec![]));
    for instance in [&me, &cs] {
        assert_eq!(unsafe { fmi2Terminate(instance.c) }, OK);
        instance.get("elbow.q");
    }
}

#[test]
fn time_events_are_announced_and_gone_through_one_by_one() {
    let fmu = Fmu::new("events", Naming::Structured);
    let me = fmu.instance(ME);
    me.initialise(1e-8);
    let mut times = Vec::new();
    let mut info = me.new_discrete_states();
    while info.nextEventTimeDefined == fmi2True {
        times.push(info.nextEventTime);
        assert_eq!(unsafe { fmi2SetTime(me.c, info.nextEventTime) }, OK);
        info = me.new_discrete_states();
        assert!(times.len() < 5, "{times:?}");
    }
    assert_eq!(times, [0.23, 0.61]);
}

/// O3 and O4: OpenModelica's wrapper stays in Event Mode after initialisation, sets parameters there,
/// and evaluates everything before the first `fmi2NewDiscreteStates`.
#[test]
fn o3_o4_the_call_sequence_of_openmodelica() {
    let fmu = Fmu::new("omc", Naming::Structured);
    let me = fmu.instance(ME);
    unsafe {
        assert_eq!(fmi2SetupExperiment(me.c, fmi2False, 0.0, 0.0, fmi2False, 0.0), OK);
        assert_eq!(fmi2EnterInitializationMode(me.c), OK);
        assert_eq!(fmi2ExitInitializationMode(me.c), OK);
        assert_eq!(me.set("elbow.q_start", 0.8), OK);
        assert_eq!(me.set("lower.mass", 2.0), OK);
        assert_eq!(fmi2SetTime(me.c, 0.0), OK);
        let x = me.states();
        assert_eq!(me.get("elbow.q"), 0.8);
        assert_eq!(fmi2SetContinuousStates(me.c, x.as_ptr(), x.len()), OK);
        assert_eq!(me.set("elbow.tau", 0.4), OK);
        let mut dx = vec![f64::NAN; x.len()];
        assert_eq!(fmi2GetDerivatives(me.c, dx.as_mut_ptr(), dx.len()), OK);
        let mut z = vec![f64::NAN; fmu.registry.model().indicator_count()];
        assert_eq!(fmi2GetEventIndicators(me.c, z.as_mut_ptr(), z.len()), OK);
        assert!(dx.iter().chain(&z).all(|v| v.is_finite()));
        assert_eq!(fmi2EnterEventMode(me.c), OK);
        me.new_discrete_states();
        assert_eq!(fmi2EnterContinuousTimeMode(me.c), OK);
        // O10: terminated from any mode, again and again.
        assert_eq!(fmi2Terminate(me.c), OK);
        assert_eq!(fmi2Terminate(me.c), OK);
    }
    assert_eq!(me.host.take(), vec![]);
}

#[test]
fn instantiation_is_refused_with_one_clear_message() {
    let fmu = Fmu::new("refused", Naming::Structured);
    let good = fmu.location();
    let empty = CString::new("/nowhere at all").expect("no zero inside");
    let host = Host::default();
    let callbacks = host.callbacks();
    let refused = |kind, guid: Option<&CStr>, location: Option<&CStr>, words: &[&str]| {
        assert!(instantiate(kind, guid, location, Some(&callbacks)).is_null());
        host.heard(ERROR, words);
        // Without a logger as well.
        assert!(instantiate(kind, guid, location, None).is_null());
    };
    refused(CS, Some(c"{0}"), Some(&good), &["GUID", "{0}"]);
    refused(CS, None, Some(&good), &["GUID", "null"]);
    refused(CS, Some(&fmu.guid), None, &["resource location", "null"]);
    refused(CS, Some(&fmu.guid), Some(&empty), &["/nowhere at all", "model.json"]);
    refused(fmi2Type(7), Some(&fmu.guid), Some(&good), &["7"]);
    std::fs::write(fmu.resources.join("model.json"), b"{\"format\": 1}").expect("the file can be written");
    refused(CS, Some(&fmu.guid), Some(&good), &["GUID"]);
}

#[test]
fn every_spelling_of_the_resource_location_is_understood() {
    let fmu = Fmu::new("spelling", Naming::Flat);
    let path = fmu.resources.to_str().expect("the test chose the name");
    let escaped = path.replace(' ', "%20");
    for location in [
        path.to_owned(),
        format!("{path}/"),
        format!("file:{escaped}"),
        format!("file://{escaped}"),
        format!("file://localhost{escaped}"),
    ] {
        let location = CString::new(location).expect("no zero inside");
        // Null callbacks are tolerated.
        let c = instantiate(ME, Some(&fmu.guid), Some(&location), None);
        assert!(!c.is_null(), "{location:?}");
        unsafe { fmi2FreeInstance(c) };
    }
}

#[test]
fn misuse_is_answered_and_the_instance_stays_usable() {
    let fmu = Fmu::new("misuse", Naming::Structured);
    let cs = fmu.instance(CS);
    let host = &cs.host;
    let mut value = [0.0; 2];
    unsafe {
        // Out of order, and of the other interface.
        assert_eq!(cs.step(0.0, 0.1), ERROR);
        host.heard(ERROR, &["fmi2DoStep", "instantiated"]);
        assert_eq!(fmi2ExitInitializationMode(cs.c), ERROR);
        host.heard(ERROR, &["fmi2ExitInitializationMode"]);
        assert_eq!(fmi2SetTime(cs.c, 0.0), ERROR);
        host.heard(ERROR, &["Model Exchange"]);
        cs.initialise(1e-8);
        assert_eq!(fmi2EnterInitializationMode(cs.c), ERROR);
        host.heard(ERROR, &["step complete"]);
        assert_eq!(fmi2CancelStep(cs.c), ERROR);
        host.heard(ERROR, &["no step is in progress"]);

        // Null pointers; a count of zero makes them legal.
        assert_eq!(fmi2GetReal(cs.c, null(), 0, null_mut()), OK);
        assert_eq!(fmi2SetString(cs.c, null(), 0, null()), OK);
        assert_eq!(fmi2GetReal(cs.c, null(), 2, value.as_mut_ptr()), ERROR);
        host.heard(ERROR, &["vr is null"]);
        assert_eq!(fmi2GetReal(cs.c, &0, 1, null_mut()), ERROR);
        host.heard(ERROR, &["value is null"]);
        assert_eq!(fmi2GetReal(cs.c, &0, usize::MAX, value.as_mut_ptr()), ERROR);
        host.heard(ERROR, &["cannot have"]);
        assert_eq!(fmi2GetReal(null_mut(), &0, 1, value.as_mut_ptr()), ERROR);

        // Unknown references, wrong types.
        assert_eq!(fmi2GetReal(cs.c, &1_000_000, 1, value.as_mut_ptr()), ERROR);
        host.heard(ERROR, &["1000000"]);
        assert_eq!(
            fmi2GetReal(cs.c, &fmu.vr("elbow.out_of_range"), 1, value.as_mut_ptr()),
            ERROR
        );
        host.heard(ERROR, &["elbow.out_of_range", "Boolean"]);
        assert_eq!(fmi2SetInteger(cs.c, &fmu.vr("elbow.tau"), 1, &3), ERROR);
        host.heard(ERROR, &["elbow.tau", "Real"]);
        let mut flag = 77;
        assert_eq!(fmi2GetBoolean(cs.c, &fmu.vr("elbow.out_of_range"), 1, &mut flag), OK);
        assert_eq!(flag, fmi2False);

        // Numbers that are none; nothing of the call takes effect.
        let references = [fmu.vr("elbow.tau"), fmu.vr("push.f[1]")];
        assert_eq!(
            fmi2SetReal(cs.c, references.as_ptr(), 2, [1.0, f64::NAN].as_ptr()),
            ERROR
        );
        host.heard(ERROR, &["push.f[1]", "NaN"]);
        assert_eq!(cs.get("elbow.tau"), 0.0);
        // What is computed, what is fixed.
        assert_eq!(cs.set("system.energy", 1.0), ERROR);
        host.heard(ERROR, &["system.energy", "computed"]);
        assert_eq!(cs.set("elbow.q", 1.0), ERROR);
        host.heard(ERROR, &["elbow.q", "_start"]);
        assert_eq!(cs.step(0.0, 0.1), OK);
        assert_eq!(cs.set("lower.mass", 3.0), ERROR);
        host.heard(ERROR, &["lower.mass", "fixed"]);

        // Steps that cannot be.
        for (t, h) in [(0.0, 0.1), (0.1, -0.1), (0.1, f64::NAN), (f64::INFINITY, 0.1)] {
            assert_eq!(cs.step(t, h), ERROR, "{t} {h}");
            host.heard(ERROR, &["fmi2DoStep"]);
        }

        // Statuses that do not exist.
        let mut time = f64::NAN;
        assert_eq!(
            fmi2GetRealStatus(cs.c, fmi2StatusKind::LAST_SUCCESSFUL_TIME, &mut time),
            OK
        );
        assert_eq!(time, 0.1);
        assert_eq!(
            fmi2GetStringStatus(cs.c, fmi2StatusKind::PENDING_STATUS, null_mut()),
            DISCARD
        );
        host.heard(DISCARD, &["fmi2PendingStatus"]);
        assert_eq!(
            fmi2GetDirectionalDerivative(cs.c, null(), 0, null(), 0, null(), null_mut()),
            ERROR
        );
        host.heard(ERROR, &["directional"]);

        // And it still works.
        assert_eq!(cs.step(0.1, 0.1), OK);
        assert_eq!(fmi2Reset(cs.c), OK);
        cs.initialise(1e-8);
        assert_eq!(cs.step(0.0, 0.1), OK);
    }
    assert_eq!(cs.host.take(), vec![]);
}

#[test]
fn a_parameter_that_makes_no_sense_is_named_when_initialisation_ends() {
    let fmu = Fmu::new("parameter", Naming::Structured);
    let cs = fmu.instance(CS);
    unsafe {
        assert_eq!(cs.set("lower.mass", -3.0), OK);
        assert_eq!(fmi2EnterInitializationMode(cs.c), OK);
        assert_eq!(fmi2ExitInitializationMode(cs.c), ERROR);
        cs.host.heard(ERROR, &["lower", "-3"]);
        assert_eq!(cs.set("lower.mass", 3.0), OK);
        assert_eq!(fmi2ExitInitializationMode(cs.c), OK);
    }
    assert_eq!(cs.get("lower.mass"), 3.0);
}

#[test]
fn a_serialised_state_goes_on_in_another_instance_bit_by_bit() {
    let fmu = Fmu::new("state", Naming::Structured);
    let bits = |i: &Instance| WATCHED.map(|name| i.get(name).to_bits());
    let a = fmu.instance(CS);
    a.initialise(1e-7);
    assert_eq!(a.set("elbow.tau", 0.4), OK);
    assert_eq!(a.step(0.0, 0.317), OK);
    unsafe {
        let mut state = null_mut();
        assert_eq!(fmi2GetFMUstate(a.c, &mut state), OK);
        let first = state;
        assert_eq!(fmi2GetFMUstate(a.c, &mut state), OK);
        assert_eq!(first, state, "the copy is reused");
        let mut size = 0;
        assert_eq!(fmi2SerializedFMUstateSize(a.c, state, &mut size), OK);
        let mut bytes = vec![0 as fmi2Byte; size];
        assert_eq!(fmi2SerializeFMUstate(a.c, state, bytes.as_mut_ptr(), size - 1), ERROR);
        assert_eq!(fmi2SerializeFMUstate(a.c, state, bytes.as_mut_ptr(), size), OK);
        a.host.take();

        let b = fmu.instance(CS);
        let mut restored = null_mut();
        for damaged in [&bytes[..size - 1], &bytes[..20], &[]] {
            assert_eq!(
                fmi2DeSerializeFMUstate(b.c, damaged.as_ptr(), damaged.len(), &mut restored),
                ERROR
            );
            assert!(restored.is_null());
            b.host.heard(ERROR, &["fmi2DeSerializeFMUstate", "state"]);
        }
        let mut flipped = bytes.clone();
        flipped[size / 2] ^= 4;
        assert_eq!(
            fmi2DeSerializeFMUstate(b.c, flipped.as_ptr(), size, &mut restored),
            ERROR
        );
        b.host.heard(ERROR, &["checksum"]);
        assert_eq!(fmi2DeSerializeFMUstate(b.c, bytes.as_ptr(), size, &mut restored), OK);
        assert_eq!(fmi2SetFMUstate(b.c, restored), OK);
        assert_eq!(fmi2SetFMUstate(b.c, null_mut()), ERROR);
        b.host.heard(ERROR, &["null"]);
        for (t, h) in [(0.317, 0.1), (0.317 + 0.1, 0.4)] {
            assert_eq!((a.step(t, h), b.step(t, h)), (OK, OK));
            assert_eq!(bits(&a), bits(&b));
        }
        // Back again, in the first.
        let end = bits(&a);
        assert_eq!(fmi2SetFMUstate(a.c, state), OK);
        assert_eq!((a.step(0.317, 0.1), a.step(0.317 + 0.1, 0.4)), (OK, OK));
        assert_eq!(bits(&a), end);

        let me = fmu.instance(ME);
        assert_eq!(fmi2SetFMUstate(me.c, state), ERROR);
        me.host.heard(ERROR, &["Model Exchange"]);
        assert_eq!(fmi2FreeFMUstate(a.c, &mut state), OK);
        assert!(state.is_null());
        assert_eq!(fmi2FreeFMUstate(a.c, &mut state), OK);
        assert_eq!(fmi2FreeFMUstate(a.c, null_mut()), OK);
        assert_eq!(fmi2FreeFMUstate(b.c, &mut restored), OK);
    }
}

#[test]
fn the_log_can_be_switched_by_category() {
    let fmu = Fmu::new("log", Naming::Structured);
    let cs = fmu.instance(CS);
    let names = [c"logStatusError".as_ptr()];
    unsafe {
        assert_eq!(fmi2SetDebugLogging(cs.c, fmi2False, 1, names.as_ptr()), OK);
        assert_eq!(cs.step(0.0, 0.1), ERROR);
        assert_eq!(cs.host.take(), vec![]);
        assert_eq!(fmi2SetDebugLogging(cs.c, fmi2True, 0, null()), OK);
        assert_eq!(cs.step(0.0, 0.1), ERROR);
        cs.host.heard(ERROR, &["fmi2DoStep"]);
        assert_eq!(
            fmi2SetDebugLogging(cs.c, fmi2True, 1, [c"100% noise".as_ptr()].as_ptr()),
            ERROR
        );
        // A format of printf: the sign is doubled.
        cs.host.heard(ERROR, &["100%% noise"]);
    }
}

#[test]
fn instances_on_threads_give_the_same_bits_as_alone() {
    let fmu = Fmu::new("threads", Naming::Structured);
    let run = || {
        let cs = fmu.instance(CS);
        cs.initialise(1e-8);
        for i in 0..50 {
            assert_eq!(cs.set("elbow.tau", (i as f64 * 0.1).sin()), OK);
            assert_eq!(cs.step(i as f64 * 0.02, 0.02), OK);
        }
        WATCHED.map(|name| cs.get(name).to_bits())
    };
    let alone = run();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("no thread fails"), alone);
        }
    });
}

#[test]
fn many_lives_in_one_process_keep_no_file_open() {
    let fmu = Fmu::new("lives", Naming::Structured);
    let open = || std::fs::read_dir("/proc/self/fd").map(Iterator::count);
    let reset = fmu.instance(CS);
    let first = fmu.instance(ME);
    let before = open();
    for _ in 0..200 {
        let me = fmu.instance(ME);
        me.initialise(1e-6);
    }
    for _ in 0..2000 {
        reset.initialise(1e-6);
        assert_eq!(reset.step(0.0, 1e-3), OK);
        assert_eq!(unsafe { fmi2Reset(reset.c) }, OK);
    }
    // Other tests of this binary open and close files of their own meanwhile.
    if let (Ok(before), Ok(after)) = (before, open()) {
        assert!(after < before + 50, "{before} {after}");
    }
    drop(first);
}

#[test]
fn the_header_s_inquiries() {
    unsafe {
        assert_eq!(CStr::from_ptr(fmi2GetVersion()), c"2.0");
        assert_eq!(CStr::from_ptr(fmi2GetTypesPlatform()), c"default");
    }
    assert_eq!(size_of::<fmi2EventInfo>(), 32);
    assert_eq!(size_of::<fmi2CallbackFunctions>(), 5 * size_of::<usize>());
}
