//! Workloads as programs of a real kernel: one, or several at once.

use definition::file::WorkloadEntry;
use machine::CpuSet;
use std::io;
use vm::programs::together::{Part, together};
use vm::programs::{Program, Untranslated, translate};

/// What guests and this computer run for `entry`; `read` gives the files that it names, and `cpus` numbers CPUs.
///
/// # Errors
/// A benchmark that has no program, and programs that cannot run side by side.
pub(crate) fn program_of(
    entry: &WorkloadEntry,
    read: &dyn Fn(&str) -> io::Result<String>,
    cpus: &dyn Fn(CpuSet) -> CpuSet,
) -> Result<Program, Untranslated> {
    if let Some(benchmark) = entry.alone() {
        return translate(benchmark, read, cpus);
    }
    let mut parts = vec![];
    for part in &entry.parts {
        let program = translate(&part.benchmark, read, cpus)?;
        let (name, group) = (part.name.clone(), part.group.clone());
        parts.push(Part { name, group, measured: part.measured, program });
    }
    together(&parts).map_err(|file| Untranslated::Twice { file })
}
