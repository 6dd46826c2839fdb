//! Ten million records of hackbench as they go into a file, by format, and a simulated run with and without a timeline.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use follow::Recorder;
use kernel::{Kernel, Version};
use sim::Scenario;
use std::fs::File;
use trace::{About, Event, FtraceText, Perfetto, Sink, TraceDat};
use workload::hackbench::{self, Costs, Params};

/// Records of one measurement.
const EVENTS: u64 = 10_000_000;

fn scenario() -> Scenario {
    let machine = machine::catalog::load("power9-big-core").expect("the catalog holds it");
    let params = Params {
        groups: 4,
        loops: 100,
        fds: 20,
        datasize: 100,
        pipe: true,
        threads: false,
        cpus: None,
    };
    let costs = Costs::of(&machine.constants).expect("costs");
    let workload = hackbench::build(&params, &costs).expect("a workload");
    Scenario::new(&machine, &Kernel::new(Version::new(6, 12)), workload)
        .expect("a runnable scenario")
}

/// Writes `events` over and over, each time later.
fn write(events: &[Event], mut sink: impl Sink) {
    let length_ns = events.last().map_or(0, |e| e.at_ns + 1);
    let all = (0..).flat_map(|round| events.iter().map(move |e| (round, e)));
    for (round, event) in all.take(EVENTS as usize) {
        let event = Event { at_ns: event.at_ns + round * length_ns, ..*event };
        sink.event(&event).expect("a file that can be written");
    }
    sink.finish().expect("a file that can be written");
}

fn formats(c: &mut Criterion) {
    let scenario = scenario();
    let nr_cpus = scenario.topology().nr_cpus;
    let mut recorder = Recorder::new(nr_cpus, Vec::new());
    scenario.run_traced(1, &mut recorder).expect("a run");
    let events = recorder.finish().expect("records in memory").1;
    let file = || tempfile::tempfile().expect("a temporary file");
    let size = |file: &File| file.metadata().expect("its size").len() as f64 / EVENTS as f64;
    let about = About {
        cpu_names: (0..nr_cpus).map(|cpu| format!("CPU {cpu}")).collect(),
        ..About::default()
    };
    let mut group = c.benchmark_group("write");
    group.sample_size(10).throughput(Throughput::Elements(EVENTS));
    let mut bytes = [0.0; 3];
    group.bench_function("ftrace", |b| {
        b.iter(|| {
            let out = file();
            write(&events, FtraceText::new(&out, &[], false));
            bytes[0] = size(&out);
        });
    });
    group.bench_function("perfetto", |b| {
        b.iter(|| {
            let out = file();
            write(&events, Perfetto::new(&out, &about).expect("a file that can be written"));
            bytes[1] = size(&out);
        });
    });
    group.bench_function("trace.dat", |b| {
        b.iter(|| {
            let out = file();
            write(&events, TraceDat::new(&out, file(), &about, false));
            bytes[2] = size(&out);
        });
    });
    group.finish();
    let [ftrace, perfetto, tracedat] = bytes;
    println!("bytes a record: ftrace {ftrace:.1}, perfetto {perfetto:.1}, trace.dat {tracedat:.1}");
}

fn runs(c: &mut Criterion) {
    let scenario = scenario();
    let nr_cpus = scenario.topology().nr_cpus;
    let mut group = c.benchmark_group("run");
    group.sample_size(10);
    group.bench_function("without", |b| b.iter(|| scenario.run(1).expect("a run")));
    group.bench_function("ftrace", |b| {
        b.iter(|| {
            let text = FtraceText::new(std::io::sink(), &[], false);
            let mut recorder = Recorder::new(nr_cpus, text);
            scenario.run_traced(1, &mut recorder).expect("a run");
            recorder.finish().expect("nothing to fail").0
        });
    });
    group.finish();
}

criterion_group!(benches, formats, runs);
criterion_main!(benches);
