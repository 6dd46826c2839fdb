//! Kernel trees that the variants of an experiment name, built.

use crate::Failure;
use crate::kernels::{built, fetched, trees};
use definition::file::VariantEntry;
use definition::{ExperimentFile, Plan, SourceEntry};
use kernel::Kernel;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use tree::{Library, Sanitizer, Tree};
use vm::Cache;

/// Has the sources of `file` compiled with `sanitizers`, too.
pub fn sanitize(
    file: &mut ExperimentFile,
    sanitizers: &[Sanitizer],
    counts: bool,
) -> Result<(), Failure> {
    if file.variants.iter().all(|v| v.source.is_none()) {
        let option = if counts { "--coverage" } else { "--sanitize" };
        return match counts || !sanitizers.is_empty() {
            true => Err(format!("{option}: found no variant with a source, expected one").into()),
            false => Ok(()),
        };
    }
    let sources = file.variants.iter_mut().filter_map(|v| v.source.as_mut());
    sources.for_each(|source| source.sanitize.extend(sanitizers));
    Ok(())
}

/// The program that serves runs under a tree's code, and its arguments.
pub fn replica() -> Result<(PathBuf, Vec<String>), Failure> {
    Ok((std::env::current_exe()?, ["replica", "--runs"].map(str::to_string).to_vec()))
}

/// By variant: the library of its source, where it has one.
///
/// `more` are lines of configuration for all.
pub fn libraries(
    plan: &Plan,
    cache: &Cache,
    more: &[&str],
) -> Result<Vec<Option<Library>>, Failure> {
    let mut done: BTreeMap<(&SourceEntry, Option<u32>), Library> = BTreeMap::new();
    let mut all = Vec::new();
    for variant in &plan.file.variants {
        let Some(source) = &variant.source else {
            all.push(None);
            continue;
        };
        let library = match done.entry((source, variant.hz)) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(new) => new.insert(library(plan, cache, variant, source, more)?),
        };
        all.push(Some(library.clone()));
    }
    Ok(all)
}

/// The library of `source`, which is that of `variant`.
pub fn library(
    plan: &Plan,
    cache: &Cache,
    variant: &VariantEntry,
    source: &SourceEntry,
    more: &[&str],
) -> Result<Library, Failure> {
    let wrong = |e: Failure| -> Failure {
        format!("{}: variant `{}`: source: {e}", plan.path, variant.name).into()
    };
    let library = built_for(plan, cache, source, variant.hz, more).map_err(wrong)?;
    for line in &library.left_out {
        let file = source.config_file.as_ref().map_or("".into(), |file| file.to_string_lossy());
        anstream::eprintln!("variant `{}`: {file}: left out: {line}", variant.name);
    }
    Ok(library)
}

fn built_for(
    plan: &Plan,
    cache: &Cache,
    source: &SourceEntry,
    hz: Option<u32>,
    more: &[&str],
) -> Result<Library, Failure> {
    let tree = tree(plan.folder(), cache, source)?;
    let more = more.iter().map(|line| line.to_string());
    let config: Vec<String> =
        hz_line(hz).into_iter().chain(source.config_lines()).chain(more).collect();
    built(&trees(cache), &tree, &config)
}

/// What makes the ticks of a kernel others than schedscape's.
pub fn hz_line(hz: Option<u32>) -> Option<String> {
    hz.filter(|&hz| hz != Kernel::DEFAULT_HZ).map(|hz| format!("CONFIG_HZ_{hz}=y"))
}

/// Where the tree of a source is.
pub struct Root {
    pub path: PathBuf,
    /// What people know it by.
    pub name: String,
    /// What tells it from others, where it never changes: its package with the version, or its commit.
    pub identity: Option<String>,
}

/// The tree that `source` names, whose files are relative to `folder`; of a commit what a scheduler's build reads, or the `whole` of it.
pub fn root(
    source: &SourceEntry,
    folder: &Path,
    cache: &Cache,
    whole: bool,
) -> Result<Root, Failure> {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    if let Some(version) = source.kernel {
        let path = fetched(cache, version)?;
        // The package's directory has its version.
        let identity = path.parent().and_then(name);
        return Ok(Root { path, name: version.to_string(), identity });
    }
    let Some(path) = source.root(folder) else {
        return Err("found neither kernel nor tree, expected one".into());
    };
    let base = name(&path).unwrap_or_default();
    let Some(commit) = &source.commit else {
        return Ok(Root { path, name: base, identity: None });
    };
    let path = trees(cache).commit(&path, commit, whole)?;
    let identity = name(&path);
    Ok(Root { path, name: format!("{base}-{commit}"), identity })
}

/// The tree that `source` names, under a name of its own.
pub fn tree(folder: &Path, cache: &Cache, source: &SourceEntry) -> Result<Tree, Failure> {
    let Root { path, name, .. } = root(source, folder, cache, false)?;
    let config = source.config_file.as_ref().map(|file| folder.join(file));
    Ok(trees(cache).unnamed(&name, &path, &source.patches(folder), config.as_deref())?)
}
