//! kernbench: `make -j` of a kernel's `vmlinux`; seconds.
//!
//! As make and kbuild do it: one thread reads makefiles and asks the compiler what it can do, one short command after
//! another; a make for each directory reads its makefile and starts its objects; at most `jobs` makes that read and objects
//! that compile hold one of the job server's tokens, which lie in a pipe. An object is a shell that runs gcc, which runs cc1
//! and then as, after it fixdep, and rm; each is started by `vfork`, loaded, and waited for. At the end one
//! thread links `vmlinux` three times, with the tables of symbols made in between. Sources are in the page cache.
//!
//! The last step of a job puts its token back, where make's own child handler does; a make for a directory puts its token
//! back when it has read its makefile and takes one for each object, where make uses the one it has for the first.

pub use crate::no_costs::NoCosts as Costs;
use crate::placement::Placement;
use crate::program::{
    MemoryUse, Metric, Op, Program, ProgramId, QueueId, Reading, Spread, Work, Workload,
};
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "kernbench";
/// Name of the compilers' tasks.
pub const COMPILER: &str = "cc1";
/// Name of an object's shell.
pub const JOB: &str = "sh";
/// Objects of a directory. Assumed.
const DIRECTORY_OBJECTS: u32 = 8;
/// Objects for one command of the head: about 200 commands for a kernel of 2,500 objects. Assumed.
const OBJECTS_PER_COMMAND: u32 = 12;
const MIB: f64 = 1024.0 * 1024.0;

/// Core work in cycles. An object takes 1.1e9 cycles with what its memory takes: 850 s of CPU time at about 3.2 GHz for 2,500 objects,
/// on the machine of the frequency study. How that divides among programs, and how much objects differ, is measured: `strace` of
/// `make -j1 fs/ext4/ mm/ net/ipv4/` of 6.12 by gcc 12, where 218 runs of cc1 take 505 ms in the median and 573 ms on average, nine of
/// ten less than 1064 ms, and as 5 and 8 ms.
const COMPILE: Work = Work { cycles: 820e6, spread: Spread::LogNormal(0.5) };
const ASSEMBLE: Work = Work { cycles: 20e6, spread: Spread::LogNormal(0.7) };
/// gcc's driver and the shell, each beside its children. This and the rest is assumed.
const DRIVE: Work = Work { cycles: 2e6, spread: Spread::LogNormal(0.3) };
/// fixdep, and objtool where there is one for each object.
const NOTE: Work = Work { cycles: 15e6, spread: Spread::LogNormal(0.5) };
/// rm of the list of an object's headers; less than 2 ms in that trace, most of which is its start.
const REMOVE: Work = Work { cycles: 1e6, spread: Spread::LogNormal(0.3) };
/// A make reads a directory's makefile and looks at its files.
const READ: Work = Work { cycles: 30e6, spread: Spread::LogNormal(0.5) };
/// A command of the head: the compiler on an empty file, or a script.
const ASK: Work = Work { cycles: 40e6, spread: Spread::LogNormal(0.5) };
/// A directory's archive.
const ARCHIVE: Work = Work { cycles: 5e6, spread: Spread::LogNormal(0.3) };
/// One of three links and of two tables of symbols, of a whole kernel.
const LINK_CYCLES: f64 = 2.5e9;
const SYMBOLS_CYCLES: f64 = 1.0e9;

/// A compiler's trees and code, beyond the first level. Measured: cc1 of gcc 12 on three files of 6.12 under cachegrind, whose last level
/// stood for what a compiler has of the caches. With 512 KiB, 3.2 of 1000 instructions miss; with 1, 2, 4, 8 and 16 MiB 1.8, 1.2, 0.7,
/// 0.5 and 0.4, of which 0.3 are memory that is new. An even set of this size has 3.3, 2.7, 1.3 and none, at an instruction a cycle, as
/// those files took. How many misses are in flight is assumed.
const COMPILER_MEMORY: MemoryUse = MemoryUse {
    working_set_bytes: 3.0 * MIB,
    touches_per_kcycle: 4.0,
    overlap: 1.5,
    stream_bytes_per_kcycle: 0.0,
    stream_set_bytes: 0.0,
    placement: Placement::Default,
};
/// Assumed.
const ASSEMBLER_MEMORY: MemoryUse = MemoryUse { working_set_bytes: 2.0 * MIB, ..COMPILER_MEMORY };
/// A linker goes through all objects.
const LINKER_MEMORY: MemoryUse = MemoryUse {
    working_set_bytes: 256.0 * MIB,
    overlap: 2.0,
    stream_bytes_per_kcycle: 100.0,
    stream_set_bytes: 256.0 * MIB,
    ..COMPILER_MEMORY
};

/// What is built, and what is around the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Jobs at once (`make -j`).
    pub jobs: u32,
    /// Objects that the result stands for.
    pub objects: u32,
    /// Objects that are built; head and link shrink as they do, and the time is scaled to `objects`.
    pub objects_run: u32,
    /// CPUs it is bound to; all where absent.
    pub cpus: Option<CpuSet>,
}

/// The metric's name.
pub const SECONDS: &str = "seconds";

/// Builds the workload.
pub fn build(params: &Params, _: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "jobs", params.jobs, 1..=65_536, "1 to 65536")?;
    check::within(NAME, "objects", params.objects, 1..=1_000_000, "1 to 1000000")?;
    check::within(NAME, "objects_run", params.objects_run, 1..=params.objects, "1 to `objects`")?;
    let mut w = Workload::default();
    let (begun, end) = (w.mark(), w.mark());
    let tokens = w.pipe();
    let mut main = vec![Op::Mark(begun)];
    head(&mut w, &mut main, params.objects_run);
    main.push(Op::Send(tokens));
    main.push(Op::Loop { to: main.len() as u16 - 1, times: params.jobs });
    let object = object(&mut w, tokens);
    let whole = params.objects_run / DIRECTORY_OBJECTS;
    let rest = params.objects_run % DIRECTORY_OBJECTS;
    for (directories, objects) in [(whole, DIRECTORY_OBJECTS), (u32::from(rest > 0), rest)] {
        if directories > 0 {
            let to = main.len() as u16;
            let make = w.program("make", directory(tokens, object, objects));
            main.push(Op::Receive(tokens));
            main.extend(launch::start(make));
            main.push(Op::Loop { to, times: directories });
        }
    }
    main.push(Op::WaitChildren);
    let part = f64::from(params.objects_run) / f64::from(params.objects);
    link(&mut w, &mut main, part);
    main.extend([Op::Mark(end), Op::Stop]);
    w.left.push((tokens, params.jobs));
    launch::from_shell(
        &mut w,
        Program { name: "make".to_string(), ops: main },
        params.cpus.clone(),
    );
    w.metrics.push(Metric {
        name: SECONDS.to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        reading: Reading::Seconds { from: begun, to: end, scale: 1.0 / part },
    });
    Ok(w)
}

/// A program that loads, computes and exits.
fn tool(w: &mut Workload, name: &str, work: Work, memory: MemoryUse) -> ProgramId {
    w.program(name, launch::executed(&[Op::Memory(memory), Op::Compute(work)]))
}

/// The serial start.
fn head(w: &mut Workload, main: &mut Vec<Op>, objects: u32) {
    let ask = tool(w, "gcc", ASK, ASSEMBLER_MEMORY);
    main.push(Op::Compute(READ));
    let to = main.len() as u16;
    main.extend(launch::run(ask));
    main.push(Op::Loop { to, times: objects.div_ceil(OBJECTS_PER_COMMAND) });
}

/// One object from its shell on; puts its token back.
fn object(w: &mut Workload, tokens: QueueId) -> ProgramId {
    let cc1 = tool(w, COMPILER, COMPILE, COMPILER_MEMORY);
    let assembler = tool(w, "as", ASSEMBLE, ASSEMBLER_MEMORY);
    let mut gcc = vec![Op::Compute(DRIVE)];
    gcc.extend(launch::run(cc1));
    gcc.extend(launch::run(assembler));
    let gcc = w.program("gcc", launch::executed(&gcc));
    let note = tool(w, "fixdep", NOTE, ASSEMBLER_MEMORY);
    let remove = tool(w, "rm", REMOVE, ASSEMBLER_MEMORY);
    let mut shell = vec![Op::Compute(DRIVE)];
    for command in [gcc, note, remove] {
        shell.extend(launch::run(command));
    }
    shell.push(Op::Send(tokens));
    w.program(JOB, launch::executed(&shell))
}

/// A make for one directory, started with a token.
fn directory(tokens: QueueId, object: ProgramId, objects: u32) -> Vec<Op> {
    let [fork, loaded] = launch::start(object);
    launch::executed(&[
        Op::Compute(READ),
        Op::Send(tokens),
        Op::Receive(tokens),
        fork,
        loaded,
        Op::Loop { to: 2, times: objects },
        Op::WaitChildren,
        Op::Receive(tokens),
        Op::Compute(ARCHIVE),
        Op::Send(tokens),
    ])
}

/// The serial end, for `part` of a kernel.
fn link(w: &mut Workload, main: &mut Vec<Op>, part: f64) {
    let ld = tool(w, "ld", Work::fixed(LINK_CYCLES * part), LINKER_MEMORY);
    let kallsyms = tool(w, "kallsyms", Work::fixed(SYMBOLS_CYCLES * part), LINKER_MEMORY);
    for program in [ld, kallsyms, ld, kallsyms, ld] {
        main.extend(launch::run(program));
    }
}
