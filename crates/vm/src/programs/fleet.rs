//! What fleets run, by our program of that name.

use super::own::{bound, latencies};
use super::{
    FILES, FLEET, FileSource, MANY_FILES, Numbering, OPENMP_BIND, Output, Program, Untranslated,
};
use workload::parallel::Bind;
use workload::service::Load;
use workload::{
    Footprint, Placement, build, copies, noisy, oltp, parallel, pipeline, service, stream,
};

/// What is said of all that work in time of a thread alone.
const WORK_NOTE: &str = "work is that of a thread alone in the guest, measured before the first";
/// And where memory comes in.
const MEMORY_NOTE: &str =
    "memory is touched as often as said; overlap is not used: misses overlap as they do";

/// The program's part `part` with `arguments`; its results are called `names`.
fn fleet(part: &str, arguments: &str, names: Vec<String>) -> Program {
    Program {
        packages: Vec::new(),
        programs: Vec::new(),
        files: vec![(FLEET.to_owned(), FileSource::Fleet)],
        command: format!("{FILES}/{FLEET} {part} {arguments}\n"),
        output: Output::Named(names),
        notes: vec![WORK_NOTE.to_owned()],
        guest_notes: Vec::new(),
    }
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// As the program takes it.
fn memory(footprint: Option<&Footprint>) -> String {
    footprint.map_or_else(
        || "none".to_owned(),
        |f| {
            let placement = placement(f.placement);
            format!("{}:{}:{}:{placement}", f.working_set_kib, f.touches_per_us, f.gb_per_s)
        },
    )
}

/// As the worker takes it.
pub(super) fn placement(placement: Placement) -> String {
    placement.to_string().replace(' ', "=").replace(',', "+")
}

/// Says what differs where threads have memory.
fn noted(program: Program, has_memory: bool) -> Program {
    let mut notes = program.notes;
    notes.extend(has_memory.then(|| MEMORY_NOTE.to_owned()));
    Program { notes, ..program }
}

/// What libgomp takes from the environment, before the command.
fn openmp(program: Program, threads: usize, more: &str) -> Program {
    let command = format!("OMP_NUM_THREADS={threads} OMP_DYNAMIC=false {more}{}", program.command);
    Program { command, ..program }
}

pub(super) fn parallel(params: &parallel::Params, numbers: Numbering<'_>) -> Program {
    let parallel::Params { loops, iterations, iteration_us, imbalance, serial_us, .. } = params;
    let memory_of = memory(params.memory.as_ref());
    let arguments = format!(
        "loops={loops} iterations={iterations} iteration_us={iteration_us} imbalance={imbalance} \
         serial_us={serial_us} memory={memory_of}"
    );
    let mut names = named(&[parallel::SECONDS]);
    names.extend(latencies("loop", &["50", "99"]));
    names.push(parallel::BARRIER_PERCENT.to_owned());
    let own = fleet("parallel", &arguments, names);
    let mut more = format!("OMP_SCHEDULE={} ", params.schedule);
    if let Some(spins) = params.spin_count {
        more.push_str(&format!("GOMP_SPINCOUNT={spins} "));
    }
    if let (Some(bind), Some(cpus)) = (params.bind, &params.cpus) {
        let places: Vec<String> =
            numbers.of(cpus.clone()).iter().map(|cpu| format!("{{{cpu}}}")).collect();
        let bind = match bind {
            Bind::Close => "close",
            Bind::Spread => "spread",
        };
        more.push_str(&format!("OMP_PLACES='{}' {OPENMP_BIND}{bind} ", places.join(",")));
    }
    let own = bound(own, params.cpus.clone(), numbers);
    noted(openmp(own, params.threads.into(), &more), params.memory.is_some())
}

pub(super) fn stream(params: &stream::Params, numbers: Numbering<'_>) -> Program {
    let stream::Params { array_mib, passes, .. } = params;
    let placement = placement(params.placement);
    let names = stream::KERNELS.map(|(kernel, _)| stream::metric_name(kernel)).to_vec();
    let own = fleet(
        "stream",
        &format!("array_mib={array_mib} passes={passes} placement={placement}"),
        names,
    );
    let own = bound(own, params.cpus.clone(), numbers);
    let notes = vec!["element_cycles is not used: an element takes what it takes".to_owned()];
    Program { notes, ..openmp(own, params.thread_count(), "") }
}

pub(super) fn copies(params: &copies::Params, numbers: Numbering<'_>) -> Program {
    let copies::Params { copies, work_s, .. } = params;
    let memory_of = memory(params.memory.as_ref());
    let bind = u8::from(params.bound);
    let arguments = format!("copies={copies} work_s={work_s} bound={bind} memory={memory_of}");
    let names = named(&[copies::SECONDS, copies::COPY_MS, copies::COPIES_PER_S]);
    let own = bound(fleet("copies", &arguments, names), params.cpus.clone(), numbers);
    noted(own, params.memory.is_some())
}

pub(super) fn pipeline(params: &pipeline::Params, numbers: Numbering<'_>) -> Program {
    let stages: Vec<String> = params
        .stages
        .iter()
        .enumerate()
        .map(|(at, stage)| {
            let pipeline::Stage { threads, work_us, distribution, .. } = stage;
            let (name, ordered) = (params.name(at), u8::from(stage.ordered));
            let memory = memory(stage.memory.as_ref());
            format!("{name},{threads},{work_us},{distribution},{ordered},{memory}")
        })
        .collect();
    let pipeline::Params { queue, warmup_s, seconds, .. } = params;
    let per_s = params.per_s.unwrap_or(0.0);
    let arguments = format!(
        "stages={} queue={queue} per_s={per_s} warmup_s={warmup_s} seconds={seconds}",
        stages.join("/")
    );
    let mut names = named(&[pipeline::ITEMS_PER_S]);
    names.extend(latencies("item", &["50", "99"]));
    let own = bound(fleet("pipeline", &arguments, names), params.cpus.clone(), numbers);
    noted(own, params.stages.iter().any(|stage| stage.memory.is_some()))
}

pub(super) fn service(
    params: &service::Params,
    numbers: Numbering<'_>,
) -> Result<Program, Untranslated> {
    if params.irq_cpus.is_some() {
        return Err(Untranslated::Never {
            benchmark: "service",
            reason: "with `irq_cpus` its users are on other machines, and a guest is alone",
        });
    }
    let (senders, per_s, think_ms) = match params.load {
        Load::Open { per_s, generators } => (u32::from(generators), per_s, 0.0),
        Load::Closed { users, think_ms } => (users, 0.0, think_ms),
    };
    let service::Params { workers, work_us, distribution, lock_share, .. } = params;
    let (warmup_s, seconds) = (params.warmup_s, params.seconds);
    let deadline_ms = params.deadline_ms.unwrap_or(0.0);
    let second = match &params.fan_out {
        Some(f) => format!(
            "asks={} leaves={} leaf_us={} leaf_distribution={} leaf_memory={}",
            f.requests,
            f.workers,
            f.work_us,
            f.distribution,
            memory(f.memory.as_ref())
        ),
        None => "asks=0 leaves=0 leaf_us=0 leaf_distribution=constant leaf_memory=none".to_owned(),
    };
    let arguments = format!(
        "workers={workers} senders={senders} per_s={per_s} think_ms={think_ms} work_us={work_us} \
         distribution={distribution} lock_share={lock_share} {second} deadline_ms={deadline_ms} \
         memory={} warmup_s={warmup_s} seconds={seconds}",
        memory(params.memory.as_ref())
    );
    let mut names = named(&[service::REQUESTS_PER_S]);
    names.extend(params.deadline_ms.map(|_| service::GOODPUT_PER_S.to_owned()));
    names.extend(latencies("latency", &["50", "90", "99", "99.9"]));
    let own = bound(fleet("service", &arguments, names), params.cpus.clone(), numbers);
    let second = params.fan_out.and_then(|fan_out| fan_out.memory);
    Ok(noted(own, params.memory.or(second).is_some()))
}

pub(super) fn oltp(params: &oltp::Params, numbers: Numbering<'_>) -> Program {
    let oltp::Params { connections, think_ms, statements, statement_us, distribution, .. } = params;
    let oltp::Params { writes_from, rows, log_us, warmup_s, seconds, .. } = params;
    let arguments = format!(
        "connections={connections} think_ms={think_ms} statements={statements} \
         statement_us={statement_us} distribution={distribution} writes_from={writes_from} \
         rows={rows} log_us={log_us} warmup_s={warmup_s} seconds={seconds}"
    );
    let mut names = named(&[oltp::TRANSACTIONS_PER_S]);
    names.extend(latencies("transaction", &["50", "90", "99", "99.9"]));
    let own = bound(fleet("oltp", &arguments, names), params.cpus.clone(), numbers);
    let mut notes = own.notes;
    notes.push("the log is a device that takes its time and writes nothing".to_owned());
    Program { command: format!("{MANY_FILES}{}", own.command), notes, ..own }
}

pub(super) fn build(params: &build::Params, numbers: Numbering<'_>) -> Program {
    let build::Params { jobs, objects, compile_ms, distribution, head_ms, link_ms, .. } = params;
    let arguments = format!(
        "jobs={jobs} objects={objects} compile_ms={compile_ms} distribution={distribution} \
         head_ms={head_ms} link_ms={link_ms} memory={}",
        memory(params.memory.as_ref())
    );
    let own = fleet("build", &arguments, named(&[build::SECONDS]));
    let own = bound(own, params.cpus.clone(), numbers);
    let mut notes = own.notes;
    notes.push("a compiler is our program, loaded anew; it reads and writes no files".to_owned());
    noted(Program { notes, ..own }, params.memory.is_some())
}

pub(super) fn noisy(params: &noisy::Params, numbers: Numbering<'_>) -> Program {
    let burst_us = params.burst_us();
    let (result, _, units) = params.result();
    let (period_us, pipe) = match params.kind {
        noisy::Kind::Cpu { share, period_ms } if share < 1.0 => (period_ms * 1e3, false),
        noisy::Kind::Wakeups { per_s, pipe, .. } => (1e6 / per_s, pipe),
        _ => (0.0, false),
    };
    let noisy::Params { threads, warmup_s, seconds, .. } = params;
    let footprint = params.footprint();
    let arguments = format!(
        "threads={threads} result={result} units={units} period_us={period_us} \
         burst_us={burst_us} pipe={} memory={} warmup_s={warmup_s} seconds={seconds}",
        u8::from(pipe),
        memory(footprint.as_ref())
    );
    let mut names = named(&[result]);
    if matches!(params.kind, noisy::Kind::Wakeups { .. }) {
        names.extend(latencies("late", &["50", "99"]));
    }
    let own = bound(fleet("noisy", &arguments, names), params.cpus.clone(), numbers);
    noted(own, footprint.is_some())
}
