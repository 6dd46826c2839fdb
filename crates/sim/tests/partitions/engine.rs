//! What logging and restoring does to partitions that take turns on a core.

use crate::rig::*;
use setting::{Prefetch, Rate};
use sim::hypervisor::sweep::{Case, Goes, SizeClass, turn};

/// A chase over what the L2 holds shares a core with a partition that streams.
fn beside_a_stream(kib: f64) -> workload::kvm::Params {
    let mut p = params(vec![partition(1, 1, chase(kib)), partition(1, 1, stream(32.0))]);
    (p.warmup_s, p.seconds) = (0.05, 0.2);
    p
}

#[test]
fn a_working_set_of_the_l2_comes_back_faster() {
    let machine = cores(&power8(), 1);
    let p = beside_a_stream(384.0);
    let load_ns = |logs| metric(&p, &run(&machine, &p, logs), "load_ns");
    let (off, l2) = (load_ns(Logs::Nothing), load_ns(Logs::L2));
    assert!(l2 < 0.995 * off, "{off} ns without, {l2} ns with");
}

/// Lines that were restored had been logged, and no more of them were used than were brought.
#[test]
fn lines_are_conserved() {
    let machine = cores(&power8(), 2);
    for logs in [Logs::Nothing, Logs::L2, Logs::L2AndL3] {
        let p = params(vec![
            partition(1, 2, apache()),
            partition(2, 2, sysbench()),
            partition(1, 1, idle()),
        ]);
        let found = run(&machine, &p, logs);
        let of = |name| counter(&found, name);
        let brought = of("mpp_lines_from_memory") + of("mpp_lines_from_l3");
        assert!(brought + of("mpp_lines_present") <= of("mpp_lines_logged"));
        assert!(of("mpp_lines_useful") + of("mpp_lines_useless") <= brought);
        assert!(of("mpp_restores") <= of("mpp_logs"));
        assert_eq!(brought > 0, logs != Logs::Nothing);
        assert_eq!(of("mpp_logs") > 0, logs != Logs::Nothing);
    }
}

/// What is logged slowly is aborted early; what is restored slowly is of less use.
#[test]
fn slow_logs_hold_less_and_slow_restores_help_less() {
    let machine = cores(&power8(), 1);
    let p = beside_a_stream(384.0);
    let with = |rate, log_cycles| {
        let prefetch = Prefetch { rate, log_cycles };
        let h = hypervisor(&machine, &p, Logs::L2, prefetch).expect("a host");
        h.run(1).expect("a run")
    };
    let fast = with(Rate::Fastest, None);
    let slow_log = with(Rate::Fastest, Some(64.0));
    let per_log = |r: &sim::RunResult| counter(r, "mpp_lines_logged") / counter(r, "mpp_logs");
    assert!(per_log(&slow_log) < per_log(&fast) / 2, "{} {}", per_log(&slow_log), per_log(&fast));
    let slow = with(Rate::Every32, None);
    assert!(metric(&p, &slow, "load_ns") > metric(&p, &fast, "load_ns"));
}

/// The two cases that the study names: a set that fits the L2 and is pushed out of all caches gains most; a stream, which
/// hits nothing, loses the bandwidth that the restore takes.
#[test]
fn the_best_case_gains_and_the_worst_case_loses() {
    let machine = power8();
    let percent = |goes, working_set_kib, slice_us| {
        let lines = |engine| {
            let case = Case { goes, working_set_kib, slice_us, neighbour_kib: 65536.0, engine };
            turn(&machine, &case).expect("a case")
        };
        let on = lines(Some((SizeClass::L2, Rate::Fastest)));
        assert!(on.useful <= on.restored, "{on:?}");
        (on.loads / lines(None).loads - 1.0) * 100.0
    };
    let (best, worst) = (percent(Goes::Chase, 512.0, 500.0), percent(Goes::Stream, 65536.0, 500.0));
    assert!(best > 20.0, "best: {best} %");
    assert!(worst < -1.0, "worst: {worst} %");
    // Long slices leave little of either.
    assert!(percent(Goes::Chase, 512.0, 20_000.0) < best / 10.0);
    assert!(percent(Goes::Stream, 65536.0, 20_000.0) > worst / 10.0);
}
