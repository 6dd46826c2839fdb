//! The baseline against itself, before the first block.
//!
//! It shows whether this computer gives the same answer to the same question, how small an effect the planned runs can prove, and how
//! many runs a smaller one would take. Its runs warm caches up, and do not count among the results.

use results::MetricInfo;
use stats::{Comparison, Resampling, runs_for, smallest_effect_percent};

/// Effects, in percent, for which the number of runs is said.
const EFFECTS: [f64; 3] = [5.0, 2.0, 1.0];

/// One metric of a workload under the baseline, run twice so often, in turns.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The workload.
    pub workload: String,
    /// What is measured.
    pub metric: MetricInfo,
    /// Runs that are planned under each variant.
    pub planned: u32,
    /// One half of the runs against the other; none for fewer than two runs.
    pub comparison: Option<Comparison>,
    /// The smallest effect in percent that the planned runs show; none where the runs do not say.
    pub smallest_percent: Option<f64>,
    /// By effect in percent: how many runs show it; none where it takes more than anybody makes.
    pub runs_for: Vec<(f64, Option<u32>)>,
}

impl Trial {
    /// Of the values `halves`, one for each run.
    pub(super) fn of(
        workload: &str,
        metric: &MetricInfo,
        halves: [&[f64]; 2],
        planned: u32,
        resampling: &Resampling,
    ) -> Trial {
        let all = halves.concat();
        Trial {
            workload: workload.to_owned(),
            metric: metric.clone(),
            planned,
            comparison: stats::compare(halves[0], halves[1], metric.better, resampling),
            smallest_percent: smallest_effect_percent(&all, planned),
            runs_for: EFFECTS.map(|percent| (percent, runs_for(&all, percent))).to_vec(),
        }
    }

    /// It in a line.
    pub fn words(&self) -> String {
        let Trial { workload, metric, planned, .. } = self;
        let drifts = match &self.comparison {
            Some(c) if c.verdict != stats::Verdict::NoDifference => {
                format!(
                    "the baseline differs from itself by {:+.2} %: this computer drifts; ",
                    c.percent.estimate
                )
            }
            Some(c) => {
                format!("baseline against itself {:+.2} %, no difference; ", c.percent.estimate)
            }
            None => String::new(),
        };
        let smallest = match self.smallest_percent {
            Some(percent) => format!("{planned} runs show effects from {percent:.2} %"),
            None => format!("what {planned} runs show is not known"),
        };
        let runs = self.runs_for.iter().filter_map(|(percent, runs)| {
            let runs = (*runs)?;
            (runs > *planned).then(|| format!("{percent} % takes {runs} runs"))
        });
        let runs: Vec<String> = runs.collect();
        let more = if runs.is_empty() { String::new() } else { format!(", {}", runs.join(", ")) };
        format!("{workload}, {}: {drifts}{smallest}{more}", metric.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::{Better, Confidence};

    fn trial(a: &[f64], b: &[f64]) -> Trial {
        let metric = MetricInfo { name: "wall".into(), unit: "s".into(), better: Better::Lower };
        let resampling = Resampling::new(1000, 1, Confidence::P95).unwrap();
        Trial::of("make", &metric, [a, b], 10, &resampling)
    }

    #[test]
    fn a_quiet_computer_and_one_that_drifts() {
        let quiet = trial(&[10.0, 10.2, 9.9, 10.1, 9.8], &[10.1, 9.9, 10.2, 9.8, 10.0]);
        let words = quiet.words();
        assert!(words.starts_with("make, wall: baseline against itself "), "{words}");
        assert!(
            words.contains("10 runs show effects from 3.") && words.contains("1 % takes "),
            "{words}"
        );
        let drifts =
            trial(&[10.0, 10.1, 10.0, 10.1, 10.0], &[12.0, 12.1, 12.0, 12.1, 12.0]).words();
        assert!(drifts.contains("the baseline differs from itself by -19."), "{drifts}");
        let one = trial(&[10.0], &[10.0]);
        assert_eq!(one.comparison, None);
    }
}
