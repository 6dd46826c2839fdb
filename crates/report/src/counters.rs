//! What runs counted, by variant.

use crate::table::fitted;
use results::analysis::WorkloadAnalysis;
use results::{Counter, WorkloadResults};

/// Mean of each counter over a variant's runs, one column a variant; counters that are 0 everywhere are left out.
/// `schema` says what the analysis' counters are.
pub fn counters(
    schema: &[Counter],
    results: &WorkloadResults,
    analysis: &WorkloadAnalysis,
) -> String {
    let shown = analysis.counters.iter().filter(|c| !c.is_zero());
    let rows: Vec<Vec<String>> = shown
        .filter_map(|c| {
            let mean = |mean: &Option<f64>| mean.map_or(String::new(), |m| format!("{m:.0}"));
            let name = schema.get(c.counter)?.name.clone();
            Some(std::iter::once(name).chain(c.means.iter().map(mean)).collect())
        })
        .collect();
    let variants = results.variants.iter().map(|v| v.name.as_str());
    let columns: Vec<&str> = std::iter::once("counter, mean a run").chain(variants).collect();
    fitted(&columns, &rows, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::counters::CounterMeans;
    use results::{Run, VariantRuns};

    #[test]
    fn what_any_variant_counted_stands_by_variant() {
        let schema = ["ttwu_count", "yld_count", "hotplug_steps"].map(|n| Counter::number(n, "h"));
        let run = |counters: [u64; 3]| Run {
            run: 0,
            seed: 0,
            metrics: vec![],
            single_times: vec![],
            counters: counters.to_vec(),
        };
        let variant = |name: &str, runs: Vec<Run>| VariantRuns { name: name.to_string(), runs };
        let results = WorkloadResults {
            name: "w".to_string(),
            title: "w".to_string(),
            metrics: vec![],
            ignored: vec![],
            variants: vec![
                variant("old", vec![run([10, 0, 0]), run([20, 0, 0])]),
                variant("new", vec![run([7, 0, 14])]),
            ],
        };
        let mean = |counter: usize| CounterMeans {
            counter,
            means: results.variants.iter().map(|v| results::counters::mean(v, counter)).collect(),
        };
        let analysis = WorkloadAnalysis {
            name: "w".to_string(),
            metrics: vec![],
            counters: (0..3).map(mean).collect(),
        };
        let text = counters(&schema, &results, &analysis);
        let row = |name: &str| {
            let line = text.lines().find(|l| l.contains(name)).expect("the row");
            line.split_whitespace().map(String::from).collect::<Vec<_>>()
        };
        assert_eq!(row("ttwu_count"), ["ttwu_count", "15", "7"]);
        assert_eq!(row("hotplug_steps"), ["hotplug_steps", "0", "14"]);
        assert!(!text.contains("yld_count"), "{text}");
    }
}
