//! gitsource: the unit tests of git, `make test` without `-j`; seconds.
//!
//! As git's test suite does it: make runs one shell script after another; a script's test cases run git and the usual tools
//! in the foreground, each started by `vfork`, loaded and waited for, many of them in a subshell, which is forked, and git at times forks
//! another git. So
//! one chain of parents that wait for their children runs at a time, and a wake-up, a fork and an exec come every few hundred
//! us. Files are in the page cache; background jobs are left out, and so is that members of a pipeline run side by side.
//!
//! What a case does was counted with `strace -f` in 22 scripts of git 2.39, drawn at random (1110 cases): 32.6 forks, of which 11.8 load
//! no program, 12.1 loads of git and 8.6 of other programs, and 32.4 ms of a CPU (a Xeon at 4.05 GHz) of 33.4 ms in all. There
//! `true` took 0.72 ms, `git --version` 1.03 ms, and a subshell 0.13 ms.

pub use crate::no_costs::NoCosts as Costs;
use crate::placement::Placement;
use crate::program::{MemoryUse, Metric, Op, Program, Reading, Spread, Work, Workload};
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "gitsource";
/// Test cases of a script: about 900 scripts have 25,000 cases. Assumed.
const SCRIPT_CASES: u32 = 27;
/// Commands of a test case.
#[derive(Debug, Clone, Copy)]
enum Command {
    /// git alone.
    Git,
    /// git that runs another git.
    GitTwice,
    /// A tool such as grep, cmp or mkdir.
    Tool,
    /// A tool in a subshell.
    Subshell,
    /// git in a subshell.
    GitSubshell,
    /// A subshell that loads nothing.
    Bare,
}

use Command::{Bare, Git, GitSubshell, GitTwice, Subshell, Tool};

/// One test case, in an order that is assumed.
const CASE: [Command; 20] = [
    Subshell,
    Git,
    Subshell,
    GitTwice,
    Bare,
    Subshell,
    Git,
    GitSubshell,
    Subshell,
    Tool,
    GitTwice,
    Subshell,
    Git,
    Subshell,
    GitSubshell,
    Tool,
    Bare,
    Git,
    Subshell,
    GitTwice,
];

/// Processes that a test case forks.
pub const CASE_PROCESSES: u64 = {
    let (mut at, mut processes) = (0, 0);
    while at < CASE.len() {
        processes += match CASE[at] {
            Git | Tool | Bare => 1,
            GitTwice | Subshell | GitSubshell => 2,
        };
        at += 1;
    }
    processes
};

/// Core work in cycles beside loading: what the figures above leave for git; the others' is assumed.
const GIT: Work = Work { cycles: 4.5e6, spread: Spread::LogNormal(0.8) };
const TOOL: Work = Work { cycles: 0.4e6, spread: Spread::LogNormal(0.5) };
/// The shell between two commands, and a subshell that is forked and loads nothing.
const SHELL: Work = Work { cycles: 0.4e6, spread: Spread::LogNormal(0.5) };

/// Memory that a new process does not find in its caches: its text is there from the last one. Assumed.
const GIT_MEMORY: MemoryUse = MemoryUse {
    working_set_bytes: 256.0 * 1024.0,
    touches_per_kcycle: 4.0,
    overlap: 2.0,
    stream_bytes_per_kcycle: 0.0,
    stream_set_bytes: 0.0,
    placement: Placement::Default,
};
const TOOL_MEMORY: MemoryUse = MemoryUse { working_set_bytes: 64.0 * 1024.0, ..GIT_MEMORY };

/// How much is run, and what is around the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Test cases that the result stands for.
    pub cases: u32,
    /// Test cases that are run; the time is scaled to `cases`.
    pub cases_run: u32,
    /// CPUs it is bound to; all where absent.
    pub cpus: Option<CpuSet>,
}

/// The metric's name.
pub const SECONDS: &str = "seconds";

/// Builds the workload.
pub fn build(params: &Params, _: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "cases", params.cases, 1..=10_000_000, "1 to 10000000")?;
    check::within(NAME, "cases_run", params.cases_run, 1..=params.cases, "1 to `cases`")?;
    let mut w = Workload::default();
    let (begun, end) = (w.mark(), w.mark());
    let case = case(&mut w);
    let script = |w: &mut Workload, cases: u32| {
        let mut ops = case.clone();
        ops.push(Op::Loop { to: 0, times: cases });
        w.program("sh", launch::executed(&ops))
    };
    let mut main = vec![Op::Mark(begun)];
    let (whole, rest) = (params.cases_run / SCRIPT_CASES, params.cases_run % SCRIPT_CASES);
    for (scripts, cases) in [(whole, SCRIPT_CASES), (u32::from(rest > 0), rest)] {
        if scripts > 0 {
            let to = main.len() as u16;
            main.extend(launch::run(script(&mut w, cases)));
            main.push(Op::Loop { to, times: scripts });
        }
    }
    main.extend([Op::Mark(end), Op::Stop]);
    launch::from_shell(
        &mut w,
        Program { name: "make".to_string(), ops: main },
        params.cpus.clone(),
    );
    w.metrics.push(Metric {
        name: SECONDS.to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        reading: Reading::Seconds {
            from: begun,
            to: end,
            scale: f64::from(params.cases) / f64::from(params.cases_run),
        },
    });
    Ok(w)
}

/// A script's steps for one test case.
fn case(w: &mut Workload) -> Vec<Op> {
    let own = |work, memory| [Op::Memory(memory), Op::Compute(work)];
    let git = w.program("git", launch::executed(&own(GIT, GIT_MEMORY)));
    let mut ops = own(GIT, GIT_MEMORY).to_vec();
    ops.extend(launch::command(git));
    let twice = w.program("git", launch::executed(&ops));
    let tool = w.program("tool", launch::executed(&own(TOOL, TOOL_MEMORY)));
    let mut within = |program| {
        let mut ops = vec![Op::Compute(SHELL)];
        ops.extend(launch::run(program));
        w.program("sh", ops)
    };
    let (subshell, git_subshell) = (within(tool), within(git));
    let bare = w.program("sh", vec![Op::Compute(SHELL)]);
    let run = |command| {
        let started: Vec<Op> = match command {
            Git => launch::run(git).into(),
            GitTwice => launch::run(twice).into(),
            Tool => launch::run(tool).into(),
            Subshell => launch::command(subshell).into(),
            GitSubshell => launch::command(git_subshell).into(),
            Bare => launch::command(bare).into(),
        };
        [vec![Op::Compute(SHELL)], started].concat()
    };
    CASE.into_iter().flat_map(run).collect()
}
