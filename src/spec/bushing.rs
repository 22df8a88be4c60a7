use super::PerAxis;
use super::element::Report;

/// Fields of a spring-damper in six directions, of grasps and interfaces.
pub(crate) struct BushingFields<'a> {
    pub stiffness: &'a PerAxis,
    pub damping: &'a PerAxis,
    pub angular_stiffness: Option<&'a PerAxis>,
    pub angular_damping: Option<&'a PerAxis>,
}

impl BushingFields<'_> {
    /// Reports lists with another number of entries than axes.
    pub fn check(&self, report: &mut Report) {
        let gains = [
            ("stiffness", Some(self.stiffness)),
            ("damping", Some(self.damping)),
            ("angular_stiffness", self.angular_stiffness),
            ("angular_damping", self.angular_damping),
        ];
        for (field, gain) in gains {
            if let Some(PerAxis::Each(values)) = gain
                && values.len() != 3
            {
                report.add(field, format!("{} numbers for 3 axes", values.len()));
            }
        }
    }
}
