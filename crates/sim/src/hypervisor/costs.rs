//! What caches, memory, the engine and the way into and out of a partition cost on a machine.

use crate::SimError;
use cache::{Geometry, Shape, SizeClass};
use machine::{CacheKind, Machine};
use setting::Rate;

/// Costs; of a line where not named otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Costs {
    pub(crate) shape: Shape,
    pub(crate) line_bytes: f64,
    pub(crate) ghz: f64,
    /// By busy hardware threads of a core: what one gets of it. 0 busy threads come first.
    pub(crate) share: Vec<f64>,
    pub(crate) l2_ns: f64,
    pub(crate) l3_ns: f64,
    pub(crate) memory_ns: f64,
    /// Bytes a ns.
    pub(crate) core_bandwidth: f64,
    pub(crate) package_bandwidth: f64,
    pub(crate) stream_ramp_lines: f64,
    pub(crate) guest_entry_ns: f64,
    pub(crate) guest_exit_ns: f64,
    pub(crate) host_lines_per_ns: f64,
    pub(crate) host_kib: f64,
    /// A place of the directory, by default.
    pub(crate) log_ns: f64,
    /// A line, by [`Rate`].
    pub(crate) restore_ns: [f64; Rate::COUNT],
    l2_log_kib: f64,
    l2_l3_log_kib: f64,
    pub(crate) most_subcores: u32,
}

impl Costs {
    /// Reads what `machine` says of the caches of its first CPU's core, and its constants.
    pub(crate) fn new(machine: &Machine) -> Result<Costs, SimError> {
        let constant = |name: &str| {
            let missing = |e| SimError::Constant { machine: machine.name.clone(), missing: e };
            machine.constants.value(name).map_err(missing)
        };
        let ghz = constant("nominal_khz")? / 1e6;
        let cycles = |name: &str| Ok::<f64, SimError>(constant(name)? / ghz);
        let cache = |name, level, kind, ways: &str| {
            geometry(machine, name, level, kind, constant(ways)? as u32)
        };
        let shape = Shape {
            l1i: cache("L1I", 1, CacheKind::Instruction, "l1i_ways")?,
            l1d: cache("L1D", 1, CacheKind::Data, "l1d_ways")?,
            l2: cache("L2", 2, CacheKind::Unified, "l2_ways")?,
            l3: cache("L3", 3, CacheKind::Unified, "l3_ways")?,
        };
        let threads = machine.core_cpus(0).len();
        let mut share = vec![1.0, 1.0];
        for busy in 2..=threads {
            share.push(constant(&format!("smt_share_{busy}"))?);
        }
        Ok(Costs {
            shape,
            line_bytes: f64::from(shape.l2.line_bytes),
            ghz,
            share,
            l2_ns: cycles("l2_latency_cycles")?,
            l3_ns: constant("l3_latency_ns")?,
            memory_ns: constant("memory_latency_ns")?,
            core_bandwidth: constant("memory_core_gb_per_s")?,
            package_bandwidth: constant("memory_package_gb_per_s")?,
            stream_ramp_lines: constant("stream_ramp_lines")?,
            guest_entry_ns: constant("guest_entry_ns")?,
            guest_exit_ns: constant("guest_exit_ns")?,
            host_lines_per_ns: constant("host_lines_per_us")? / 1e3,
            host_kib: constant("host_footprint_kib")?,
            log_ns: cycles("prefetch_log_cycles")?,
            restore_ns: [
                cycles("prefetch_restore_fastest_cycles")?,
                cycles("prefetch_restore_8_cycles")?,
                cycles("prefetch_restore_16_cycles")?,
                cycles("prefetch_restore_24_cycles")?,
                cycles("prefetch_restore_32_cycles")?,
            ],
            l2_log_kib: constant("prefetch_log_l2_kib")?,
            l2_l3_log_kib: constant("prefetch_log_l2_l3_kib")?,
            most_subcores: constant("most_subcores_per_core")? as u32,
        })
    }

    /// Bytes of a table of `class`.
    pub(crate) fn table_bytes(&self, class: SizeClass) -> u64 {
        let kib = match class {
            SizeClass::L2 => self.l2_log_kib,
            SizeClass::L2AndL3 => self.l2_l3_log_kib,
        };
        (kib * 1024.0) as u64
    }

    /// Lines in so many KiB.
    pub(crate) fn lines(&self, kib: f64) -> u64 {
        (kib * 1024.0 / self.line_bytes).ceil() as u64
    }

    /// What a thread gets of its core while `busy` of the core's threads are busy.
    pub(crate) fn share(&self, busy: usize) -> f64 {
        self.share.get(busy).or(self.share.last()).copied().unwrap_or(1.0)
    }
}

/// The cache of the first CPU at `level` that holds `kind`.
fn geometry(
    machine: &Machine,
    name: &'static str,
    level: u8,
    kind: CacheKind,
    ways: u32,
) -> Result<Geometry, SimError> {
    let cpu = 0;
    let refuse = |found: String| SimError::Caches { machine: machine.name.clone(), cpu, found };
    let found = (machine.caches.iter())
        .find(|c| c.level == level && c.kind == kind && c.cpus.contains(cpu))
        .ok_or_else(|| refuse(format!("no {name}")))?;
    let (Some(kib), Some(line_bytes)) = (found.size_kib, found.line_bytes) else {
        return Err(refuse(format!("an {name} of unknown size or line")));
    };
    Ok(Geometry { name, size_bytes: u64::from(kib) << 10, ways, line_bytes })
}
