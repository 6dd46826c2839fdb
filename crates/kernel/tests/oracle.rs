//! Predicted domains against what real kernels log and show in debugfs.

mod capture;

use capture::{Step, all_steps};
use kernel::{Domains, debugfs, log};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Read once for all tests.
static STEPS: LazyLock<Option<Vec<Step>>> = LazyLock::new(all_steps);

/// How far a capacity may be from the predicted one: the kernel logs what was left of a CPU at that moment.
const TOLERANCE: f64 = 0.05;

/// Steps that do not match within [`TOLERANCE`], all for one reason: interrupts and other classes kept CPUs so busy
/// during boot that less than 95 % of their capacity was left (`scale_rt_capacity`), which topology does not tell.
/// Everything else matches; groups' capacities lie between what is left of their CPUs as logged and whole CPUs.
const BUSY_AT_BOOT: &[&str] = &[
    "x86-6.12-ccx-1s-6.12.tar.gz boot",
    "x86-7.3-2x4x2-numa.tar.gz boot",
    "x86-7.3-4x2x2-ring.tar.gz boot",
    "x86-7.3-ccx-1s.tar.gz boot",
    "x86-7.3-ccx-2s-numa.tar.gz boot",
    "x86-7.3-epyc-dies.tar.gz boot",
    "x86-7.3-memless-node.tar.gz boot",
];

/// A log by CPU: the last block with domains; and the last root domain line.
fn last_blocks(log: &str) -> (BTreeMap<usize, Vec<&str>>, &str) {
    let mut blocks: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    let mut root = "";
    let mut current = None;
    for line in log.lines() {
        if line.starts_with(' ') {
            blocks.get_mut(&current.unwrap()).unwrap().push(line);
        } else if line.starts_with("root domain span") {
            root = line;
        } else if line.ends_with("attaching sched-domain(s):") {
            let cpu = line[3..line.find(' ').unwrap()].parse().unwrap();
            current = Some(cpu);
            blocks.insert(cpu, vec![line]);
        } else {
            assert!(line.ends_with("attaching NULL sched-domain."), "{line}");
        }
    }
    (blocks, root)
}

/// A line by group: the text up to the group's end without its capacity, and the capacity.
fn pieces(line: &str) -> Vec<(&str, Option<f64>)> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(" }") {
        let (group, tail) = rest.split_at(at);
        match group.split_once(" cap=") {
            Some((text, cap)) => out.push((text, Some(cap.parse().unwrap()))),
            None => out.push((group, None)),
        }
        rest = &tail[2..];
    }
    out.push((rest, None));
    out
}

/// Whether the lines are equal but for capacities, which lie between those of `least` and `full`, give or take
/// [`TOLERANCE`]; 1024 is not printed.
fn same_line(least: &str, full: &str, kernel: &str) -> bool {
    let (least, full, kernel) = (pieces(least), pieces(full), pieces(kernel));
    let fits = |i: usize, kernel: &(&str, Option<f64>)| {
        let low = least[i].1.unwrap_or(1024.0) * (1.0 - TOLERANCE);
        let high = full[i].1.unwrap_or(1024.0) * (1.0 + TOLERANCE);
        full[i].0 == kernel.0 && (low..=high).contains(&kernel.1.unwrap_or(1024.0))
    };
    full.len() == kernel.len() && kernel.iter().enumerate().all(|(i, k)| fits(i, k))
}

/// Compares the kernel's lines with the predicted ones, which differ in capacities only.
fn same_lines(least: &[&str], full: &[&str], kernel: &[&str], what: &str) -> Result<(), String> {
    let mut lines = least.iter().zip(full).zip(kernel);
    let differing = lines.find(|((least, full), kernel)| !same_line(least, full, kernel));
    let counts = (full.len(), kernel.len());
    if differing.is_some() || counts.0 != counts.1 {
        return Err(format!(
            "{what}: first ((least, predicted), kernel) that differ {differing:#?}, of {counts:?} lines"
        ));
    }
    Ok(())
}

/// The domains with the capacities that the kernel logs for single CPUs in place of whole ones.
fn with_logged_capacities(domains: &Domains, kernel: &str) -> Domains {
    let mut domains = domains.clone();
    for (text, cap) in kernel.lines().flat_map(pieces) {
        // "…, 3:{ span=3" of a group of one CPU.
        let Some((before, span)) = text.split_once(":{ span=") else { continue };
        if before.ends_with(&format!(" {span}")) {
            let cpu: usize = span.parse().unwrap();
            domains.capacity[cpu] = cap.unwrap_or(1024.0) as u64;
        }
    }
    let Domains { by_cpu, capacity, .. } = &mut domains;
    for group in by_cpu.iter_mut().flatten().flat_map(|d| &mut d.groups) {
        group.capacity = group.span.iter().map(|c| capacity[c]).sum();
    }
    domains
}

/// Compares the log of a step; capacities may be as small as those of `least`.
fn compare_log(step: &Step, least: &Domains) -> Result<(), String> {
    let kernel = &step.files["attach.log"];
    let full = log::log(&step.predicted, step.version);
    let least = log::log(least, step.version);
    if step.is_boot {
        let lines = |text| str::lines(text).collect::<Vec<_>>();
        return same_lines(&lines(&least), &lines(&full), &lines(kernel), &step.what);
    }
    let (least, _) = last_blocks(&least);
    let (full, full_root) = last_blocks(&full);
    let (kernel, kernel_root) = last_blocks(kernel);
    assert!(!kernel.is_empty(), "{}: no domains in the log", step.what);
    for (cpu, block) in &kernel {
        let least = least.get(cpu).map_or(&[][..], |b| &b[..]);
        let full = full.get(cpu).map_or(&[][..], |b| &b[..]);
        same_lines(least, full, block, &format!("{}: CPU {cpu}", step.what))?;
    }
    same_lines(&[full_root], &[full_root], &[kernel_root], &step.what)
}

#[test]
fn domains_are_what_kernels_log() {
    let Some(steps) = &*STEPS else { return };
    assert!(steps.iter().any(|s| s.is_boot) && steps.iter().any(|s| !s.is_boot));
    let is_exception = |step: &&Step| BUSY_AT_BOOT.contains(&step.what.as_str());
    let mut wrong: Vec<String> = Vec::new();
    for step in steps {
        let strict = compare_log(step, &step.predicted);
        if !is_exception(&step) {
            wrong.extend(strict.err());
            continue;
        }
        if strict.is_ok() {
            wrong.push(format!("{}: matches, so it is no exception", step.what));
        }
        let least = with_logged_capacities(&step.predicted, &step.files["attach.log"]);
        wrong.extend(compare_log(step, &least).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(steps.iter().filter(is_exception).count(), BUSY_AT_BOOT.len());
}

/// The value of an interval file with one CPU more in the span. A rebuild may see the CPU that is going offline
/// in the level's mask still, and the intervals come from that mask.
fn with_dying_cpu(line: &str) -> Option<String> {
    let (file, value) = line.split_once(": ")?;
    let more = match file.rsplit('/').next()? {
        "min_interval" => 1,
        "max_interval" => 2,
        _ => return None,
    };
    Some(format!("{file}: {}", value.parse::<u32>().ok()? + more))
}

#[test]
fn domains_are_what_debugfs_shows() {
    let Some(steps) = &*STEPS else { return };
    for step in steps {
        let shown = step.files.iter().filter_map(|(path, value)| {
            let path = path.strip_prefix("debug/domains/")?;
            let value = value.strip_suffix('\n').unwrap_or(value);
            (!path.ends_with("/max_newidle_lb_cost")).then(|| format!("{path}: {value}"))
        });
        let mut shown: Vec<String> = shown.collect();
        let predicted = debugfs::debugfs(&step.predicted, step.version);
        let mut predicted: Vec<String> = predicted.lines().map(String::from).collect();
        shown.sort();
        predicted.sort();
        // A CPU alone has no domains.
        let alone = step.predicted.cpus.len() == 1;
        assert_eq!(shown.is_empty(), alone, "{}: debugfs", step.what);
        assert_eq!(predicted.len(), shown.len(), "{}", step.what);
        for (predicted, shown) in predicted.iter().zip(&shown) {
            let dying = !step.is_boot && with_dying_cpu(predicted).as_ref() == Some(shown);
            assert!(dying || predicted == shown, "{}: {predicted}, kernel {shown}", step.what);
        }
    }
}
