//! Counted costs as a table for people.

use crate::table::table;
use machine::costs::{CostTable, Operation, Side};

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

/// A row for each side of each operation: lines by kind, and instructions of kernel and program.
pub fn costs(costs: &CostTable) -> String {
    let rows: Vec<Vec<String>> = costs.operations.iter().flat_map(rows).collect();
    format!(
        "{}, QEMU {}, lines of {} bytes, CPUs within {} instructions\n{}\n{}",
        costs.kernel,
        costs.qemu,
        costs.line_bytes,
        costs.quantum,
        costs.machine,
        table(&COLUMNS, &rows)
    )
}

fn rows(operation: &Operation) -> Vec<Vec<String>> {
    let threads = if operation.threads { ", threads" } else { "" };
    let of = |(name, side): (&str, Side)| {
        let lines = [
            side.lines(),
            side.reads,
            side.atomics + side.atomic_upgrades,
            side.upgrades,
            side.writes,
            side.stalls(),
        ];
        let titles = [format!("{}{threads}", operation.name), operation.peer.words().to_string()];
        let instructions = [side.kernel_instructions, side.user_instructions];
        titles
            .into_iter()
            .chain([name.to_string()])
            .chain(lines.map(|n| format!("{n:.1}")))
            .chain(instructions.map(|n| format!("{n:.0}")))
            .collect()
    };
    operation.sides().map(of).collect()
}
