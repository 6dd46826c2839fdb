//! Recorded debugfs (or the files in `/proc` of older kernels) against the predicted files.

use super::Difference;
use crate::debugfs;
use crate::domain::Domains;
use crate::flags::SdFlags;
use crate::version::Version;
use std::collections::BTreeMap;

/// First release that shows `flags` as names.
const NAMED_FLAGS_SINCE: Version = Version::new(5, 10);
/// Files that topology does not tell: measured, or load indices of kernels before 5.3 that no prediction prints.
const NOT_TOPOLOGY: [&str; 6] =
    ["max_newidle_lb_cost", "busy_idx", "idle_idx", "newidle_idx", "wake_idx", "forkexec_idx"];

/// Files by path (`cpuN/domainM/FILE`) in the form of [`debugfs::debugfs`], without those that topology does not
/// tell. `files` holds what a kernel of `version` showed, by the same paths. Numbers that stand for flags become
/// names; a number that cannot be read stays as it is, and so differs.
pub fn shown(files: &BTreeMap<String, String>, version: Version) -> BTreeMap<String, String> {
    let of_topology = files.iter().filter(|(path, _)| {
        path.rsplit('/').next().is_some_and(|file| !NOT_TOPOLOGY.contains(&file))
    });
    let value = |path: &String, text: &String| {
        let text = text.strip_suffix('\n').unwrap_or(text);
        match path.ends_with("/flags") && version < NAMED_FLAGS_SINCE {
            true => named(text, version).unwrap_or_else(|| text.to_string()),
            false => text.to_string(),
        }
    };
    of_topology.map(|(path, text)| (path.clone(), value(path, text))).collect()
}

fn named(number: &str, version: Version) -> Option<String> {
    Some(SdFlags::from_number(number.trim().parse().ok()?)?.names(version))
}

/// The predicted files by path.
pub fn predicted(domains: &Domains, version: Version) -> BTreeMap<String, String> {
    let text = debugfs::debugfs(domains, version);
    let file = |line: &str| line.split_once(": ").map(|(path, v)| (path.into(), v.to_string()));
    text.lines().filter_map(file).collect()
}

/// Every file that differs, or that one side lacks, by path.
pub fn compare(
    domains: &Domains,
    version: Version,
    files: &BTreeMap<String, String>,
) -> Vec<Difference> {
    let (recorded, predicted) = (shown(files, version), predicted(domains, version));
    let mut paths: Vec<&String> = recorded.keys().chain(predicted.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    let differing = paths.into_iter().filter(|&path| recorded.get(path) != predicted.get(path));
    differing
        .map(|path| Difference {
            place: path.clone(),
            recorded: recorded.get(path).cloned(),
            predicted: predicted.get(path).cloned(),
        })
        .collect()
}
