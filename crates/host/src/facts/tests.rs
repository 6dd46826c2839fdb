use super::tree::Tree;
use super::*;
use proptest::prelude::*;

/// A quiet laptop of four CPUs on bare metal.
const QUIET: &[(&str, &str)] = &[
    ("proc/sys/kernel/osrelease", "6.12.48-amd64\n"),
    ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.12.48-1\n"),
    ("proc/sys/kernel/arch", "x86_64\n"),
    ("proc/cmdline", "root=/dev/sda1  quiet\n"),
    ("proc/cpuinfo", "processor\t: 0\nmodel name\t: Model\nmicrocode\t: 0xf\nflags\t\t: fpu lm\n"),
    ("proc/meminfo", "MemTotal:  1000 kB\nSwapTotal:  500 kB\nSwapFree:  500 kB\n"),
    ("proc/self/status", "Cpus_allowed_list:\t0-3\n"),
    ("proc/self/cgroup", "0::/user.slice\n"),
    ("proc/sys/kernel/tainted", "4096\n"),
    ("proc/sys/kernel/nmi_watchdog", "0\n"),
    ("proc/sys/kernel/numa_balancing", "0\n"),
    ("boot/config-6.12.48-amd64", "CONFIG_HZ=250\nCONFIG_SCHED_DEBUG=y\n"),
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/isolated", "\n"),
    ("sys/devices/system/cpu/smt/control", "off\n"),
    ("sys/devices/system/cpu/smt/active", "0\n"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    ("sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0 1\n"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_driver", "intel_cpufreq\n"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq", "800000\n"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "2000000\n"),
    ("sys/devices/system/cpu/cpufreq/policy2/affected_cpus", "2 3\n"),
    ("sys/devices/system/cpu/cpufreq/policy2/scaling_driver", "intel_cpufreq\n"),
    ("sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ("sys/kernel/debug/sched/preempt", "none voluntary (full) lazy\n"),
    ("sys/kernel/sched_ext/state", "disabled\n"),
    ("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"),
    ("sys/class/power_supply/AC/type", "Mains\n"),
    ("sys/class/power_supply/AC/online", "1\n"),
];

fn keys(tree: &Tree, busy: Option<f64>) -> Vec<&'static str> {
    let facts = Facts::read(tree.root()).unwrap();
    facts.warnings(tree.root(), busy).into_iter().map(|warning| warning.key).collect()
}

#[test]
fn a_record_has_what_is_there_and_leaves_out_the_rest() {
    let facts = Facts::read(Tree::new(QUIET).root()).unwrap();
    let of = |name: &str| facts.get(name).unwrap_or("absent").to_string();
    assert_eq!(of("kernel"), "6.12.48-amd64");
    assert_eq!(of("command-line"), "root=/dev/sda1 quiet");
    assert_eq!((of("cpus"), of("cpus-isolated")), ("0-3".into(), "absent".into()));
    assert_eq!(of("preempt"), "full");
    assert_eq!(of("smt"), "off, not active");
    assert_eq!((of("governor"), of("turbo")), ("performance".into(), "off".into()));
    assert_eq!(of("frequency-limits-khz"), "800000..2000000");
    assert_eq!(of("idle-states"), "POLL C6 (off)");
    assert_eq!((of("thp"), of("numa-balancing")), ("madvise".into(), "off".into()));
    assert_eq!((of("hypervisor"), of("scheduler")), ("none seen".into(), "fair".into()));
    assert_eq!((of("memory"), of("swap-used")), ("1000 kB".into(), "0 kB".into()));
    assert_eq!(
        (of("epp"), of("mitigations"), of("boot-id")),
        ("absent".into(), "absent".into(), "absent".into())
    );
    assert_eq!(of("config").len(), 16);
    let options = facts.options();
    assert_eq!(options[0], ("CONFIG_HZ".to_string(), "250".to_string()));
    assert_eq!(facts.values()[0], ("kernel".to_string(), "6.12.48-amd64".to_string()));
}

#[test]
fn what_differs_between_cpus_is_told_with_them() {
    let tree = Tree::new(QUIET);
    tree.write("sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "schedutil");
    tree.write("sys/devices/system/cpu/cpu1/cpuidle/state0/name", "C1");
    let facts = Facts::read(tree.root()).unwrap();
    assert_eq!(facts.get("governor").unwrap(), "performance on 0-1, schedutil on 2-3");
    assert_eq!(facts.get("idle-states").unwrap(), "POLL C6 (off) on 0, C1 on 1");
}

#[test]
fn a_record_needs_a_kernel_and_cpus() {
    let tree = Tree::new(&[]);
    let error = Facts::read(tree.root()).unwrap_err().to_string();
    assert!(error.contains("osrelease: found No such file"), "{error}");
    tree.write("proc/sys/kernel/osrelease", "6.12");
    tree.write("sys/devices/system/cpu/online", "zero");
    let error = Facts::read(tree.root()).unwrap_err().to_string();
    assert!(
        error.ends_with("online: found `zero`, expected a list of CPUs such as 0-3,8"),
        "{error}"
    );
    tree.write("sys/devices/system/cpu/online", "0");
    let facts = Facts::read(tree.root()).unwrap();
    let names: Vec<String> = facts.values().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["kernel", "config", "cpus", "scheduler"]);
    assert_eq!(facts.get("config"), Some("not readable"));
    assert!(facts.options().is_empty());
}

#[test]
fn a_quiet_computer_gets_no_warning() {
    assert_eq!(keys(&Tree::new(QUIET), Some(0.01)), [""; 0]);
    // What is not known is no reason to warn.
    let bare = [("proc/sys/kernel/osrelease", "1"), ("sys/devices/system/cpu/online", "0")];
    assert_eq!(keys(&Tree::new(&bare), None), [""; 0]);
}

#[test]
fn each_thing_that_spoils_results_gets_its_warning() {
    let cases = [
        ("hypervisor", "proc/cpuinfo", "flags : hypervisor"),
        ("clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"),
        ("governor", "sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "powersave"),
        ("turbo", "sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
        ("idle-states", "sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0"),
        ("debug-kernel", "boot/config-6.12.48-amd64", "CONFIG_KASAN=y"),
        ("swap", "proc/meminfo", "SwapTotal: 500 kB\nSwapFree: 499 kB"),
        ("battery", "sys/class/power_supply/AC/online", "0"),
        ("tainted", "proc/sys/kernel/tainted", "512"),
        ("nmi-watchdog", "proc/sys/kernel/nmi_watchdog", "1"),
        ("cpu-quota", "sys/fs/cgroup/user.slice/cpu.max", "200000 100000"),
        ("cpus-allowed", "proc/self/status", "Cpus_allowed_list:\t0,2"),
        ("scheduler", "sys/kernel/sched_ext/state", "enabled"),
    ];
    for (key, path, text) in cases {
        let tree = Tree::new(QUIET);
        tree.write(path, text);
        assert_eq!(keys(&tree, None), [key], "{path}");
    }
    assert_eq!(keys(&Tree::new(QUIET), Some(0.05)), ["load"]);
}

#[test]
fn warnings_say_what_was_found() {
    let tree = Tree::new(QUIET);
    tree.write("proc/self/status", "Cpus_allowed_list:\t0,2");
    tree.write("sys/fs/cgroup/user.slice/cpu.max", "50000 100000");
    tree.write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "schedutil");
    tree.write("boot/config-6.12.48-amd64", "CONFIG_LOCKDEP=y\nCONFIG_KCSAN=y");
    tree.write("proc/sys/kernel/tainted", &(1u64 << 14 | 1 << 7).to_string());
    let facts = Facts::read(tree.root()).unwrap();
    let text = |key: &str| {
        let warnings = facts.warnings(tree.root(), Some(0.5));
        warnings.into_iter().find(|w| w.key == key).unwrap().text
    };
    assert!(text("cpus-allowed").contains("CPUs 1,3,"));
    assert!(text("cpu-quota").contains("50000 us of CPU time in every 100000 us (0.50 CPUs)"));
    assert!(text("governor").starts_with("governor schedutil: "));
    assert!(text("debug-kernel").contains("(KCSAN, LOCKDEP)"));
    assert!(
        text("tainted").starts_with("since boot a task died in the kernel (taint bit 7), a CPU")
    );
    assert!(text("load").starts_with("something else keeps 2.00 of 4 CPUs busy"));
}

#[test]
fn a_battery_counts_if_it_is_the_computers_own() {
    let tree = Tree::new(QUIET);
    tree.write("sys/class/power_supply/mouse/type", "Battery");
    tree.write("sys/class/power_supply/mouse/status", "Discharging");
    tree.write("sys/class/power_supply/mouse/scope", "Device");
    assert_eq!(keys(&tree, None), [""; 0]);
    tree.remove("sys/class/power_supply/mouse/scope");
    assert_eq!(keys(&tree, None), ["battery"]);
}

#[test]
fn this_computer_has_a_record() {
    let facts = Facts::read(Path::new("/")).unwrap();
    assert!(facts.get("kernel").unwrap().contains('.'));
    assert!(!facts.online().is_empty() && facts.get("memory").is_some());
    assert!(facts.values().iter().all(|(_, value)| !value.is_empty() && !value.contains('\n')));
    let warnings = facts.warnings(Path::new("/"), None);
    assert!(warnings.iter().all(|warning| !warning.text.contains('\n')));
}

/// Files of [`QUIET`] and others, any of them absent or with any content.
fn files() -> impl Strategy<Value = Vec<(usize, Vec<u8>)>> {
    let words =
        "[ -~\n]{0,40}|[0-9]{1,25}|[0-9, :/\\-]{0,12}|(cpu|0::/\\.\\./a|processor : )[0-9]{0,5}";
    let text = words.prop_map(String::into_bytes);
    let content = prop_oneof![3 => text, 1 => prop::collection::vec(any::<u8>(), 0..40)];
    prop::collection::vec((0..QUIET.len(), content), 0..QUIET.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_content_makes_readers_panic(files in files(), busy in any::<Option<f64>>()) {
        let tree = Tree::new(QUIET);
        for (at, content) in &files {
            tree.write_bytes(QUIET[*at].0, content);
        }
        if let Ok(facts) = Facts::read(tree.root()) {
            prop_assert!(facts.values().iter().all(|(_, value)| !value.contains('\n')));
            let warnings = facts.warnings(tree.root(), busy);
            prop_assert!(warnings.iter().all(|warning| !warning.text.contains('\n')));
        }
    }

    #[test]
    fn any_cpuinfo_is_read(text in "((processor|model name|cpu|flags|microcode)\t: ?[ -~]{0,9}\n?|\\PC{0,9}){0,20}") {
        let root = tempfile::tempdir().unwrap();
        let _ = (cpus::model(&text), cpus::microcode(&text), cpus::hypervisor(root.path(), &text));
    }

    #[test]
    fn directories_in_place_of_files_are_absent_files(at in 0..QUIET.len()) {
        let tree = Tree::new(QUIET);
        tree.remove(QUIET[at].0);
        std::fs::create_dir(tree.root().join(QUIET[at].0)).unwrap();
        if let Ok(facts) = Facts::read(tree.root()) {
            facts.warnings(tree.root(), None);
        }
    }
}
