use super::*;

const HEADER: &str = include_str!("../../../tree/arch/kernel/abi.h");

/// Numbers of the header by name: `#define NAME N` and `NAME = N,`.
fn number(name: &str) -> u32 {
    let after = HEADER.split(name).nth(1).unwrap();
    let digits = after.trim_start_matches([' ', '\t', '=']);
    digits.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

#[test]
fn numbers_are_those_of_the_header() {
    assert_eq!(number("#define SC_ABI_VERSION"), VERSION);
    assert_eq!(number("SC_LEVEL_SHARES_CAPACITY"), level_flag::SHARES_CAPACITY);
    assert_eq!(number("SC_LEVEL_SHARES_CLUSTER"), level_flag::SHARES_CLUSTER);
    assert_eq!(number("SC_LEVEL_SHARES_LLC"), level_flag::SHARES_LLC);
    assert_eq!(number("SC_LEVEL_ASYM_PACKING"), level_flag::ASYM_PACKING);
    assert_eq!(number("#define SC_COST_SHIFT"), sim::source::COST_SHIFT);
    assert_eq!(number("SC_COOKIE"), shared::COOKIE);
    assert_eq!(number("SC_SESSION"), shared::SESSION);
    assert_eq!(number("SC_IRQ_TIMER"), sim::source::irq::TIMER);
    assert_eq!(number("SC_IRQ_DEVICE"), sim::source::irq::DEVICE);
    assert_eq!(number("SC_IRQ_START"), sim::source::irq::START);
    assert_eq!(number("SC_IRQ_WAKE"), sim::source::irq::WAKE);
}

/// Constants of an enum of the header without values, in order.
fn names(name: &str) -> Vec<&'static str> {
    let body = HEADER.split(&format!("enum {name} {{")).nth(1).unwrap();
    let body = body.split("};").next().unwrap();
    let starts = |word: &&str| word.starts_with("SC_");
    body.split([' ', ',', '\n', '\t']).filter(starts).collect()
}

#[test]
fn constants_are_in_the_order_of_the_header() {
    let at = |names: &[&str], name: &str| names.iter().position(|n| *n == name).unwrap() as u32;
    let events = names("sc_event");
    for (name, number) in [
        ("SC_EVENT_WARN", event::WARN),
        ("SC_EVENT_TIMER", event::TIMER),
        ("SC_EVENT_INTERRUPT", event::INTERRUPT),
        ("SC_EVENT_SWITCH", event::SWITCH),
        ("SC_EVENT_WAKING", event::WAKING),
        ("SC_EVENT_WAKEUP", event::WAKEUP),
        ("SC_EVENT_WAKEUP_NEW", event::WAKEUP_NEW),
        ("SC_EVENT_MIGRATE", event::MIGRATE),
        ("SC_EVENT_UTIL", event::UTIL),
        ("SC_EVENT_PUSH", event::PUSH),
        ("SC_EVENT_SWITCHED", event::SWITCHED),
        ("SC_EVENT_UNDEFINED", event::UNDEFINED),
        ("SC_EVENT_CLOCK", event::CLOCK),
        ("SC_EVENT_REFUSED", event::REFUSED),
    ] {
        assert_eq!(at(&events, name), number, "{name}");
    }
    let kinds = names("sc_call_kind");
    for (name, number) in [
        ("SC_CALL_WAKE", call::WAKE),
        ("SC_CALL_FORK", call::FORK),
        ("SC_CALL_NICE", call::NICE),
        ("SC_CALL_SLICE", call::SLICE),
        ("SC_CALL_CLAMP", call::CLAMP),
        ("SC_CALL_SLEEP", call::SLEEP),
        ("SC_CALL_SLEEP_UNTIL", call::SLEEP_UNTIL),
        ("SC_CALL_YIELD", call::YIELD),
        ("SC_CALL_EXEC", call::EXEC),
        ("SC_CALL_AFFINITY", call::AFFINITY),
        ("SC_CALL_POLICY", call::POLICY),
        ("SC_CALL_EXIT", call::EXIT),
    ] {
        assert_eq!(at(&kinds, name), number, "{name}");
    }
    let policies = names("sc_policy");
    for (name, number) in [
        ("SC_OTHER", policy::OTHER),
        ("SC_BATCH", policy::BATCH),
        ("SC_LAZY", policy::IDLE),
        ("SC_FIFO", policy::FIFO),
        ("SC_ROUND_ROBIN", policy::ROUND_ROBIN),
        ("SC_DEADLINE", policy::DEADLINE),
    ] {
        assert_eq!(i64::from(at(&policies, name)), number, "{name}");
    }
    let all = names("sc_waits");
    for (name, number) in [
        ("SC_OFF", waits::OFF),
        ("SC_USER", waits::USER),
        ("SC_IDLE", waits::IDLE),
        ("SC_SPINS", waits::SPINS),
        ("SC_KERNEL", waits::KERNEL),
    ] {
        assert_eq!(at(&all, name), number, "{name}");
    }
}

/// Fields of a struct of the header, in order; each name is the last word before `;`, `,` or `)(`.
fn fields(name: &str) -> Vec<String> {
    let body = HEADER.split(&format!("struct {name} {{\n")).nth(1).unwrap();
    let body = body.split("\n};").next().unwrap();
    let code: String =
        body.lines().map(|l| l.split("/*").next().unwrap_or("")).collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for part in code.split(';').map(str::trim).filter(|p| !p.is_empty() && !p.ends_with("*/")) {
        if let Some((_, rest)) = part.split_once("(*") {
            found.push(rest.split(')').next().unwrap().to_string());
            continue;
        }
        let names = part.split(',').map(|n| n.split_whitespace().last().unwrap());
        found.extend(names.map(|n| n.trim_start_matches('*').to_string()));
    }
    found
}

#[test]
fn structs_have_the_fields_of_the_header_in_its_order() {
    let places = [
        "core",
        "cluster",
        "package",
        "node",
        "capacity",
        "llc_bytes",
        "priority",
        "smt",
        "cluster_cpus",
        "package_cpus",
        "llc",
    ];
    assert_eq!(fields("sc_cpu_place"), places);
    let machine = [
        "cpus",
        "nodes",
        "levels",
        "idle_states",
        "places",
        "distances",
        "level",
        "idle_state",
        "reclaim_distance",
    ];
    assert_eq!(fields("sc_machine"), machine);
    assert_eq!(fields("sc_idle_state"), ["name", "exit_ns", "residency_ns", "poll_ns", "flagged"]);
    assert_eq!(fields("sc_idle"), ["state", "until_ns", "calls"]);
    assert_eq!(fields("sc_clamps"), ["min", "max"]);
    assert_eq!(fields("sc_level"), ["name", "flags", "masks"]);
    assert_eq!(
        fields("sc_host"),
        ["alloc", "pages", "free", "log", "fatal", "event", "asked", "answered"]
    );
    assert_eq!(fields("sc_call"), ["kind", "a", "b", "words"]);
    let turn = [
        "cpu",
        "irqs",
        "now_ns",
        "scan_cost",
        "balance_cost",
        "call",
        "waits",
        "scans",
        "balances",
        "current_task",
    ];
    assert_eq!(fields("sc_turn"), turn);
    let balancing =
        ["count", "balanced", "failed", "gained", "hot_gained", "imbalance", "nobusyg", "nobusyq"];
    assert_eq!(fields("sc_balancing"), balancing);
    let counts = [
        "sched_count",
        "sched_goidle",
        "affine_attempts",
        "affine_moves",
        "alb_count",
        "alb_failed",
        "alb_pushed",
        "ilb_kicks",
        "balancing[3]",
    ];
    assert_eq!(fields("sc_counts"), counts);
    assert_eq!(fields("sc_spawn"), ["name", "cpu", "nice", "mask"]);
    let api = [
        "version",
        "release",
        "boot",
        "set_now",
        "now",
        "tick",
        "turn",
        "wake_later",
        "spawn",
        "timer",
        "waits",
        "current_task",
        "nr_running",
        "idle",
        "count",
        "watch_util",
        "util",
        "set_frequency",
        "seed",
        "debugfs_write",
        "debugfs_read",
        "online",
        "watch",
        "queue_state",
        "task_state",
        "switch_later",
        "clamps",
        "sums",
        "sysctl_write",
        "sysctls",
        "govern",
        "requested",
        "sysfs_write",
        "sysfs_read",
        "group_make",
        "group_write",
        "group_stat",
        "group_join",
        "group_lead",
        "pressure",
    ];
    assert_eq!(fields("sc_api"), api);
    let clocks = [
        "states",
        "policies",
        "khz",
        "policy_cpus",
        "latency_ns",
        "boost_ratio",
        "fast_switch",
        "invariant",
    ];
    assert_eq!(fields("sc_clocks"), clocks);
    assert_eq!(fields("sc_debug"), ["run_ns", "stop_ns"]);
}

#[test]
fn what_is_decided_has_the_fields_of_the_header() {
    /// Fields of a struct in Rust, in order, by what its default prints.
    fn of<T: Default + std::fmt::Debug>(rust: &str) -> Vec<String> {
        let text = format!("{:#?}", T::default());
        assert!(text.starts_with(rust));
        let field = |l: &str| {
            l.strip_prefix("    ").and_then(|l| l.split_once(": ")).map(|(n, _)| n.to_string())
        };
        text.lines().filter_map(field).filter(|n| !n.starts_with(' ')).collect()
    }
    assert_eq!(fields("sc_question"), of::<Question>("Question"));
    assert_eq!(fields("sc_averages"), of::<sim::source::Averages>("Averages"));
    assert_eq!(fields("sc_queue_state"), of::<QueueState>("QueueState"));
    assert_eq!(fields("sc_task_state"), of::<TaskState>("TaskState"));
    assert_eq!(fields("sc_sums"), of::<Sums>("Sums"));
    let queued = fields("sc_queued").join(" ").replace("[SC_MASK_WORDS]", "");
    assert_eq!(queued, of::<Queued>("Queued").join(" "));
    assert_eq!(number("#define SC_MASK_WORDS") as usize, sim::source::MASK_WORDS);
    use sim::source::{decision, why};
    let decisions = names("sc_decision");
    for (at, number) in [
        ("SC_DECIDES_CPU", decision::CPU),
        ("SC_DECIDES_TASK", decision::TASK),
        ("SC_DECIDES_PREEMPTION", decision::PREEMPTION),
        ("SC_BALANCES", decision::BALANCES),
        ("SC_DECIDES_TURN", decision::TURN),
        ("SC_DECIDES_GROUP", decision::GROUP),
        ("SC_DECIDES_QUEUE", decision::QUEUE),
    ] {
        assert_eq!(decisions[number as usize], at);
    }
    let reasons = names("sc_why");
    let numbers = [why::WAKES, why::WAKES_SYNC, why::IS_NEW, why::EXECS];
    assert_eq!(
        numbers.map(|n| reasons[n as usize]),
        ["SC_WAKES", "SC_WAKES_SYNC", "SC_IS_NEW", "SC_EXECS"]
    );
}
