//! Longest step of methods with bounded or nearly constant time: every `fmi2DoStep` measured
//! separately, a million for each spacecraft and method.
//!
//! `cargo bench --bench worst_case`: communication steps of 1 ms with one sub-step each (`rosenbrock`
//! takes more where its tolerance of 1e-4 requires them); at the example's stop time the run
//! continues from a saved start. It prints percentiles of the thread's processor time and of the
//! elapsed time, whose tail contains interruptions by the kernel; then the fewest and the most
//! instructions of single steps, by Valgrind's callgrind. `-- --steps 10000` makes a shorter run,
//! `-- --only gripper` that of one spacecraft. The three-finger gripper has its own method, in steps
//! of its experiment. Linux only.
#![allow(unsafe_code)] // the C functions, an allocator that counts, and the thread's clock

#[allow(dead_code)] // its count of bytes is not used here
mod counting;
#[allow(dead_code, unused_imports)] // the tests' importer: an unpacked FMU and calls on it
#[path = "../tests/fmu/driver/mod.rs"]
mod driver;

use counting::calls;
use driver::{CS, Fmu, Instance, ok};
use grapple::fmu::fmi2::fmi2FMUstate;
use std::process::Command;
use std::time::Instant;

const STEP: f64 = 1e-3;
const METHODS: [&str; 4] = ["rk4", "implicit_midpoint", "linearly_implicit", "rosenbrock"];
/// Spacecraft and their specs.
const CRAFT: [(&str, &str); 5] = [
    ("ssrms_type", include_str!("../examples/ssrms_type.toml")),
    ("ssrms_flexible", include_str!("../examples/ssrms_flexible.toml")),
    ("servicer_orbit", include_str!("../examples/servicer_orbit.toml")),
    ("servicer", SERVICER),
    (GRIPPER, include_str!("../examples/contacts/gripper.toml")),
];
/// Spacecraft with compliant contacts, which is as stiff as they are: no method with bounded work per step.
const GRIPPER: &str = "gripper";
/// Its method: that of its spec.
const OWN: &str = "its own";
/// The servicer of `defaults` with torques on three joints.
const SERVICER: &str = concat!(
    include_str!("defaults/servicer.toml"),
    "\n[signal.\"shoulder_yaw.tau\"]\ntype = \"sine\"\namplitude = 3.0\nfrequency = 0.5\nfrom_importer = false\n",
    "\n[signal.\"shoulder_pitch.tau\"]\ntype = \"sine\"\namplitude = 3.0\nfrequency = 0.3\nfrom_importer = false\n",
    "\n[signal.\"elbow_pitch.tau\"]\ntype = \"sine\"\namplitude = 2.0\nfrequency = 0.4\nfrom_importer = false\n",
);
/// Percentiles that are printed.
const PERCENTILES: [f64; 5] = [0.5, 0.99, 0.999, 0.9999, 1.0];
/// Steps before the measurement: the first ones contain one-time work.
const WARM: u32 = 100;
/// Number of steps whose instructions are counted.
const COUNTED: u32 = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|word| word == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    if let (Some(spacecraft), Some(method)) = (value("--spacecraft"), value("--method")) {
        let (_, text) = CRAFT
            .iter()
            .find(|(name, _)| *name == spacecraft)
            .expect("a spacecraft of that name");
        let fmu = fmu(text, method);
        let mut run = Run::new(&fmu);
        run.go(WARM, |instance, t, h| ok(instance.step(t, h)));
        run.go(COUNTED, counted);
        return;
    }
    let only = value("--only");
    let steps = value("--steps").map_or(1_000_000, |n| n.parse().expect("a number of steps"));
    println!(
        "{steps} steps of {} ms, of the gripper 20 ms; µs, of the thread (and that went by)",
        1e3 * STEP
    );
    print!("{:34}", "");
    for part in PERCENTILES {
        print!(
            " {:>17}",
            if part < 1.0 {
                format!("{} %", 100.0 * part)
            } else {
                "longest".into()
            }
        );
    }
    println!(" {:>12} {:>22}", "allocations", "instructions");
    for (name, text) in CRAFT
        .into_iter()
        .filter(|(name, _)| only.is_none_or(|only| only == *name))
    {
        let methods: &[&str] = if name == GRIPPER { &[OWN] } else { &METHODS };
        for method in methods {
            line(name, method, &fmu(text, method), steps);
        }
    }
}

/// Returns the FMU of a spec with the method, in steps of [`STEP`]; with its own method, in its own steps.
fn fmu(text: &str, method: &str) -> Fmu {
    if method == OWN {
        return Fmu::of(text);
    }
    let (before, _) = text.split_once("[solver]").unwrap_or((text, ""));
    Fmu::of(&format!("{before}\n[solver]\nmethod = {method:?}\nstep = {STEP}\n"))
}

fn line(name: &str, method: &str, fmu: &Fmu, steps: u32) {
    let (mut thread, mut wall) = (Vec::with_capacity(steps as usize), Vec::with_capacity(steps as usize));
    let mut run = Run::new(fmu);
    run.go(WARM, |instance, t, h| ok(instance.step(t, h)));
    let mut allocations = 0;
    run.go(steps, |instance, t, h| {
        let before = calls();
        let (start, busy) = (Instant::now(), thread_time());
        let status = instance.step(t, h);
        let (busy, passed) = (thread_time() - busy, start.elapsed().as_secs_f64());
        allocations += calls() - before;
        ok(status);
        thread.push(1e6 * busy);
        wall.push(1e6 * passed);
    });
    thread.sort_by(f64::total_cmp);
    wall.sort_by(f64::total_cmp);
    print!("{name:15} {method:18}");
    for part in PERCENTILES {
        let at = ((part * f64::from(steps)).ceil() as usize).clamp(1, steps as usize) - 1;
        print!(" {:>8.1} ({:>6.1})", thread[at], wall[at]);
    }
    println!(" {allocations:>12} {:>22}", instructions(name, method));
}

/// A spacecraft that is simulated again and again to its stop time.
struct Run<'a> {
    instance: Instance<'a>,
    start: fmi2FMUstate,
    /// Step, s.
    h: f64,
    /// Number of steps from the start to the end.
    length: u32,
    /// Number of steps since the start.
    k: u32,
}

impl<'a> Run<'a> {
    fn new(fmu: &'a Fmu) -> Self {
        // No logger: received messages belong to the importer.
        let instance = fmu.instance_with(CS, None, 0, 0);
        let spec = &fmu.registry.model().spec;
        let is_own = spec.name == GRIPPER;
        instance.initialise((!is_own).then_some(1e-4));
        let start = instance.save();
        let h = if is_own { spec.experiment.step } else { STEP };
        let length = (spec.experiment.stop_time / h).round() as u32;
        Self {
            instance,
            start,
            h,
            length,
            k: 0,
        }
    }

    fn go(&mut self, steps: u32, mut step: impl FnMut(&Instance, f64, f64)) {
        for _ in 0..steps {
            if self.k == self.length {
                self.instance.restore(self.start);
                self.k = 0;
            }
            step(&self.instance, f64::from(self.k) * self.h, self.h);
            self.k += 1;
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.instance.free_state(self.start);
    }
}

/// The function that callgrind counts.
#[inline(never)]
fn counted(instance: &Instance, t: f64, h: f64) {
    ok(instance.step(t, h));
}

/// Runs this program in callgrind, which writes a file for each call. Returns the fewest and the
/// most instructions of one step, as text.
fn instructions(spacecraft: &str, method: &str) -> String {
    let directory = std::env::temp_dir().join(format!("grapple worst case {}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a temporary directory");
    let run = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--toggle-collect=worst_case::counted",
            "--dump-after=worst_case::counted",
        ])
        .arg(format!("--callgrind-out-file={}", directory.join("out").display()))
        .arg(std::env::current_exe().expect("a program"))
        .args(["--spacecraft", spacecraft, "--method", method])
        .output();
    let counts: Vec<u64> = std::fs::read_dir(&directory)
        .expect("the directory")
        .filter_map(|file| {
            let text = std::fs::read_to_string(file.ok()?.path()).ok()?;
            let total = text.lines().find_map(|line| line.strip_prefix("totals: "))?;
            total.trim().parse().ok().filter(|&n| n > 0)
        })
        .collect();
    let _ = std::fs::remove_dir_all(&directory);
    match (run, counts.iter().min(), counts.iter().max()) {
        (Ok(run), Some(least), Some(most)) if run.status.success() => format!("{least} … {most}"),
        _ => "no valgrind".to_owned(),
    }
}

/// Returns the processor time of this thread, s.
fn thread_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a clock of Linux, and a buffer for its time.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "a clock of the thread");
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
