use super::slices::FIRST_SLICE_NS;
use super::slices::MOST_SLICES;
use super::*;
use crate::SimEngine;
use definition::ExperimentFile;
use results::Results;

#[test]
fn busy_time_is_kept_when_slices_are_joined() {
    let mut watch = Watch::new(2);
    watch.busy.add(0, 500, 2_500, 1.0);
    watch.busy.add(1, 0, 100, 1.0);
    let end_ns = 3 * FIRST_SLICE_NS * MOST_SLICES as u64;
    watch.since_ns[1] = Some(end_ns - 1000);
    let heat = watch.heat(end_ns, vec![]);
    assert_eq!(heat.slice_ns, 4 * FIRST_SLICE_NS);
    assert_eq!(heat.busy[0].len(), MOST_SLICES * 3 / 4);
    assert_eq!((heat.busy[0][0], heat.busy[0][1]), (0.5, 0.0));
    assert_eq!((heat.busy[1][0], heat.busy[1].last()), (0.025, Some(&0.25)));
    assert_eq!(heat.clocks, None);
}

#[test]
fn the_last_slice_counts_what_the_run_has_of_it() {
    let mut watch = Watch::new(1);
    watch.since_ns[0] = Some(0);
    let heat = watch.heat(1_500, vec![]);
    assert_eq!(heat.busy, [[1.0, 1.0]]);
}

#[test]
fn clocks_count_while_a_task_runs() {
    let mut watch = Watch::new(2);
    watch.clock(0, 0, 1_500_000);
    watch.clock(0, 1, 1_500_000);
    watch.power(0, 0, 60.0);
    watch.power(0, 1, 70.0);
    watch.switch(200, 0, None, Some(TaskId(0)));
    // While the task runs, and while the other CPU is idle.
    watch.clock(500, 0, 3_000_000);
    watch.clock(700, 1, 2_250_000);
    watch.power(500, 0, 100.0);
    watch.switch(800, 0, Some(TaskId(0)), None);
    let clocks = watch.heat(1_500, vec![]).clocks.expect("clocks");
    assert_eq!(clocks.khz, [vec![Some(2_250_000.0), None], vec![None, None]]);
    assert_eq!(clocks.cpu_khz, [Some(2_250_000.0), None]);
    assert_eq!(clocks.mean_khz, Some(2_250_000.0));
    assert_eq!(clocks.watts, [[80.0, 100.0], [70.0, 70.0]]);
    assert_eq!(clocks.energy_j, [(500.0 * 60.0 + 1000.0 * 100.0) / 1e9, 1500.0 * 70.0 / 1e9]);
}

/// The first workload of an experiment, whose text is changed to run but once.
fn one_run(text: &str) -> (Plan, Results) {
    let plan = Plan::new(ExperimentFile::parse(text, "x.toml").unwrap(), "x.toml").unwrap();
    let results = crate::run(&plan, &SimEngine, 1, &|_| {}).unwrap();
    (plan, results)
}

#[test]
fn a_watched_run_is_the_stored_one() {
    let text = include_str!("../../../../experiments/power9-big-core.toml")
        .replace("runs = 100", "runs = 1")
        .replace("seconds = 10", "seconds = 0.05")
        .replace("loops_run = 25000", "loops_run = 200");
    let (plan, results) = one_run(&text);
    let heat = heat(&plan, 0, 1, 0).unwrap();
    assert_eq!(heat.metrics, results.workloads[0].variants[1].runs[0].metrics);
    assert_eq!((heat.busy.len(), &heat.clocks), (16, &None));
    let shares: Vec<f64> = heat.busy.concat();
    assert!(shares.iter().all(|s| (0.0..=1.0).contains(s)));
    let of_slice = |at: usize| heat.busy[..8].iter().map(|cpu| cpu[at]).sum::<f64>();
    let most = (0..heat.busy[0].len()).map(of_slice).fold(0.0, f64::max);
    assert!((1.9..3.0).contains(&most), "two threads on a big core: {most}");
}

#[test]
fn watched_watts_are_the_stored_power() {
    let text = include_str!("../../../../experiments/epyc-7742-frequency-invariance.toml");
    let (head, _) = text.split_once("[[workload]]").expect("workloads");
    // Without a window: its power is that of the whole run.
    let hackbench = "[[workload]]\nname = \"hackbench\"\ntitle = \"h\"\nruns = 1\n[workload.hackbench]\ngroups = 1\nfds = 2\ndatasize = 100\npipe = true\n\
                     loops = 100\n";
    let head = head.replace("study = \"epyc-7742-frequency-invariance\"", "");
    let (plan, results) = one_run(&format!("{head}{hackbench}"));
    let stored = &results.workloads[0];
    let power = stored.metrics.iter().position(|m| m.name == "power").expect("power");
    for variant in 0..2 {
        let heat = heat(&plan, 0, variant, 0).unwrap();
        let clocks = heat.clocks.expect("clocks");
        let watts = clocks.energy_j.iter().sum::<f64>() / (heat.end_ns as f64 / 1e9);
        let stored = stored.variants[variant].runs[0].metrics[power];
        assert!((watts / stored - 1.0).abs() < 1e-9, "watched {watts} W, stored {stored} W");
        let (low, high) = (1_500_000.0, 3_400_000.0);
        assert!(clocks.khz.iter().flatten().flatten().all(|khz| (low..=high).contains(khz)));
        assert!(clocks.mean_khz.is_some_and(|khz| (low..=high).contains(&khz)));
    }
}
