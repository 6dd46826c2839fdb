//! What kernels count of control groups (`cpu.stat`) and the simulator under the same names: quotas of all of them, and the CPU time
//! of each.

use definition::ExperimentFile;
use sim::Counters;
use sim::counters::Bandwidth;
use std::collections::{BTreeMap, BTreeSet};
use workload::Counter;

/// By path of a group: its numbers by name.
pub(crate) type Stats = BTreeMap<String, BTreeMap<String, u64>>;

/// Paths of the control groups of all variants.
pub(crate) fn paths(file: &ExperimentFile) -> BTreeSet<String> {
    let of = |at: usize| file.groups(at).into_iter().map(|group| group.path);
    (0..file.variants.len()).flat_map(of).collect()
}

/// What is counted of the groups at `paths`; nothing where there are none.
pub(crate) fn schema(paths: &BTreeSet<String>) -> Vec<Counter> {
    if paths.is_empty() {
        return vec![];
    }
    let usage = |path: &String| {
        let help = format!("CPU time of the tasks of the control group {path} and below");
        Counter::of_unit(&format!("{path}: usage_us"), "us", &help)
    };
    Bandwidth::schema().into_iter().chain(paths.iter().map(usage)).collect()
}

/// The values of a run in the order of [`schema`]: what `after` has more than `before`. A group that a variant does not have counts 0.
pub(crate) fn values(paths: &BTreeSet<String>, before: &Stats, after: &Stats) -> Vec<u64> {
    if paths.is_empty() {
        return vec![];
    }
    let number = |all: &Stats, path: &str, name: &str| {
        all.get(path).and_then(|stat| stat.get(name)).copied().unwrap_or(0)
    };
    let of = |path: &str, name: &str| {
        number(after, path, name).saturating_sub(number(before, path, name))
    };
    let sum = |name: &str| paths.iter().map(|path| of(path, name)).sum();
    let bandwidth = Bandwidth {
        periods: sum("nr_periods"),
        throttled: sum("nr_throttled"),
        throttled_us: sum("throttled_usec"),
    };
    let usage = paths.iter().map(|path| of(path, "usage_usec"));
    bandwidth.values().into_iter().chain(usage).collect()
}

/// The groups of a simulated variant among those of its experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupTimes {
    /// Of all variants.
    paths: BTreeSet<String>,
    /// Of this one, in the order of its setting.
    own: Vec<String>,
}

impl GroupTimes {
    /// Those of the variant at `variant`.
    pub(crate) fn of(file: &ExperimentFile, variant: usize) -> GroupTimes {
        let own = file.groups(variant).into_iter().map(|group| group.path).collect();
        GroupTimes { paths: paths(file), own }
    }

    /// As [`schema`].
    pub(crate) fn schema(&self) -> Vec<Counter> {
        schema(&self.paths)
    }

    /// The values of a run in the order of [`schema`]. A group has the time of those below it, too.
    pub(crate) fn values(&self, counters: &Counters) -> Vec<u64> {
        let usage_us = |path: &String| {
            let is_in = |own: &str| {
                own.strip_prefix(path.as_str()).is_some_and(|r| r.is_empty() || r.starts_with('/'))
            };
            let all = self.own.iter().zip(&counters.group_run_ns);
            all.filter(|(own, _)| is_in(own)).map(|(_, ns)| ns).sum::<u64>() / 1000
        };
        let usage = self.paths.iter().map(usage_us);
        counters.bandwidth.values().into_iter().chain(usage).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vm::session::numbers;

    #[test]
    fn a_simulated_group_has_the_time_of_those_below() {
        let text = |all: &[&str]| all.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let own = text(&["a", "a/b", "a/b/c", "ab"]);
        let paths = own.iter().cloned().chain(["x".to_owned()]).collect();
        let times = GroupTimes { paths, own };
        let counters = Counters {
            group_run_ns: vec![1_000, 20_000, 300_999, 4_000_000],
            ..Counters::default()
        };
        assert_eq!(times.schema().len(), times.values(&counters).len());
        assert_eq!(times.values(&counters)[3..], [321, 320, 300, 4000, 0]);
    }

    #[test]
    fn quotas_are_summed_and_time_is_each_groups_own() {
        let stats = |web: &str, db: &str| -> Stats {
            [("web", web), ("web/db", db)]
                .map(|(path, text)| (path.to_owned(), numbers(text)))
                .into()
        };
        let before = stats("usage_usec 10\nnr_throttled 1\n", "usage_usec 5\n");
        let after = stats(
            "usage_usec 110\nnr_periods 7\nnr_throttled 3\nthrottled_usec 20\n",
            "usage_usec 45\nnr_periods 1\nodd\n",
        );
        let paths = ["web", "web/db", "x"].map(str::to_owned).into();
        let names: Vec<String> = schema(&paths).into_iter().map(|c| c.name).collect();
        let expected = [
            "nr_periods",
            "nr_throttled",
            "throttled_us",
            "web: usage_us",
            "web/db: usage_us",
            "x: usage_us",
        ];
        assert_eq!(names, expected);
        assert_eq!(values(&paths, &before, &after), [8, 2, 20, 100, 40, 0]);
        assert_eq!(values(&BTreeSet::new(), &before, &after), [0; 0]);
    }
}
