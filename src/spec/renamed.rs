//! Names of version 0.1 with their successors, for the errors of a spec with an old name.

/// Fields and values of the spec's format 1, with their names in [`FORMAT`](super::FORMAT).
const FIELDS: [(&str, &str); 6] = [
    ("craft", "spacecraft"),
    ("director_beam", "geometrically_exact_beam"),
    ("follow", "tracking"),
    ("from_host", "from_importer"),
    ("nodal_beam", "ancf_beam"),
    ("orbital", "lvlh"),
];

/// Words of other formats and tools for fields and values of the spec.
const SYNONYMS: [(&str, &str); 47] = [
    ("attitude", "orientation"),
    ("average", "mean"),
    ("ball", "spherical"),
    ("bodies", "body"),
    ("cardan", "universal"),
    ("center_of_mass", "mass_centre"),
    ("centre_of_mass", "mass_centre"),
    ("cog", "mass_centre"),
    ("com", "mass_centre"),
    ("continuous", "revolute"),
    ("dt", "step"),
    ("duration", "stop_time"),
    ("end_time", "stop_time"),
    ("final_time", "stop_time"),
    ("floating", "free"),
    ("frames", "frame"),
    ("hinge", "revolute"),
    ("initial", "start"),
    ("integrator", "method"),
    ("joints", "joint"),
    ("last", "final"),
    ("limit", "range"),
    ("limits", "range"),
    ("linear", "prismatic"),
    ("link", "body"),
    ("links", "body"),
    ("lower", "min"),
    ("maximum", "max"),
    ("minimum", "min"),
    ("moments", "inertia"),
    ("offset", "origin"),
    ("position", "origin"),
    ("quaternion", "orientation"),
    ("reaction_wheel", "wheel"),
    ("rigid", "fixed"),
    ("rotational", "revolute"),
    ("rpy", "rpy_deg"),
    ("signals", "signal"),
    ("sliding", "prismatic"),
    ("stop", "stop_time"),
    ("time_step", "step"),
    ("timestep", "step"),
    ("tspan", "stop_time"),
    ("upper", "max"),
    ("weld", "fixed"),
    ("xyz", "origin"),
    ("youngs_modulus", "E"),
];

/// Returns the field or value that another tool calls `word`, if it is among the `known` ones.
pub(super) fn synonym<'a>(word: &str, known: &'a [String]) -> Option<&'a String> {
    let mut meant = SYNONYMS.iter().filter(|(other, _)| other.eq_ignore_ascii_case(word));
    meant.find_map(|(_, own)| known.iter().find(|known| known == own))
}

/// Suffixes of variables' names, with their successors.
const VARIABLES: [(&str, &str); 16] = [
    (".drift", ".violation"),
    (".drift_angle", ".violation_angle"),
    (".follow_kd", ".tracking_kd"),
    (".follow_kp", ".tracking_kp"),
    (".gap", ".distance"),
    (".q_orbital", ".q_lvlh"),
    (".r_orbital", ".r_lvlh"),
    (".rpy_orbital", ".rpy_lvlh"),
    (".strike", ".impact"),
    (".v_orbital", ".v_lvlh"),
    (".w_orbital", ".w_lvlh"),
    (".winding", ".unwrapped_angle"),
    ("system.gap", "system.violation"),
    ("system.gap_angle", "system.violation_angle"),
    ("system.gap_rate", "system.violation_rate"),
    ("system.gap_velocity", "system.violation_velocity"),
];

/// Returns the present name of a field or value of format 1, if it has changed.
pub(super) fn field(old: &str) -> Option<&'static str> {
    FIELDS.iter().find(|(name, _)| *name == old).map(|(_, new)| *new)
}

/// Returns the possible present names of a variable of version 0.1 (`berth.strike`,
/// `base.r_orbital[2]`); none if its name has not changed.
pub fn variable(old: &str) -> impl Iterator<Item = String> {
    let (base, index) = old.split_at(old.find('[').unwrap_or(old.len()));
    VARIABLES.iter().filter_map(move |(end, new)| {
        let owner = base.strip_suffix(end)?;
        Some(format!("{owner}{new}{index}"))
    })
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![variables_keep_their_owner_and_index];

    fn variables_keep_their_owner_and_index() {
        let only = |old| variable(old).collect::<Vec<_>>();
        assert_eq!(only("base.r_orbital[2]"), ["base.r_lvlh[2]"]);
        assert_eq!(only("berth.strike"), ["berth.impact"]);
        assert_eq!(only("system.gap"), ["system.distance", "system.violation"]);
        assert!(only("berth.r_E").is_empty());
    }
}
