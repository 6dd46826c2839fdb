//! What runs counted, by variant.

use crate::table::fitted;
use experiment::results::WorkloadResults;

/// Mean of each counter over a variant's runs, one column a variant; counters that are 0 everywhere are left out.
pub fn counters(results: &WorkloadResults) -> String {
    let names: Vec<&str> = results
        .variants
        .iter()
        .flat_map(|v| v.runs.first())
        .take(1)
        .flat_map(|run| run.counters.iter().map(|(name, _)| name.as_str()))
        .collect();
    let variants: Vec<&str> = results.variants.iter().map(|v| v.name.as_str()).collect();
    let mut rows = Vec::new();
    for name in names {
        let means: Vec<Option<f64>> =
            variants.iter().map(|v| results.mean_counter(v, name)).collect();
        if means.iter().all(|m| m.is_none_or(|m| m == 0.0)) {
            continue;
        }
        let mut row = vec![name.to_string()];
        row.extend(means.into_iter().map(|m| m.map_or(String::new(), |m| format!("{m:.0}"))));
        rows.push(row);
    }
    let mut columns = vec!["counter, mean a run"];
    columns.extend(variants);
    fitted(&columns, &rows, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::results::{Run, VariantRuns};

    #[test]
    fn means_stand_by_variant_and_zeros_are_left_out() {
        let run = |n: u64| Run {
            run: 0,
            seed: 0,
            metrics: vec![],
            single_times: vec![],
            counters: vec![("ttwu_count".to_string(), n), ("yld_count".to_string(), 0)],
        };
        let variant = |name: &str, runs: Vec<Run>| VariantRuns { name: name.to_string(), runs };
        let results = WorkloadResults {
            name: "w".to_string(),
            title: "w".to_string(),
            metrics: vec![],
            ignored: vec![],
            variants: vec![variant("old", vec![run(10), run(20)]), variant("new", vec![run(7)])],
        };
        let text = counters(&results);
        let row = text.lines().find(|l| l.contains("ttwu_count")).expect("the row");
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["ttwu_count", "15", "7"]);
        assert!(!text.contains("yld_count"), "{text}");
    }
}
