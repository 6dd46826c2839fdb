//! Benchmarks that our worker is.

use super::{FILES, FileSource, MANY_FILES, Numbering, Output, Program, WORKER};
use machine::CpuSet;
use workload::{ebizzy, false_sharing, netperf, schbench, stream};

/// The worker's part `part` with `arguments`; its results are called `names`.
fn worker(part: &str, arguments: &str, names: Vec<String>) -> Program {
    Program {
        packages: Vec::new(),
        programs: Vec::new(),
        files: vec![(WORKER.to_owned(), FileSource::Worker)],
        command: format!("{FILES}/{WORKER} {part} {arguments}\n"),
        output: Output::Named(names),
        notes: Vec::new(),
        guest_notes: Vec::new(),
    }
}

/// The same, bound to the machine's `cpus`.
pub(super) fn bound(program: Program, cpus: Option<CpuSet>, numbers: Numbering<'_>) -> Program {
    Program { command: numbers.bound(cpus, &program.command), ..program }
}

/// Names of mean and percentiles, as [`workload::Metric::latencies`] has them.
pub(super) fn latencies(name: &str, percents: &[&str]) -> Vec<String> {
    let tails = percents.iter().map(|percent| format!("{name}_p{percent}_us"));
    std::iter::once(format!("{name}_mean_us")).chain(tails).collect()
}

pub(super) fn ebizzy(params: &ebizzy::Params, numbers: Numbering<'_>) -> Program {
    let ebizzy::Params { threads, seconds, chunk_bytes, chunks, cpus } = params;
    let arguments =
        format!("threads={threads} seconds={seconds} chunk_bytes={chunk_bytes} chunks={chunks}");
    let own = worker("ebizzy", &arguments, vec![ebizzy::RECORDS_PER_S.to_owned()]);
    bound(own, cpus.clone(), numbers)
}

pub(super) fn false_sharing(params: &false_sharing::Params, numbers: Numbering<'_>) -> Program {
    let arguments = format!("rounds={}", params.rounds);
    let names = vec![false_sharing::SECONDS.to_owned()];
    bound(worker("false_sharing", &arguments, names), params.cpus.clone(), numbers)
}

pub(super) fn stream(params: &stream::Params, numbers: Numbering<'_>) -> Program {
    let stream::Params { array_mib, passes, cpus, .. } = params;
    let cpus = numbers.of(cpus.clone().unwrap_or_default());
    let placement = super::fleet::placement(params.placement);
    let arguments =
        format!("array_mib={array_mib} passes={passes} placement={placement} cpus={cpus}");
    let names = stream::KERNELS.map(|(kernel, _)| stream::metric_name(kernel)).to_vec();
    let notes = vec!["element_cycles is not used: an element takes what it takes".to_owned()];
    Program { notes, ..worker("stream", &arguments, names) }
}

pub(super) fn schbench(params: &schbench::Params, numbers: Numbering<'_>) -> Program {
    let schbench::Params { message_threads, workers, sleep_us, work_us, .. } = params;
    let (warmup_s, seconds) = (params.warmup_s, params.seconds);
    let arguments = format!(
        "message_threads={message_threads} workers={workers} sleep_us={sleep_us} work_us={work_us} \
         warmup_s={warmup_s} seconds={seconds}"
    );
    let percents = ["50", "90", "99", "99.9"];
    let mut names = latencies("wakeup", &percents);
    names.extend(latencies("request", &percents));
    names.push("requests_per_s".to_owned());
    let note = "work_us is that of a thread alone in the guest, measured before the first request";
    let own = bound(worker("schbench", &arguments, names), params.cpus.clone(), numbers);
    Program { notes: vec![note.to_owned()], ..own }
}

pub(super) fn netperf(params: &netperf::Params, numbers: Numbering<'_>) -> Program {
    let netperf::Params { pairs, warmup_s, seconds, cpus } = params;
    let arguments = format!("pairs={pairs} warmup_s={warmup_s} seconds={seconds}");
    let mut names = vec![netperf::TRANSACTIONS_PER_S.to_owned()];
    names.extend(latencies("round_trip", &["50", "99"]));
    let own = bound(worker("netperf", &arguments, names), cpus.clone(), numbers);
    let command = format!("{MANY_FILES}{}", own.command);
    let notes = vec!["TCP_RR by our worker: netperf has no percentiles over all pairs".to_owned()];
    Program { command, notes, ..own }
}
