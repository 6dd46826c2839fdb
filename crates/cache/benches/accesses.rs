//! Accesses a second of one core's caches, by what is touched.

use cache::{Chase, Geometry, Hierarchy, Kind, Sampling, Shape, Walk};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

const ACCESSES: u64 = 1 << 20;

fn power8() -> Shape {
    let geometry =
        |name, kib: u64| Geometry { name, size_bytes: kib << 10, ways: 8, line_bytes: 128 };
    Shape {
        l1i: geometry("L1I", 32),
        l1d: geometry("L1D", 64),
        l2: geometry("L2", 512),
        l3: geometry("L3", 8192),
    }
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("accesses");
    group.throughput(Throughput::Elements(ACCESSES)).sample_size(20);
    for (name, kib) in [("l1", 32u64), ("l2", 384), ("l3", 4096), ("memory", 65536)] {
        let mut caches = Hierarchy::new(&power8(), 1).expect("caches");
        let mut chase = Chase::new(0, kib << 3, Sampling::ALL, 1);
        group.bench_function(BenchmarkId::new("chase", name), |b| {
            b.iter(|| {
                for _ in 0..ACCESSES {
                    black_box(caches.access(chase.next_line(), Kind::Read));
                }
            });
        });
        let mut caches = Hierarchy::new(&power8(), 1).expect("caches");
        let mut walk = Walk::new(0, kib << 3, Sampling::ALL);
        group.bench_function(BenchmarkId::new("walk", name), |b| {
            b.iter(|| {
                for _ in 0..ACCESSES {
                    black_box(caches.access(walk.next_line(), Kind::Read));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
