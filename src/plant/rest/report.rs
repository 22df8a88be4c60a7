//! Reports and events of impacts of points that may rest.

use super::super::context::Constants;
use super::super::impact_report::pairing;
use super::Candidate;
use crate::algebra::Vec3;
use crate::dynamics::impact::PointImpact;
use crate::elements::{ImpactReport, ImpactStatus};
use crate::event::Occurrence;
use crate::spec::Tangential;
use crate::system::significant;
use nalgebra::{DMatrix, DVector};

/// Impulses of an impact along normals and tangents.
pub(super) struct Impulses<'a> {
    pub W: &'a DMatrix<f64>,
    pub u: &'a DVector<f64>,
    pub p: &'a DVector<f64>,
    pub after: &'a DVector<f64>,
}

impl Impulses<'_> {
    /// Returns report and event of the points `own` of one contact, after `last`; `None` if they have
    /// no impulse, or approach no faster than the speed up to which an impact is part of resting.
    pub fn report(
        &self,
        of: Constants,
        t: f64,
        candidates: &[Candidate],
        own: &[usize],
        last: &ImpactReport,
    ) -> Option<(ImpactReport, Occurrence)> {
        let at = |all: &DVector<f64>, i: usize| all.fixed_rows::<3>(3 * i).into_owned();
        let first = own.first().map(|&i| &candidates[i])?;
        let fastest = own.iter().fold(0.0, |most: f64, &i| most.max(-self.u[3 * i]));
        // The report has the velocities of the point with the largest impulse.
        let &largest = own.iter().max_by(|&&i, &&j| self.p[3 * i].total_cmp(&self.p[3 * j]))?;
        if fastest <= first.rest.speed(of.parameters) || self.p[3 * largest] <= 0.0 {
            return None;
        }
        let impulse = own
            .iter()
            .fold(Vec3::zeros(), |sum, &i| sum + candidates[i].axes * at(self.p, i));
        let work = own
            .iter()
            .map(|&i| 0.5 * at(self.p, i).dot(&(at(self.u, i) + at(self.after, i))));
        let axes = candidates[largest].axes;
        let [before, after] = [self.u, self.after].map(|all| axes * at(all, largest));
        let mut report = ImpactReport {
            impulse,
            velocities: [before, after],
            energy_change: work.sum(),
            restitution: match self.u[3 * largest] {
                0.0 => 0.0,
                u_n => -self.after[3 * largest] / u_n,
            },
            ..ImpactReport::blank(ImpactStatus::Impact, last.count + 1.0, t)
        };
        let W = self.W.fixed_view::<3, 3>(3 * largest, 3 * largest).into_owned();
        let W = axes * W * axes.transpose();
        if let Some(point) = PointImpact::new(W, before, axes.column(0).into_owned()) {
            report.set_response(&point, 1.0, Tangential::Plastic);
        }
        let what = Occurrence::Impact {
            pairing: pairing(first.contact),
            impulse: impulse.norm(),
            work: significant(report.energy_change, impulse.norm() * before.norm()),
            clamped: None,
            gain: None,
        };
        Some((report, what))
    }
}
