//! The command line of `schedscape compare-trees`.

use clap::Args as ClapArgs;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape compare-trees mine.toml --base ~/linux-good --tree ~/linux --metric seconds
  git bisect start v6.13 v6.12
  git bisect run schedscape compare-trees ~/mine.toml --base-commit v6.12 --metric seconds --worse-by 3%

Exit code:
  0    not worse
  1    worse than the base by more than the bound, and the verdict says that this is no chance
  125  the tree does not build, boot or run: `git bisect run` skips the commit
  128  the question is wrong (an option, the experiment, the base): `git bisect run` stops")]
pub struct CompareTreesArgs {
    /// The experiment file (TOML). Its first variant with a source says how both trees run
    pub experiment: PathBuf,
    /// The tree that is good [default: the variant's own source]
    #[arg(long, value_name = "DIR")]
    pub base: Option<PathBuf>,
    /// The commit that is good, of the repository of --base, or else of --tree
    #[arg(long, value_name = "COMMIT")]
    pub base_commit: Option<String>,
    /// The tree that may be bad, as it is checked out
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub tree: PathBuf,
    /// Machine, if the experiment lists several
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Workload [default: the only one of the experiment]
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Metric [default: the only one of the workload]
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Bad is what is worse by more than this, as 2%
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = percent)]
    pub worse_by: f64,
    /// Runs under each tree; overrides the file's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub runs: Option<u32>,
    /// Seed; overrides the file's
    #[arg(long)]
    pub seed: Option<u64>,
    /// Threads to use; 0 means one per CPU. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    #[command(flatten)]
    pub cache: super::CacheArgs,
}

/// A percentage that is not negative, with or without its sign.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end().parse::<f64>();
    number
        .ok()
        .filter(|n| n.is_finite() && *n >= 0.0)
        .ok_or_else(|| format!("found {text:?}, expected a percentage from 0 on, as 2%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_may_have_their_sign() {
        assert_eq!((percent("2%"), percent("0.5"), percent("0")), (Ok(2.0), Ok(0.5), Ok(0.0)));
        for bad in ["", "-1%", "two", "inf", "NaN%"] {
            assert!(percent(bad).is_err(), "{bad}");
        }
    }
}
