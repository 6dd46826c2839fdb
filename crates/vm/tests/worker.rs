//! The worker as this computer builds it, run with what benchmarks are translated to.

use machine::CpuSet;
use std::process::Command;
use vm::programs::{FileSource, translate};
use vm::{Arch, Cache};
use workload::{Benchmark, Placement, ebizzy, false_sharing, netperf, schbench, stream};

fn host() -> Arch {
    match std::env::consts::ARCH {
        "x86_64" => Arch::X86,
        "aarch64" => Arch::Arm64,
        other => panic!("no worker for {other} is built natively here"),
    }
}

/// The first CPU that this process may run on.
fn a_cpu() -> CpuSet {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap();
    let allowed: CpuSet = list.trim().parse().unwrap();
    CpuSet::single(allowed.iter().next().unwrap())
}

fn small() -> [Benchmark; 5] {
    let (warmup_s, seconds, cpus) = (0.05, 0.3, None);
    let cpu = a_cpu();
    [
        Benchmark::Ebizzy(ebizzy::Params {
            threads: 2,
            seconds: 0.05,
            chunk_bytes: 100,
            chunks: 2,
            cpus: cpus.clone(),
        }),
        Benchmark::FalseSharing(false_sharing::Params { rounds: 1000, cpus: cpus.clone() }),
        Benchmark::Stream(stream::Params {
            array_mib: 1,
            passes: 2,
            element_cycles: 1.0,
            threads: None,
            placement: Placement::Default,
            cpus: Some(cpu),
        }),
        Benchmark::Schbench(schbench::Params {
            message_threads: 2,
            workers: 2,
            sleep_us: 10.0,
            work_us: 100.0,
            warmup_s,
            seconds,
            cpus: cpus.clone(),
        }),
        Benchmark::Netperf(netperf::Params { pairs: 2, warmup_s, seconds, cpus }),
    ]
}

#[test]
fn what_it_prints_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let worker = Cache::new(dir.path()).workers(host()).unwrap().worker;
    for benchmark in small() {
        let program = translate(&benchmark, &|_| Ok(String::new()), &|cpus| cpus).unwrap();
        assert_eq!(program.files, [("bin/worker".to_owned(), FileSource::Worker)]);
        // What comes before makes a guest ready.
        let line = program.command.lines().last().unwrap();
        let line = line.replace("${FILES:-}/bin/worker", &worker.display().to_string());
        let output = Command::new("sh").args(["-c", &line]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let values = program.values(&String::from_utf8(output.stdout).unwrap()).unwrap();
        assert!(values.iter().all(|&(_, value)| value > 0.0), "{values:?}");
        assert!(output.stderr.is_empty());
    }
}
