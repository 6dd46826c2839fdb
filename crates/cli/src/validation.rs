//! `schedscape validate`: published figures beside predicted ones.

use crate::Failure;
use crate::args::ValidateArgs;
use crate::experiments::simulate;
use crate::guests::cache;
use crate::output::{print, print_json, write_whole};
use crate::sources::libraries;
use definition::{ExperimentFile, PATCHES, Plan};
use report::text::heading;
use report::{constants, validation};
use results::analysis::{Published, resampling};
use results::validate::{Cell, TwoWays};
use results::{Analysis, study};
use tree::Library;
use vm::Cache;

/// A study's experiment and what was published.
struct Predicted {
    plan: Plan,
    published: Published,
}

pub fn validate(args: &ValidateArgs) -> Result<(), Failure> {
    let names: Vec<&str> = match &args.study {
        Some(name) => vec![name.as_str()],
        None => study::names(),
    };
    match args.source {
        None => by_the_model(&names, args),
        Some(_) => two_ways(&names, args),
    }
}

fn by_the_model(names: &[&str], args: &ValidateArgs) -> Result<(), Failure> {
    let mut all: Vec<Cell> = Vec::new();
    let mut text = String::new();
    for name in names {
        let Predicted { plan, published } = predicted(experiment(name)?, &[], args)?;
        text.push_str(&heading(&format!("{name}: {}", published.study.title)));
        text.push_str(&validation::validation(&published));
        text.push_str(&constants::by_mark(&plan.machine.name, &plan.machine.constants));
        all.extend(published.validation.cells);
    }
    if args.json { print_json(&all) } else { print(&text) }
}

/// By the model, and by the code of `--source`.
fn two_ways(names: &[&str], args: &ValidateArgs) -> Result<(), Failure> {
    let cache = cache(&args.cache)?;
    let mut all: Vec<TwoWays> = Vec::new();
    let mut text = String::new();
    for name in names {
        let plan = experiment(name)?;
        let sourced = by_source(&plan, args, &cache)?;
        let Predicted { published, .. } = predicted(plan, &[], args)?;
        text.push_str(&heading(&format!("{name}: {}", published.study.title)));
        let Some(plan) = sourced else {
            text.push_str("The scheduler has no part in what this study changes.\n");
            text.push_str(&validation::validation(&published));
            let cells = published.validation.cells.into_iter();
            all.extend(cells.map(|model| TwoWays { model, source: None }));
            continue;
        };
        let libraries = libraries(&plan, &cache, &[])?;
        let code = predicted(plan, &libraries, args)?.published.validation;
        let cells = published.validation.beside(&code);
        text.push_str(&validation::two_ways(&published.study, &cells, &named(args)));
        all.extend(cells);
    }
    if args.json { print_json(&all) } else { print(&text) }
}

fn named(args: &ValidateArgs) -> String {
    args.source.map_or(String::new(), |release| format!("{release}'s code"))
}

fn experiment(name: &str) -> Result<Plan, Failure> {
    let (text, path) = study::experiment(name)?;
    Ok(Plan::new(ExperimentFile::parse(text, &path)?, &path)?)
}

/// The same by a tree's code; none where the scheduler has no part.
fn by_source(plan: &Plan, args: &ValidateArgs, cache: &Cache) -> Result<Option<Plan>, Failure> {
    let Some(release) = args.source.filter(|_| plan.file.is_of_the_scheduler()) else {
        return Ok(None);
    };
    let patches = cache.dir().join("patches");
    for patch in PATCHES {
        let file = patch.file(&patches);
        file.parent().map(std::fs::create_dir_all).transpose()?;
        write_whole(&file, patch.text)?;
    }
    Ok(Some(Plan::new(plan.file.by_source(release, &patches)?, &plan.path)?))
}

fn predicted(
    plan: Plan,
    libraries: &[Option<Library>],
    args: &ValidateArgs,
) -> Result<Predicted, Failure> {
    let results = simulate(&plan, args.threads, libraries, None, None)?;
    let published = Analysis::of(&results, resampling()?)?.published;
    let published = published.ok_or_else(|| format!("{}: study: found none", plan.path))?;
    Ok(Predicted { plan, published })
}
