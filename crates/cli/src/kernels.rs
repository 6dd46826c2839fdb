//! `schedscape kernel`: trees, their schedulers as libraries, and the domains that these build.

mod debug;
mod fuzz;

use crate::args::{
    AddArgs, CheckArgs, FeaturesArgs, KernelCommand, KernelDomainsArgs, MachineArgs, NameArgs,
};
use crate::domains::recorded_kernel;
use crate::domains_diff::Differ;
use crate::guests::cache;
use crate::output::{print, print_json};
use crate::{Failure, machines, progress, recorded};
use kernel::recorded::Difference;
use kernel::recorded::log::{Extent, compare};
use kernel::{Kernel, Version};
use machine::{Machine, Snapshot};
use replica::{Answer, Request, ask};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tree::{Library, Sanitizer, Shape, Tree, Trees};
use vm::{Cache, VmError};

/// Suites that have had kernels' source packages, those with the releases that most people ask for first.
const SUITES: [&str; 5] = ["trixie", "bookworm", "trixie-backports", "sid", "bullseye"];
/// Lines of a difference that `check` shows.
const SHOWN: usize = 6;

pub fn run(command: &KernelCommand) -> Result<(), Failure> {
    match command {
        KernelCommand::Add(args) => add(args),
        KernelCommand::List(args) => {
            let all = trees(&cache(&args.cache)?).list()?;
            if args.json { print_json(&all) } else { print(&listed(&all)) }
        }
        KernelCommand::Build(args) => {
            let trees = trees(&cache(&args.cache)?);
            let tree = trees.get(&args.name)?;
            let library = built(&trees, &tree, &lines(&args.sanitize))?;
            let news = if library.is_new { "built" } else { "up to date" };
            print(&format!("{}: {news}, {}\n", tree.name, &library.key[..16]))?;
            let left_out = library.left_out.iter();
            print(&left_out.map(|line| format!("    left out: {line}\n")).collect::<String>())
        }
        KernelCommand::Domains(args) => domains(args),
        KernelCommand::Features(args) => features(args),
        KernelCommand::Sysctls(args) => sysctls(args),
        KernelCommand::Check(args) => check(args),
        KernelCommand::Judge(args) => crate::judge::run(args),
        KernelCommand::Debug(args) => debug::debug(args),
        KernelCommand::Fuzz(args) => fuzz::fuzz(args),
        KernelCommand::Remove(NameArgs { name, cache: dir }) => {
            trees(&cache(dir)?).remove(name)?;
            print(&format!("{name}: forgotten\n"))
        }
    }
}

/// What makes `sanitizers` part of a library.
fn lines(sanitizers: &[Sanitizer]) -> Vec<String> {
    sanitizers.iter().map(|sanitizer| sanitizer.config_line()).collect()
}

/// The process that a library is loaded into.
pub fn replica(runs: bool) -> Result<(), Failure> {
    if runs {
        return experiment::serve(std::io::stdin().lock(), std::io::stdout().lock());
    }
    Ok(replica::serve(std::io::stdin().lock(), std::io::stdout().lock())?)
}

/// The trees of a cache.
pub fn trees(cache: &Cache) -> Trees {
    Trees::new(&cache.dir().join("trees"))
}

fn listed(all: &[Tree]) -> String {
    let line = |tree: &Tree| {
        let more = tree.patches.iter().chain(&tree.config).map(|p| format!(" + {}", p.display()));
        let more = more.collect::<String>();
        format!("{}  {}  {}{more}\n", tree.name, tree.release, tree.root.display())
    };
    all.iter().map(line).collect()
}

fn add(args: &AddArgs) -> Result<(), Failure> {
    let cache = cache(&args.cache)?;
    let (root, default) = match release_named(&args.source) {
        Some(version) => (fetched(&cache, version)?, version.to_string()),
        None => {
            let root = Path::new(&args.source).to_owned();
            let name = root.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
            (root, name)
        }
    };
    let name = args.name.as_deref().unwrap_or(&default);
    let tree = trees(&cache).add(name, &root, &args.patches, args.config.as_deref())?;
    print(&format!("{}: {} in {}\n", tree.name, tree.release, tree.root.display()))
}

/// The release that `source` is, unless there is a file of that name.
pub fn release_named(source: &str) -> Option<Version> {
    source.parse().ok().filter(|_| !Path::new(source).exists())
}

/// Trees of source packages that this process found, by cache.
static FOUND: Mutex<BTreeMap<(PathBuf, Version), PathBuf>> = Mutex::new(BTreeMap::new());

/// The source package of `version`, from the first suite that has it. Apt takes a second to answer, and an experiment asks for each
/// variant on each machine; so each version is looked up once.
pub fn fetched(cache: &Cache, version: Version) -> Result<PathBuf, Failure> {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    match found.entry((cache.dir().to_owned(), version)) {
        Entry::Occupied(there) => Ok(there.get().clone()),
        Entry::Vacant(new) => Ok(new.insert(fetch(cache, version)?).clone()),
    }
}

fn fetch(cache: &Cache, version: Version) -> Result<PathBuf, Failure> {
    let bar = progress::bar("{spinner} {msg}")?;
    for suite in SUITES {
        bar.set_message(format!("linux-source-{version} in {suite}"));
        match cache.fetch_source(suite, version) {
            Err(VmError::NoPackage { .. }) => {}
            found => return Ok(found?),
        }
    }
    Err(format!(
        "{version}: found no source package in {}, expected one; give a tree's directory",
        SUITES.join(", ")
    )
    .into())
}

/// The library of a tree with these lines of configuration, with progress on a terminal's stderr.
pub fn built(trees: &Trees, tree: &Tree, config: &[String]) -> Result<Library, Failure> {
    let bar = progress::bar("{spinner} {msg}")?;
    Ok(trees.build(tree, config, &|step| bar.set_message(format!("{}: {step}", tree.name)))?)
}

/// A machine, the kernel as the model has it, and the CPUs that go offline after boot, the last one last.
struct Setting {
    whole: Machine,
    online: Machine,
    kernel: Kernel,
    offline: Vec<u32>,
}

impl Setting {
    /// `online` is what of `booted` is left; the CPU `last` went last.
    fn new(booted: Machine, online: Machine, kernel: Kernel, last: Option<usize>) -> Setting {
        let whole = Machine { online: booted.possible(), ..booted };
        let mut offline: Vec<u32> =
            (&whole.online - &online.online).iter().map(|cpu| cpu as u32).collect();
        offline.sort_by_key(|&cpu| (Some(cpu as usize) == last, std::cmp::Reverse(cpu)));
        Setting { whole, online, kernel, offline }
    }
}

/// The machine of a capture's first step: sysfs of later ones does not tell what offline CPUs shared.
fn booted(spec: &str) -> Result<Option<Machine>, Failure> {
    let Some(first) = Path::new(spec).parent().map(|capture| capture.join("boot")) else {
        return Ok(None);
    };
    match recorded::last_offline(spec)? {
        Some(_) if first.is_dir() => Ok(Some(machine::resolve(&first.to_string_lossy())?)),
        _ => Ok(None),
    }
}

fn setting(machine: &MachineArgs, version: Version) -> Result<Setting, Failure> {
    let Snapshot { machine: online, release } = machines::resolve_snapshot(machine)?;
    let booted = booted(&machine.machine)?.unwrap_or_else(|| online.clone());
    // A snapshot tells what its kernel was built without, which the same release of a tree is not.
    let kernel = match release {
        Some(release) if release.parse() == Ok(version) => recorded_kernel(&release, &online)?,
        _ => Kernel::new(version),
    };
    let last = recorded::last_offline(&machine.machine)?;
    Ok(Setting::new(booted, online, kernel, last))
}

/// What is written to a kernel before it answers.
#[derive(Default)]
struct Written {
    features: Vec<String>,
    sysctls: Vec<(String, String)>,
}

fn answer(library: &Library, setting: &Setting, written: Written) -> Result<Answer, Failure> {
    let request = Request {
        library: library.file.clone(),
        shape: Shape::of(&setting.whole, &setting.kernel)?,
        features: written.features,
        sysctls: written.sysctls,
        offline: setting.offline.clone(),
    };
    let program = std::env::current_exe()?;
    let answer = ask(&program, &["replica"], &library.environment, &request)?;
    // The first of several has the functions that called.
    for (what, calls) in answer.warnings.iter().filter(|(_, calls)| !calls.is_empty()) {
        anstream::eprint!("warning: {}: {what}\n{calls}", setting.whole.name);
    }
    Ok(answer)
}

/// The lines of a log that tell of domains.
fn of_domains(log: &str) -> String {
    let starts = ["domain-", "groups:", "root domain span"];
    let tells = |line: &&str| {
        let text = line.trim_start();
        starts.iter().any(|s| text.starts_with(s))
            || line.contains(" attaching sched-domain")
            || line.contains(" attaching NULL sched-domain")
    };
    log.lines().filter(tells).flat_map(|line| [line, "\n"]).collect()
}

fn told(of: &Difference) -> String {
    let side = |text: &Option<String>| text.clone().unwrap_or("nothing".to_string());
    format!("{}: the tree logs {}, predicted {}", of.place, side(&of.recorded), side(&of.predicted))
}

/// The log of the state that was asked for, and where it differs from the prediction.
fn compared(library: &Library, setting: &Setting) -> Result<(String, Vec<String>), Failure> {
    let answer = answer(library, setting, Written::default())?;
    let version = setting.kernel.version;
    let (log, predicted, extent) = match setting.offline.last() {
        None => (
            of_domains(&answer.boot_log),
            kernel::build(&setting.whole, &setting.kernel)?,
            Extent::Whole,
        ),
        Some(&last) => {
            let built =
                kernel::build_after_offline(&setting.online, &setting.kernel, last as usize)?;
            (of_domains(&answer.last_log), built, Extent::LastRebuild)
        }
    };
    let found = compare(&predicted, version, &log, extent);
    let lines = found.wrong.iter().chain(&found.busy).map(told).collect();
    Ok((log, lines))
}

/// Where the domains that the tree's own code builds for `machine` in the simulator differ from those that are predicted for `kernel`.
/// `last` is the CPU that went offline last.
pub fn differences(
    library: &Library,
    machine: &Machine,
    kernel: &Kernel,
    last: Option<usize>,
) -> Result<Vec<String>, Failure> {
    let setting = Setting::new(machine.clone(), machine.clone(), kernel.clone(), last);
    Ok(compared(library, &setting)?.1)
}

fn domains(args: &KernelDomainsArgs) -> Result<(), Failure> {
    let trees = trees(&cache(&args.cache)?);
    let tree = trees.get(&args.name)?;
    let library = built(&trees, &tree, &[])?;
    let setting = setting(&args.machine, tree.version()?)?;
    let (log, differences) = compared(&library, &setting)?;
    if !args.diff {
        return print(&log);
    }
    if differences.is_empty() {
        return print(&format!(
            "{}: {} builds the predicted domains.\n",
            setting.whole.name, tree.name
        ));
    }
    print(&differences.iter().map(|d| format!("{d}\n")).collect::<String>())?;
    Err(Box::new(Differ))
}

/// The machine on which features and sysctls are asked for: any would do, and this one is small.
const SMALL: &str = "power9-big-core";

fn features(args: &FeaturesArgs) -> Result<(), Failure> {
    let written = Written { features: args.words.clone(), ..Written::default() };
    print(&after(args, written)?.features)
}

fn sysctls(args: &FeaturesArgs) -> Result<(), Failure> {
    let pair = |word: &String| match word.split_once('=') {
        Some((name, value)) => Ok((name.to_string(), value.to_string())),
        None => Err(format!("WORDS: found {word}, expected NAME=VALUE")),
    };
    let sysctls = args.words.iter().map(pair).collect::<Result<_, _>>()?;
    print(&after(args, Written { sysctls, ..Written::default() })?.sysctls)
}

/// What the tree in `args` says after something was written.
fn after(args: &FeaturesArgs, written: Written) -> Result<Answer, Failure> {
    let trees = trees(&cache(&args.cache)?);
    let tree = trees.get(&args.name)?;
    let library = built(&trees, &tree, &[])?;
    small(&library, tree.version()?, written)
}

/// What a kernel on a small machine says after something was written.
fn small(library: &Library, version: Version, written: Written) -> Result<Answer, Failure> {
    let machine = MachineArgs { machine: SMALL.to_string(), smt: None, online: None };
    answer(library, &setting(&machine, version)?, written)
}

fn check(args: &CheckArgs) -> Result<(), Failure> {
    let trees = trees(&cache(&args.cache)?);
    let tree = trees.get(&args.name)?;
    let library = built(&trees, &tree, &lines(&args.sanitize))?;
    let mut machines = args.machines.clone();
    if machines.is_empty() {
        machines = machine::catalog::names().into_iter().map(str::to_string).collect();
    }
    let mut wrong = 0;
    for name in &machines {
        let machine = MachineArgs { machine: name.clone(), smt: None, online: None };
        let setting = setting(&machine, tree.version()?)?;
        let (log, differences) = compared(&library, &setting)?;
        let lines = log.lines().count();
        if differences.is_empty() {
            print(&format!("ok    {name}: {lines} lines of log\n"))?;
            continue;
        }
        wrong += 1;
        let shown = differences.iter().take(SHOWN).map(|d| format!("    {d}\n"));
        print(&format!("WRONG {name}\n{}", shown.collect::<String>()))?;
    }
    print(&format!(
        "{}: {} machines as predicted, {wrong} not\n",
        tree.name,
        machines.len() - wrong
    ))?;
    if wrong == 0 { Ok(()) } else { Err(Box::new(Differ)) }
}
