//! Machines as a QEMU command line makes them: what the guest's Linux sees.
//!
//! Of the options only those that shape CPUs, caches, nodes and memory are read; `options` lists those that are
//! known not to, and any other is an error. The rules are those of QEMU 10 (`hw/core/machine-smp.c`,
//! `hw/core/numa.c`, `target/i386/cpu.c`, `hw/arm/virt.c`, `hw/ppc/spapr.c`, `hw/ppc/pnv.c`).

mod board;
mod numa;
mod options;
mod smp;
mod x86;

use crate::cpuset::CpuSet;
use crate::error::{Fault, MachineError};
use crate::layout::{CacheShape, HwIds, Layout, Order, Span};
use crate::model::{CacheKind, Firmware, Machine, Origin};
use board::Kind;
use options::Options;

/// Reads the machine that the QEMU arguments in `spec` make, as in `-M virt -smp 8,clusters=2,cores=4`.
///
/// The machine type must be named; it decides the architecture. Without `-accel kvm` the accelerator is TCG, as it is
/// QEMU's default; on x86 that decides what AMD models show of caches. Without `-bios` or flash, arm64 boots from
/// the device tree.
///
/// # Errors
/// Options that are unknown, that QEMU would refuse, or whose effect on the topology depends on the host.
pub fn read(spec: &str) -> Result<Machine, MachineError> {
    let named = |(field, fault): (String, Fault)| MachineError::Field {
        file: format!("qemu:{spec}"),
        field,
        found: fault.found,
        expected: fault.expected,
    };
    let options = options::parse(spec).map_err(named)?;
    let parts = parts(&options).map_err(named)?;
    let title = format!("QEMU {}", spec.trim());
    let mut machine = parts.layout.build(&format!("qemu:{spec}"), "qemu", &title)?;
    machine.vendor = parts.vendor.map(str::to_string);
    machine.firmware = Some(parts.firmware);
    machine.unknown = parts.unknown;
    if !parts.unplugged.is_empty() {
        let online = machine.possible() - parts.unplugged;
        machine = machine.with_online(online).map_err(|e| {
            named(("-smp".to_string(), Fault::new(e.to_string(), "CPUs to start with")))
        })?;
    }
    Ok(machine)
}

/// An option's name and what is wrong with it.
type OptionFault = (String, Fault);

/// What the options make, before it becomes a machine.
struct Parts {
    layout: Layout,
    firmware: Firmware,
    vendor: Option<&'static str>,
    unknown: Vec<String>,
    /// CPUs that can be plugged in later.
    unplugged: CpuSet,
}

fn parts(options: &Options) -> Result<Parts, OptionFault> {
    let board = board::read(options)?;
    let smp = smp::read(options.smp.as_deref(), &board)?;
    board.check_threads(&smp.counts)?;
    let mut unknown =
        vec!["Idle states, frequencies: the command line does not tell them.".to_string()];
    let nodes = numa::read(options, &board, &smp, &mut unknown)?;
    let levels = board::shared_levels(&board, &smp)?;
    let mut layout = Layout {
        arch: board.kind.arch(),
        counts: smp.counts,
        order: Order::ThreadsAdjacent,
        hw_ids: HwIds::Place,
        cluster_cores: None,
        dies_shown: false,
        nodes,
        thread_groups: Vec::new(),
        caches: Vec::new(),
        capacities: Vec::new(),
    };
    let mut vendor = None;
    match board.kind {
        Kind::Pc => {
            let cpu = x86::read(options.cpu.as_deref(), board.kvm)?;
            layout.hw_ids = HwIds::Apic;
            layout.dies_shown = cpu.shows_dies();
            (layout.caches, layout.cluster_cores) = cpu.caches(&smp.counts, &levels, &mut unknown);
            vendor = Some(cpu.vendor());
        }
        Kind::Virt => {
            layout.hw_ids = HwIds::Mpidr;
            // The device tree always has clusters; the PPTT those that were asked for.
            let shown = smp.clusters_given || board.firmware(options) == Firmware::DeviceTree;
            layout.cluster_cores = shown.then_some(smp.counts.cluster_cores());
            layout.caches = arm_caches(&levels, &mut unknown);
        }
        Kind::Pseries | Kind::Powernv { .. } => {
            if matches!(board.kind, Kind::Powernv { .. }) {
                layout.hw_ids = HwIds::Pir;
            }
            if matches!(board.kind, Kind::Powernv { generation: 8, .. }) {
                layout.hw_ids = HwIds::Place;
                unknown.push(
                    "Hardware ids: those of POWER8's cores have gaps; places stand in.".to_string(),
                );
            }
            layout.caches = power_caches();
            unknown.push("Caches beyond the first level: the device tree has none.".to_string());
        }
    }
    Ok(Parts {
        layout,
        firmware: board.firmware(options),
        vendor,
        unknown,
        unplugged: (smp.cpus as usize..smp.maxcpus as usize).collect(),
    })
}

/// First-level caches of POWER7 to POWER10 as QEMU's CPU models have them: 32 KiB, lines of 128 bytes.
fn power_caches() -> Vec<CacheShape> {
    let cache = |kind| CacheShape {
        level: 1,
        kind,
        size_kib: Some(32),
        line_bytes: Some(128),
        ways: None,
        shared_by: Span::Core,
        origin: Origin::Firmware,
    };
    vec![cache(CacheKind::Data), cache(CacheKind::Instruction)]
}

/// Caches of arm64's virt: those whose sharing was asked for.
fn arm_caches(levels: &[board::SharedLevel], unknown: &mut Vec<String>) -> Vec<CacheShape> {
    if levels.is_empty() {
        unknown.push(
            "Caches: QEMU tells the guest of none; its kernel takes their levels from the CPU's registers and \
             guesses who shares them."
                .to_string(),
        );
    } else {
        unknown.push("Cache sizes: they depend on the CPU model.".to_string());
    }
    let cache = |level: &board::SharedLevel| CacheShape {
        level: level.level,
        kind: level.kind,
        size_kib: None,
        line_bytes: None,
        ways: None,
        shared_by: level.span,
        origin: Origin::Firmware,
    };
    levels.iter().map(cache).collect()
}

#[cfg(test)]
mod tests;
