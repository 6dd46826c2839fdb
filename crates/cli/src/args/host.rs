//! The command line of `schedscape host`, and of `run --engine host`.

use super::EngineName;
use clap::{Args as ClapArgs, Subcommand};

#[derive(Debug, Subcommand)]
pub enum HostCommand {
    /// Show what this computer is, what spoils results on it, and what it cannot count
    Show(HostShowArgs),
    /// Put back what a killed `run --engine host` had set
    Restore,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape host show
  sudo schedscape host show --json")]
pub struct HostShowArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// How runs on this computer are made.
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct HostArgs {
    /// Run only this variant; may be repeated. For variants that need another boot: results of several boots join
    /// in `compare A B`
    #[arg(long = "only", value_name = "VARIANT")]
    pub only: Vec<String>,
    /// Go on until the interval of every change is no wider than plus or minus P percent, such as 1%
    #[arg(long, value_name = "P%", value_parser = percent)]
    pub until: Option<f64>,
    /// With --until: begin no block after so many minutes [default: 60]
    #[arg(long, value_name = "MINUTES", requires = "until", value_parser = positive)]
    pub budget_min: Option<f64>,
    /// Runs of each half of the trial of the baseline against itself; 0 leaves it out [default: 3 to 10,
    /// no more than are planned]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1000))]
    pub trial: Option<u32>,
    /// Also count each command's own wake-ups by distance, from tracepoints; each takes longer then
    #[arg(long)]
    pub wakeups: bool,
    /// Seconds of rest before each run, in which other load is noticed [default: 0.2]
    #[arg(long, value_name = "SECONDS", value_parser = not_negative)]
    pub rest_s: Option<f64>,
    /// Seconds after which a benchmark's program is ended [default: 3600]
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub run_limit_s: Option<f64>,
}

impl HostArgs {
    /// Refuses what was given although `engines` do not run on this computer.
    pub fn refuse_for_others(&self, engines: &[EngineName]) -> Result<(), String> {
        let options = [
            ("--only", !self.only.is_empty()),
            ("--until", self.until.is_some()),
            ("--trial", self.trial.is_some()),
            ("--wakeups", self.wakeups),
            ("--rest-s", self.rest_s.is_some()),
            ("--run-limit-s", self.run_limit_s.is_some()),
        ];
        let given = options.into_iter().find(|option| option.1);
        match given.filter(|_| !engines.contains(&EngineName::Host)) {
            Some((option, _)) => {
                let names: Vec<&str> = engines.iter().map(|e| e.name()).collect();
                Err(format!("{option}: found --engine {}, expected host", names.join(",")))
            }
            None => Ok(()),
        }
    }
}

fn number(text: &str, is_good: fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|&value: &f64| value.is_finite() && is_good(value));
    value.ok_or_else(|| format!("expected {expected}"))
}

fn percent(text: &str) -> Result<f64, String> {
    number(text.strip_suffix('%').unwrap_or(text), |p| p > 0.0, "a percentage above 0, such as 1%")
}

fn positive(text: &str) -> Result<f64, String> {
    number(text, |v| v > 0.0 && v <= 1e6, "a number above 0")
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text, |v| (0.0..=3600.0).contains(&v), "0 to 3600")
}
