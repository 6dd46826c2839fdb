use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use workload::{
    Distribution, Footprint, Placement, Target, build, copies, daytrader, dbench, ebizzy,
    false_sharing, gitsource, hackbench, kernbench, netperf, noisy, oltp, parallel, pipeline,
    schbench, sched_pipe, service, stream, tbench,
};

/// What programs printed on amd64: perf of Debian 13 and rt-tests 2.6, dbench 4.0, our worker.
const PIPE: &str = include_str!("printed/pipe.txt");
const HACKBENCH: &str = include_str!("printed/hackbench.txt");
const DBENCH: &str = include_str!("printed/dbench.txt");
const SCHBENCH: &str = include_str!("printed/schbench.txt");

fn cpus(list: &str) -> CpuSet {
    list.parse().unwrap()
}

fn program(benchmark: Benchmark) -> Program {
    translate(&benchmark, &|file| std::fs::read_to_string(file), &|cpus| cpus).unwrap()
}

fn benchmarks() -> Vec<Benchmark> {
    let (warmup_s, seconds) = (1.0, 5.0);
    vec![
        Benchmark::Ebizzy(ebizzy::Params {
            threads: 2,
            seconds: 0.25,
            chunk_bytes: 4096,
            chunks: 10,
            cpus: Some(cpus("0-1")),
        }),
        Benchmark::FalseSharing(false_sharing::Params { rounds: 1000, cpus: Some(cpus("0,4")) }),
        Benchmark::Stream(stream::Params {
            array_mib: 8,
            passes: 3,
            element_cycles: 1.0,
            threads: None,
            placement: Placement::Default,
            cpus: Some(cpus("0-1,4")),
        }),
        Benchmark::Schbench(schbench::Params {
            message_threads: 1,
            workers: 2,
            sleep_us: 100.0,
            work_us: 0.5,
            warmup_s,
            seconds,
            cpus: None,
        }),
        Benchmark::Netperf(netperf::Params { pairs: 2, warmup_s, seconds, cpus: None }),
        Benchmark::SchedPipe(sched_pipe::Params {
            loops: 1_000_000,
            loops_run: 2000,
            cpus: Some(cpus("0")),
        }),
        Benchmark::Hackbench(hackbench::Params {
            groups: 4,
            loops: 1000,
            fds: 20,
            datasize: 100,
            pipe: true,
            threads: true,
            cpus: None,
        }),
        Benchmark::Dbench(dbench::Params {
            clients: 2,
            parts_run: 43,
            warmup_s,
            seconds,
            cpus: None,
        }),
        Benchmark::Tbench(tbench::Params { clients: 2, warmup_s, seconds, cpus: None }),
    ]
    .into_iter()
    .chain(fleet())
    .collect()
}

/// What fleets run, with all that its parts take.
fn fleet() -> Vec<Benchmark> {
    let (warmup_s, seconds) = (1.0, 5.0);
    let memory = Some(Footprint {
        working_set_kib: 64.0,
        touches_per_us: 2.0,
        overlap: 4.0,
        gb_per_s: 0.5,
        placement: Placement::Default,
    });
    let stage = |threads, ordered| pipeline::Stage {
        name: None,
        threads,
        work_us: 20.0,
        distribution: Distribution::Exponential,
        ordered,
        memory: None,
    };
    let service = service::Params {
        load: service::Load::Open { per_s: 1000.0, generators: 2 },
        workers: 4,
        work_us: 50.0,
        distribution: Distribution::Lognormal { cv: 1.5 },
        lock_share: 0.1,
        fan_out: Some(service::FanOut {
            requests: 3,
            workers: 2,
            work_us: 10.0,
            distribution: Distribution::Bimodal { share: 0.1, factor: 5.0 },
            memory: None,
        }),
        deadline_ms: Some(2.0),
        memory,
        warmup_s,
        seconds,
        cpus: None,
        irq_cpus: None,
    };
    let closed = service::Params {
        load: service::Load::Closed { users: 8, think_ms: 3.0 },
        fan_out: None,
        deadline_ms: None,
        ..service.clone()
    };
    let free = stream::Params {
        array_mib: 8,
        passes: 3,
        element_cycles: 1.0,
        threads: Some(3),
        placement: Placement::Default,
        cpus: Some(cpus("0-1,4")),
    };
    let noisy = |kind| {
        Benchmark::Noisy(noisy::Params {
            kind,
            threads: 2,
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
            connections: 4,
            think_ms: 1.0,
            statements: 3,
            statement_us: 40.0,
            distribution: Distribution::Constant,
            writes_from: 2,
            rows: 100,
            log_us: 500.0,
            warmup_s,
            seconds,
            cpus: None,
        }),
        Benchmark::Parallel(parallel::Params {
            threads: 3,
            loops: 10,
            iterations: 100,
            iteration_us: 5.0,
            imbalance: 0.5,
            schedule: "guided,2".parse().unwrap(),
            serial_us: 10.0,
            spin_count: Some(1000),
            bind: Some(parallel::Bind::Spread),
            memory,
            cpus: Some(cpus("0-1,4")),
        }),
        Benchmark::Stream(free),
        Benchmark::Copies(copies::Params {
            copies: 3,
            work_s: 0.5,
            bound: true,
            memory,
            cpus: None,
        }),
        Benchmark::Pipeline(pipeline::Params {
            stages: vec![stage(1, false), stage(3, true), stage(1, false)],
            queue: 4,
            per_s: None,
            warmup_s,
            seconds,
            cpus: None,
        }),
        Benchmark::Build(build::Params {
            jobs: 3,
            objects: 10,
            compile_ms: 5.0,
            distribution: Distribution::Exponential,
            head_ms: 1.0,
            link_ms: 2.0,
            memory: None,
            cpus: None,
        }),
        noisy(noisy::Kind::Cpu { share: 0.5, period_ms: 10.0 }),
        noisy(noisy::Kind::Bandwidth { gb_per_s: 2.0 }),
        noisy(noisy::Kind::Cache { working_set_kib: 512.0, touches_per_us: 10.0 }),
        noisy(noisy::Kind::Wakeups { per_s: 1000.0, work_us: 5.0, pipe: true }),
    ]
}

/// Names and order of the workload's own metrics.
fn metrics(benchmark: &Benchmark) -> Vec<String> {
    let machine = machine::catalog::load("kunpeng920-1node").unwrap();
    let read = |file: &str| std::fs::read_to_string(file);
    let target = Target {
        constants: &machine.constants,
        online: machine.online,
        deadlines: false,
        read: &read,
        replay: &workload::no_traces,
    };
    let built = benchmark.build(&target).unwrap();
    built.workload.metrics.into_iter().map(|metric| metric.name).collect()
}

/// An output of the right form for any names.
fn printed(output: &Output) -> String {
    match output {
        Output::Named(names) => names.iter().map(|name| format!("{name} 1.5\n")).collect(),
        Output::Pipe { .. } => PIPE.to_owned(),
        Output::Hackbench { .. } => HACKBENCH.to_owned(),
        Output::Throughput { .. } | Output::Pass { .. } => DBENCH.to_owned(),
        Output::RtApp(_) | Output::Together(_) => String::new(),
    }
}

#[test]
fn results_have_the_names_of_the_workloads_metrics() {
    for benchmark in benchmarks() {
        let program = program(benchmark.clone());
        let values = program.values(&printed(&program.output)).unwrap();
        let names: Vec<String> = values.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, metrics(&benchmark));
    }
}

#[test]
fn programs_say_whether_they_bind_tasks() {
    let bound: Vec<bool> = benchmarks().into_iter().map(|b| program(b).is_bound()).collect();
    assert_eq!(bound[..8], [true, true, true, false, false, true, false, false]);
}

#[test]
fn commands_have_the_experiments_parameters() {
    let commands: Vec<String> = benchmarks().into_iter().map(|b| program(b).command).collect();
    let last = |nth: usize| commands[nth].lines().last().unwrap();
    assert_eq!(
        last(0),
        "taskset -c 0-1 ${FILES:-}/bin/worker ebizzy threads=2 seconds=0.25 chunk_bytes=4096 chunks=10"
    );
    assert_eq!(last(1), "taskset -c 0,4 ${FILES:-}/bin/worker false_sharing rounds=1000");
    assert_eq!(
        last(2),
        "${FILES:-}/bin/worker stream array_mib=8 passes=3 placement=default cpus=0-1,4"
    );
    assert_eq!(
        last(3),
        "${FILES:-}/bin/worker schbench message_threads=1 workers=2 sleep_us=100 work_us=0.5 warmup_s=1 seconds=5"
    );
    assert_eq!(last(4), "${FILES:-}/bin/worker netperf pairs=2 warmup_s=1 seconds=5");
    assert_eq!(last(5), "taskset -c 0 perf bench --format default sched pipe -l 2000");
    assert_eq!(last(6), "hackbench -g 4 -l 1000 -f 20 -s 100 -p -T");
    assert_eq!(last(7), "dbench -t 6 -c ${FILES:-}/run/load.txt -D . 2");
    assert!(commands[8].contains("\ntbench -t 6 -c ${FILES:-}/run/load.txt 2 127.0.0.1\n"));
}

#[test]
fn fleets_programs_have_the_experiments_parameters() {
    let commands: Vec<String> = fleet().into_iter().map(|b| program(b).command).collect();
    let last = |nth: usize| commands[nth].lines().last().unwrap();
    assert_eq!(
        last(0),
        "${FILES:-}/bin/fleet service workers=4 senders=2 per_s=1000 think_ms=0 work_us=50 distribution=lognormal:1.5 \
         lock_share=0.1 asks=3 leaves=2 leaf_us=10 leaf_distribution=bimodal:0.1:5 leaf_memory=none deadline_ms=2 \
         memory=64:2:0.5:default warmup_s=1 seconds=5"
    );
    assert!(last(1).contains(" senders=8 per_s=0 think_ms=3 ") && last(1).contains(" asks=0 "));
    assert_eq!(
        last(3),
        "OMP_NUM_THREADS=3 OMP_DYNAMIC=false OMP_SCHEDULE=guided,2 GOMP_SPINCOUNT=1000 \
         OMP_PLACES='{0},{1},{4}' OMP_PROC_BIND=spread taskset -c 0-1,4 ${FILES:-}/bin/fleet parallel loops=10 \
         iterations=100 iteration_us=5 imbalance=0.5 serial_us=10 memory=64:2:0.5:default"
    );
    assert_eq!(
        last(4),
        "OMP_NUM_THREADS=3 OMP_DYNAMIC=false taskset -c 0-1,4 ${FILES:-}/bin/fleet stream array_mib=8 passes=3 placement=default"
    );
    assert!(
        last(6).contains(" stages=stage0,1,20,exponential,0,none/stage1,3,20,exponential,1,none/")
    );
    assert!(
        last(8).contains(" result=work_ms_per_s units=5 period_us=10000 burst_us=5000 pipe=0 ")
    );
    assert!(last(11).contains(" result=wakeups_per_s units=1 period_us=1000 burst_us=5 pipe=1 "));
    let bound: Vec<bool> = fleet().into_iter().map(|b| program(b).is_bound()).collect();
    let expected = [3, 4, 5];
    assert!(
        bound.iter().enumerate().all(|(at, bound)| *bound == expected.contains(&at)),
        "{bound:?}"
    );
}

#[test]
fn users_on_other_machines_are_not_in_a_guest() {
    let Benchmark::Service(here) = fleet().swap_remove(0) else { panic!("a service") };
    let elsewhere = Benchmark::Service(service::Params { irq_cpus: Some(cpus("0")), ..here });
    let error =
        translate(&elsewhere, &|_| Ok(String::new()), &|cpus| cpus).unwrap_err().to_string();
    assert!(error.contains("service: not in a guest: with `irq_cpus`"), "{error}");
}

/// busybox's shell takes what the host's takes.
#[test]
fn commands_are_scripts() {
    for benchmark in benchmarks() {
        let command = program(benchmark).command;
        let status = std::process::Command::new("sh").args(["-n", "-c", &command]).status();
        assert!(status.unwrap().success(), "{command}");
    }
}

#[test]
fn every_program_has_its_files() {
    for benchmark in benchmarks() {
        let program = program(benchmark);
        let worker = program.files.iter().any(|(_, source)| source.is_ours());
        assert_ne!(worker, !program.packages.is_empty(), "the worker or a package");
        assert_eq!(program.programs.is_empty(), program.packages.is_empty());
        let paths: BTreeSet<&String> = program.files.iter().map(|(path, _)| path).collect();
        assert_eq!(paths.len(), program.files.len());
        for path in paths {
            assert!(program.command.contains(&format!("/{path}")), "{path} is not used");
        }
    }
}

#[test]
fn what_programs_printed() {
    let by_name = |nth: usize, stdout: &str| program(benchmarks().swap_remove(nth)).values(stdout);
    let one = |name: &str, value: f64| Ok(vec![(name.to_owned(), value)]);
    assert_eq!(by_name(5, PIPE), one("seconds", 11.9636), "11.9636 us each, a million of them");
    assert_eq!(by_name(6, HACKBENCH), one("seconds", 0.003));
    assert_eq!(by_name(8, DBENCH), one("mb_per_s", 174.917));
    let pass = by_name(7, DBENCH).unwrap();
    assert!((pass[0].1 - 2.0 * 19.119736 / 174.917 * 1e3).abs() < 1e-9);
    let values = by_name(3, SCHBENCH).unwrap();
    assert_eq!(values.len(), 11);
    assert_eq!(values[4], ("wakeup_p99.9_us".to_owned(), 9596.9275));
}

#[test]
fn what_is_not_all_there_is_an_error() {
    let read = |nth: usize, stdout: &str| {
        program(benchmarks().swap_remove(nth)).values(stdout).unwrap_err()
    };
    assert_eq!(read(0, ""), "found no records_per_s");
    assert_eq!(
        read(0, "records_per_s 1\nrecords_per_s 2\n"),
        "found records_per_s twice, expected it once"
    );
    assert_eq!(read(0, "records_per_s nan"), "found \"nan\", expected a number");
    assert_eq!(read(0, "other 1"), "found \"other 1\", expected a result's name and a number");
    assert_eq!(read(5, "0.048\n"), "found no line with \"usecs/op\", expected one");
    assert_eq!(read(6, "Time: \nTime: 1\n"), "found several lines with \"Time:\", expected one");
    assert_eq!(read(6, "Time: -1\n"), "found \"-1\", expected a number");
    let idle = "Throughput 0 MB/sec  2 clients  2 procs  max_latency=0.000 ms";
    assert_eq!(read(7, idle), "found a throughput of 0: nothing ended in the measured time");
    assert_eq!(read(8, "Throughput 1 GB/sec"), "found \"1 GB/sec\", expected MB/sec");
}

#[test]
fn dbench_says_what_it_makes_of_times() {
    let params = tbench::Params { clients: 2, warmup_s: 0.1, seconds: 0.1, cpus: None };
    let program = program(Benchmark::Tbench(params));
    assert!(program.command.contains("tbench -t 2 "));
    assert_eq!(
        program.notes,
        [
            "measured for 1 s, as dbench takes whole seconds",
            "warmed up for 0 s, as dbench's own rule is"
        ]
    );
}

#[test]
fn what_guests_cannot_run_is_said() {
    let kernbench = kernbench::Params { jobs: 1, objects: 1, objects_run: 1, cpus: None };
    let gitsource = gitsource::Params { cases: 1, cases_run: 1, cpus: None };
    for (benchmark, expected) in [
        (Benchmark::Kernbench(kernbench), "kernbench: not in a guest: it has no compiler"),
        (Benchmark::Gitsource(gitsource), "gitsource: not in a guest: it has no git"),
        (Benchmark::Daytrader(daytrader()), "daytrader: not in a guest: its users"),
    ] {
        let error =
            translate(&benchmark, &|_| Ok(String::new()), &|cpus| cpus).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    for benchmark in benchmarks() {
        assert_eq!(benchmark.not_in_guests(), None, "{}", benchmark.name());
    }
}

/// CPU 4 of the machine is the guest's CPU 1.
#[test]
fn programs_are_bound_to_the_guests_cpus() {
    let moved = |set: CpuSet| set.iter().map(|cpu| if cpu == 4 { 1 } else { cpu }).collect();
    for benchmark in benchmarks() {
        let here = program(benchmark.clone()).command;
        let there = translate(&benchmark, &|_| Ok(String::new()), &moved).unwrap().command;
        let places = here.replace("{0},{1},{4}", "{0},{1}");
        assert_eq!(there, places.replace("0-1,4", "0-1").replace("0,4", "0-1"));
        assert!(!there.contains(",4"), "{there}");
    }
}

fn daytrader() -> daytrader::Params {
    daytrader::Params {
        users: 1,
        think_ms: 1.0,
        jvms: 1,
        workers: 1,
        collectors: 1,
        tables: 1,
        warmup_s: 0.0,
        seconds: 1.0,
        cpus: None,
        irq_cpus: cpus("0"),
        amounts: daytrader::Amounts::ASSUMED,
    }
}

#[test]
fn files_come_from_texts_packages_and_the_worker() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("load"), "1\n2\n3\n4\n").unwrap();
    std::fs::write(dir.path().join("worker"), "elf").unwrap();
    std::fs::write(dir.path().join("fleet"), "more").unwrap();
    let workers = Workers { worker: dir.path().join("worker"), fleet: dir.path().join("fleet") };
    let content = |source: FileSource| {
        String::from_utf8(source.content(dir.path(), &workers).unwrap()).unwrap()
    };
    assert_eq!(content(FileSource::Text("x".to_owned())), "x");
    assert_eq!(content(FileSource::Worker), "elf");
    assert_eq!(content(FileSource::Fleet), "more");
    assert_eq!(content(FileSource::Package { path: "load", lines: None }), "1\n2\n3\n4\n");
    assert_eq!(content(FileSource::Package { path: "load", lines: Some((2, 3)) }), "2\n3\n");
    let absent = FileSource::Package { path: "none", lines: None };
    assert!(absent.content(dir.path(), &workers).is_err());
}

proptest! {
    #[test]
    fn any_output_is_read_or_refused(text in "(Throughput |Time: |[a-z_]{0,9} |thread |[0-9.e-]{0,6}| MB/sec| usecs/op|\n){0,30}") {
        for benchmark in benchmarks() {
            if let Ok(values) = program(benchmark).values(&text) {
                prop_assert!(values.iter().all(|(_, value)| value.is_finite()));
            }
        }
    }
}
