//! Runs over the ranges of constants: what they conclude on machines whose files state ranges, and that threads and
//! interruptions change nothing.

use definition::{ExperimentFile, Plan};
use experiment::journal::Identity;
use experiment::{Further, Journal, SimEngine, robustness};
use results::Results;
use results::analysis::{Analysis, resampling};
use results::robust::{Conclusion, Robust, Robustness};
use results::sensitivity::LINES;
use std::collections::BTreeSet;
use std::path::Path;

const EXPERIMENT: &str = include_str!("../../../experiments/power9-big-core.toml");
const MACHINE: &str = include_str!("../../machine/catalog/power9-big-core.toml");
const TREE: &[u8] = include_bytes!("../../machine/catalog/power9-big-core.dtb");

/// The study's second benchmark under vanilla and v5, on the machine of the file `machine.toml` in `dir`.
fn plan(dir: &Path, machine: &str) -> Plan {
    std::fs::write(dir.join("power9-big-core.dtb"), TREE).expect("a device tree");
    std::fs::write(dir.join("machine.toml"), machine).expect("a machine");
    let of_file = format!("machine = '{}'", dir.join("machine.toml").display());
    let text = EXPERIMENT
        .replace("machine = \"power9-big-core\"", &of_file)
        .replace("study = \"power9-big-core\"", "")
        .replace("runs = 100", "runs = 12")
        .replace("loops_run = 25000", "loops_run = 300");
    let mut file = ExperimentFile::parse(&text, "x.toml").expect("a good experiment");
    file.workloads.retain(|w| w.name == "sched-pipe");
    Plan::new(file, &dir.join("x.toml").display().to_string()).expect("a plan")
}

fn stored(plan: &Plan) -> Results {
    experiment::run(plan, &SimEngine, 2, &|_| ()).expect("results")
}

fn explored(
    plan: &Plan,
    results: &Results,
    threads: usize,
    journal: Option<&Journal>,
) -> Robustness {
    robustness(plan, results, Further { journal, ..Further::new(threads) }).expect("runs")
}

/// The machine's file with 20 ns between small cores, and a range for each constant: its value divided and multiplied by 1.03, for
/// `wide` by 10 and 2.
fn ranges(wide: Option<&str>) -> String {
    let mut text = String::new();
    let (mut name, mut value) = ("", 0.0_f64);
    // At the catalog's value these few runs prove nothing.
    let between = |ns: &str| format!("[constants.handover_big_core_ns]\nvalue = {ns}\n");
    assert!(MACHINE.contains(&between("6.8")));
    let machine = MACHINE.replace(&between("6.8"), &between("20"));
    for line in machine.lines().filter(|line| !line.starts_with("range = ")) {
        text.push_str(&format!("{line}\n"));
        if let Some(found) = line.strip_prefix("[constants.") {
            name = found.trim_end_matches(']');
        }
        if let Some(found) = line.strip_prefix("value = ") {
            value = found.parse().expect("a number");
        }
        if line.starts_with("source = ") && value > 0.0 {
            let (down, up) = if wide == Some(name) { (10.0_f64, 2.0_f64) } else { (1.03, 1.03) };
            let most = if value <= 1.0 { 1.0 } else { f64::MAX };
            let (low, high) = (value / down, f64::min(value * up, most));
            text.push_str(&format!(
                "range = {{ low = {low:?}, high = {high:?}, source = \"a test\" }}\n"
            ));
            value = 0.0;
        }
    }
    text
}

fn v5(mut results: Results, robustness: Robustness) -> Robust {
    results.robustness = Some(robustness);
    let analysis =
        Analysis::of(&results, resampling().expect("a resampling")).expect("an analysis");
    let found =
        analysis.robust.iter().find(|r| r.variant == "big-core-v5" && r.metric == "seconds");
    found.expect("the comparison").clone()
}

/// What a line costs between small cores decides whether v5 gains.
#[test]
fn an_assumed_constant_that_turns_the_sign_leaves_it_undecided_until_its_range_is_narrow() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let wide = plan(dir.path(), &ranges(Some("handover_big_core_ns")));
    let results = stored(&wide);
    let found = v5(results.clone(), explored(&wide, &results, 2, None));
    assert_eq!(found.conclusion, Conclusion::Undecided, "{found:#?}");
    assert_ne!(found.from.verdict, found.to.verdict);
    let turning = found.turning.expect("a turning");
    assert!(turning.constants.iter().any(|c| c.constant == "handover_big_core_ns"), "{turning:?}");
    let known = plan(dir.path(), &ranges(None));
    let results = stored(&known);
    let found = v5(results.clone(), explored(&known, &results, 2, None));
    assert_eq!((found.conclusion, found.turning), (Conclusion::Robust, None));
}

#[test]
fn threads_and_interruptions_change_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let plan = plan(dir.path(), MACHINE);
    let results = stored(&plan);
    let whole = explored(&plan, &results, 1, None);
    assert_eq!(explored(&plan, &results, 3, None), whole);
    let [pipe] = &whole.workloads[..] else { panic!("one workload: {:?}", whole.left_out) };
    assert!(pipe.constants.iter().any(|c| c.name == LINES && c.mark == "counted"));
    assert!(pipe.constants.iter().all(|c| c.low <= c.value && c.value <= c.high && c.low < c.high));
    let open = || {
        let identity = Identity::of(&plan, results::Engine::Sim, "", b"program");
        Journal::open(&dir.path().join("kept"), &identity.expect("an identity")).expect("a journal")
    };
    let journal = open();
    explored(&plan, &results, 2, Some(&journal));
    drop(journal);
    let path = dir.path().join("kept.partial");
    let text = std::fs::read(&path).expect("the journal");
    std::fs::write(&path, &text[..text.len() / 2]).expect("the journal");
    assert_eq!(explored(&plan, &results, 2, Some(&open())), whole);
    let after = std::fs::read(&path).expect("the journal");
    // A corner of the design may be wanted in full, too: then one of its runs is kept twice, if both were run by one command.
    let lines = |text: &[u8]| -> BTreeSet<Vec<u8>> {
        text.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
    };
    assert_eq!(lines(&after), lines(&text));
}
