use super::carriers::Carriers;
use crate::plant::Model;

/// Indices of the first variable of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variables {
    pub u: usize,
    /// Derivatives of the rates.
    pub qdd: usize,
    pub carriers: Carriers,
    /// Attitudes of the bodies, four numbers each.
    pub attitudes: usize,
    /// Momenta, mass centre, energy and scales: [`INVARIANTS`] numbers.
    pub invariants: usize,
    /// Strain energies of the ANCF beams, and the potential energy in uniform gravity.
    pub energies: usize,
    /// Reaction wrenches, six numbers each.
    pub reactions: usize,
    /// Reactions of the rows of captures, loops and couplings.
    pub rows: usize,
    pub count: usize,
}

/// Linear and angular momentum, mass centre, kinetic energy, two scales.
const INVARIANTS: usize = 3 + 3 + 3 + 1 + 2;

impl Variables {
    /// Assigns the indices for a model.
    pub fn new(model: &Model) -> Self {
        let system = &model.system;
        let u = model.states.len();
        let qdd = u + model.inputs.len();
        let carriers = Carriers::new(system, qdd + system.nv);
        let attitudes = carriers.end;
        let invariants = attitudes + 4 * system.bodies.len();
        let energies = invariants + INVARIANTS;
        let reactions = energies + system.nodal.len() + 1;
        let of_reactions = system.bodies.iter().filter(|body| body.reaction_index.is_some());
        let rows = reactions + 6 * of_reactions.count();
        Self {
            u,
            qdd,
            carriers,
            attitudes,
            invariants,
            energies,
            reactions,
            rows,
            count: rows + model.elements.most_rows(),
        }
    }
}
