//! FMUs of the campaign: every example, and a spacecraft with all features for every solver of
//! Co-Simulation.

use crate::campaign::journal::Journal;
use crate::campaign::subject::Subject;
use crate::campaign::trace::{Trace, standard};
use crate::driver::{Fmu, ME};
use crate::everything::{COUPLED, EVERYTHING, IN_GRASP, WITH_DIRECTORS, rigid};
use grapple::fmu::arrays::{Arrays, TOKEN};
use grapple::fmu::fmi2::fmi2Type;
use grapple::fmu::lifecycle::Standard;
use grapple::fmu::registry::{Naming, Registry, Slot, ValueType, Variable};
use grapple::plant::Model;
use std::ffi::CString;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// An FMU from which instances are created.
pub struct Target {
    pub name: String,
    pub fmu: Fmu,
    pub parameters: Vec<u32>,
    /// Reference of the work limit. The campaign sets it to small numbers only: a step with a limit
    /// of 1e18 evaluations might never end.
    pub work_limit: u32,
    pub inputs: Vec<u32>,
    pub states: Vec<u32>,
    /// For each state: whether the XML declares that an event may change it.
    pub jumps: Vec<bool>,
    /// References of all variables that `fmi2GetReal` reads.
    pub reals: Vec<u32>,
    /// References of the real states, derivatives and outputs.
    pub unknowns: Vec<u32>,
    /// References of the Boolean variables.
    pub flags: Vec<u32>,
    /// Number of variables.
    pub count: u32,
    /// Results of the fixed calls of [`standard`], in Co-Simulation and in Model Exchange.
    standard: [OnceLock<Trace>; 2],
    /// References of the parameters that can be set during a run.
    pub tunable: Vec<u32>,
    /// References of the variables of FMI 3.0, and their number.
    pub three: Typed,
    pub count_three: u32,
    pub state_count: usize,
    /// Instantiation token of FMI 3.0.
    pub token: CString,
    /// Arrays of an FMU with arrays; the references above are then those of variables of FMI 3.0, and
    /// `reals` those of scalars.
    arrays: Option<Arrays>,
    /// Results of fixed calls of FMI 3.0 on each kind of instance.
    standard_three: [OnceLock<Trace>; 6],
}

/// References of variables of FMI 3.0.
pub struct Typed {
    pub floats: Vec<u32>,
    pub integers: Vec<u32>,
    pub booleans: Vec<u32>,
    /// References of the inputs of each type.
    pub float_inputs: Vec<u32>,
    pub integer_inputs: Vec<u32>,
    pub boolean_inputs: Vec<u32>,
    /// References of the states, derivatives and outputs of type `Float64`.
    pub unknowns: Vec<u32>,
}

impl Typed {
    fn of(registry: &Registry) -> Self {
        let references = |wanted: &dyn Fn(&Variable) -> bool| -> Vec<u32> {
            let found = registry.variables().filter(|v| wanted(v));
            found.map(|v| v.value_reference).collect()
        };
        let all = |of: ValueType| references(&|v| v.value_type == of);
        let inputs = |of: ValueType| references(&|v| v.value_type == of && matches!(v.slot, Slot::Input(_)));
        Self {
            floats: all(ValueType::Real),
            integers: all(ValueType::Integer),
            booleans: all(ValueType::Boolean),
            float_inputs: inputs(ValueType::Real),
            integer_inputs: inputs(ValueType::Integer),
            boolean_inputs: inputs(ValueType::Boolean),
            unknowns: references(&is_unknown),
        }
    }

    fn lists(&mut self) -> [&mut Vec<u32>; 7] {
        [
            &mut self.floats,
            &mut self.integers,
            &mut self.booleans,
            &mut self.float_inputs,
            &mut self.integer_inputs,
            &mut self.boolean_inputs,
            &mut self.unknowns,
        ]
    }
}

fn is_unknown(v: &Variable) -> bool {
    v.value_type == ValueType::Real && matches!(v.slot, Slot::State(_) | Slot::Derivative(_) | Slot::Output(_))
}

impl Target {
    fn new(name: &str, text: &str, folder: &Path) -> Self {
        let model = Model::read(text, folder).unwrap_or_else(|error| panic!("{name}: {error}"));
        let fmu = Fmu::of_model(model, Naming::Structured);
        let three = Registry::of(Standard::Fmi3, Arc::clone(fmu.registry.model()), Naming::Structured);
        let of_two = |wanted: &dyn Fn(&Variable) -> bool| -> Vec<u32> {
            let found = fmu.registry.variables().filter(|v| wanted(v));
            found.map(|v| v.value_reference).collect()
        };
        let tunable =
            |&vr: &u32| matches!(fmu.registry.slot(vr), Some(Slot::Parameter(i)) if fmu.registry.parameter(i).tunable);
        Self {
            name: name.to_owned(),
            parameters: fmu.parameters(),
            work_limit: fmu.vr("solver.work_limit"),
            inputs: fmu.inputs(),
            states: fmu.references(|slot| matches!(slot, Slot::State(_))),
            jumps: fmu.registry.model().jumps(),
            reals: fmu.reals(),
            unknowns: of_two(&is_unknown),
            flags: of_two(&|v| v.value_type == ValueType::Boolean),
            count: u32::try_from(fmu.registry.len()).expect("not so many"),
            standard: [const { OnceLock::new() }; 2],
            tunable: fmu.parameters().into_iter().filter(tunable).collect(),
            three: Typed::of(&three),
            count_three: u32::try_from(three.len()).expect("not so many"),
            standard_three: [const { OnceLock::new() }; 6],
            state_count: fmu.registry.model().states.len(),
            token: fmu.guid.clone(),
            arrays: None,
            fmu,
        }
    }

    /// Returns the FMU of FMI 3.0 with arrays.
    fn with_arrays(mut self) -> Self {
        let model = Arc::clone(self.fmu.registry.model());
        let arrays = Arrays::of(&Registry::of(Standard::Fmi3, model, Naming::Structured));
        for references in [
            &mut self.parameters,
            &mut self.inputs,
            &mut self.states,
            &mut self.unknowns,
            &mut self.flags,
            &mut self.tunable,
        ]
        .into_iter()
        .chain(self.three.lists())
        {
            references.retain(|&vr| arrays.length(vr) != Some(0));
        }
        self.reals.retain(|&vr| arrays.length(vr) == Some(1));
        let token = self.token.to_str().expect("a GUID").to_owned() + TOKEN;
        Self {
            name: format!("{}, arrays", self.name),
            token: CString::new(token).expect("no zero inside"),
            arrays: Some(arrays),
            ..self
        }
    }

    /// Returns the number of elements of a variable of FMI 3.0: 1 for a scalar, zero for a reference of
    /// no variable in an FMU with arrays.
    pub fn length(&self, reference: u32) -> usize {
        let of = |arrays: &Arrays| arrays.length(reference).unwrap_or(0) as usize;
        self.arrays.as_ref().map_or(1, of)
    }

    /// Returns the number of elements of variables.
    pub fn size(&self, references: &[u32]) -> usize {
        references.iter().map(|&vr| self.length(vr)).sum()
    }

    /// Returns the results of the fixed calls of [`standard`] on a new instance.
    pub fn standard<'a>(&'a self, kind: fmi2Type, journal: &'a Journal<'a>) -> &'a Trace {
        self.standard[usize::from(kind == ME)].get_or_init(|| standard(&mut Subject::new(self, kind, journal)))
    }
}

impl Target {
    /// Returns the results of fixed calls of FMI 3.0, computed by `make`, on a new instance of the kind
    /// with this index.
    pub fn standard_three(&self, kind: usize, make: impl FnOnce() -> Trace) -> &Trace {
        self.standard_three[kind].get_or_init(make)
    }
}

/// Returns the examples in alphabetical order.
pub fn examples() -> Vec<Target> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = std::fs::read_dir(&folder).expect("the examples can be listed");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("an example can be read");
        let name = path.file_stem().expect("it has a name").to_string_lossy();
        Target::new(&name, &text, &folder)
    };
    files.iter().map(read).collect()
}

/// Returns all targets.
pub fn all() -> Vec<Target> {
    let mut all = examples();
    let folder = Path::new(".");
    let sampled =
        include_str!("../../../examples/arm_controller.toml").replace("# sample_time = 0.01", "sample_time = 0.01");
    all.push(Target::new("arm_controller, sampled", &sampled, folder));
    let tasks = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/tasks");
    let touch = include_str!("../../../examples/tasks/touch.toml");
    all.push(Target::new("touch, sampled", touch, &tasks));
    for method in [
        "dopri5",
        "dop853",
        "radau5",
        "rosenbrock",
        "implicit_midpoint\"\nstep = \"0.002",
        "rk4\"\nstep = \"0.002",
        "auto",
    ] {
        let solver = format!("[solver]\nmethod = \"{method}\"\n").replace("\"0.002\"", "0.002");
        let name = method.split('"').next().expect("a name");
        let spacecraft = format!("{EVERYTHING}{COUPLED}{IN_GRASP}{solver}");
        all.push(Target::new(&format!("everything by {name}"), &spacecraft, folder));
    }
    let linearly_implicit = format!("{EVERYTHING}[solver]\nmethod = \"linearly_implicit\"\nstep = 0.002\n");
    all.push(Target::new(
        "everything by linearly_implicit",
        &linearly_implicit,
        folder,
    ));
    let beams = format!("{EVERYTHING}{WITH_DIRECTORS}");
    all.push(Target::new("everything and directors", &beams, folder));
    for (name, beams) in [("grasp", IN_GRASP), ("directors", WITH_DIRECTORS)] {
        let spacecraft = format!(
            "formulation = \"natural\"\n{}{beams}[solver]\nmethod = \"conserving\"\nstep = 0.002\n",
            rigid()
        );
        all.push(Target::new(
            &format!("everything rigid by conserving, {name}"),
            &spacecraft,
            folder,
        ));
    }
    all
}

/// Returns all targets of FMI 3.0: some are FMUs with arrays as well.
pub fn all_three() -> Vec<Target> {
    let mut both = all();
    let is_array = |target: &Target| {
        [
            "docking",
            "servoed_arm",
            "everything by auto",
            "everything and directors",
        ]
        .contains(&target.name.as_str())
    };
    let arrays: Vec<Target> = all().into_iter().filter(is_array).map(Target::with_arrays).collect();
    assert_eq!(arrays.len(), 4, "names of targets");
    both.extend(arrays);
    both
}
