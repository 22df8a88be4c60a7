//! The verb `schema`: every field of the spec, for editors and for people.

mod page;

use crate::text::say;
use miette::Result;

/// Print the JSON schema of the spec, for editors, or a page of it, for people.
///
/// With Taplo or Even Better TOML an editor then completes and explains every
/// field:
///
///   grapple schema > grapple.schema.json
///
/// and, as the first line of a spec,
///
///   #:schema ./grapple.schema.json
///
/// The page has a table for each section: fields, types, units, defaults,
/// meanings:
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
    say(page.unwrap_or(schema).trim_end())
}
