//! dbench 4 as MMTests runs it: clients that play a load of file operations on one filesystem; how long a pass takes.
//!
//! MMTests' dbench plays lines 601 to 4173 of the load again and again, each client in a directory of its own, and reports
//! the times of passes. Of its 3573 operations 43 are `fsync`s, of mostly one to three pages; 962 are reads of 11.9 KB, 303
//! writes of 25.5 KB, all into the page cache; 763 create, open, rename or unlink; 215 list a directory; the others ask for
//! attributes or close. The pass here is 43 equal parts of one `fsync` and the other operations' share each.
//!
//! The filesystem is XFS. Transactions that make or remove names hold a buffer of an allocation group; `mkfs.xfs` makes four
//! groups, and directories are spread over them. `fsync` writes the file's pages and waits for them, which the scheduler sees
//! as a wait for I/O; then it forces the log, which it does not see. The log is written one buffer of 32 KiB after another,
//! each with a flush of the drive's cache (to 5.13); what a part's transactions log, about 14 KB, fits in twice.
//! Not modelled: writeback in the background, the workers that fill the log's buffers, and reads that miss the page cache.

pub use crate::no_costs::NoCosts as Costs;
use crate::program::{
    Device, DeviceId, LockId, MemoryUse, Metric, Op, Program, Reading, Since, Spread, Work,
    Workload,
};
use crate::window::Window;
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "dbench";
/// `fsync`s of a pass.
pub const PARTS: u16 = 43;
/// Allocation groups of the filesystem.
const GROUPS: u16 = 4;
/// Transactions of a part that hold a buffer of an allocation group: creates, unlinks and renames, 274 in a pass.
const TRANSACTIONS: u16 = 6;
/// Core cycles for which one of them holds it. Assumed.
const TRANSACTION_CYCLES: f64 = 8_000.0;
/// Core cycles of a pass without those: (operations, cycles of one), the filesystem's and dbench's. Measured: mean latencies
/// of dbench 4.00 on ext4 of a virtual machine at about 2.5 GHz (attributes and closing 5.6 us, listing 29 us, names 21 to
/// 34 us, writes 15 us, reads 3 us).
const WORK: [(f64, f64); 5] =
    [(1287.0, 14_000.0), (215.0, 72_000.0), (763.0, 55_000.0), (303.0, 38_000.0), (962.0, 7_500.0)];
/// How a part's work differs from another's. Assumed.
const WORK_SPREAD: Spread = Spread::LogNormal(0.2);
/// Inodes, directories and pages that a client comes back to; assumed.
const MEMORY: MemoryUse = MemoryUse {
    working_set_bytes: 4.0 * 1024.0 * 1024.0,
    touches_per_kcycle: 3.0,
    overlap: 2.0,
    stream_bytes_per_kcycle: 0.0,
};
/// Requests that a SATA drive works on at a time. Assumed: fewer than it queues (32), as all share one link.
const DISK_SLOTS: u16 = 8;
/// Median time for an `fsync`'s pages. Assumed.
pub const DATA_NS: f64 = 100_000.0;
/// `fsync`s whose transactions fit into one write of the log: 14 KB each, of 32 KiB. Assumed, with the frequency study's table at
/// hand, which shows that many clients wait for the drive.
pub const LOG_TOGETHER: u32 = 2;
/// Median time for a write of the log with a flush. Assumed.
pub const LOG_NS: f64 = 500_000.0;
/// How the drive's times vary. Assumed.
const DISK_SPREAD: Spread = Spread::LogNormal(0.5);

/// Command-line options, and what is around the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Clients.
    pub clients: u16,
    /// Parts of a pass that are run; the time is scaled to all 43.
    pub parts_run: u16,
    /// Warm-up in seconds.
    pub warmup_s: f64,
    /// Measured time in seconds.
    pub seconds: f64,
    /// CPUs it is bound to; all where absent.
    pub cpus: Option<CpuSet>,
}

/// The metric's name.
pub const PASS_MS: &str = "pass_ms";

/// Builds the workload.
pub fn build(params: &Params, _: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "clients", params.clients, 1..=8192, "1 to 8192")?;
    check::within(NAME, "parts_run", params.parts_run, 1..=PARTS, "1 to 43")?;
    check::window(NAME, params.warmup_s, params.seconds)?;
    let mut w = Workload::default();
    let window = Window::new(&mut w);
    let pass = w.histogram(Some(window.open));
    let released = w.barrier(u32::from(params.clients) + 1);
    let disk = w.device(Device { slots: DISK_SLOTS, together: 1 });
    let log = w.device(Device { slots: 1, together: LOG_TOGETHER });
    let clients = (0..GROUPS.min(params.clients)).map(|_| {
        let group = w.lock();
        let mut ops = vec![Op::Memory(MEMORY), Op::Barrier(released), Op::Stamp];
        ops.extend(part(group, disk, log));
        ops.extend([
            Op::Loop { to: 3, times: u32::from(params.parts_run) },
            Op::Record { histogram: pass, since: Since::Stamp },
            Op::Loop { to: 2, times: 0 },
        ]);
        w.program(NAME, ops)
    });
    let clients: Vec<_> = clients.collect();
    let forks = clients.into_iter().cycle().map(Op::Fork);
    let mut main: Vec<Op> = forks.take(usize::from(params.clients)).collect();
    main.push(Op::Barrier(released));
    main.extend(window.ops(params.warmup_s, params.seconds));
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    w.metrics.push(Metric {
        name: PASS_MS.to_string(),
        unit: "ms".to_string(),
        better: Better::Lower,
        reading: Reading::TimesMs {
            histogram: pass,
            scale: f64::from(PARTS) / f64::from(params.parts_run),
        },
    });
    Ok(w)
}

/// Core cycles of a part in which no buffer of an allocation group is held; the median.
pub fn free_cycles() -> f64 {
    WORK.iter().map(|(operations, cycles)| operations * cycles).sum::<f64>() / f64::from(PARTS)
}

/// Steps of a part: work between transactions, and its `fsync`.
fn part(group: LockId, disk: DeviceId, log: DeviceId) -> Vec<Op> {
    let between = free_cycles() / f64::from(TRANSACTIONS + 1);
    let work = Op::Compute(Work { cycles: between, spread: WORK_SPREAD });
    let held = Op::Compute(Work::fixed(TRANSACTION_CYCLES));
    let transaction = [work.clone(), Op::Lock(group), held, Op::Unlock(group)];
    let mut ops = vec![transaction; usize::from(TRANSACTIONS)].concat();
    let io =
        |device, service_ns, iowait| Op::Io { device, service_ns, spread: DISK_SPREAD, iowait };
    ops.extend([work, io(disk, DATA_NS, true), io(log, LOG_NS, false)]);
    ops
}
