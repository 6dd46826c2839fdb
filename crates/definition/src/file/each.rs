//! A benchmark's integer parameter that is given as a list: one workload for each value.
//!
//! `[workload.tbench] clients = [1, 2, 4]` in a workload named `tbench` makes `tbench-1`, `tbench-2` and `tbench-4`. Every value is
//! read as if it stood alone where the list stands, so that errors name the right line.

use super::{ExperimentFile, RowEntry, WorkloadEntry, parse_toml};
use crate::DefinitionError;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// Most values of a list.
const MAX_VALUES: usize = 1000;

/// A list in the file.
struct List {
    /// The parameter.
    name: String,
    /// Where it stands.
    span: Range<usize>,
    /// Where its values stand.
    values: Vec<Range<usize>>,
}

/// Reads `text`, naming it `file` in errors.
pub(super) fn parse(text: &str, file: &str) -> Result<ExperimentFile, DefinitionError> {
    // Where the text is no TOML, the reader below says so.
    let by_workload = DeTable::parse(text).map_or_else(|_| Vec::new(), |t| lists(t.get_ref()));
    if by_workload.iter().all(Vec::is_empty) {
        return parse_toml(text, file);
    }
    let first: Vec<(&List, &Range<usize>)> =
        by_workload.iter().flatten().filter_map(|l| Some((l, l.values.first()?))).collect();
    let mut experiment: ExperimentFile = parse_toml(&alone(text, &first), file)?;
    let entries = std::mem::take(&mut experiment.workloads);
    for (at, (entry, own)) in entries.into_iter().zip(&by_workload).enumerate() {
        let Some(list) = own.first() else {
            experiment.workloads.push(entry);
            continue;
        };
        refuse_many(file, &entry, own)?;
        for value in &list.values {
            let others = first.iter().filter(|(l, _)| l.span != list.span);
            let chosen: Vec<_> = others.copied().chain([(list, value)]).collect();
            let read: ExperimentFile = parse_toml(&alone(text, &chosen), file)?;
            let value = &text[value.clone()];
            let nth = read.workloads.into_iter().nth(at);
            experiment.workloads.extend(nth.map(|entry| labelled(entry, &list.name, value)));
        }
    }
    Ok(experiment)
}

/// `text` with the first value of each list in its place.
pub(super) fn first_alone(text: &str) -> String {
    let by_workload = DeTable::parse(text).map_or_else(|_| Vec::new(), |t| lists(t.get_ref()));
    let first = by_workload.iter().flatten().filter_map(|l| Some((l, l.values.first()?)));
    alone(text, &first.collect::<Vec<_>>())
}

/// `text` for each machine of its list; none where `machine` is no list.
pub(super) fn by_machine(text: &str) -> Vec<String> {
    let Ok(root) = DeTable::parse(text) else { return vec![] };
    let Some(machines) = root.get_ref().get("machine") else { return vec![] };
    let Some(all) = machines.get_ref().as_array() else { return vec![] };
    let list = List {
        name: String::new(),
        span: machines.span(),
        values: all.iter().map(Spanned::span).collect(),
    };
    list.values.iter().map(|value| alone(text, &[(&list, value)])).collect()
}

fn labelled(entry: WorkloadEntry, parameter: &str, value: &str) -> WorkloadEntry {
    let name = format!("{}-{value}", entry.name);
    let titled = if entry.title.is_empty() { &entry.name } else { &entry.title };
    let title = format!("{titled}, {parameter} = {value}");
    let (varying, value) = (parameter.to_string(), value.to_string());
    let row = Some(RowEntry { of: entry.name, varying, value });
    WorkloadEntry { name, title, row, ..entry }
}

/// Refuses several lists in one workload, and a list that is too long.
fn refuse_many(file: &str, entry: &WorkloadEntry, lists: &[List]) -> Result<(), DefinitionError> {
    let values: usize = lists.iter().map(|l| l.values.len()).sum();
    if lists.len() == 1 && values <= MAX_VALUES {
        return Ok(());
    }
    let names: Vec<&str> = lists.iter().map(|l| l.name.as_str()).collect();
    Err(DefinitionError::Field {
        file: file.to_string(),
        field: format!("workload `{}`: {}", entry.name, names.join(", ")),
        found: format!("{} lists with {values} values", lists.len()),
        expected: "one list with at most 1000 values".to_string(),
    })
}

/// By workload: its benchmark's parameters that are lists of integers, none of them empty.
fn lists(root: &DeTable<'_>) -> Vec<Vec<List>> {
    let Some(DeValue::Array(workloads)) = root.get("workload").map(Spanned::get_ref) else {
        return Vec::new();
    };
    workloads.iter().map(|w| of_workload(w.get_ref())).collect()
}

fn of_workload(workload: &DeValue<'_>) -> Vec<List> {
    let fields = workload.as_table().into_iter().flat_map(|t| t.values());
    let params = fields.filter_map(|f| f.get_ref().as_table()).flat_map(|t| t.iter());
    let list = |(name, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
        let values = value.get_ref().as_array()?;
        let integers = values.iter().all(|v| v.get_ref().is_integer());
        (integers && values.iter().next().is_some()).then(|| List {
            name: name.get_ref().to_string(),
            span: value.span(),
            values: values.iter().map(Spanned::span).collect(),
        })
    };
    params.filter_map(list).collect()
}

/// `text` with a value of each list alone, at the place of the list and as long, in bytes and in lines.
fn alone(text: &str, chosen: &[(&List, &Range<usize>)]) -> String {
    let mut out = text.to_string();
    for (list, value) in chosen {
        let value = &text[(*value).clone()];
        let whole = &text[list.span.clone()];
        let lines = whole.matches('\n').count();
        let blank = whole.len().saturating_sub(value.len() + lines);
        let padded = format!("{value}{}{}", " ".repeat(blank), "\n".repeat(lines));
        out.replace_range(list.span.clone(), &padded);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use workload::Benchmark;

    fn with(workloads: &str) -> Result<ExperimentFile, DefinitionError> {
        let good = include_str!("../../../../experiments/power9-big-core.toml");
        let head = good.split("[[workload]]").next().unwrap();
        ExperimentFile::parse(&format!("{head}{workloads}"), "x.toml")
    }

    fn netperf(name: &str, pairs: &str, seconds: &str) -> String {
        format!(
            "[[workload]]\nname = \"{name}\"\ntitle = \"T\"\nruns = 1\n\
             [workload.netperf]\npairs = {pairs}\nwarmup_s = 0\nseconds = {seconds}\n"
        )
    }

    #[test]
    fn a_list_makes_a_workload_for_each_value() {
        let text = netperf("a", "[1, 2,\n 16, # most\n]", "1") + &netperf("b", "3", "1");
        let text = text + &netperf("c", "[5, 7]", "2");
        let file = with(&text).unwrap();
        let found: Vec<(&str, u16, &str)> = file
            .workloads
            .iter()
            .map(|w| match w.alone().unwrap() {
                Benchmark::Netperf(params) => (w.name.as_str(), params.pairs, w.title.as_str()),
                other => panic!("{other:?}"),
            })
            .collect();
        let expected = [
            ("a-1", 1, "T, pairs = 1"),
            ("a-2", 2, "T, pairs = 2"),
            ("a-16", 16, "T, pairs = 16"),
            ("b", 3, "T"),
            ("c-5", 5, "T, pairs = 5"),
            ("c-7", 7, "T, pairs = 7"),
        ];
        assert_eq!(found, expected);
        let rows: Vec<Option<&str>> =
            file.workloads.iter().map(|w| w.row.as_ref().map(|r| r.value.as_str())).collect();
        assert_eq!(rows, [Some("1"), Some("2"), Some("16"), None, Some("5"), Some("7")]);
        let row = RowEntry { of: "a".into(), varying: "pairs".into(), value: "16".into() };
        assert_eq!(file.workloads[2].row, Some(row));
        let again = toml::to_string(&file).unwrap();
        assert_eq!(ExperimentFile::parse(&again, "x.toml").unwrap(), file);
    }

    #[test]
    fn a_list_of_machines_makes_an_experiment_for_each() {
        let good = include_str!("../../../../experiments/power9-big-core.toml");
        let line = good.lines().find(|l| l.starts_with("machine = ")).unwrap();
        let listed = good.replace(line, "machine = [\"power8\",\n \"power10\"]");
        let files = ExperimentFile::parse_each(&listed, "x.toml").unwrap();
        let machines: Vec<&str> = files.iter().map(|f| f.machine.as_str()).collect();
        assert_eq!(machines, ["power8", "power10"]);
        assert_eq!(ExperimentFile::parse_each(good, "x.toml").unwrap().len(), 1);
        let error = ExperimentFile::parse(&listed, "x.toml").unwrap_err().to_string();
        assert!(error.contains("machine: found a list"), "{error}");
        let twice = listed.replace("power10", "power8");
        let error = ExperimentFile::parse_each(&twice, "x.toml").unwrap_err().to_string();
        assert!(error.contains("`power8` twice"), "{error}");
        let none = good.replace(line, "machine = []");
        assert!(ExperimentFile::parse_each(&none, "x.toml").is_err());
    }

    #[test]
    fn rows_without_a_title_have_the_name_of_their_workload() {
        let file = with(&netperf("a", "[1, 2]", "1").replace("title = \"T\"\n", "")).unwrap();
        let titles: Vec<&str> = file.workloads.iter().map(|w| w.title.as_str()).collect();
        assert_eq!(titles, ["a, pairs = 1", "a, pairs = 2"]);
    }

    #[test]
    fn what_follows_a_list_of_several_lines_keeps_its_line() {
        let list = netperf("a", "[\n1, # größte\n 32, 1_000]", "1");
        let found = with(&(list.clone() + "seed = 1\n")).unwrap_err().to_string();
        let alone = netperf("a", "1 # größte\n\n", "1") + "seed = 1\n";
        assert_eq!(found, with(&alone).unwrap_err().to_string());
        assert!(found.contains("seed"), "{found}");
        assert_eq!(with(&list).unwrap().workloads[2].name, "a-1_000");
    }

    proptest! {
        #[test]
        fn cut_lists_never_panic(at in 0usize..60, end in ".{0,8}") {
            let text = netperf("a", "[1, # ö\n 2]", "[3, 4]");
            let at = text.len() - at;
            if let Some(text) = text.get(..at) {
                let _ = with(&format!("{text}{end}"));
            }
        }
    }

    #[test]
    fn errors_name_the_line_of_a_value_and_what_is_too_much() {
        let refused = |text: &str| with(text).unwrap_err().to_string();
        let alone = refused(&netperf("a", "-2", "1"));
        let listed = refused(&netperf("a", "[1, -2]", "1"));
        assert_eq!(listed, alone);
        assert!(listed.contains("-2"), "{listed}");
        let both = refused(&netperf("a", "[1, 2]", "[3, 4]"));
        assert_eq!(
            both,
            "x.toml: workload `a`: pairs, seconds: found 2 lists with 4 values, \
             expected one list with at most 1000 values"
        );
        assert!(refused(&netperf("a", "[]", "1")).contains("u16"));
        assert!(refused(&netperf("a", "[1, 1]", "1")).contains("`a-1` twice"));
    }
}
