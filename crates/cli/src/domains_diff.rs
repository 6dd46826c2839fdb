//! `schedscape domains --diff`.

use crate::Failure;
use crate::args::DomainsArgs;
use crate::domains::{Question, changed};
use crate::output::print;
use crate::recorded;
use kernel::recorded::log::{Extent, LogDifferences};
use kernel::recorded::{Difference, debugfs, log};
use kernel::{Domains, Kernel};
use report::domains_diff::{diff as differences, of_domains, of_files};
use std::collections::BTreeMap;

/// The two sides differ: no error, but an exit code of its own.
#[derive(Debug)]
pub struct Differ;

impl std::fmt::Display for Differ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the two sides differ")
    }
}

impl std::error::Error for Differ {}

pub fn diff(args: &DomainsArgs, question: &Question, what: &str) -> Result<(), Failure> {
    let built = question.built(&question.kernel)?;
    let spec = args.machine.machine.as_str();
    let text = match what {
        "running" if spec != "host" => {
            return Err(format!("--diff running: found {spec}, expected host").into());
        }
        "running" => of_shown("running", &recorded::running()?, question, &built),
        "recorded" => of_step(spec, question, &built)?,
        _ => of_kernels(question, &built, what)?,
    };
    match text {
        None => Ok(()),
        Some(text) => {
            print(&text)?;
            Err(Box::new(Differ))
        }
    }
}

/// What was shown against what is predicted, file by file.
fn of_shown(
    name: &str,
    files: &BTreeMap<String, String>,
    question: &Question,
    built: &Domains,
) -> Option<String> {
    let version = question.kernel.version;
    let shown = of_files(&debugfs::shown(files, version));
    let predicted = of_files(&debugfs::predicted(built, version));
    let predicted_name = format!("predicted for {version}");
    differences((name, &shown), (&predicted_name, &predicted))
}

/// A capture's step: its debugfs, and its log.
pub fn of_step(
    spec: &str,
    question: &Question,
    built: &Domains,
) -> Result<Option<String>, Failure> {
    let (files, text) = (recorded::captured(spec)?, recorded::log(spec)?);
    if files.is_empty() && text.is_none() {
        let expected = "a capture's step with debug/domains or attach.log";
        return Err(format!("--diff recorded: found neither in {spec}, expected {expected}").into());
    }
    // A step without any file may still be right: a CPU alone has no domain to show.
    let of_files = of_shown("recorded", &files, question, built);
    let of_log = text.and_then(|text| of_log(built, question, &text));
    let parts: Vec<String> = of_files.into_iter().chain(of_log).collect();
    Ok((!parts.is_empty()).then(|| parts.concat()))
}

/// The log's lines that differ. A log after hotplug holds the last rebuild only.
fn of_log(built: &Domains, question: &Question, text: &str) -> Option<String> {
    let extent = if question.went_offline.is_some() { Extent::LastRebuild } else { Extent::Whole };
    let version = question.kernel.version;
    let LogDifferences { wrong, busy } = log::compare(built, version, text, extent);
    if wrong.is_empty() {
        if !busy.is_empty() {
            let lines = busy.len();
            anstream::eprintln!(
                "log: busy CPUs show less than 95 % of their capacity in {lines} lines"
            );
        }
        return None;
    }
    let header = "--- recorded log\n+++ predicted log\n".to_string();
    Some(wrong.iter().map(line_difference).fold(header, |all, text| all + &text))
}

fn line_difference(difference: &Difference) -> String {
    let side = |sign: char, line: &Option<String>| {
        line.as_ref().map_or(String::new(), |line| format!("{sign}{line}\n"))
    };
    let (old, new) = (side('-', &difference.recorded), side('+', &difference.predicted));
    format!("@@ {} @@\n{old}{new}", difference.place)
}

/// The same machine under another release or with a mechanism switched. Both sides are shown as the newer release
/// shows them, so that files and names that come with a release make no difference.
fn of_kernels(question: &Question, built: &Domains, what: &str) -> Result<Option<String>, Failure> {
    if !what.contains('=') {
        let expected = "running, recorded, kernel=VERSION or a mechanism's NAME=on|off";
        return Err(format!("--diff: found `{what}`, expected {expected}").into());
    }
    let other = changed(&question.kernel, "--diff", what)?;
    let form = question.kernel.version.max(other.version);
    let (old, new) = (of_domains(built, form), of_domains(&question.built(&other)?, form));
    let name = |kernel: &Kernel, with: &str| format!("{}{with}", kernel.version);
    let with = if what.starts_with("kernel=") { String::new() } else { format!(" with {what}") };
    Ok(differences((&name(&question.kernel, ""), &old), (&name(&other, &with), &new)))
}
