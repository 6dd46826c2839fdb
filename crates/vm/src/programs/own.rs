//! Benchmarks that our worker is.

use super::{FileSource, MANY_FILES, Output, Program, WORKER, bound};
use machine::CpuSet;
use workload::{ebizzy, false_sharing, netperf, schbench, stream};

/// The worker's part `part` with `arguments`, bound to `cpus`.
fn worker(part: &str, arguments: &str, cpus: Option<CpuSet>, names: Vec<String>) -> Program {
    Program {
        packages: Vec::new(),
        programs: Vec::new(),
        files: vec![(WORKER.to_owned(), FileSource::Worker)],
        command: bound(cpus, &format!("/{WORKER} {part} {arguments}\n")),
        output: Output::Named(names),
        notes: Vec::new(),
    }
}

/// Names of mean and percentiles, as [`workload::Metric::latencies`] has them.
fn latencies(name: &str, percents: &[&str]) -> Vec<String> {
    let tails = percents.iter().map(|percent| format!("{name}_p{percent}_us"));
    std::iter::once(format!("{name}_mean_us")).chain(tails).collect()
}

pub(super) fn ebizzy(params: &ebizzy::Params) -> Program {
    let ebizzy::Params { threads, seconds, chunk_bytes, chunks, cpus } = params;
    let arguments =
        format!("threads={threads} seconds={seconds} chunk_bytes={chunk_bytes} chunks={chunks}");
    worker("ebizzy", &arguments, cpus.clone(), vec![ebizzy::RECORDS_PER_S.to_owned()])
}

pub(super) fn false_sharing(params: &false_sharing::Params) -> Program {
    let arguments = format!("rounds={}", params.rounds);
    let names = vec![false_sharing::SECONDS.to_owned()];
    worker("false_sharing", &arguments, params.cpus.clone(), names)
}

pub(super) fn stream(params: &stream::Params) -> Program {
    let stream::Params { array_mib, passes, element_cycles: _, cpus } = params;
    let arguments = format!("array_mib={array_mib} passes={passes} cpus={cpus}");
    let names = stream::KERNELS.map(|(kernel, _)| stream::metric_name(kernel)).to_vec();
    let notes = vec!["element_cycles is not used: an element takes what it takes".to_owned()];
    Program { notes, ..worker("stream", &arguments, None, names) }
}

pub(super) fn schbench(params: &schbench::Params) -> Program {
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
    Program {
        notes: vec![note.to_owned()],
        ..worker("schbench", &arguments, params.cpus.clone(), names)
    }
}

pub(super) fn netperf(params: &netperf::Params) -> Program {
    let netperf::Params { pairs, warmup_s, seconds, cpus } = params;
    let arguments = format!("pairs={pairs} warmup_s={warmup_s} seconds={seconds}");
    let mut names = vec![netperf::TRANSACTIONS_PER_S.to_owned()];
    names.extend(latencies("round_trip", &["50", "99"]));
    let own = worker("netperf", &arguments, cpus.clone(), names);
    let command = format!("{MANY_FILES}ip link set lo up || exit 1\n{}", own.command);
    let notes = vec!["TCP_RR by our worker: netperf has no percentiles over all pairs".to_owned()];
    Program { command, notes, ..own }
}
