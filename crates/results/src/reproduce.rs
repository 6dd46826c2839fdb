//! How to run an experiment again: the exact command, and the file that it takes.

use crate::{Engine, Results, ResultsError, study};
use definition::{ExperimentFile, toml_of};

/// How to run an experiment again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reproduction {
    /// The command; it stores what it runs in a new directory. Several boots take several, a line each.
    pub command: String,
    /// The experiment file that the command names, as TOML; `None` where it is one that ships with schedscape.
    pub file: Option<String>,
}

/// How to run `results` again. Where each of several boots ran some variants, that is a command for each, and one that joins
/// what they store.
///
/// # Errors
/// As [`reproduce`].
pub fn of_results(results: &Results) -> Result<Reproduction, ResultsError> {
    let all = results.experiment.variants.len();
    let boots: Vec<&[String]> = results.computers.iter().map(|c| &c.variants[..]).collect();
    match boots.iter().all(|variants| variants.len() == all) {
        true => reproduce(&results.experiment, results.engine),
        false => by_boots(&results.experiment, results.engine, &boots),
    }
}

/// How to run `experiment` again by `engine`: the shipped file with options where that is the same experiment, else a file
/// of its own.
///
/// # Errors
/// An experiment that TOML cannot hold, and a shipped one that does not read.
pub fn reproduce(
    experiment: &ExperimentFile,
    engine: Engine,
) -> Result<Reproduction, ResultsError> {
    let (run, file) = run(experiment, engine)?;
    Ok(Reproduction { command: format!("{run} --out {}", out(experiment)), file })
}

/// The same with some variants a boot.
fn by_boots(
    experiment: &ExperimentFile,
    engine: Engine,
    boots: &[&[String]],
) -> Result<Reproduction, ResultsError> {
    let (run, file) = run(experiment, engine)?;
    let out = |boot: &[String]| format!("{}-{}", out(experiment), plain(&boot.join("-")));
    let command = |boot: &&[String]| {
        let only: String = boot.iter().map(|name| format!(" --only {name}")).collect();
        format!("{run}{only} --out {}", out(boot))
    };
    let mut commands: Vec<String> = boots.iter().map(command).collect();
    if boots.len() > 1 {
        let stores: Vec<String> = boots.iter().map(|boot| out(boot)).collect();
        commands.push(format!("schedscape report {}", stores.join(" ")));
    }
    Ok(Reproduction { command: commands.join("\n"), file })
}

/// The command up to its options, and the file that it names.
fn run(
    experiment: &ExperimentFile,
    engine: Engine,
) -> Result<(String, Option<String>), ResultsError> {
    let (file, options) = match shipped(experiment)? {
        Some(options) => (None, options),
        None => (Some(toml_of(experiment)?), String::new()),
    };
    let path = match &file {
        Some(_) => format!("{}.toml", plain(&experiment.name)),
        None => format!("experiments/{}.toml", experiment.name),
    };
    Ok((format!("schedscape run {path}{options}{}", engine.options()), file))
}

/// Where what `experiment` runs is stored.
fn out(experiment: &ExperimentFile) -> String {
    format!("out/{}", plain(&experiment.name))
}

/// A name that a shell takes as it is.
fn plain(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(kept).collect()
}

/// The options that make a shipped experiment of this name this one; `None` where there are none such.
fn shipped(experiment: &ExperimentFile) -> Result<Option<String>, ResultsError> {
    if !study::names().contains(&experiment.name.as_str()) {
        return Ok(None);
    }
    let (text, path) = study::experiment(&experiment.name)?;
    let mut file = ExperimentFile::parse(text, &path)?;
    let mut options = String::new();
    if file.seed() != experiment.seed() {
        options.push_str(&format!(" --seed {}", experiment.seed()));
        file.seed = experiment.seed;
    }
    let kept = |name: &str| experiment.workloads.iter().any(|w| w.name == name);
    if !file.workloads.iter().all(|w| kept(&w.name)) {
        file.workloads.retain(|w| kept(&w.name));
        for workload in &file.workloads {
            options.push_str(&format!(" --workload {}", workload.name));
        }
    }
    let runs = experiment.workloads.first().map(|w| w.runs);
    if let Some(runs) = runs.filter(|_| file.workloads != experiment.workloads) {
        options.push_str(&format!(" --runs {runs}"));
        file.workloads.iter_mut().for_each(|w| w.runs = runs);
    }
    Ok((file == *experiment).then_some(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big_core() -> ExperimentFile {
        let (text, path) = study::experiment("power9-big-core").unwrap();
        ExperimentFile::parse(text, &path).unwrap()
    }

    #[test]
    fn a_shipped_experiment_is_named_with_what_was_asked_otherwise() {
        let mut file = big_core();
        let plain = reproduce(&file, Engine::Sim).unwrap();
        let expected = "schedscape run experiments/power9-big-core.toml --out out/power9-big-core";
        assert_eq!((plain.command.as_str(), plain.file), (expected, None));
        file.seed = Some(7);
        file.workloads.retain(|w| w.name == "sched-pipe");
        file.workloads[0].runs = 3;
        let other = reproduce(&file, Engine::Sim).unwrap();
        let options = ".toml --seed 7 --workload sched-pipe --runs 3 --out";
        assert!(other.command.contains(options) && other.file.is_none(), "{}", other.command);
    }

    #[test]
    fn every_boot_has_a_command() {
        let computer = |variants: &[&str]| crate::Computer {
            variants: variants.iter().map(|v| v.to_string()).collect(),
            ..Default::default()
        };
        let mut results = Results {
            engine: Engine::Host,
            experiment: big_core(),
            constants: Default::default(),
            counted: vec![],
            counters: vec![],
            workloads: vec![],
            computers: vec![computer(&["vanilla"]), computer(&["big-core", "big-core-v5"])],
            sensitivity: None,
            robustness: None,
        };
        let run = "schedscape run experiments/power9-big-core.toml --engine host";
        let command = of_results(&results).unwrap().command;
        let expected = [
            format!("{run} --only vanilla --out out/power9-big-core-vanilla"),
            format!(
                "{run} --only big-core --only big-core-v5 --out out/power9-big-core-big-core-big-core-v5"
            ),
            "schedscape report out/power9-big-core-vanilla out/power9-big-core-big-core-big-core-v5"
                .to_string(),
        ];
        assert_eq!(command.lines().collect::<Vec<_>>(), expected);
        results.computers = vec![computer(&["vanilla", "big-core", "big-core-v5"])];
        let one = of_results(&results).unwrap().command;
        assert_eq!(one, format!("{run} --out out/power9-big-core"));
    }

    #[test]
    fn any_other_experiment_comes_with_its_file() {
        let mut file = big_core();
        file.title = "ours".to_string();
        file.name = "power9; rm".to_string();
        let own = reproduce(&file, Engine::Vm(setting::Accel::Counted { shift: 2 })).unwrap();
        let expected = "schedscape run power9--rm.toml --engine vm --icount 2 --out out/power9--rm";
        assert_eq!(own.command, expected);
        assert_eq!(ExperimentFile::parse(&own.file.unwrap(), "x.toml").unwrap(), file);
    }
}
