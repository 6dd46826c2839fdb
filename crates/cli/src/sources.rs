//! Kernel trees that the variants of an experiment name, built.

use crate::Failure;
use crate::kernels::{built, fetched, trees};
use definition::{Plan, SourceEntry};
use kernel::Kernel;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use tree::{Library, Tree, Trees};
use vm::Cache;

/// By variant: the library of its source, where it has one.
pub fn libraries(plan: &Plan, cache: &Cache) -> Result<Vec<Option<Library>>, Failure> {
    let trees = trees(cache);
    let mut done: BTreeMap<(&SourceEntry, Option<u32>), Library> = BTreeMap::new();
    let mut all = Vec::new();
    for variant in &plan.file.variants {
        let Some(source) = &variant.source else {
            all.push(None);
            continue;
        };
        let library = match done.entry((source, variant.hz)) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(new) => {
                let wrong = |e: Failure| -> Failure {
                    format!("{}: variant `{}`: source: {e}", plan.path, variant.name).into()
                };
                new.insert(library(plan, &trees, cache, source, variant.hz).map_err(wrong)?)
            }
        };
        all.push(Some(library.clone()));
    }
    Ok(all)
}

fn library(
    plan: &Plan,
    trees: &Trees,
    cache: &Cache,
    source: &SourceEntry,
    hz: Option<u32>,
) -> Result<Library, Failure> {
    let tree = tree(plan, trees, cache, source)?;
    let hz = hz.filter(|&hz| hz != Kernel::DEFAULT_HZ).map(|hz| format!("CONFIG_HZ_{hz}=y"));
    let config: Vec<String> = hz.into_iter().chain(source.config_lines()).collect();
    built(trees, &tree, &config)
}

/// The tree that `source` names, under a name of its own.
fn tree(plan: &Plan, trees: &Trees, cache: &Cache, source: &SourceEntry) -> Result<Tree, Failure> {
    let folder = plan.folder();
    let (root, base): (PathBuf, String) = match (source.kernel, source.root(folder)) {
        (Some(version), _) => (fetched(cache, version)?, version.to_string()),
        (None, Some(root)) => {
            let name = root.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
            match &source.commit {
                None => (root, name),
                Some(commit) => (trees.commit(&root, commit)?, format!("{name}-{commit}")),
            }
        }
        (None, None) => return Err("found neither kernel nor tree, expected one".into()),
    };
    Ok(trees.unnamed(&base, &root, &source.patches(folder))?)
}
