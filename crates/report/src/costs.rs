//! Counted costs as a table for people.

use crate::table::table;
use machine::costs::{CostTable, Lock, Operation, Side, SideName};

const COLUMNS: [&str; 11] = [
    "operation",
    "peer",
    "side",
    "lines",
    "read",
    "atomic",
    "upgrade",
    "write",
    "stalls",
    "kernel",
    "user",
];

const LOCK_COLUMNS: [&str; 8] =
    ["operation", "peer", "side", "lock", "taken", "kernel", "stalls", "spun"];

/// A row for each side of each operation: lines by kind, and instructions of kernel and program. Then the locks.
pub fn costs(costs: &CostTable) -> String {
    let rows: Vec<Vec<String>> = costs.operations.iter().flat_map(rows).collect();
    let append =
        if costs.append.is_empty() { String::new() } else { format!(", {}", costs.append) };
    format!(
        "{}{append}, QEMU {}, lines of {} bytes, CPUs within {} instructions\n{}\n{}{}{}",
        costs.kernel,
        costs.qemu,
        costs.line_bytes,
        costs.quantum,
        costs.machine,
        table(&COLUMNS, &rows),
        apart(costs),
        locks(costs)
    )
}

/// A line for each operation whose windows never agreed, of which the table has the mean.
fn apart(costs: &CostTable) -> String {
    let line = |operation: &Operation| {
        let [title, peer] = titles(operation);
        let windows: Vec<String> = operation.windows.iter().map(|l| format!("{l:.1}")).collect();
        format!("\n{title}, {peer}: the mean of windows of {} lines\n", windows.join(", "))
    };
    costs.operations.iter().filter(|o| !o.windows.is_empty()).map(line).collect()
}

/// A row for each class of locks of each side; nothing where none were counted.
fn locks(costs: &CostTable) -> String {
    let rows: Vec<Vec<String>> = (costs.operations.iter())
        .flat_map(|operation| operation.locks.iter().map(|lock| lock_row(operation, lock)))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\nLocks, and what their holder does for each taking\n{}", table(&LOCK_COLUMNS, &rows))
}

fn lock_row(operation: &Operation, lock: &Lock) -> Vec<String> {
    let shared = if lock.shared { ", shared" } else { "" };
    let [title, peer] = titles(operation);
    vec![
        title,
        peer,
        lock.side.name().to_string(),
        format!("{}{shared}", lock.class.name()),
        format!("{:.2}", lock.taken),
        format!("{:.0}", lock.instructions),
        format!("{:.1}", lock.stalls),
        format!("{:.1}", lock.spun),
    ]
}

/// Operation and other end.
fn titles(operation: &Operation) -> [String; 2] {
    let threads = if operation.threads { ", threads" } else { "" };
    [format!("{}{threads}", operation.name), operation.peer.words().to_string()]
}

fn rows(operation: &Operation) -> Vec<Vec<String>> {
    let of = |(name, side): (SideName, Side)| {
        let lines = [
            side.lines(),
            side.reads,
            side.atomics + side.atomic_upgrades,
            side.upgrades,
            side.writes,
            side.stalls(),
        ];
        let instructions = [side.kernel_instructions, side.user_instructions];
        titles(operation)
            .into_iter()
            .chain([name.name().to_string()])
            .chain(lines.map(|n| format!("{n:.1}")))
            .chain(instructions.map(|n| format!("{n:.0}")))
            .collect()
    };
    operation.sides().map(of).collect()
}
