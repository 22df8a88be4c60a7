/// Deviations from the spec's experiment.
#[derive(Clone, Copy, clap::Args)]
pub struct Experiment {
    /// End of the run, s
    #[arg(long, value_name = "T", value_parser = positive)]
    stop_time: Option<f64>,
    /// Communication step and spacing of the results, s
    #[arg(long, value_name = "H", value_parser = positive)]
    step: Option<f64>,
    /// Relative tolerance of the integration
    #[arg(long, value_name = "TOL", value_parser = positive)]
    tolerance: Option<f64>,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a positive number".to_owned()),
    }
}

impl From<&Experiment> for fmu_build::run::Experiment {
    fn from(arguments: &Experiment) -> Self {
        let &Experiment {
            stop_time,
            step,
            tolerance,
        } = arguments;
        Self {
            stop_time,
            step,
            tolerance,
        }
    }
}
