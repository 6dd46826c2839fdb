//! dbench 4 as MMTests runs it: clients that play a load of file operations on one filesystem; how long a pass takes.
//!
//! MMTests' dbench plays lines 601 to 4173 of the load again and again, each client in a directory of its own, and reports
//! the times of passes. Of its 3573 operations 43 are `fsync`s, of mostly one to three pages; 962 are reads of 11.9 KB, 303
//! writes of 25.5 KB, all into the page cache; 763 create, open, rename or unlink; 215 list a directory; the others ask for
//! attributes or close. `fsync`s come in bursts, and here too: `load` has what lies between them.
//!
//! The filesystem is XFS. Transactions that make or remove names hold a buffer of an allocation group; `mkfs.xfs` makes four
//! groups, and directories are spread over them. What an `fsync` does is taken from guests of Debian's 5.10.223
//! (`script/trace-fsync`); 5.9 is taken to do the same:
//!
//! | step | sleeps | seen as I/O | woken by |
//! |---|---|---|---|
//! | the file's pages are written | always | yes | interrupt, or the worker that ends a write of new blocks |
//! | a worker pushes what is committed into the log's buffers | where the inode is in the log | no | the worker |
//! | the log is written: flush, write, flush | the same | no | the log's worker |
//! | the drive is flushed | where the log had nothing for it, or was on its way already | yes | interrupt |
//!
//! An inode is in the log if its size, blocks or times changed. A write gives the file a time that goes by the tick, so what
//! only overwrites a page again within a tick finds nothing in the log. Bound workers' instructions are the client's here, on
//! whose CPU they run; a guest wakes that CPU five times for them where the model wakes it once or twice.
//! Not modelled: writeback in the background, a drive that leaves reads and writes alone while it flushes, reads that miss the
//! page cache, inodes' buffers, and log space.

mod load;

pub use crate::no_costs::NoCosts as Costs;
use crate::placement::Placement;
use crate::program::{
    BarrierId, Condition, Device, DeviceId, HistogramId, LockId, MemoryUse, Metric, Op, Program,
    Queue, QueueId, QueueKind, Reading, Since, Spawn, Spread, Work, Workload,
};
use crate::window::Window;
use crate::{WorkloadError, check, launch};
use load::{STRETCHES, Stretch};
use machine::CpuSet;
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "dbench";
/// `fsync`s of a pass, and parts of it: what lies before one, and it.
pub const PARTS: u16 = 43;
/// Allocation groups of the filesystem.
const GROUPS: u16 = 4;
/// Places in the load where clients begin; no multiple of the groups.
const PLACES: u16 = 11;
/// Core cycles for which a transaction holds a buffer of an allocation group. Assumed: half of an operation that makes one.
const TRANSACTION_CYCLES: f64 = 8_000.0;
/// Core cycles of an operation without those, by kind ([`Stretch::operations`]), the filesystem's and dbench's. Instructions are counted
/// in a guest of 5.10.223 (`script/trace-fsync --operations`), 78.0 million for a pass: 7,200 for attributes and closing, 32,500
/// to list, 28,500 for names, 30,000 to write and 8,500 to read, and 5,600 of dbench's own for each. A pass took 40.1 million
/// cycles on XFS in memory (Linux 6.18, a Xeon at 4.1 GHz, no mitigations), 0.514 an instruction.
const WORK: [f64; 5] = [6_600.0, 19_600.0, 14_600.0, 18_300.0, 7_200.0];
/// How a stretch's work differs from another's. Assumed.
const WORK_SPREAD: Spread = Spread::LogNormal(0.2);
/// Inodes, directories and pages that a client comes back to; assumed.
const MEMORY: MemoryUse = MemoryUse {
    working_set_bytes: 4.0 * 1024.0 * 1024.0,
    touches_per_kcycle: 3.0,
    overlap: 2.0,
    stream_bytes_per_kcycle: 0.0,
    stream_set_bytes: 0.0,
    placement: Placement::Default,
};
/// Requests that a SATA drive works on at a time. Assumed: fewer than it queues (32), as all share one link.
pub const DISK_SLOTS: u16 = 8;
/// Median time for an `fsync`'s pages. Assumed.
pub const DATA_NS: f64 = 100_000.0;
/// Bytes that an `fsync` writes to the log, with many clients: counted, 6.65 KiB with 16 (2.8 with one, 3.5 with four), as what
/// was changed twice before a push is written once.
const LOG_BYTES: u32 = 6_810;
/// The log's buffers (`XLOG_MAX_ICLOGS` of `XLOG_BIG_RECORD_BSIZE`), which are on their way together and share flushes.
const LOG_BUFFERS_BYTES: u32 = 8 * 32 * 1024;
/// `fsync`s that one write of the log serves at most.
pub const LOG_TOGETHER: u32 = LOG_BUFFERS_BYTES / LOG_BYTES;
/// Median time for a write of the log: the drive's cache is flushed, the log written, and flushed again. Assumed.
pub const LOG_NS: f64 = 500_000.0;
/// Median time for a flush alone: what is left of that without the write, halved.
pub const FLUSH_NS: f64 = (LOG_NS - DATA_NS) / 2.0;
/// Core cycles of an `fsync` and of those who work for it, a cycle for each instruction that a guest of 5.10 counted
/// (`script/trace-fsync`): the client itself,
const FSYNC_CYCLES: f64 = 60_000.0;
/// the block layer's worker that hands the drive a request,
const DISPATCH_CYCLES: f64 = 5_400.0;
/// the worker that ends a write of new blocks (`xfs_end_io`),
const END_IO_CYCLES: f64 = 19_500.0;
/// the one that pushes what is committed into the log's buffers,
const PUSH_CYCLES: f64 = 9_100.0;
/// and those of a write of the log: three times the block layer's, for flush, write and flush, and `xlog_ioend_work`.
const LOG_CYCLES: f64 = 3.0 * 4_900.0 + 11_200.0;
/// Name of the worker that pushes, which may run anywhere; the others are bound to CPUs.
pub const WORKER: &str = "kworker/u";
/// How the drive's times vary. Assumed.
const DISK_SPREAD: Spread = Spread::LogNormal(0.5);

/// Command-line options, and what is around the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Clients.
    pub clients: u16,
    /// Of the 43 `fsync`s of a pass, so many with what lies before them are timed at once; the time is scaled to all 43.
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
    let filesystem = Filesystem::new(&mut w);
    let groups: Vec<LockId> = (0..GROUPS).map(|_| w.lock()).collect();
    // With whole passes all begin at the head of the load; else a window shorter than a pass sees all of it.
    let places = if params.parts_run == PARTS { 1 } else { PLACES };
    let clients = (0..(GROUPS * places).min(params.clients)).map(|nth| {
        let first = usize::from(nth % places * (PARTS / places));
        let group = groups[usize::from(nth % GROUPS)];
        let ops = client(first, params.parts_run, group, filesystem, released, pass);
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

/// Core cycles of a pass in which no buffer of an allocation group is held; the median.
pub fn free_cycles() -> f64 {
    STRETCHES.iter().map(Stretch::free_cycles).sum()
}

impl Stretch {
    /// Core cycles in which no buffer of an allocation group is held; the median.
    fn free_cycles(&self) -> f64 {
        self.operations.iter().zip(WORK).map(|(&n, cycles)| f64::from(n) * cycles).sum()
    }

    /// Its steps: work between transactions, and the `fsync`.
    fn steps(&self, group: LockId, filesystem: Filesystem) -> Vec<Op> {
        let between = self.free_cycles() / f64::from(self.transactions + 1);
        let work = Op::Compute(Work { cycles: between, spread: WORK_SPREAD });
        let held = Op::Compute(Work::fixed(TRANSACTION_CYCLES));
        let transaction = [work.clone(), Op::Lock(group), held, Op::Unlock(group)];
        let mut ops = vec![transaction; usize::from(self.transactions)].concat();
        ops.extend([work, Op::Compute(Work::fixed(FSYNC_CYCLES + DISPATCH_CYCLES))]);
        ops.extend(filesystem.fsync(self.overwrites));
        ops
    }
}

/// What `fsync` waits for.
#[derive(Debug, Clone, Copy)]
struct Filesystem {
    pages: DeviceId,
    log: DeviceId,
    flush: DeviceId,
    /// Requests to push what is committed into the log's buffers, and word that it was done.
    push: QueueId,
    pushed: QueueId,
}

impl Filesystem {
    fn new(w: &mut Workload) -> Filesystem {
        let pages = w.device(Device { slots: DISK_SLOTS, together: 1 });
        let log = w.device(Device { slots: 1, together: LOG_TOGETHER });
        // Flushes that wait become one (`blk_kick_flush`).
        let flush = w.device(Device { slots: 1, together: u32::MAX });
        let mut queue = || w.queue(Queue::unbounded(QueueKind::Futex));
        let (push, pushed) = (queue(), queue());
        let work = Op::Compute(Work::fixed(PUSH_CYCLES));
        let ops = vec![Op::Receive(push), work, Op::Send(pushed), Op::Loop { to: 0, times: 0 }];
        let worker = w.program(WORKER, ops);
        w.spawns.push(Spawn { daemon: true, ..launch::long_since(worker, None) });
        Filesystem { pages, log, flush, push, pushed }
    }

    /// `xfs_file_fsync` from the last write on. If the file `overwrites` only, its inode is in the log because of its time
    /// alone, which changes with the tick.
    fn fsync(self, overwrites: bool) -> Vec<Op> {
        let io =
            |device, service_ns, iowait| Op::Io { device, service_ns, spread: DISK_SPREAD, iowait };
        let pages = io(self.pages, DATA_NS, true);
        let flush = io(self.flush, FLUSH_NS, true);
        let skip = |condition, steps| Op::SkipIf { condition, steps };
        let work = |cycles| Op::Compute(Work::fixed(cycles));
        // The bound workers run on the client's CPU, which its requests are from, while it sleeps.
        let end_io = if overwrites { 0.0 } else { END_IO_CYCLES };
        let logged = [
            pages.clone(),
            work(end_io),
            Op::Send(self.push),
            Op::Receive(self.pushed),
            io(self.log, LOG_NS, false),
            skip(Condition::FirstOfGroup, 2),
            // Who found the log on its way flushes the drive itself (`log_flushed`).
            flush.clone(),
            skip(Condition::Always, 1),
            work(LOG_CYCLES),
        ];
        // The step also notes the time that this write gives the file.
        let mut ops =
            vec![skip(Condition::SameJiffy, if overwrites { logged.len() as u16 + 1 } else { 0 })];
        ops.extend(logged);
        if overwrites {
            ops.extend([skip(Condition::Always, 2), pages, flush]);
        }
        ops
    }
}

/// A client that begins with stretch `first` of the load and records the time of each `timed` of them, for ever.
fn client(
    first: usize,
    timed: u16,
    group: LockId,
    filesystem: Filesystem,
    released: BarrierId,
    times: HistogramId,
) -> Vec<Op> {
    let mut ops = vec![Op::Memory(MEMORY), Op::Barrier(released)];
    let again = ops.len() as u16;
    // Where `timed` is no whole pass, all of the load is timed only after so many passes.
    let passes = if timed == PARTS { 1 } else { timed };
    for nth in 0..usize::from(PARTS * passes) {
        if nth % usize::from(timed) == 0 {
            ops.push(Op::Stamp);
        }
        let stretch = &STRETCHES[(first + nth) % STRETCHES.len()];
        ops.extend(stretch.steps(group, filesystem));
        if (nth + 1) % usize::from(timed) == 0 {
            ops.push(Op::Record { histogram: times, since: Since::Stamp });
        }
    }
    ops.push(Op::Loop { to: again, times: 0 });
    ops
}
