//! Host time of `hackbench -g 4 -l 1000` on 48 CPUs, by message.

#[path = "../tests/model/machines.rs"]
mod machines;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kernel::{Kernel, Version};
use sim::Scenario;
use std::time::Duration;
use workload::hackbench::{self, Costs, Params};

const GROUPS: u16 = 4;
const LOOPS: u32 = 1000;
const FDS: u16 = 20;

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("hackbench");
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    let machine = machines::smt(12, 4);
    let messages = u64::from(GROUPS) * u64::from(FDS) * u64::from(FDS) * u64::from(LOOPS);
    group.throughput(Throughput::Elements(messages));
    for (name, pipe) in [("pipe", true), ("socket", false)] {
        let params = Params {
            groups: GROUPS,
            loops: LOOPS,
            fds: FDS,
            datasize: 100,
            pipe,
            threads: false,
            cpus: None,
        };
        let costs = Costs::of(&machine.constants).expect("costs");
        let workload = hackbench::build(&params, &costs).expect("a workload");
        let kernel = Kernel::new(Version::new(4, 18));
        let scenario = Scenario::new(&machine, &kernel, workload).expect("a runnable scenario");
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| scenario.run(1).expect("a run"));
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
