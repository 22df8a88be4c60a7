//! Every field of the spec, as JSON schema and as a page.

mod page;

/// Returns the JSON schema of the spec.
pub fn json() -> String {
    grapple::spec::schema()
}

/// Returns a page in Markdown with a table for each section of the spec: fields, types, units,
/// defaults, meanings.
pub fn markdown() -> String {
    page::page(&json())
}
