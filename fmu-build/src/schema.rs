use crate::text::say;
use miette::Result;

/// Print the JSON schema of the spec, for editors.
///
/// With Taplo or Even Better TOML an editor then completes and explains every field:
///
///   grapple schema > grapple.schema.json
///
/// and, as the first line of a spec,
///
///   #:schema ./grapple.schema.json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {}

pub fn run(_: &Arguments) -> Result<()> {
    say(grapple::spec::schema().trim_end());
    Ok(())
}
