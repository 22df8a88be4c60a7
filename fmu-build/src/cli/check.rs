use super::output::{print, remark, warn};
use fmu_build::CompiledSpec;
use fmu_build::check::{check, remarks};
use fmu_build::check_fmu::check_fmu;
use fmu_build::couple::warnings_of;
use fmu_build::package::is_fmu;
use fmu_build::starts::Assembled;
use fmu_build::summaries::contents;
use fmu_build::text::{count, number, typeset};
use miette::Result;
use std::path::{Path, PathBuf};

/// List all errors of a spec, with line, name and value, or the problems of an FMU.
///
///   grapple check my_arm.toml
///   grapple check my_arm.toml --frames    all bodies and frames of a large model
///   grapple check --quiet *.toml          problems and warnings only
///   grapple check arm.toml arm_controller.toml
///   grapple check my_arm.fmu               the FMU, and its reference results
///
/// The tree of bodies is shown with masses, and with the positions and rotations of
/// bodies and frames at t = 0. A warning reports a value that is legal but unlikely, or a
/// task that makes vibrations grow, and does not change the exit code. Advice on
/// integration: the fastest modes, the speed of Co-Simulation (measured for at most a
/// second, with the spec's signals), and vibrations for which a BDF method in Model
/// Exchange is unstable. Two specs are also examined together, as `grapple couple`
/// connects them: an unstable coupling gets a warning.
///
/// Of an FMU, of this or any other tool, the model description and the terminals are
/// checked, and its library is loaded. One that was built with --reference is run
/// against its reference results: the largest deviation is printed, one above 1e-9 of
/// the variable's magnitude is an error.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Spec files, or FMUs
    #[arg(required = true)]
    specs: Vec<PathBuf>,
    /// Print nothing for a spec without problems or warnings
    #[arg(long, short)]
    quiet: bool,
    /// List all bodies and frames, however many
    #[arg(long, conflicts_with = "quiet")]
    frames: bool,
}

/// Largest number of bodies and frames that are listed without `--frames`.
const MOST_ROWS: usize = 40;

pub fn run(arguments: &Arguments) -> Result<()> {
    let mut outcome = Ok(());
    for spec in &arguments.specs {
        // The last report is printed by main.
        if let Err(report) = examine(spec, arguments)
            && let Err(earlier) = std::mem::replace(&mut outcome, Err(report))
        {
            warn(&format!("{earlier:?}"));
        }
    }
    outcome?;
    let [first, second] = &arguments.specs[..] else {
        return Ok(());
    };
    if is_fmu(first) || is_fmu(second) {
        return Ok(());
    }
    let specs = [CompiledSpec::read(first)?, CompiledSpec::read(second)?];
    // Two specs that cannot be coupled are no error here.
    for warning in warnings_of(specs).unwrap_or_default() {
        warn(&format!("warning: {warning}"));
    }
    Ok(())
}

fn examine_fmu(fmu: &Path, arguments: &Arguments) -> Result<()> {
    let findings = check_fmu(fmu)?;
    if !arguments.quiet {
        print(&format!("{}:", fmu.display()))?;
        findings
            .lines()
            .iter()
            .try_for_each(|line| print(&format!("  {line}")))?;
    }
    Ok(findings.outcome()?)
}

fn examine(spec: &Path, arguments: &Arguments) -> Result<()> {
    if is_fmu(spec) {
        return examine_fmu(spec, arguments);
    }
    let compiled = CompiledSpec::read(spec)?;
    if arguments.quiet {
        return remark(&compiled.file, &remarks(&compiled)?, true);
    }
    print(&format!("{}: {}", compiled.file, contents(&compiled.model)))?;
    let findings = check(&compiled)?;
    if let Some(tree) = &findings.tree {
        print(&format!("  {}", tree.summary()))?;
        match tree.rows() <= MOST_ROWS || arguments.frames {
            true => print(tree.lines().trim_end_matches('\n'))?,
            false => print(&format!(
                "  `grapple check --frames` lists its {} bodies and frames",
                tree.rows()
            ))?,
        }
    }
    for line in &compiled.unused {
        print(&format!("  {line}"))?;
    }
    if let Some(loops) = &findings.loops {
        print(&format!("  {}", closed(loops)))?;
    }
    remark(&compiled.file, &findings.remarks, false)?;
    findings
        .advice
        .iter()
        .try_for_each(|advice| print(&format!("  {advice}")))
}

/// Returns "1 loop closed: 5 constraints, 4 independent; mobility 1; the start is moved by at most
/// 0.01 (hinge1.q)".
fn closed(Assembled { assembly, start }: &Assembled) -> String {
    let moved = start
        .each()
        .map(|(state, before, after)| ((after - before).abs(), state));
    let start = match moved.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((by, state)) if by > 1e-12 => {
            let (by, unit) = (number(by, 3), typeset(state.unit.symbol()));
            format!("the start is moved by at most {by} {unit} ({})", state.name)
        }
        _ => "the start is that of the spec".to_owned(),
    };
    format!(
        "{} closed: {}, {} independent; mobility {}; {start}",
        count(assembly.written.len(), "loop"),
        count(assembly.rows, "constraint"),
        assembly.rank,
        assembly.mobility
    )
}
