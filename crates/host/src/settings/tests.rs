//! On a computer of files: three CPUs, two policies, two idle states.

use super::*;
use std::fs;
use tempfile::TempDir;

fn computer() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let file = |path: &str, content: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    file("proc/sys/kernel/random/boot_id", "boot\n");
    file("proc/sys/kernel/numa_balancing", "1\n");
    file("sys/kernel/debug/sched_features", "WA_IDLE WA_WEIGHT\n");
    file("sys/devices/system/cpu/smt/control", "on\n");
    file("sys/fs/cgroup/cgroup.subtree_control", "");
    file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n");
    for cpu in 0..3 {
        let cpu = format!("sys/devices/system/cpu/cpu{cpu}");
        file(&format!("{cpu}/cpuidle/state0/name"), "POLL\n");
        file(&format!("{cpu}/cpuidle/state0/disable"), "0\n");
        file(&format!("{cpu}/cpuidle/state1/name"), "C6\n");
        file(&format!("{cpu}/cpuidle/state1/disable"), "0\n");
    }
    file("sys/devices/system/cpu/cpu2/online", "1\n");
    for policy in [0, 2] {
        let policy = format!("sys/devices/system/cpu/cpufreq/policy{policy}");
        file(&format!("{policy}/scaling_governor"), "powersave\n");
        file(&format!("{policy}/scaling_available_governors"), "performance powersave\n");
        file(&format!("{policy}/scaling_driver"), "intel_pstate\n");
        file(&format!("{policy}/scaling_max_freq"), "3000000\n");
    }
    file("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    dir
}

fn read(root: &TempDir, path: &str) -> String {
    fs::read_to_string(root.path().join(path)).unwrap().trim().to_owned()
}

fn settings() -> Settings {
    Settings {
        offline: "2".parse().unwrap(),
        governor: Some("performance".to_owned()),
        max_khz: Some(2_000_000),
        boost: Some(false),
        idle_states: [("C6".to_owned(), false)].into(),
        files: vec![("numa".to_owned(), KernelFile::sysctl("kernel.numa_balancing", 0))],
        ..Settings::default()
    }
}

#[test]
fn all_is_set_and_put_back() {
    let root = computer();
    let journal = root.path().join("journal");
    let mut computer = Computer::take(root.path(), &journal).unwrap();
    settings().check(root.path()).unwrap();
    settings().apply(&mut computer).unwrap();
    let cpus = "sys/devices/system/cpu";
    let set = [
        (format!("{cpus}/cpu2/online"), "0", "1"),
        (format!("{cpus}/cpufreq/policy2/scaling_governor"), "performance", "powersave"),
        (format!("{cpus}/cpufreq/policy0/scaling_max_freq"), "2000000", "3000000"),
        (format!("{cpus}/intel_pstate/no_turbo"), "1", "0"),
        (format!("{cpus}/cpu1/cpuidle/state1/disable"), "1", "0"),
        (format!("{cpus}/cpu1/cpuidle/state0/disable"), "0", "0"),
        ("proc/sys/kernel/numa_balancing".to_owned(), "0", "1"),
    ];
    for (path, now, _) in &set {
        assert_eq!(read(&root, path), *now, "{path}");
    }
    // Killed here: another process finds what is left and puts it back.
    drop(computer);
    let left = Computer::take(root.path(), &journal).unwrap_err().to_string();
    assert!(left.contains("`schedscape host restore` puts them back"), "{left}");
    let mut computer = Computer::left(root.path(), &journal).unwrap();
    computer.undo_from(0).unwrap();
    for (path, _, before) in &set {
        assert_eq!(read(&root, path), *before, "{path}");
    }
    assert_eq!(computer.changes(), 0);
    drop(computer);
    Computer::take(root.path(), &journal).unwrap();
}

#[test]
fn a_change_that_is_not_needed_is_not_made() {
    let root = computer();
    let mut computer = Computer::take(root.path(), &root.path().join("journal")).unwrap();
    let same = Settings { boost: Some(true), ..Settings::default() };
    same.apply(&mut computer).unwrap();
    assert_eq!(computer.changes(), 0);
}

#[test]
fn what_is_not_here_is_refused_by_name() {
    let root = computer();
    let refused = |settings: Settings| settings.check(root.path()).unwrap_err().to_string();
    let base = Settings::default;
    let governor = Settings { governor: Some("ondemand".to_owned()), ..base() };
    assert_eq!(
        refused(governor),
        "frequency.governor: found `ondemand`, expected one of performance powersave"
    );
    let driver = Settings { driver: Some("acpi-cpufreq".to_owned()), ..base() };
    assert!(
        refused(driver)
            .contains("found `intel_pstate`, expected acpi-cpufreq, which takes another boot")
    );
    let idle = Settings { idle_states: [("C1".to_owned(), false)].into(), ..base() };
    assert_eq!(refused(idle), "host.idle_states.C1: found `C1`, expected one of POLL, C6");
    let first = Settings { offline: "0".parse().unwrap(), ..base() };
    assert!(refused(first).starts_with("offline: found CPU 0 without /sys/devices"));
    let file = ("sysctl".to_owned(), KernelFile::sysctl("kernel.nothing", 1));
    let sysctl = Settings { files: vec![file], ..base() };
    assert!(refused(sysctl).contains("expected a kernel that has it"));
    let group = Group {
        path: "web".to_owned(),
        files: vec![("io.weight".to_owned(), "1".to_owned())],
        ..Group::default()
    };
    let groups = Settings { groups: vec![group], ..base() };
    assert_eq!(
        refused(groups),
        "groups.web: found `io.weight`, expected files of one of the controllers cpuset cpu"
    );
}

#[test]
fn old_kernels_have_their_features_elsewhere() {
    let root = computer();
    let file = ("features".to_owned(), KernelFile::feature("WA_IDLE", false));
    let settings = Settings { files: vec![file], ..Settings::default() };
    let on = Files { root: root.path() };
    assert_eq!(on.second(&settings).unwrap()[0].1.path, FEATURES[0]);
    let file = ("features.X".to_owned(), KernelFile::feature("X", true));
    let unknown = Settings { files: vec![file], ..Settings::default() };
    let error = unknown.check(root.path()).unwrap_err().to_string();
    assert!(
        error.starts_with("features.X: found none of that name in /sys/kernel/debug"),
        "{error}"
    );
}

#[test]
fn a_refused_write_leaves_nothing_to_put_back() {
    let root = computer();
    let mut computer = Computer::take(root.path(), &root.path().join("journal")).unwrap();
    let file = root.path().join("proc/sys/kernel/numa_balancing");
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o400)).unwrap();
    let set = computer.set(&KernelFile::sysctl("kernel.numa_balancing", 0));
    // Root may write to any file.
    assert_eq!(computer.changes(), usize::from(set.is_ok()));
}

#[test]
fn an_empty_value_is_put_back() {
    let root = computer();
    let path = "proc/sys/kernel/domainname";
    fs::write(root.path().join(path), "").unwrap();
    let mut computer = Computer::take(root.path(), &root.path().join("journal")).unwrap();
    computer.set(&KernelFile::sysctl("kernel.domainname", "x")).unwrap();
    computer.undo_from(0).unwrap();
    assert_eq!(fs::read(root.path().join(path)).unwrap(), b"\n");
}

/// The kernel would change them itself; here, a file holds what was written to it last.
#[test]
fn what_the_kernel_changes_with_cpus_is_put_back_last() {
    let root = computer();
    let write = |path: &str, content: &str| fs::write(root.path().join(path), content).unwrap();
    let slice = "sys/kernel/debug/sched/base_slice_ns";
    fs::create_dir_all(root.path().join("sys/kernel/debug/sched")).unwrap();
    write(slice, "1000\n");
    let (smt, cpu) = ("sys/devices/system/cpu/smt/control", "sys/devices/system/cpu/cpu2/online");
    write(cpu, "0\n");
    let mut computer = Computer::take(root.path(), &root.path().join("journal")).unwrap();
    let threads = Settings { smt: Some((1, 2)), ..Settings::default() };
    threads.apply(&mut computer).unwrap();
    assert_eq!(read(&root, smt), "off");
    // As the kernel does when threads come back.
    write(slice, "3000\n");
    write(cpu, "1\n");
    computer.undo_from(0).unwrap();
    assert_eq!([smt, slice, cpu].map(|path| read(&root, path)), ["on", "1000", "0"]);
    // CPUs that go offline one by one leave others alone.
    Settings { offline: "2".parse().unwrap(), ..Settings::default() }.apply(&mut computer).unwrap();
    assert_eq!(computer.changes(), 1, "{computer:?}");
}
