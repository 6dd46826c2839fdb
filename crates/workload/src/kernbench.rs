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
use crate::process::{Counted, SHELL, TOOL};
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
/// Objects for one round of the head's commands: 62 rounds for a kernel of 2,500 objects. `make -j1 prepare scripts` of 6.12's defconfig loads 792
/// programs (`strace`), among them 88 times gcc, 79 times cc1, and 182 shells. 20 or so compile the build's own tools, which are left out.
const OBJECTS_PER_ROUND: u32 = 40;
const MIB: f64 = 1024.0 * 1024.0;

/// Core work in cycles. An object takes 1.1e9 cycles with what its memory takes: 850 s of CPU time at about 3.2 GHz for 2,500 objects,
/// on the machine of the frequency study. How that divides among programs, and how much objects differ, is measured: `strace` of
/// `make -j1 fs/ext4/ mm/ net/ipv4/` of 6.12 by gcc 12, where 218 runs of cc1 take 505 ms in the median and 573 ms on average, nine of
/// ten less than 1064 ms, and as 5 and 8 ms.
const COMPILE: Work = Work { cycles: 820e6, spread: Spread::LogNormal(0.5) };
const ASSEMBLE: Work = Work { cycles: 20e6, spread: Spread::LogNormal(0.7) };
/// fixdep's work, and objtool's where there is one for each object, beside what a program of coreutils takes. Assumed.
const NOTE: Work = Work { cycles: 15e6, spread: Spread::LogNormal(0.5) };
/// gcc's driver, until it starts cc1; cc1 that compiles an empty file; as, on one. Counted as in `process`.
const DRIVER: Counted = Counted { instructions: 1.65e6, lines: 8_950.0 };
const EMPTY: Counted = Counted { instructions: 20.1e6, lines: 32_450.0 };
const EMPTY_ASSEMBLY: Counted = Counted { instructions: 3.7e6, lines: 22_600.0 };
/// How they differ. Assumed.
const SPREAD: Spread = Spread::LogNormal(0.2);
/// A make reads a directory's makefile and looks at its files.
const READ: Work = Work { cycles: 30e6, spread: Spread::LogNormal(0.5) };
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

/// A program whose work is given; what loading it takes is part of that.
fn tool(w: &mut Workload, name: &str, work: Work, memory: MemoryUse) -> ProgramId {
    w.program(name, vec![Op::Exec, Op::Memory(memory), Op::Compute(work)])
}

/// The serial start: rounds in which three shells try an option of the compiler and run five small commands.
fn head(w: &mut Workload, main: &mut Vec<Op>, objects: u32) {
    let cc1 = w.program(COMPILER, EMPTY.loaded(SPREAD, &[]));
    let assembler = w.program("as", EMPTY_ASSEMBLY.loaded(SPREAD, &[]));
    let gcc = driver(w, cc1, assembler);
    let small = w.program("rm", TOOL.loaded(SPREAD, &[]));
    let ask = shell(w, &[gcc, small], &[]);
    let other = shell(w, &[small, small], &[]);
    main.push(Op::Compute(READ));
    let to = main.len() as u16;
    for program in [ask, other, other] {
        main.extend(launch::run(program));
    }
    main.push(Op::Loop { to, times: objects.div_ceil(OBJECTS_PER_ROUND) });
}

/// gcc, which runs cc1 and as.
fn driver(w: &mut Workload, cc1: ProgramId, assembler: ProgramId) -> ProgramId {
    let children = [launch::run(cc1), launch::run(assembler)].concat();
    w.program("gcc", DRIVER.loaded(SPREAD, &children))
}

/// A shell that runs `commands` one after the other, and then takes `more`.
fn shell(w: &mut Workload, commands: &[ProgramId], more: &[Op]) -> ProgramId {
    let mut ops: Vec<Op> = commands.iter().flat_map(|&command| launch::run(command)).collect();
    ops.extend_from_slice(more);
    w.program(JOB, SHELL.loaded(SPREAD, &ops))
}

/// One object from its shell on; puts its token back.
fn object(w: &mut Workload, tokens: QueueId) -> ProgramId {
    let cc1 = tool(w, COMPILER, COMPILE, COMPILER_MEMORY);
    let assembler = tool(w, "as", ASSEMBLE, ASSEMBLER_MEMORY);
    let gcc = driver(w, cc1, assembler);
    let note = [Op::Memory(ASSEMBLER_MEMORY), Op::Compute(NOTE)];
    let note = w.program("fixdep", TOOL.loaded(SPREAD, &note));
    let remove = w.program("rm", TOOL.loaded(SPREAD, &[]));
    shell(w, &[gcc, note, remove], &[Op::Send(tokens)])
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
