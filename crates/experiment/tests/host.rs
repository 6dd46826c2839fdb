//! The host engine on this computer, without root: small commands.

use definition::{ExperimentFile, Plan};
use experiment::ExperimentError;
use experiment::host::{Bench, Options, Told, Until};
use results::Results;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;

const HEAD: &str = "name = \"small\"\nmachine = \"host\"\n";
const VARIANTS: &str = "[[variant]]\nname = \"base\"\n[[variant]]\nname = \"other\"\n";
const ECHO: &str = "[[workload]]\nname = \"echo\"\nruns = 4\n[workload.command]\n\
                    argv = [\"sh\", \"-c\", \"echo ${N:-1}\"]\n\
                    figures = [{ name = \"n\", better = \"higher\", regex = '(\\d+)' }]\n";

fn options(state: &TempDir) -> Options {
    Options {
        root: "/".into(),
        journal: state.path().join("journal"),
        workers: None,
        only: vec![],
        schedulers: vec![],
        until: None,
        trial_runs: Some(2),
        wakeups: false,
        rest: Duration::ZERO,
        limit: Duration::from_secs(60),
    }
}

fn plan(text: &str) -> Plan {
    let file = ExperimentFile::parse(text, "x.toml").unwrap();
    Plan::new(file, "x.toml").unwrap()
}

fn run(
    text: &str,
    options: &Options,
    tell: &mut dyn FnMut(Told),
) -> Result<Results, ExperimentError> {
    Bench::of(plan(text), options)?.run(options, None, &AtomicBool::new(false), tell)
}

fn refused(variant: &str, workload: &str) -> String {
    let state = tempfile::tempdir().unwrap();
    let text = format!("{HEAD}{VARIANTS}{variant}{workload}");
    let error = run(&text, &options(&state), &mut |_| {}).unwrap_err();
    assert!(!state.path().join("journal").exists());
    error.to_string()
}

#[test]
fn variants_take_turns_and_each_has_its_figures() {
    let state = tempfile::tempdir().unwrap();
    let text = format!("{HEAD}{VARIANTS}host = {{ env = {{ N = \"7\" }}, nice = 3 }}\n{ECHO}");
    let mut trials = vec![];
    let results = run(&text, &options(&state), &mut |told| {
        if let Told::Trial(trial) = told {
            trials.push(trial.clone());
        }
    });
    let results = results.unwrap();
    let echo = results.workload("echo").unwrap();
    assert_eq!(echo.samples("base", 0), [1.0; 4]);
    assert_eq!(echo.samples("other", 0), [7.0; 4]);
    let [trial] = &trials[..] else { panic!("{trials:?}") };
    assert_eq!((trial.planned, trial.smallest_percent), (4, Some(0.0)));
    let [computer] = &results.computers[..] else { panic!("{:?}", results.computers) };
    assert_eq!(computer.variants, ["base", "other"]);
    assert!(computer.facts.iter().any(|f| f.name == "kernel"));
    assert!(results.counter("steal_ns").is_some());
    let run = &echo.variants[0].runs[0];
    assert_eq!(run.counters.len(), results.counters.len());
}

#[test]
fn runs_go_on_until_they_are_precise() {
    let state = tempfile::tempdir().unwrap();
    // Figures of 1 to 3, so that four runs do not say much.
    let noisy = ECHO.replace("echo ${N:-1}", "echo $((($$ + 0) % 3 + 1))");
    let until = Until { percent: 40.0, budget: Duration::from_secs(30) };
    let options = Options { until: Some(until), ..options(&state) };
    let results = run(&format!("{HEAD}{VARIANTS}{noisy}"), &options, &mut |_| {}).unwrap();
    let echo = results.workload("echo").unwrap();
    let runs = echo.samples("base", 0).len();
    assert!(runs >= 4 && echo.samples("other", 0).len() == runs, "{runs}");
    assert_eq!(results.experiment.workload("echo").unwrap().runs as usize, runs);
}

#[test]
fn a_boot_runs_its_variants_only() {
    let state = tempfile::tempdir().unwrap();
    let text = format!("{HEAD}{VARIANTS}host = {{ command_line = \"no-such-word\" }}\n{ECHO}");
    let error = run(&text, &options(&state), &mut |_| {}).unwrap_err().to_string();
    assert!(
        error.contains(
            "variant `other`: host.command_line: found no `no-such-word`, expected a boot with it"
        ),
        "{error}"
    );
    let only = Options { only: vec!["base".to_string()], ..options(&state) };
    let results = run(&text, &only, &mut |_| {}).unwrap();
    assert_eq!(results.computers[0].variants, ["base"]);
    let echo = results.workload("echo").unwrap();
    assert_eq!(echo.variants.len(), 1);
    assert_eq!(results.experiment.variants.len(), 2, "the file stays whole");
}

#[test]
fn what_cannot_be_is_refused_before_anything_starts() {
    for (variant, workload, expected) in [
        (
            "sysctl = { \"kernel.no_such_sysctl\" = 1 }\n",
            ECHO,
            "sysctl.kernel.no_such_sysctl: found no /proc/sys",
        ),
        ("host = { cpus = \"4000\" }\n", ECHO, "host.cpus: found 4000"),
        ("smt = 64\n", ECHO, "smt: found 64, expected 1 to "),
        ("hotplug = [{ at_s = 0.1, offline = \"1\" }]\n", ECHO, "hotplug: found steps"),
        (
            "",
            &ECHO.replace("\"sh\", ", "\"no-such-program\", "),
            "workload `echo`: argv: found no `no-such-program`",
        ),
        ("", &ECHO.replace("(\\d+)", "("), "command.figures.regex: found `(`"),
        ("", &ECHO.replace("argv =", "directory = \"/no/such\"\nargv ="), "/no/such: No such file"),
    ] {
        let error = refused(variant, workload);
        assert!(error.starts_with("x.toml: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn a_run_that_fails_is_named_and_nothing_is_left() {
    let state = tempfile::tempdir().unwrap();
    let options = options(&state);
    for (workload, expected) in [
        (
            ECHO.replace("echo ${N:-1}", "exit 4"),
            "workload `echo`, variant `base`, run 0: exit code 4, expected 0",
        ),
        (
            ECHO.replace("argv =", "timeout_s = 0.2\nargv =").replace("echo ${N:-1}", "sleep 60"),
            "still running after ",
        ),
        (ECHO.replace("argv =", "expect = \"^2$\"\nargv ="), "found no `^2$` in what it printed"),
        (ECHO.replace("echo ${N:-1}", "kill -SEGV $$"), "ended by signal 11"),
    ] {
        let error = run(&format!("{HEAD}{VARIANTS}{workload}"), &options, &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!state.path().join("journal").exists());
    }
}

#[test]
fn a_stop_ends_it() {
    let state = tempfile::tempdir().unwrap();
    let options = options(&state);
    let text = format!("{HEAD}{VARIANTS}{ECHO}");
    let bench = Bench::of(plan(&text), &options).unwrap();
    let stopped = bench.run(&options, None, &AtomicBool::new(true), &mut |_| {}).unwrap_err();
    assert!(stopped.to_string().ends_with("interrupted"), "{stopped}");
}

#[test]
fn the_simulator_refuses_what_only_kernels_have() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/wa-weight-guest.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let mechanisms = "mechanisms = { wa-weight = false }";
    for (with, expected) in [
        (
            "features = { WA_WEIGHT = false }",
            "features: found some, expected none without a source",
        ),
        (
            "sysctl = { \"kernel.sched_x\" = 1 }",
            "sysctl: found some, expected none without a source",
        ),
        (
            "groups = { web = { tasks = [\"*\"], session = true } }",
            "groups.web.session: found some, expected it with a source only",
        ),
        ("host = { nice = 1 }", "host: found settings, expected none"),
    ] {
        let plan = plan(&text.replace(mechanisms, with));
        let error = experiment::run(&plan, &experiment::SimEngine, 1, &|_| {}).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
