//! The verb `schema`: every field of the spec, as JSON schema and as a page.

mod page;

use crate::text::print;
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
    let schema = grapple::spec::schema();
    let page = arguments.markdown.then(|| page::page(&schema));
    print(page.unwrap_or(schema).trim_end())
}
