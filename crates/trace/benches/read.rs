//! A million records as they come out of a file, by the kind of file.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::fs::File;
use std::io::Seek;
use trace::{
    About, Comm, Context, Event, FtraceText, Kind, Perfetto, Recording, Sink, Task, TaskState,
    TraceDat, TraceError,
};

/// Records of one measurement.
const EVENTS: u64 = 1_000_000;
/// CPUs that make them.
const CPUS: u32 = 16;

/// Counts records.
struct Counted(u64);

impl Sink for Counted {
    fn event(&mut self, _: &Event) -> Result<(), TraceError> {
        self.0 += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}

/// Switches and wake-ups in turn, on each CPU in turn.
fn write(mut sink: impl Sink) {
    let task = |pid: u32| Task { comm: Comm::new("messages"), pid, prio: 120 };
    for n in 0..EVENTS {
        let (cpu, pid) = (n as u32 % CPUS, 1000 + n as u32 % 97);
        let kind = match n / u64::from(CPUS) % 2 {
            0 => Kind::Wakeup { task: task(pid), target: cpu },
            _ => Kind::Switch {
                prev: Task::idle(cpu),
                prev_state: TaskState::RUNNING,
                next: task(pid),
            },
        };
        let current = (Comm::swapper(cpu), 0);
        let context = Context::locked(false);
        sink.event(&Event { at_ns: 1000 + n * 700, cpu, current, context, kind }).expect("a file");
    }
    sink.finish().expect("a file");
}

fn files(c: &mut Criterion) {
    let file = || tempfile::tempfile().expect("a temporary file");
    let (text, dat, pftrace) = (file(), file(), file());
    write(FtraceText::new(&text, &[], true));
    let about = About {
        cpu_names: (0..CPUS).map(|cpu| format!("CPU {cpu}")).collect(),
        ..About::default()
    };
    write(TraceDat::new(&dat, file(), &about, true));
    write(Perfetto::new(&pftrace, &about).expect("a file"));
    let mut group = c.benchmark_group("read");
    group.sample_size(10).throughput(Throughput::Elements(EVENTS));
    for (name, file) in [("ftrace", &text), ("trace.dat", &dat), ("perfetto", &pftrace)] {
        group.bench_function(name, |b| b.iter(|| read(file)));
    }
    group.finish();
}

fn read(file: &File) {
    let mut file = file;
    file.rewind().expect("a file");
    let mut counted = Counted(0);
    Recording::new(file).and_then(|r| r.read(&mut counted)).expect("a recording");
    assert_eq!(counted.0, EVENTS);
}

criterion_group!(benches, files);
criterion_main!(benches);
