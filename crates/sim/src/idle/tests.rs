use super::*;

const AHEAD: Ahead = Ahead { timer_ns: 1_000_000_000, tick_ns: 3_000_000, waits_for_io: 0 };

/// A machine with states of these exit latencies and residencies in us.
fn menu(version: (u16, u16), arch: machine::Arch, states: &[(u64, u64)]) -> Menu {
    let mut machine = machine::catalog::load("power9-big-core").unwrap();
    let state = |&(exit, residency): &(u64, u64)| IdleState {
        name: String::new(),
        exit_latency_ns: exit * 1000,
        target_residency_ns: residency * 1000,
        mwait: false,
    };
    (machine.arch, machine.idle_states) = (arch, states.iter().map(state).collect());
    Menu::new(&machine, &Kernel::new(Version::new(version.0, version.1)))
}

const STATES: [(u64, u64); 3] = [(0, 0), (1, 2), (40, 200)];

/// What it chooses after eight periods of this many us.
fn after(menu: &Menu, us: u64) -> Choice {
    let mut memory = Memory::default();
    for _ in 0..8 {
        menu.select(&mut memory, AHEAD);
        let exit_ns = menu.states[memory.state].exit_latency_ns;
        menu.update(&mut memory, us * 1000 + exit_ns, Ended::Woken);
    }
    menu.select(&mut memory, AHEAD)
}

/// Of a CPU that was idle for long and for short, without a pattern.
fn irregular(menu: &Menu) -> Memory {
    let mut memory = Memory::default();
    for us in [10, 5_000, 90, 30_000, 900, 40_000, 300, 20_000] {
        menu.update(&mut memory, us * 1000, Ended::Woken);
    }
    memory
}

#[test]
fn the_deepest_that_pays_within_the_typical_interval() {
    let menu = menu((6, 12), machine::Arch::X86, &STATES);
    assert_eq!(after(&menu, 5), Choice { state: 1, stops_tick: false });
    assert_eq!(after(&menu, 500), Choice { state: 2, stops_tick: false });
    assert_eq!(after(&menu, 20_000), Choice { state: 2, stops_tick: true });
}

#[test]
fn a_state_that_sleeps_replaces_polling() {
    let x86 = machine::Arch::X86;
    // It pays after 10 us and takes 2 us to leave; CPUs are idle for 3 us.
    let states = [(0, 0), (2, 10)];
    assert_eq!(after(&menu((6, 1), x86, &states), 3).state, 1);
    assert_eq!(after(&menu((6, 12), x86, &states), 3).state, 1);
    // Leaving it takes longer than that.
    assert_eq!(after(&menu((6, 12), x86, &states), 1).state, 0);
    // From 6.12 on it has to pay soon.
    let states = [(0, 0), (2, 20)];
    assert_eq!(after(&menu((6, 1), x86, &states), 3).state, 1);
    assert_eq!(after(&menu((6, 12), x86, &states), 3).state, 0);
}

#[test]
fn snooze_stays_where_nobody_knows_that_it_polls() {
    let states = [(0, 0), (2, 10)];
    let powerpc = machine::Arch::Powerpc;
    assert_eq!(after(&menu((5, 10), powerpc, &states), 3), Choice { state: 0, stops_tick: false });
    assert_eq!(after(&menu((6, 1), powerpc, &states), 3).state, 1);
}

#[test]
fn a_near_timer_keeps_a_cpu_awake() {
    for version in [(5, 10), (6, 12)] {
        let menu = menu(version, machine::Arch::X86, &STATES);
        let near = Ahead { timer_ns: 1_500, ..AHEAD };
        let choice = menu.select(&mut irregular(&menu), near);
        assert_eq!(choice, Choice { state: 0, stops_tick: false });
        // One that is due after the tick is far.
        let choice = menu.select(&mut irregular(&menu), AHEAD);
        assert_eq!(choice, Choice { state: 2, stops_tick: true });
    }
}

#[test]
fn tasks_that_wait_for_io_keep_states_shallow_before_6_12() {
    let waits = Ahead { timer_ns: 300_000, waits_for_io: 1, ..AHEAD };
    let state = |version| {
        let menu = menu(version, machine::Arch::X86, &STATES);
        menu.select(&mut irregular(&menu), waits).state
    };
    assert_eq!((state((6, 1)), state((6, 12))), (1, 2));
}

#[test]
fn ticks_and_time_limits_teach_that_idle_lasts() {
    let menu = menu((6, 12), machine::Arch::X86, &STATES);
    let mut memory = Memory::default();
    for _ in 0..8 {
        menu.select(&mut memory, AHEAD);
        menu.update(&mut memory, 5_000, Ended::Woken);
    }
    assert!(!menu.select(&mut memory, AHEAD).stops_tick);
    for _ in 0..8 {
        // The first of them know of no timer, and nothing bounds what they learn.
        menu.update(&mut memory, 3_000_000, Ended::Tick);
        menu.select(&mut memory, AHEAD);
    }
    assert_eq!(menu.select(&mut memory, AHEAD), Choice { state: 2, stops_tick: true });
}

#[test]
fn timers_that_are_never_reached_count_for_less() {
    let menu = menu((6, 1), machine::Arch::X86, &STATES);
    let mut memory = irregular(&menu);
    let ahead = Ahead { timer_ns: 900_000, ..AHEAD };
    assert_eq!(menu.select(&mut memory, ahead).state, 2);
    for us in [1, 400, 2, 300, 5, 350, 1, 250].repeat(4) {
        menu.update(&mut memory, us * 1000, Ended::Woken);
        menu.select(&mut memory, ahead);
    }
    assert_eq!(menu.select(&mut memory, ahead).state, 1);
}
