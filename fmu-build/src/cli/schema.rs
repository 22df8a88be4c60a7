use super::output::print;
use fmu_build::schema::{json, markdown};
use miette::Result;

/// Print the JSON schema of the spec, or a page of all its fields.
///
/// With the schema, Taplo or Even Better TOML completes and explains every field in an
/// editor:
///
///   grapple schema > grapple.schema.json
///
/// and, as the first line of a spec,
///
///   #:schema ./grapple.schema.json
///
/// The page has a table for each section: fields, types, units, defaults, meanings:
///
///   grapple schema --markdown > spec.md
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Print a page in Markdown
    #[arg(long)]
    markdown: bool,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let text = if arguments.markdown { markdown() } else { json() };
    print(text.trim_end())
}
