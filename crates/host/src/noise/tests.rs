use super::*;
use crate::facts::tree::Tree;
use proptest::prelude::*;

const STAT: &str = "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 100 0 0 900 0 0 0 0 0 0\nctxt 1000\n";
const LATER: &str = "cpu  150 0 10 930 0 5 5 20 0 0\ncpu0 150 0 10 930 0 5 5 20 0 0\nctxt 1300\n";

/// A computer of one package with two cores of two threads that has everything.
fn full() -> Tree {
    let tree = Tree::new(&[
        ("proc/stat", STAT),
        ("proc/loadavg", "0.50 0.20 0.10 1/200 99\n"),
        ("proc/pressure/cpu", "some avg10=0.00 total=100\n"),
        ("proc/pressure/memory", "some avg10=0.00 total=200\nfull avg10=0.00 total=5\n"),
        ("proc/pressure/io", "some avg10=0.00 total=300\n"),
        ("sys/class/thermal/thermal_zone0/type", "acpitz\n"),
        ("sys/class/thermal/thermal_zone0/temp", "90000\n"),
        ("sys/class/hwmon/hwmon0/name", "nvme\n"),
        ("sys/class/hwmon/hwmon0/temp1_input", "80000\n"),
        ("sys/class/hwmon/hwmon1/name", "coretemp\n"),
        ("sys/class/hwmon/hwmon1/temp1_input", "50000\n"),
        ("sys/class/hwmon/hwmon1/temp1_label", "Package id 0\n"),
        ("sys/class/hwmon/hwmon1/temp2_input", "51000\n"),
        ("sys/class/hwmon/hwmon1/temp2_label", "Core 0\n"),
        ("sys/class/powercap/intel-rapl:0/name", "package-0\n"),
        ("sys/class/powercap/intel-rapl:0/energy_uj", "900\n"),
        ("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000\n"),
        ("sys/class/powercap/intel-rapl:0:0/name", "core\n"),
        ("sys/class/powercap/intel-rapl:0:0/energy_uj", "7\n"),
        ("sys/class/powercap/intel-rapl:1/name", "psys\n"),
        ("sys/class/powercap/intel-rapl:1/energy_uj", "7\n"),
        ("sys/devices/system/cpu/cpufreq/policy0/stats/total_trans", "10\n"),
        ("sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0 1\n"),
        ("sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "2100000\n"),
    ]);
    for (cpu, siblings) in ["0,2", "1,3", "0,2", "1,3"].iter().enumerate() {
        let dir = format!("sys/devices/system/cpu/cpu{cpu}");
        tree.write(&format!("{dir}/topology/thread_siblings_list"), siblings);
        tree.write(&format!("{dir}/topology/physical_package_id"), "0");
        throttled(&tree, cpu, "1");
    }
    tree
}

fn throttled(tree: &Tree, cpu: usize, count: &str) {
    let dir = format!("sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
    tree.write(&format!("{dir}/core_throttle_count"), count);
    tree.write(&format!("{dir}/package_throttle_count"), count);
}

#[test]
fn everything_that_grew_is_counted_once() {
    let tree = full();
    let sources = Sources::find(tree.root());
    assert_eq!(sources.not_here(), [""; 0]);
    let before = sources.read().unwrap();
    tree.write("proc/stat", LATER);
    tree.write("proc/pressure/cpu", "some avg10=0.00 total=111\n");
    tree.write("sys/class/powercap/intel-rapl:0/energy_uj", "50\n");
    tree.write("sys/class/hwmon/hwmon1/temp1_input", "60000\n");
    (0..4).for_each(|cpu| throttled(&tree, cpu, "3"));
    let noise = sources.read().unwrap().since(&before);
    let expected = Noise {
        steal_ns: 200_000_000,
        busy_ns: 700_000_000,
        irq_ns: 100_000_000,
        context_switches: 300,
        // Two cores and a package, twice each.
        throttles: Some(6),
        frequency_changes: Some(0),
        temperature_before_mc: Some(50_000),
        temperature_after_mc: Some(60_000),
        psi_cpu_us: Some(11),
        psi_memory_us: Some(0),
        psi_io_us: Some(0),
        energy_uj: Some(150),
    };
    assert_eq!(noise, expected);
    assert_eq!(
        (noise.other_cpu_ns(600_000_000), noise.other_cpu_ns(800_000_000)),
        (100_000_000, 0)
    );
}

#[test]
fn counters_and_values_are_in_one_order() {
    let tree = full();
    let sources = Sources::find(tree.root());
    let before = sources.read().unwrap();
    tree.write("proc/stat", LATER);
    let noise = sources.read().unwrap().since(&before);
    let available = Available::of(&before);
    let counters = available.counters();
    let values = available.values(&noise, 100_000_000).unwrap();
    assert_eq!((counters.len(), values.len()), (8, 8));
    let of = |name: &str| values[counters.iter().position(|c| c.name == name).unwrap()];
    assert_eq!((of("steal_ns"), of("other_cpu_ns")), (200_000_000, 600_000_000));
    assert_eq!((of("temperature_before_mc"), of("throttle_events")), (50_000, 0));
    assert_eq!(counters[7].unit, "uJ");
}

#[test]
fn a_bare_computer_counts_what_proc_stat_has_and_says_what_is_missing() {
    let tree = Tree::new(&[("proc/stat", STAT)]);
    let snapshot = Snapshot::read(tree.root()).unwrap();
    assert_eq!((snapshot.load(), snapshot.temperature_mc()), (None, None));
    let available = Available::of(&snapshot);
    let names: Vec<String> = available.counters().into_iter().map(|c| c.name).collect();
    assert_eq!(names, ["steal_ns", "other_cpu_ns"]);
    let missing = not_here(tree.root());
    let starts =
        ["throttling: no", "changes of clocks: no", "temperature: no", "cpu pressure: /proc"];
    let starts =
        starts.into_iter().chain(["memory pressure", "io pressure", "energy: no RAPL domain"]);
    assert!(missing.iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{missing:?}");
    assert_eq!(missing.len(), 7);
}

#[test]
fn a_counter_that_went_away_is_an_error_and_not_0() {
    let tree = full();
    let sources = Sources::find(tree.root());
    let before = sources.read().unwrap();
    tree.remove("proc/pressure/io");
    let noise = sources.read().unwrap().since(&before);
    assert_eq!(noise.psi_io_us, None);
    let error = Available::of(&before).values(&noise, 0).unwrap_err();
    assert_eq!(error, NoiseError::Gone { counter: "psi_io_some_us" });
}

#[test]
fn a_sensor_of_no_cpu_is_better_than_none() {
    let tree = Tree::new(&[
        ("proc/stat", STAT),
        ("sys/class/thermal/thermal_zone0/type", "acpitz\n"),
        ("sys/class/thermal/thermal_zone0/temp", "30000\n"),
        ("sys/class/hwmon/hwmon0/name", "board\n"),
        ("sys/class/hwmon/hwmon0/temp1_input", "40000\n"),
        ("sys/class/hwmon/hwmon0/temp2_input", "9999000\n"),
        ("sys/class/hwmon/hwmon0/temp3_input", "-60000\n"),
    ]);
    assert_eq!(Snapshot::read(tree.root()).unwrap().temperature_mc(), Some(40_000));
}

#[test]
fn clocks_are_read_when_asked() {
    let tree = full();
    let clocks = Sources::find(tree.root()).frequencies_khz();
    assert_eq!(clocks, [("0-1".parse::<machine::CpuSet>().unwrap(), 2_100_000)]);
}

#[test]
fn the_share_of_busy_time_is_between_0_and_1() {
    let tree = Tree::new(&[("proc/stat", STAT)]);
    let before = Snapshot::read(tree.root()).unwrap();
    assert_eq!(busy_share(&before, &before), 0.0);
    tree.write("proc/stat", LATER);
    let after = Snapshot::read(tree.root()).unwrap();
    assert!((busy_share(&before, &after) - 70.0 / 120.0).abs() < 1e-9);
    assert_eq!(after.cpus()[&0], *after.all_cpus());
}

#[test]
fn no_proc_stat_is_an_error() {
    let error = Snapshot::read(Tree::new(&[]).root()).unwrap_err().to_string();
    assert!(error.contains("proc/stat: found No such file"), "{error}");
    let error = Snapshot::read(Tree::new(&[("proc/stat", "cpu 1\nctxt 1")]).root()).unwrap_err();
    assert!(error.to_string().contains("found `cpu 1`, expected cpuN and"), "{error}");
}

#[test]
fn this_computer_can_be_watched() {
    let sources = Sources::find(Path::new("/"));
    let before = sources.read().unwrap();
    let after = sources.read().unwrap();
    let noise = after.since(&before);
    assert!((0.0..=1.0).contains(&busy_share(&before, &after)));
    assert!(!before.cpus().is_empty());
    let available = Available::of(&before);
    let counters = available.counters();
    assert!(counters.len() >= 2);
    assert_eq!(available.values(&noise, 0).unwrap().len(), counters.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_content_makes_readers_panic(
        files in prop::collection::vec((0..PATHS.len(), "[0-9]{1,25}|-[0-9]{1,20}|\\PC{0,12}|some total=[0-9]{0,25}"), 0..20),
    ) {
        let tree = full();
        let before = Snapshot::read(tree.root()).unwrap();
        files.iter().for_each(|(at, text)| tree.write(PATHS[*at], text));
        let sources = Sources::find(tree.root());
        let _ = (sources.not_here(), sources.frequencies_khz());
        if let Ok(after) = sources.read() {
            let noise = after.since(&before);
            let _ = Available::of(&after).values(&noise, u64::MAX);
            prop_assert!((0.0..=1.0).contains(&busy_share(&before, &after)));
        }
    }
}

const PATHS: [&str; 12] = [
    "proc/loadavg",
    "proc/pressure/cpu",
    "proc/pressure/io",
    "sys/class/thermal/thermal_zone0/temp",
    "sys/class/hwmon/hwmon1/temp1_input",
    "sys/class/hwmon/hwmon1/name",
    "sys/class/powercap/intel-rapl:0/energy_uj",
    "sys/class/powercap/intel-rapl:0/max_energy_range_uj",
    "sys/devices/system/cpu/cpufreq/policy0/stats/total_trans",
    "sys/devices/system/cpu/cpufreq/policy0/affected_cpus",
    "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
    "sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
];
