use super::names::is_named;
use crate::Problem;
use crate::spec::at;

/// Returns the paths at which a file with this prefix may contain the field of a problem: as its own
/// field, or in the table of a mount.
pub fn places(problem: &Problem, prefix: &str) -> Vec<Vec<String>> {
    let strip = |key: &String, prefix: &str| key.strip_prefix(prefix).map(str::to_owned);
    let own: Vec<String> = (problem.at.iter())
        .map(|key| strip(key, prefix).unwrap_or_else(|| key.clone()))
        .collect();
    // An unknown section has no name with the prefix. Settings of a mounted file do not apply.
    let is_section = matches!(problem.at.as_slice(), [only] if !only.starts_with('@') && is_named(only));
    if !prefix.is_empty() && own == problem.at && !is_section {
        return Vec::new();
    }
    let mut places = vec![own.clone()];
    if let [section, name, fields @ ..] = own.as_slice()
        && is_named(section)
    {
        let (mount, inner) = match name.split_once('.') {
            Some((mount, inner)) => (mount, Some(inner)),
            None => (name.as_str(), None),
        };
        let mut in_mount = |path: &[&[String]]| places.push([&at("mount", mount, "")[..], &path.concat()].concat());
        let section = std::slice::from_ref(section);
        if let Some(inner) = inner {
            in_mount(&[&["set".to_owned()], section, &[inner.to_owned()], fields]);
        } else {
            // The joint that attaches the mount, or the frame that stands for its world.
            in_mount(&[section, fields]);
            in_mount(&[fields]);
        }
        if inner.is_some() && fields.first().is_some_and(|field| field == "start") {
            in_mount(&[fields]);
        }
    }
    places
}
