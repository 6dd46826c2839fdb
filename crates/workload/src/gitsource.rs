//! gitsource: the unit tests of git, `make test` without `-j`; seconds.
//!
//! As git's test suite does it: make runs one shell script after another; a script's test cases run git and the usual tools
//! in the foreground, each started by `vfork`, loaded and waited for; what is in a subshell or a pipe is forked and then loaded, and git at times
//! forks another git. From a build, `git` is a script of a few lines that loads git in its own place. So
//! one chain of parents that wait for their children runs at a time, and a wake-up, a fork and an exec come every few hundred
//! us. Files are in the page cache; background jobs are left out, and so is that members of a pipeline run side by side.
//!
//! What a case does was counted with `strace -f` in 39 scripts of git 2.39, drawn at random (1015 cases): 14.0 processes, of which 4.1 run git by
//! its script, 3.1 are git that git runs, 5.9 run something else, and 1.0 load nothing. What each takes is counted in
//! guests (`process`), in five of the scripts. These have less to do than others: a case takes 16.6 ms of a Xeon there, and 34.8 ms in all 39. What is
//! missing is taken to be git's.

pub use crate::no_costs::NoCosts as Costs;
use crate::process::{CYCLES_PER_INSTRUCTION, Counted, SHELL, TOOL};
use crate::program::{Metric, Op, Program, Reading, Spread, Work, Workload};
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
    /// A tool in a subshell or a pipe.
    Subshell,
    /// A subshell that loads nothing.
    Bare,
}

use Command::{Bare, Git, GitTwice, Subshell, Tool};

/// One test case, in an order that is assumed.
const CASE: [Command; 11] =
    [Git, Tool, GitTwice, Tool, Subshell, GitTwice, Tool, Bare, Subshell, GitTwice, Tool];

/// Processes that a test case forks.
pub const CASE_PROCESSES: u64 = {
    let (mut at, mut processes) = (0, 0);
    while at < CASE.len() {
        processes += match CASE[at] {
            Git | Tool | Subshell | Bare => 1,
            GitTwice => 2,
        };
        at += 1;
    }
    processes
};

/// git's script, until it loads git.
const SCRIPT: Counted = Counted { instructions: 1.2e6, lines: 6_600.0 };
/// git after its script, and one that git runs, from loading to its end: 2.3 and 1.6 million instructions in the five scripts, and what is
/// missing of all cases' time, at the rate of those.
const GIT: Counted = Counted { instructions: 3.5e6, lines: 7_200.0 };
const GIT_BY_GIT: Counted = Counted { instructions: 2.8e6, lines: 8_950.0 };
/// A subshell that loads nothing.
const BARE: Counted = Counted { instructions: 0.24e6, lines: 2_950.0 };
/// How much gits differ, and others. Assumed.
const GIT_SPREAD: Spread = Spread::LogNormal(0.8);
const SPREAD: Spread = Spread::LogNormal(0.2);
/// Instructions of the shell between two commands: the median of what it executes between two forks (423,000), less the fork and the end of the last child.
/// Its lines are taken to be where they were.
const BETWEEN: f64 = 310_000.0;

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
        w.program("sh", SHELL.loaded(SPREAD, &ops))
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
    // The script and git are one process, which loads twice.
    let by_script =
        |more: &[Op]| SCRIPT.loaded(SPREAD, &[&GIT.loaded_again(GIT_SPREAD), more].concat());
    let inner = w.program("git", GIT_BY_GIT.loaded(GIT_SPREAD, &[]));
    let git = w.program("git", by_script(&[]));
    let twice = w.program("git", by_script(&launch::command(inner)));
    let tool = w.program("tool", TOOL.loaded(SPREAD, &[]));
    let bare = w.program("sh", BARE.steps(SPREAD).into());
    let between = Op::Compute(Work { cycles: BETWEEN * CYCLES_PER_INSTRUCTION, spread: SPREAD });
    let run = |command| {
        let started: Vec<Op> = match command {
            Git => launch::run(git).into(),
            GitTwice => launch::run(twice).into(),
            Tool => launch::run(tool).into(),
            Subshell => launch::command(tool).into(),
            Bare => launch::command(bare).into(),
        };
        [vec![between.clone()], started].concat()
    };
    CASE.into_iter().flat_map(run).collect()
}
