use super::view::Cursor;
use super::{Group, Outputs, View};
use crate::algebra::Scalar;
use crate::system::{Quantity, Unit};

impl Outputs {
    /// Declares the outputs of a body with modal data; `carried` is true if its joint transmits a
    /// load.
    pub(super) fn modal(&mut self, name: &str, body: usize, carried: bool) {
        let vector = |field: &str, unit: Unit, what: &str| Quantity::vector(&format!("{name}.{field}"), unit, what);
        let energy = Quantity::new(
            format!("{name}.elastic_energy"),
            Unit::Joule,
            format!("strain energy of {name}"),
        );
        let force = format!("force that {name} gets through its joint, body axes");
        let moment = format!("moment that {name} gets through its joint, about its origin, body axes");
        let root = [
            vector("root_force", Unit::Newton, &force),
            vector("root_moment", Unit::NewtonMetre, &moment),
        ];
        let root = root.into_iter().filter(|_| carried).flatten();
        self.push(Group::Modal(body), root.chain([energy]));
    }
}

impl<S: Scalar> View<'_, S> {
    /// Writes the load at the root and the strain energy of a body with modal data.
    pub(super) fn modal(&self, body: usize, y: &mut Cursor<S>) {
        let (modes, constants) = (&self.now.system.bodies[body].modes, &self.now.derived.bodies[body]);
        if let (Some(modes), Some(elastic)) = (modes, &constants.elastic) {
            self.root(body, elastic, y);
            y.number(elastic.strain_energy(&self.now.q[modes.coordinates()]));
        }
    }
}
