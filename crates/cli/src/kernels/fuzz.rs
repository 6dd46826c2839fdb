//! `schedscape kernel fuzz`: random cases under a tree's code, and the smallest one that fails as a file.

mod failure;

use super::{Written, built, small, trees};
use crate::Failure;
use crate::args::{FuzzArgs, With};
use crate::domains_diff::Differ;
use crate::guests::cache;
use crate::output::{print, print_json, write_whole};
use crate::progress::bar;
use crate::sources;
use definition::{ExperimentFile, Plan};
use experiment::inspect::Margins;
use experiment::{Inspected, inspected};
use failure::Found;
use hunt::{Case, Choice, Shrunk, smallest};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tree::{Library, Tree};
use vm::Cache;

/// How long a search lasts that nobody limits.
const SECONDS: u64 = 60;
/// Cases at once for each thread: the first of them that fails counts, so more would be done for nothing.
const AT_ONCE: usize = 4;
/// Cases that are tried at most to make one smaller.
const MOST_TRIES: usize = 600;

/// What a search or a replay tells.
#[derive(Debug, Serialize)]
struct Told<'a> {
    tree: Option<&'a str>,
    seed: Option<u64>,
    /// Cases that were run, the one that fails included.
    cases: u64,
    found: Option<&'a Found>,
    /// How near the others came to the bounds.
    margins: Margins,
}

/// How many cases were run, the one that fails with its number, and what the others came near to.
type Outcome = (u64, Option<(u64, Case, Found)>, Margins);

/// A search.
struct Search<'a> {
    args: &'a FuzzArgs,
    /// The tree as an experiment names it.
    source: String,
    choice: Choice,
    /// By ticks a second.
    libraries: BTreeMap<u32, Library>,
    replica: (PathBuf, Vec<String>),
    pool: rayon::ThreadPool,
}

pub fn fuzz(args: &FuzzArgs) -> Result<(), Failure> {
    if let Some(file) = &args.replay {
        return replay(file, args);
    }
    let name = args.name.as_deref().unwrap_or_default();
    let search = Search::new(name, args)?;
    let (cases, failed, margins) = search.run()?;
    let found =
        failed.map(|(number, case, found)| search.shrunk(number, case, found)).transpose()?;
    if args.json {
        let (tree, seed) = (Some(name), Some(args.seed));
        print_json(&Told { tree, seed, cases, found: found.as_ref(), margins })?;
    } else {
        print(&told(name, args.seed, cases, found.as_ref(), margins))?;
    }
    if found.is_none() { Ok(()) } else { Err(Box::new(Differ)) }
}

fn told(name: &str, seed: u64, cases: u64, found: Option<&Found>, margins: Margins) -> String {
    let Some(found) = found else {
        return format!(
            "{name}: {cases} cases of seed {seed}, none fails\n\
             nearest to a bound: waits {:.0} %, shares {:.0} %, idle beside a queue {:.0} %, priority {:.0} %, without quota {:.0} %; \
             newly idle CPUs took {} waiting tasks and left {}\n",
            100.0 * margins.starvation,
            100.0 * margins.shares,
            100.0 * margins.idle,
            100.0 * margins.priority,
            100.0 * margins.throttled,
            margins.pulled,
            margins.left
        );
    };
    let small = found.small.iter().map(|small| {
        format!(
            "shrunk in {} tries from {} to {}\n{}\n",
            small.tries,
            small.from,
            small.to,
            small.file.display()
        )
    });
    format!(
        "{name}: case {} of seed {seed} fails\n{}\n{}",
        cases - 1,
        found.said,
        small.collect::<String>()
    )
}

fn replay(file: &Path, args: &FuzzArgs) -> Result<(), Failure> {
    let path = file.display().to_string();
    let plan = Plan::new(ExperimentFile::load(file)?, &path)?;
    let libraries = sources::libraries(&plan, &cache(&args.cache)?, &[])?;
    let library = libraries.first().and_then(Option::as_ref).ok_or_else(|| {
        format!("{path}: variant `{}`: found no source, expected one", plan.file.variants[0].name)
    })?;
    let inspected = inspected(&plan, library, &sources::replica()?)?;
    let found = Found::of(&inspected);
    let margins = margins_of(&inspected);
    if args.json {
        print_json(&Told { tree: None, seed: None, cases: 1, found: found.as_ref(), margins })?;
    } else {
        let said = found.as_ref().map_or("nothing fails", |found| found.said.as_str());
        print(&format!("{path}: {said}\n"))?;
    }
    if found.is_none() { Ok(()) } else { Err(Box::new(Differ)) }
}

fn margins_of(inspected: &Inspected) -> Margins {
    match inspected {
        Inspected::Ran { margins, .. } => *margins,
        Inspected::Failed(_) => Margins::default(),
    }
}

/// A tree as the `source` of an experiment: a release where it is one's source package.
fn source(tree: &Tree, cache: &Cache, args: &FuzzArgs) -> Result<String, Failure> {
    let quoted = |path: &Path| format!("\"{}\"", path.display());
    let mut fields = vec![match tree.root.starts_with(cache.dir()) {
        true => format!("kernel = \"{}\"", tree.version()?),
        false => format!("tree = {}", quoted(&tree.root)),
    }];
    if !tree.patches.is_empty() {
        let patches: Vec<String> = tree.patches.iter().map(|p| quoted(p)).collect();
        fields.push(format!("patch = [{}]", patches.join(", ")));
    }
    if !args.sanitize.is_empty() {
        let names: Vec<String> =
            args.sanitize.iter().map(|s| format!("\"{}\"", s.name())).collect();
        fields.push(format!("sanitize = [{}]", names.join(", ")));
    }
    Ok(format!("{{ {} }}", fields.join(", ")))
}

/// Whether the average of virtual runtimes has weights as virtual runtimes themselves have them. From EEVDF on (6.6), a group's share on a
/// CPU counts in units of 1/1024 of nice 0, and 2 of them at least, so a group that has less pushes the average seconds ahead. Tasks that
/// come then starve behind those that were there before. `avg_vruntime_weight()` mends that.
fn exact_weights(tree: &Tree, version: kernel::Version) -> Result<bool, Failure> {
    if version < kernel::Version::new(6, 6) {
        return Ok(true);
    }
    let fair = tree.root.join("kernel/sched/fair.c");
    for file in std::iter::once(&fair).chain(&tree.patches) {
        let text = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
        if String::from_utf8_lossy(&text).contains("avg_vruntime_weight") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Features by name, and whether they are on.
fn features(text: &str) -> Vec<(String, bool)> {
    let word = |word: &str| match word.strip_prefix("NO_") {
        Some(name) => (name.to_string(), false),
        None => (word.to_string(), true),
    };
    text.split_whitespace().map(word).collect()
}

impl<'a> Search<'a> {
    fn new(name: &str, args: &'a FuzzArgs) -> Result<Search<'a>, Failure> {
        let cache = cache(&args.cache)?;
        let tree = trees(&cache).get(name)?;
        let source = source(&tree, &cache, args)?;
        let hz: Vec<u32> = args.hz.iter().filter_map(|hz| hz.parse().ok()).collect();
        let mut libraries = BTreeMap::new();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build()?;
        for &hz in &hz {
            // Any case with these ticks is built alike.
            let plain = Choice { hz: vec![hz], ..Choice::default() };
            let plan = plan(&Case::random(0, 0, &plain), &source)?;
            let all = sources::libraries(&plan, &cache, &[])?;
            libraries.extend(all.into_iter().flatten().map(|library| (hz, library)));
        }
        // The first one: each has the same.
        let version = tree.version()?;
        let shown = match libraries.values().next() {
            Some(library) => small(library, version, Written::default())?.features,
            None => {
                small(&built(&trees(&cache), &tree, &[])?, version, Written::default())?.features
            }
        };
        let light_groups = exact_weights(&tree, version)?;
        let idle_groups = light_groups && version >= kernel::Version::new(5, 15);
        let choice = Choice {
            features: features(&shown),
            hz,
            policies: args.with.contains(&With::Policies),
            groups: args.with.contains(&With::Groups),
            light_groups,
            idle_groups,
        };
        Ok(Search { args, source, choice, libraries, replica: sources::replica()?, pool })
    }

    /// Runs cases until one fails or it is time to stop.
    fn run(&self) -> Result<Outcome, Failure> {
        let bar = bar("{msg}")?;
        let end = Instant::now() + Duration::from_secs(self.args.seconds.unwrap_or(SECONDS));
        let (mut done, mut margins) = (0, Margins::default());
        let at_once = (self.pool.current_num_threads() * AT_ONCE) as u64;
        loop {
            let left = match self.args.cases {
                Some(cases) => cases - done,
                None if Instant::now() >= end => 0,
                None => u64::MAX,
            };
            if left == 0 {
                bar.finish_and_clear();
                return Ok((done, None, margins));
            }
            bar.set_message(format!("{done} cases, none fails"));
            let numbers: Vec<u64> = (done..done + at_once.min(left)).collect();
            let ran: Vec<Result<(Case, Inspected), String>> = self
                .pool
                .install(|| numbers.par_iter().map(|&number| self.random(number)).collect());
            for (number, ran) in numbers.into_iter().zip(ran) {
                let (case, inspected) = ran?;
                done += 1;
                margins = margins.worst(margins_of(&inspected));
                if let Some(found) = Found::of(&inspected) {
                    bar.finish_and_clear();
                    return Ok((done, Some((number, case, found)), margins));
                }
            }
        }
    }

    fn random(&self, number: u64) -> Result<(Case, Inspected), String> {
        let case = Case::random(self.args.seed, number, &self.choice);
        let inspected = self
            .inspect(&case)
            .map_err(|e| format!("case {number} of seed {}: {e}", self.args.seed))?;
        Ok((case, inspected))
    }

    fn inspect(&self, case: &Case) -> Result<Inspected, String> {
        let plan = plan(case, &self.source).map_err(|e| e.to_string())?;
        let library = self.libraries.get(&case.hz).ok_or("found no library, expected one")?;
        inspected(&plan, library, &self.replica).map_err(|e| e.to_string())
    }

    /// Makes the case smaller as long as it fails in the same way, and writes it.
    fn shrunk(&self, number: u64, case: Case, found: Found) -> Result<Found, Failure> {
        let bar = bar("{msg}")?;
        bar.set_message(format!("case {number} fails, made smaller"));
        let from = case.size();
        let fails = |case: &Case| {
            let inspected = self.inspect(case).ok();
            inspected.and_then(|i| Found::of(&i)).filter(|now| now.kind == found.kind)
        };
        let Shrunk { case, tries } = smallest(case, MOST_TRIES, &mut |cases| {
            self.pool.install(|| cases.par_iter().position_first(|case| fails(case).is_some()))
        });
        let said = fails(&case).map_or(found.said.clone(), |found| found.said);
        bar.finish_and_clear();
        let stem = format!("{}-{}-{number}", found.slug(), self.args.seed);
        let file = self.args.out.join(format!("{stem}.toml"));
        std::fs::create_dir_all(&self.args.out)
            .map_err(|e| format!("{}: {e}", self.args.out.display()))?;
        let head = format!(
            "Case {number} of seed {}, made smaller. `schedscape kernel fuzz --replay` of this file repeats it:\n\n{said}\n\n",
            self.args.seed
        );
        write_whole(&file, &case.experiment(&stem, &self.source, &head))?;
        Ok(Found {
            said,
            small: Some(failure::Small { file, tries, from, to: case.size() }),
            ..found
        })
    }
}

/// A case as an experiment.
fn plan(case: &Case, source: &str) -> Result<Plan, Failure> {
    let text = case.experiment("case", source, "");
    Ok(Plan::new(ExperimentFile::parse(&text, "case.toml")?, "case.toml")?)
}
