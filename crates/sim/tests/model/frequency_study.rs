//! The workloads of the frequency-invariance study do what the real ones do.

use crate::counted::Counted;
use crate::machines;
use crate::watch::Watch;
use crate::workloads::{benchmark, build, release, tbench_on, with_background};
use machine::Machine;
use sim::topology::Cpu;
use sim::world::TaskId;
use sim::{RunResult, Scenario, Trace};
use std::collections::BTreeMap;
use workload::{
    Benchmark, Device, DeviceId, Op, Spread, Workload, dbench, gitsource, kernbench, tbench,
};

fn constant(machine: &Machine, name: &str) -> f64 {
    machine.constants.value(name).expect("a constant of the machine")
}

fn dbench_on(machine: &Machine, clients: u16, parts_run: u16, seconds: f64) -> Workload {
    let params = dbench::Params { clients, parts_run, warmup_s: 0.2, seconds, cpus: None };
    benchmark(machine, Benchmark::Dbench(params))
}

fn kernbench_on(machine: &Machine, jobs: u32, objects_run: u32) -> Workload {
    let params = kernbench::Params { jobs, objects: 2_500, objects_run, cpus: None };
    benchmark(machine, Benchmark::Kernbench(params))
}

fn gitsource_on(machine: &Machine, cases_run: u32) -> Workload {
    let params = gitsource::Params { cases: 25_000, cases_run, cpus: None };
    benchmark(machine, Benchmark::Gitsource(params))
}

/// Smaller than the study's machine, with caches.
fn small() -> Machine {
    machines::power9()
}

fn run_traced(machine: &Machine, w: Workload, trace: &mut impl Trace) -> RunResult {
    let scenario = Scenario::new(machine, &release("5.11"), w).expect("a scenario");
    scenario.run_traced(1, trace).expect("a run")
}

fn run(machine: &Machine, w: Workload) -> RunResult {
    run_traced(machine, w, &mut sim::NoTrace)
}

/// How many tasks of each program there were, there are, and were at most at a time; and who runs.
#[derive(Default)]
struct Census {
    programs: Vec<String>,
    forked: BTreeMap<String, u64>,
    alive: BTreeMap<String, u64>,
    most: BTreeMap<String, u64>,
    running: BTreeMap<Cpu, TaskId>,
    most_running: usize,
}

impl Trace for Census {
    fn created(&mut self, _: u64, _: TaskId, program: &str, _: &machine::CpuSet) {
        self.programs.push(program.to_string());
        *self.forked.entry(program.to_string()).or_default() += 1;
        let alive = self.alive.entry(program.to_string()).or_default();
        *alive += 1;
        let most = self.most.entry(program.to_string()).or_default();
        *most = (*alive).max(*most);
    }

    fn exited(&mut self, _: u64, task: TaskId) {
        *self.alive.get_mut(&self.programs[task.index()]).expect("a program") -= 1;
    }

    fn switch(&mut self, _: u64, cpu: Cpu, _: Option<TaskId>, next: Option<TaskId>) {
        match next {
            Some(task) => self.running.insert(cpu, task),
            None => self.running.remove(&cpu),
        };
        self.most_running = self.running.len().max(self.most_running);
    }
}

#[test]
fn every_request_of_tbench_is_answered() {
    let machine = small();
    let mut watch = Watch::new(machine.cpus.len());
    let clients = 5;
    let w = with_background(&machine, tbench_on(&machine, clients, 0.02, 0.1));
    let mb_per_s = run_traced(&machine, w, &mut watch).metrics[0];
    assert!(watch.wrong.is_empty(), "{:?}", &watch.wrong[..watch.wrong.len().min(5)]);
    // Each client waits for one answer at a time.
    assert!(watch.sent - watch.received <= u64::from(clients));
    let messages_per_mb = 2.0 * tbench::OPERATIONS as f64 / (tbench::counted_bytes() / 1e6);
    let expected = mb_per_s * 0.12 * messages_per_mb;
    assert!((watch.sent as f64 / expected - 1.0).abs() < 0.1, "{} of {expected}", watch.sent);
}

/// On one CPU an operation is two messages, a second read of each, copies of what is not thrown away, user code,
/// two switches, and two wake-ups less where the server preempts the client before that sleeps.
#[test]
fn an_operation_of_tbench_on_one_cpu_is_the_sum_of_its_costs() {
    let machine = small();
    let ghz = constant(&machine, "nominal_khz") / 1e6;
    let costs = tbench::Costs::of(&machine.constants).expect("costs");
    let mut watch = Watch::new(machine.cpus.len());
    let cpus = Some("0".parse().expect("a CPU list"));
    let params = tbench::Params { clients: 1, warmup_s: 0.05, seconds: 1.0, cpus };
    let w = benchmark(&machine, Benchmark::Tbench(params));
    let result = run_traced(&machine, w, &mut watch);
    let wakeups = 2.0 * result.counters.wakeups as f64 / watch.sent as f64;
    assert!((1.0..2.01).contains(&wakeups), "{wakeups} wake-ups an operation");
    let counted = Counted::of(&machine);
    let operation_ns = 2.0 * counted.message_ns("tcp")
        + wakeups * counted.wakeup_ns("tcp")
        + 2.0 * counted.switch_ns(false)
        + 2.0 * costs.read_cycles / ghz
        + (tbench::CLIENT_CYCLES + tbench::SERVER_CYCLES) / ghz;
    let copies_ns = tbench::copied_bytes() / costs.copy_bytes_per_cycle / ghz;
    let cycle_ns = tbench::OPERATIONS as f64 * operation_ns + copies_ns;
    let expected = tbench::counted_bytes() / 1e6 / (cycle_ns / 1e9);
    let found = result.metrics[0];
    // Both ends' buffers are larger than the L1, and what misses it takes a little more.
    let part = found / expected;
    assert!((0.97..0.995).contains(&part), "{found} MB/s, expected {expected}");
}

/// Copies of few clients stay in the L3; those of many take memory's bandwidth, all that there is if it is little.
#[test]
fn copies_of_tbench_take_bandwidth_once_they_exceed_the_caches() {
    let machine = machine::catalog::load("epyc-7742-1s-nps1").expect("the catalog holds it");
    let mut slow = machine.clone();
    let gb_per_s = constant(&machine, "memory_package_gb_per_s");
    let given = slow.constants.get("memory_package_gb_per_s").expect("a constant").clone();
    slow.constants
        .set("memory_package_gb_per_s", machine::Constant { value: gb_per_s / 500.0, ..given });
    // One complex of four cores, with 16 MiB.
    let mb_per_s = |machine: &Machine, clients: u16| {
        let cpus = Some("0-3".parse().expect("a CPU list"));
        let params = tbench::Params { clients, warmup_s: 0.2, seconds: 0.2, cpus };
        run(machine, benchmark(machine, Benchmark::Tbench(params))).metrics[0]
    };
    let (few, many) =
        ([&machine, &slow].map(|m| mb_per_s(m, 16)), [&machine, &slow].map(|m| mb_per_s(m, 256)));
    assert!((few[1] / few[0] - 1.0).abs() < 0.02, "{few:?}");
    assert!(many[1] < 0.8 * many[0], "{many:?}");
}

/// Sleeps of dbench's clients: for I/O, and all of them.
#[derive(Default)]
struct Sleeps {
    clients: Vec<bool>,
    for_io: u64,
}

impl Trace for Sleeps {
    fn created(&mut self, _: u64, _: TaskId, program: &str, _: &machine::CpuSet) {
        self.clients.push(program == "dbench");
    }

    fn blocked(&mut self, _: u64, task: TaskId, for_io: bool) {
        self.for_io += u64::from(for_io && self.clients[task.index()]);
    }
}

/// A client alone sleeps for I/O once for an `fsync`'s pages, and once more where the log has nothing for it: 15 of 43 write
/// what was there within a burst, and do so unless the tick has come since. A guest of 5.10 counted 1.25.
#[test]
fn a_burst_of_fsyncs_waits_for_io_only() {
    let machine = small();
    let mut sleeps = Sleeps::default();
    let result = run_traced(&machine, dbench_on(&machine, 1, 43, 4.0), &mut sleeps);
    let fsyncs = 4.2e3 / result.metrics[0] * f64::from(dbench::PARTS);
    let each = sleeps.for_io as f64 / fsyncs;
    assert!((1.15..1.0 + 15.0 / 43.0).contains(&each), "{each}");
}

/// A client alone waits for its pages and at least a flush of the drive, and computes; many are bound by the drive's slots.
#[test]
fn the_drive_bounds_dbench() {
    let machine = small();
    let sigma = 0.5f64;
    let mean_ns = |median_ns: f64| median_ns * (sigma * sigma / 2.0).exp();
    let parts_per_s = |clients: u16, seconds: f64| {
        let pass_ms = run(&machine, dbench_on(&machine, clients, 43, seconds)).metrics[0];
        f64::from(clients) * f64::from(dbench::PARTS) / (pass_ms / 1e3)
    };
    let (alone, many) = (parts_per_s(1, 4.0), parts_per_s(96, 4.0));
    let ghz = constant(&machine, "nominal_khz") / 1e6;
    let work_ns = dbench::free_cycles() / f64::from(dbench::PARTS) / ghz;
    let pages_ns = mean_ns(dbench::DATA_NS);
    let (least, most) = (mean_ns(dbench::FLUSH_NS), mean_ns(dbench::LOG_NS));
    assert!(alone < 1e9 / (pages_ns + least + work_ns), "{alone} a second");
    assert!(alone > 1e9 / (pages_ns + most + 2.0 * work_ns), "{alone} a second");
    assert!(many > 4.0 * alone, "{many} a second, {alone} alone");
    assert!(many < f64::from(dbench::DISK_SLOTS) * 1e9 / pages_ns, "{many} a second");
}

/// Each pass is one of those that the mean is of, and other benchmarks' runs keep no times.
#[test]
fn a_run_of_dbench_gives_its_passes() {
    let machine = small();
    let of_run = run(&machine, dbench_on(&machine, 4, 2, 1.0));
    let passes = &of_run.single_times[0];
    let mean = passes.iter().sum::<f64>() / passes.len() as f64;
    assert!(passes.len() > 100, "{}", passes.len());
    assert!((mean / of_run.metrics[0] - 1.0).abs() < 1e-9, "{mean} {}", of_run.metrics[0]);
    assert!(passes.iter().any(|p| p != &passes[0]));
    let other = run(&machine, tbench_on(&machine, 2, 0.02, 0.02));
    assert!(other.single_times.iter().all(Vec::is_empty));
}

#[test]
fn kernbench_never_has_more_than_its_jobs_at_once() {
    let machine = small();
    let mut before_s = f64::INFINITY;
    for jobs in [1, 3, 16] {
        let mut census = Census::default();
        let objects = 61;
        let w = kernbench_on(&machine, jobs, objects);
        let seconds = run_traced(&machine, w, &mut census).metrics[0];
        // And two rounds of the head.
        let others =
            [(kernbench::COMPILER, 2), (kernbench::JOB, 6), ("as", 2), ("fixdep", 0), ("rm", 10)];
        for (name, of_head) in others {
            assert_eq!(census.forked[name], u64::from(objects) + of_head, "{name}, -j {jobs}");
            assert_eq!(census.alive[name], 0, "{name}, -j {jobs}");
        }
        // One make stays for the whole; one for each of 8 directories has come and gone.
        assert_eq!((census.forked["make"], census.alive["make"]), (9, 1));
        assert_eq!(census.forked["ld"], 3);
        assert_eq!(census.most[kernbench::COMPILER], u64::from(jobs), "-j {jobs}");
        assert!(seconds < 0.7 * before_s, "-j {jobs}: {seconds} s");
        before_s = seconds;
    }
}

/// Core work speeds up with the clock and memory does not.
#[test]
fn a_faster_clock_speeds_compilers_up_by_less() {
    let slow = small();
    let factor = 1.5;
    let fast = Machine { constants: slow.constants.scaled("nominal_khz", factor), ..slow.clone() };
    let seconds = |machine: &Machine| run(machine, kernbench_on(machine, 4, 48)).metrics[0];
    let gain = seconds(&slow) / seconds(&fast);
    assert!((1.15..0.97 * factor).contains(&gain), "{gain}");
}

#[test]
fn gitsource_runs_one_process_after_another() {
    let machine = small();
    let mut census = Census::default();
    let cases = 30;
    let result = run_traced(&machine, gitsource_on(&machine, cases), &mut census);
    let forked: u64 = census.forked.values().sum();
    // bash, make and two scripts besides.
    assert_eq!(forked, u64::from(cases) * gitsource::CASE_PROCESSES + 4);
    let alive: u64 = census.alive.values().sum();
    assert_eq!(alive, 2);
    // A parent on its way to sleep beside its child.
    assert_eq!(census.most_running, 2);
    let ran_ns: u64 = result.counters.run_ns_by_busy.iter().sum();
    let took_ns = result.metrics[0] * 1e9 * f64::from(cases) / 25_000.0;
    assert!((0.9..1.1).contains(&(ran_ns as f64 / took_ns)), "{ran_ns} of {took_ns} ns");
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let machine = small();
    let refused = |b: Benchmark| build(&machine, &b).expect_err("refused").to_string();
    let tbench = tbench::Params { clients: 0, warmup_s: 0.0, seconds: 1.0, cpus: None };
    let tbench = refused(Benchmark::Tbench(tbench));
    assert_eq!(tbench, "tbench: clients: found 0, expected 1 to 4096");
    let dbench =
        dbench::Params { clients: 1, parts_run: 44, warmup_s: 0.0, seconds: 1.0, cpus: None };
    let dbench = refused(Benchmark::Dbench(dbench));
    assert_eq!(dbench, "dbench: parts_run: found 44, expected 1 to 43");
    let kernbench = kernbench::Params { jobs: 1, objects: 5, objects_run: 6, cpus: None };
    let kernbench = refused(Benchmark::Kernbench(kernbench));
    assert_eq!(kernbench, "kernbench: objects_run: found 6, expected 1 to `objects`");
    let gitsource = gitsource::Params { cases: 5, cases_run: 0, cpus: None };
    let gitsource = refused(Benchmark::Gitsource(gitsource));
    assert_eq!(gitsource, "gitsource: cases_run: found 0, expected 1 to `cases`");
}

#[test]
fn devices_that_cannot_be_are_refused() {
    let refused = |slots, device: u16, service_ns| {
        let mut w = Workload::default();
        w.device(Device { slots, together: 1 });
        let device = DeviceId(device);
        w.program("io", vec![Op::Io { device, service_ns, spread: Spread::Fixed, iowait: true }]);
        let scenario = Scenario::new(&machines::smt(1, 1), &release("5.11"), w);
        scenario.expect_err("refused").to_string()
    };
    let expected = "program `io`: io: device: found 1, expected a device of the workload";
    assert_eq!(refused(1, 1, 1.0), expected);
    let expected = "program `io`: io: service_ns: found -1, expected 0 or more";
    assert_eq!(refused(1, 0, -1.0), expected);
    let expected =
        "workload: device 0: slots and together: found 0 and 1, expected at least 1 of each";
    assert_eq!(refused(0, 0, 1.0), expected);
}
