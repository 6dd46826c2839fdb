//! A build: `make -j` of objects by a compiler, in any shape, where `kernbench` has that of a kernel.
//!
//! make reads its files alone, then starts an object whenever the job server's pipe has a token. An object is a shell that loads, runs the
//! compiler, waits for it, and puts the token back. When all are done, make runs the linker. Shells are called `job0`, `job1` and so
//! on, as many names as there are jobs, which objects take in turn: a pattern such as `job3`, or `job*`, puts a job and its compilers, which
//! begin in the group of their parent, into a control group.

pub use crate::clock_costs::ClockCosts as Costs;
use crate::distribution::Distribution;
use crate::footprint::Footprint;
use crate::program::{Metric, Op, Program, ProgramId, QueueId, Reading, Workload};
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "build";

/// What is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Jobs at once (`make -j`).
    pub jobs: u16,
    /// Objects.
    pub objects: u32,
    /// Mean work of a compiler, in ms of a thread alone at the nominal clock.
    pub compile_ms: f64,
    /// How that differs from object to object.
    #[serde(default)]
    pub distribution: Distribution,
    /// Work of make before the first object, in ms.
    #[serde(default)]
    pub head_ms: f64,
    /// Work of the linker, in ms.
    #[serde(default)]
    pub link_ms: f64,
    /// Memory of a compiler and of the linker.
    pub memory: Option<Footprint>,
    /// CPUs it is bound to; all where absent.
    pub cpus: Option<CpuSet>,
}

/// Time of the build.
pub const SECONDS: &str = "seconds";
/// Name of the compilers' tasks.
pub const COMPILER: &str = "cc1";
/// Name of the linker's task.
pub const LINKER: &str = "ld";

/// The name of the shell of object `nth` under so many jobs.
pub fn job_name(nth: u32, jobs: u16) -> String {
    format!("job{}", nth % u32::from(jobs.max(1)))
}

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "jobs", params.jobs, 1..=8192, "1 to 8192")?;
    check::within(NAME, "objects", params.objects, 1..=1_000_000, "1 to 1000000")?;
    check::within(NAME, "compile_ms", params.compile_ms, 1e-3..=1e7, "1e-3 to 1e7")?;
    params.distribution.check(NAME, "distribution")?;
    check::within(NAME, "head_ms", params.head_ms, 0.0..=1e7, "0 to 1e7")?;
    check::within(NAME, "link_ms", params.link_ms, 0.0..=1e7, "0 to 1e7")?;
    if let Some(memory) = &params.memory {
        memory.check(NAME)?;
    }
    let mut w = Workload::default();
    let (begun, end) = (w.mark(), w.mark());
    let tokens = w.pipe();
    let work =
        |ms: f64, distribution: Distribution| distribution.compute(ms * 1e3 * costs.cycles_per_us);
    let mut main = vec![Op::Mark(begun)];
    if params.head_ms > 0.0 {
        main.push(work(params.head_ms, Distribution::Constant));
    }
    main.push(Op::Send(tokens));
    main.push(Op::Loop { to: main.len() as u16 - 1, times: params.jobs.into() });
    let compiler =
        tool(&mut w, params, costs, COMPILER, work(params.compile_ms, params.distribution));
    objects(&mut w, &mut main, params, tokens, compiler);
    main.push(Op::WaitChildren);
    if params.link_ms > 0.0 {
        let linker =
            tool(&mut w, params, costs, LINKER, work(params.link_ms, Distribution::Constant));
        main.extend(launch::command(linker));
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
        reading: Reading::Seconds { from: begun, to: end, scale: 1.0 },
    });
    Ok(w)
}

/// A program that loads, works and exits.
fn tool(w: &mut Workload, params: &Params, costs: &Costs, name: &str, work: Op) -> ProgramId {
    let memory = params.memory.map(|memory| memory.begin(costs.cycles_per_us));
    let own: Vec<Op> = memory.into_iter().chain([work]).collect();
    w.program(name, launch::executed(&own))
}

/// Steps that start all objects, each when there is a token for it.
fn objects(
    w: &mut Workload,
    main: &mut Vec<Op>,
    params: &Params,
    tokens: QueueId,
    compiler: ProgramId,
) {
    let names = u32::from(params.jobs).min(params.objects);
    let [fork, wait] = launch::command(compiler);
    let own = launch::executed(&[fork, wait, Op::Send(tokens)]);
    let shells: Vec<ProgramId> =
        (0..names).map(|nth| w.program(&job_name(nth, params.jobs), own.clone())).collect();
    let (rounds, rest) = (params.objects / names, (params.objects % names) as usize);
    for (times, shells) in [(rounds, shells.as_slice()), (1, &shells[..rest])] {
        if shells.is_empty() {
            continue;
        }
        let to = main.len() as u16;
        main.extend(shells.iter().flat_map(|&shell| [Op::Receive(tokens), Op::Fork(shell)]));
        main.push(Op::Loop { to, times });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_has_the_name_of_a_job() {
        let params = Params {
            jobs: 4,
            objects: 10,
            compile_ms: 1.0,
            distribution: Distribution::Constant,
            head_ms: 0.0,
            link_ms: 0.0,
            memory: None,
            cpus: None,
        };
        let w = build(&params, &Costs { cycles_per_us: 1e3 }).expect("a build");
        let jobs: Vec<&str> =
            w.programs.iter().map(|p| p.name.as_str()).filter(|n| n.starts_with("job")).collect();
        assert_eq!(jobs, ["job0", "job1", "job2", "job3"]);
        let make = w.programs.iter().find(|p| p.name == "make").expect("make");
        let forks = |name: &str| {
            let is = |op: &&Op| matches!(op, Op::Fork(p) if w.programs[p.index()].name == name);
            make.ops.iter().filter(is).count()
        };
        // Twice round in a loop, and two more.
        assert_eq!([forks("job0"), forks("job1"), forks("job2"), forks("job3")], [2, 2, 1, 1]);
    }
}
