//! Host time of a second of 64 CPUs under a service at 50,000 requests a second, whose requests come from other machines and from threads.

#[path = "../tests/model/machines.rs"]
mod machines;
#[path = "shared/service_load.rs"]
mod service_load;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kernel::{Kernel, Version};
use service_load::{CPUS, PER_S, params};
use sim::Scenario;
use std::time::Duration;
use workload::service::{self, Costs};

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("service");
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    group.throughput(Throughput::Elements(PER_S as u64));
    let machine = machines::smt(CPUS, 1);
    let costs = Costs::of(&machine.constants).expect("costs");
    for version in [Version::new(5, 11), Version::new(6, 12)] {
        for (name, irq_cpus) in [("interrupts", Some(machine.online.clone())), ("threads", None)] {
            let workload = service::build(&params(irq_cpus), &costs).expect("a workload");
            let kernel = Kernel::new(version);
            let scenario = Scenario::new(&machine, &kernel, workload).expect("a runnable scenario");
            let id = BenchmarkId::new(name, version);
            group.bench_function(id, |b| b.iter(|| scenario.run(1).expect("a run")));
        }
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
