//! Layout of the derivatives: trees, degrees of freedom, columns.

use super::rows::LANES;
use crate::system::{System, joint};
use std::ops::Range;

/// A body without a parent body (the root), with its outboard bodies.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Bodies of the tree; the first is the root.
    pub bodies: Range<usize>,
    /// Degrees of freedom of the tree.
    pub dofs: Range<usize>,
    /// Number of leading coordinates without a column. No acceleration depends on the position of a
    /// free root, nor on its attitude unless loads depend on attitudes.
    pub skip_q: usize,
    /// Number of leading rates without a column: no acceleration depends on the linear velocity of
    /// a free root.
    pub skip_v: usize,
    /// Number of blocks with the coordinates' columns; the blocks of the rates follow.
    pub blocks_q: usize,
    /// Number of blocks of all columns.
    pub blocks: usize,
}

impl Tree {
    /// Returns the index of the column of coordinate `dof`, if it has one.
    pub fn column_q(&self, dof: usize) -> Option<usize> {
        (dof - self.dofs.start).checked_sub(self.skip_q)
    }

    /// Returns the index of the column of rate `dof`, if it has one.
    pub fn column_v(&self, dof: usize) -> Option<usize> {
        let column = (dof - self.dofs.start).checked_sub(self.skip_v)?;
        Some(self.blocks_q * LANES + column)
    }
}

/// Constant layout of a system.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub trees: Vec<Tree>,
    /// Index of the rate of each degree of freedom. Within a joint the degrees of freedom are
    /// ordered from the joint's frame F outboard, the rates are not.
    pub rate: Vec<usize>,
    /// The degrees of freedom of all joints in groups, each of which acts like a joint of its own,
    /// in series with the other groups of the joint; from the joint's frame F outboard.
    pub groups: Vec<Range<usize>>,
    /// Range of the groups of each body's joint.
    pub of_body: Vec<Range<usize>>,
    /// Buffer slot of each body in both passes. A body shares the slot of its first child.
    pub slot: Vec<usize>,
    /// Buffer slot of each station; `None` without a child.
    pub station_slot: Vec<Option<usize>>,
    /// For each body, the slots of its further children, as pairs
    /// `(slot of the body or station, slot of the child)`.
    pub others: Vec<Vec<(usize, usize)>>,
    /// Number of slots.
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
            // A parent takes over the slot of its first child, which comes last in this order.
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
