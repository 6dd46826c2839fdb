//! What fleets run, as this computer builds it, run with what benchmarks are translated to.

use std::process::Command;
use vm::programs::{FileSource, translate};
use vm::{Arch, Cache};
use workload::{
    Benchmark, Distribution, Footprint, Placement, build, copies, noisy, oltp, parallel, pipeline,
    service, stream,
};

fn host() -> Arch {
    match std::env::consts::ARCH {
        "x86_64" => Arch::X86,
        "aarch64" => Arch::Arm64,
        other => panic!("no program for {other} is built natively here"),
    }
}

fn small() -> Vec<Benchmark> {
    let (warmup_s, seconds, cpus) = (0.05, 0.3, None);
    let memory = Some(Footprint {
        working_set_kib: 64.0,
        touches_per_us: 2.0,
        overlap: 4.0,
        gb_per_s: 0.1,
        placement: Placement::Default,
    });
    let distribution = Distribution::Lognormal { cv: 0.5 };
    let service = service::Params {
        load: service::Load::Open { per_s: 500.0, generators: 1 },
        workers: 2,
        work_us: 50.0,
        distribution,
        lock_share: 0.1,
        fan_out: Some(service::FanOut {
            requests: 2,
            workers: 2,
            work_us: 20.0,
            distribution,
            memory,
        }),
        deadline_ms: Some(1000.0),
        memory: None,
        warmup_s,
        seconds,
        cpus: cpus.clone(),
        irq_cpus: None,
    };
    let load = service::Load::Closed { users: 2, think_ms: 1.0 };
    let closed = service::Params { load, deadline_ms: None, ..service.clone() };
    let stage = |name: &str, ordered| pipeline::Stage {
        name: Some(name.to_string()),
        threads: 1 + u16::from(ordered),
        work_us: 20.0,
        distribution,
        ordered,
        memory: None,
    };
    let pipeline = pipeline::Params {
        stages: vec![stage("read", false), stage("pack", true), stage("write", false)],
        queue: 2,
        per_s: None,
        warmup_s,
        seconds,
        cpus: cpus.clone(),
    };
    let noisy = |kind| {
        Benchmark::Noisy(noisy::Params {
            kind,
            threads: 1,
            warmup_s,
            seconds,
            placement: Placement::Default,
            cpus: None,
        })
    };
    vec![
        Benchmark::Service(service),
        Benchmark::Service(closed),
        Benchmark::Oltp(oltp::Params {
            connections: 2,
            think_ms: 0.0,
            statements: 2,
            statement_us: 20.0,
            distribution,
            writes_from: 1,
            rows: 2,
            log_us: 100.0,
            warmup_s,
            seconds,
            cpus: cpus.clone(),
        }),
        Benchmark::Parallel(parallel::Params {
            threads: 2,
            loops: 5,
            iterations: 20,
            iteration_us: 10.0,
            imbalance: 0.5,
            schedule: "dynamic,2".parse().unwrap(),
            serial_us: 10.0,
            spin_count: Some(100),
            bind: None,
            memory,
            cpus: cpus.clone(),
        }),
        Benchmark::Stream(stream::Params {
            array_mib: 1,
            passes: 2,
            element_cycles: 1.0,
            threads: Some(2),
            placement: Placement::Default,
            cpus: cpus.clone(),
        }),
        Benchmark::Copies(copies::Params {
            copies: 2,
            work_s: 0.02,
            bound: true,
            memory,
            cpus: cpus.clone(),
        }),
        Benchmark::Pipeline(pipeline.clone()),
        Benchmark::Pipeline(pipeline::Params { per_s: Some(200.0), ..pipeline }),
        Benchmark::Build(build::Params {
            jobs: 2,
            objects: 4,
            compile_ms: 2.0,
            distribution,
            head_ms: 1.0,
            link_ms: 1.0,
            memory: None,
            cpus,
        }),
        noisy(noisy::Kind::Cpu { share: 0.3, period_ms: 10.0 }),
        noisy(noisy::Kind::Bandwidth { gb_per_s: 0.1 }),
        noisy(noisy::Kind::Cache { working_set_kib: 64.0, touches_per_us: 2.0 }),
        noisy(noisy::Kind::Wakeups { per_s: 500.0, work_us: 5.0, pipe: false }),
        noisy(noisy::Kind::Wakeups { per_s: 500.0, work_us: 5.0, pipe: true }),
    ]
}

#[test]
fn what_it_prints_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let fleet = Cache::new(dir.path()).workers(host()).unwrap().fleet;
    for benchmark in small() {
        let program = translate(&benchmark, &|_| Ok(String::new()), &|cpus| cpus).unwrap();
        assert_eq!(program.files, [("bin/fleet".to_owned(), FileSource::Fleet)]);
        let line = program.command.replace("${FILES:-}/bin/fleet", &fleet.display().to_string());
        let output = Command::new("sh").args(["-c", &line]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let values = program.values(&String::from_utf8(output.stdout).unwrap()).unwrap();
        assert!(values.iter().all(|&(_, value)| value > 0.0), "{line}: {values:?}");
        assert!(output.stderr.is_empty(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
