//! Starts that are computed: those that close loops, and static equilibria.

use crate::error::{Context, Result};
use grapple::plant::{Assembly, Equilibrium, Model, Plant};
use grapple::spec::{FreeStart, JointStart, JointType, PerAxis, Spec};
use grapple::system::Quantity;
use std::sync::Arc;

/// Coordinates and rates of joints, modes and nodes of beams, in the order and units of the
/// system's states.
#[derive(Clone, Debug)]
pub struct StartValues {
    /// Coordinates.
    pub q: Vec<f64>,
    /// Rates.
    pub qd: Vec<f64>,
}

impl StartValues {
    fn values(&self) -> impl Iterator<Item = f64> {
        self.q.iter().chain(&self.qd).copied()
    }
}

/// A computed start, with the start that the spec gives.
pub struct SolvedStart {
    model: Arc<Model>,
    /// Coordinates and rates that the spec gives.
    pub written: StartValues,
    /// Coordinates and rates of the computed start.
    pub solved: StartValues,
    is_equilibrium: bool,
}

impl SolvedStart {
    /// Returns each coordinate and rate with its value in the spec and its computed value.
    pub fn each(&self) -> impl Iterator<Item = (Quantity, f64, f64)> {
        let values = self.written.values().zip(self.solved.values());
        let states = self.model.system().states().into_iter();
        states
            .zip(values)
            .map(|(state, (written, solved))| (state, written, solved))
    }

    /// Returns the spec with the computed start of its joints and free bodies. For an equilibrium
    /// the spec also has `equilibrium = true` in `[assembly]`, so that a run computes the start of
    /// modes and nodes as well.
    pub fn spec(&self) -> Spec {
        let mut spec = with_start(&self.model, &self.solved);
        if self.is_equilibrium {
            spec.assembly.get_or_insert_default().equilibrium = true;
        }
        spec
    }

    /// Returns the text of [`spec`](Self::spec).
    ///
    /// # Errors
    /// None for a valid spec.
    pub fn toml(&self) -> Result<String> {
        grapple::spec::to_toml(&self.spec()).context(|| "the spec cannot be written")
    }
}

/// A start that closes the loops of a spec.
pub struct Assembled {
    /// Violations of the loops, numbers of their constraints, and the mobility.
    pub assembly: Assembly,
    /// The start.
    pub start: SolvedStart,
}

/// Computes the start that closes the loops of a model, as near as possible to the start in its
/// spec.
///
/// # Errors
/// A loop that cannot be closed, is in a singular position or leaves no mobility.
pub fn assemble(model: &Arc<Model>) -> Result<Assembled> {
    let plant = Plant::new(Arc::clone(model))?;
    let (derived, parameters) = (plant.derived(), plant.parameters());
    let assembly = model.assembly(derived, 0.0, parameters)?;
    let start = SolvedStart {
        model: Arc::clone(model),
        written: written(&plant),
        solved: StartValues {
            q: assembly.q.clone(),
            qd: assembly.qd.clone(),
        },
        is_equilibrium: false,
    };
    Ok(Assembled { assembly, start })
}

/// A static equilibrium.
pub struct Resting {
    /// The solution and its residual.
    pub equilibrium: Equilibrium,
    /// The start at rest in the equilibrium.
    pub start: SolvedStart,
}

/// Computes the static equilibrium of a model near its start, with the values of inputs and signals
/// at the start.
///
/// # Errors
/// No equilibrium is found near the start.
pub fn equilibrium(model: &Arc<Model>) -> Result<Resting> {
    let plant = Plant::new(Arc::clone(model))?;
    let (derived, parameters) = (plant.derived(), plant.parameters());
    let equilibrium = model.equilibrium(derived, 0.0, parameters)?;
    let written = written(&plant);
    let start = SolvedStart {
        model: Arc::clone(model),
        solved: StartValues {
            q: equilibrium.q.clone(),
            qd: vec![0.0; written.qd.len()],
        },
        written,
        is_equilibrium: true,
    };
    Ok(Resting { equilibrium, start })
}

/// Returns the coordinates and rates that the spec gives.
fn written(plant: &Plant) -> StartValues {
    let (q, qd) = plant.model().start_at(plant.derived(), 0.0, plant.parameters());
    StartValues { q, qd }
}

/// Returns the spec of a model with the given start of its joints and free bodies.
fn with_start(model: &Model, start: &StartValues) -> Spec {
    let mut spec = (*model.spec).clone();
    for body in &model.system().bodies {
        let joint = &body.joint;
        let q = &start.q[joint.q..joint.q + joint.nq];
        let qd = &start.qd[joint.v..joint.v + joint.nv];
        let three = |of: &[f64]| [of[0], of[1], of[2]];
        if let Some(written) = spec.joint.get_mut(&joint.name).filter(|_| joint.written) {
            written.start = match joint.kind {
                JointType::Fixed => None,
                JointType::Spherical => Some(Box::new(JointStart {
                    attitude: Some([q[0], q[1], q[2], q[3]]),
                    rate: Some(PerAxis::Each(qd.to_vec())),
                    ..JointStart::default()
                })),
                JointType::Free => Some(Box::new(JointStart {
                    attitude: Some([q[0], q[1], q[2], q[3]]),
                    position: Some(PerAxis::Each(q[4..].to_vec())),
                    angular_velocity: Some(three(qd)),
                    velocity: Some(three(&qd[3..])),
                    ..JointStart::default()
                })),
                _ => Some(Box::new(JointStart {
                    position: Some(PerAxis::Each(q.to_vec())),
                    rate: Some(PerAxis::Each(qd.to_vec())),
                    ..JointStart::default()
                })),
            };
        } else if let (JointType::Free, Some(written)) = (joint.kind, spec.body.get_mut(&body.name)) {
            let axes = written.start.as_ref().map(|start| start.axes).unwrap_or_default();
            // A start in the LVLH frame is not changed.
            if axes == grapple::spec::Axes::World {
                written.start = Some(FreeStart {
                    attitude: Some([q[0], q[1], q[2], q[3]]),
                    position: three(&q[4..]),
                    angular_velocity: three(qd),
                    velocity: three(&qd[3..]),
                    rpy_deg: None,
                    axes,
                });
            }
        }
    }
    spec
}
