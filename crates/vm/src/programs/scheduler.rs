//! The schedulers' own benchmarks: perf's pipe and hackbench.

use super::{MANY_FILES, Numbering, Output, Program};
use workload::{hackbench, sched_pipe};

pub(super) fn sched_pipe(params: &sched_pipe::Params, numbers: Numbering<'_>) -> Program {
    let sched_pipe::Params { loops, loops_run, cpus } = params;
    let command = format!("perf bench --format default sched pipe -l {loops_run}\n");
    Program {
        packages: vec!["linux-perf"],
        programs: vec!["usr/bin/perf"],
        files: Vec::new(),
        command: numbers.bound(cpus.clone(), &command),
        output: Output::Pipe { name: sched_pipe::SECONDS, operations: *loops },
        notes: Vec::new(),
        guest_notes: Vec::new(),
    }
}

pub(super) fn hackbench(params: &hackbench::Params, numbers: Numbering<'_>) -> Program {
    let hackbench::Params { groups, loops, fds, datasize, pipe, threads, cpus } = params;
    let pipe = if *pipe { " -p" } else { "" };
    let kind = if *threads { "-T" } else { "-P" };
    let command = format!("hackbench -g {groups} -l {loops} -f {fds} -s {datasize}{pipe} {kind}\n");
    Program {
        packages: vec!["rt-tests"],
        programs: vec!["usr/bin/hackbench"],
        files: Vec::new(),
        command: format!("{MANY_FILES}{}", numbers.bound(cpus.clone(), &command)),
        output: Output::Hackbench { name: hackbench::SECONDS },
        notes: Vec::new(),
        guest_notes: Vec::new(),
    }
}
