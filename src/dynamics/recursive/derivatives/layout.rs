//! Where the numbers of a system's derivatives stand: trees, degrees of freedom, columns.

use super::rows::LANES;
use crate::system::{System, joint};
use std::ops::Range;

/// A body on the world with everything that it carries.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Its bodies; the first is the root.
    pub bodies: Range<usize>,
    /// Its degrees of freedom.
    pub dofs: Range<usize>,
    /// How many of the first coordinates have no column. Where the root is free, no acceleration depends on its position, and on
    /// its attitude only if loads read attitudes.
    pub skip_q: usize,
    /// How many of the first rates have no column: the velocity of a free root changes no acceleration.
    pub skip_v: usize,
    /// Blocks of coordinates' columns; those of the rates follow.
    pub blocks_q: usize,
    /// Blocks of all columns.
    pub blocks: usize,
}

impl Tree {
    /// The column of the coordinate `dof`.
    pub fn column_q(&self, dof: usize) -> Option<usize> {
        (dof - self.dofs.start).checked_sub(self.skip_q)
    }

    /// The column of the rate `dof`.
    pub fn column_v(&self, dof: usize) -> Option<usize> {
        let column = (dof - self.dofs.start).checked_sub(self.skip_v)?;
        Some(self.blocks_q * LANES + column)
    }
}

/// What never changes.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub trees: Vec<Tree>,
    /// The rate of each degree of freedom. They are the rates in another order within each joint: from F outwards.
    pub rate: Vec<usize>,
    /// The degrees of freedom of all joints, group by group from F outwards.
    pub groups: Vec<Range<usize>>,
    /// Which of the groups are those of each body's joint.
    pub of_body: Vec<Range<usize>>,
    /// The room of each body for what is carried inwards and outwards. A body shares it with the first that it carries.
    pub slot: Vec<usize>,
    /// The same of each station; none where it carries nothing.
    pub station_slot: Vec<Option<usize>>,
    /// Of each body: the rooms of what it carries that are not its own or its station's, `(station's or own, other)`.
    pub others: Vec<Vec<(usize, usize)>>,
    /// Number of rooms.
    pub slots: usize,
}

impl Layout {
    pub fn new(system: &System, loads_read_attitudes: bool) -> Self {
        let n = system.bodies.len();
        let mut rate: Vec<usize> = (0..system.nv).collect();
        let (mut groups, mut of_body) = (Vec::new(), Vec::new());
        for body in &system.bodies {
            let (v, first) = (body.joint.v, groups.len());
            let mut dof = v;
            for group in joint::groups(body.joint.kind) {
                groups.push(dof..dof + group.len());
                for k in group.clone() {
                    rate[dof] = v + k;
                    dof += 1;
                }
            }
            of_body.push(first..groups.len());
        }
        let mut roots: Vec<usize> = (0..n).filter(|&i| system.bodies[i].parent.is_none()).collect();
        roots.push(n);
        let start = |i: usize| system.bodies.get(i).map_or(system.nv, |body| body.joint.v);
        let trees = roots.windows(2).map(|ends| {
            let dofs = start(ends[0])..start(ends[1]);
            let free = system.bodies[ends[0]].joint.kind == crate::spec::JointType::Free;
            let (skip_q, skip_v) = match (free, loads_read_attitudes) {
                (true, true) => (3, 3),
                (true, false) => (6, 3),
                (false, _) => (0, 0),
            };
            let blocks_q = (dofs.len() - skip_q).div_ceil(LANES);
            Tree {
                bodies: ends[0]..ends[1],
                skip_q,
                skip_v,
                blocks_q,
                blocks: blocks_q + (dofs.len() - skip_v).div_ceil(LANES),
                dofs,
            }
        });
        let trees = trees.collect();
        let (mut slot, mut station_slot) = (vec![None; n], vec![None; system.stations.len()]);
        let mut slots = 0;
        for (i, body) in system.bodies.iter().enumerate().rev() {
            // What carries others has been given the room of the first of them, the last to come.
            let own = *slot[i].get_or_insert_with(|| {
                slots += 1;
                slots - 1
            });
            if let Some(s) = body.station {
                station_slot[s] = Some(own);
            }
            if let Some(parent) = body.parent {
                slot[parent] = Some(own);
            }
        }
        let slot: Vec<usize> = slot.into_iter().flatten().collect();
        let mut others = vec![Vec::new(); n];
        for (i, body) in system.bodies.iter().enumerate() {
            if let Some(parent) = body.parent {
                let carrier = body.station.and_then(|s| station_slot[s]).unwrap_or(slot[parent]);
                if carrier != slot[i] {
                    others[parent].push((carrier, slot[i]));
                }
            }
        }
        Self {
            trees,
            rate,
            groups,
            of_body,
            slot,
            others,
            station_slot,
            slots,
        }
    }
}
