//! Predicted domains against what real kernels log and show in debugfs.

mod capture;

use capture::{Step, powerpc_steps};
use kernel::{debugfs, log};
use std::collections::BTreeMap;

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

/// Whether the lines are equal but for capacities, which may be 5 % apart; 1024 is not printed.
fn same_line(predicted: &str, kernel: &str) -> bool {
    let (a, b) = (pieces(predicted), pieces(kernel));
    a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| {
            let (ours, theirs) = (a.1.unwrap_or(1024.0), b.1.unwrap_or(1024.0));
            a.0 == b.0 && (ours - theirs).abs() <= 0.05 * ours
        })
}

fn assert_same_lines(predicted: &[&str], kernel: &[&str], what: &str) {
    let same = predicted.len() == kernel.len()
        && predicted.iter().zip(kernel).all(|(p, k)| same_line(p, k));
    let differing = predicted.iter().zip(kernel).find(|(p, k)| !same_line(p, k));
    let lines = (predicted.len(), kernel.len());
    assert!(
        same,
        "{what}: first (predicted, kernel) that differ {differing:#?}, of {lines:?} lines"
    );
}

fn compare_log(step: &Step) {
    let kernel = &step.files["attach.log"];
    let predicted = log::log(&step.predicted, step.version);
    if step.is_boot {
        assert_same_lines(
            &predicted.lines().collect::<Vec<_>>(),
            &kernel.lines().collect::<Vec<_>>(),
            &step.what,
        );
        return;
    }
    let (predicted, predicted_root) = last_blocks(&predicted);
    let (kernel, kernel_root) = last_blocks(kernel);
    assert!(!kernel.is_empty(), "{}: no domains in the log", step.what);
    for (cpu, block) in &kernel {
        let ours = predicted.get(cpu).map_or(&[][..], |b| &b[..]);
        assert_same_lines(ours, block, &format!("{}: CPU {cpu}", step.what));
    }
    assert_eq!(predicted_root, kernel_root, "{}", step.what);
}

#[test]
fn domains_are_what_kernels_log() {
    let Some(steps) = powerpc_steps() else { return };
    assert!(steps.iter().any(|s| s.is_boot) && steps.iter().any(|s| !s.is_boot));
    for step in &steps {
        compare_log(step);
    }
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
    let Some(steps) = powerpc_steps() else { return };
    for step in &steps {
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
        assert!(!shown.is_empty(), "{}: no debugfs", step.what);
        assert_eq!(predicted.len(), shown.len(), "{}", step.what);
        for (predicted, shown) in predicted.iter().zip(&shown) {
            let dying = !step.is_boot && with_dying_cpu(predicted).as_ref() == Some(shown);
            assert!(dying || predicted == shown, "{}: {predicted}, kernel {shown}", step.what);
        }
    }
}
