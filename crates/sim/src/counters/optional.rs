//! Counters that a run has only where its experiment asks for what they count: quotas, NUMA balancing, pressure.

use workload::Counter;

/// What quotas of control groups did, summed over groups (`cpu.stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bandwidth {
    /// Periods in which a group with a quota had something to run (`nr_periods`).
    pub periods: u64,
    /// Those in which it came to its quota on some CPU (`nr_throttled`).
    pub throttled: u64,
    /// Time that its queues were throttled, in us, over CPUs (`throttled_usec`).
    pub throttled_us: u64,
}

impl Bandwidth {
    /// What an engine counts besides [`super::Counters::schema`] where variants have control groups.
    pub fn schema() -> Vec<Counter> {
        let number = Counter::number;
        let us = Counter {
            unit: "us".into(),
            ..number(
                "throttled_us",
                "time that queues of groups were throttled, over CPUs and groups",
            )
        };
        vec![
            number(
                "nr_periods",
                "periods in which a group with a quota had something to run, over groups",
            ),
            number("nr_throttled", "periods in which a group came to its quota, over groups"),
            us,
        ]
    }

    /// The values in the order of [`Bandwidth::schema`].
    pub fn values(&self) -> Vec<u64> {
        vec![self.periods, self.throttled, self.throttled_us]
    }
}

/// What NUMA balancing did, as `/proc/vmstat` counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NumaBalancing {
    /// Pages of 4 KiB that were unmapped (`numa_pte_updates`).
    pub pte_updates: u64,
    /// Faults on such pages (`numa_hint_faults`).
    pub hint_faults: u64,
    /// Those on pages of the CPU's own node (`numa_hint_faults_local`).
    pub hint_faults_local: u64,
    /// Pages of 4 KiB that moved to another node (`numa_pages_migrated`).
    pub pages_migrated: u64,
    /// Tasks that moved to the node of their memory (`numa_task_migrated`, where a kernel has it).
    pub tasks_migrated: u64,
    /// Tasks that changed places for that (`numa_task_swapped`, likewise).
    pub tasks_swapped: u64,
}

impl NumaBalancing {
    /// What an engine counts besides [`super::Counters::schema`] where a variant says whether it is on.
    pub fn schema() -> Vec<Counter> {
        [
            ("numa_pte_updates", "pages of 4 KiB that NUMA balancing unmapped"),
            ("numa_hint_faults", "faults on pages that NUMA balancing had unmapped"),
            ("numa_hint_faults_local", "such faults on pages of the CPU's own node"),
            ("numa_pages_migrated", "pages of 4 KiB that NUMA balancing moved to another node"),
            ("numa_task_migrated", "tasks that NUMA balancing moved to the node of their memory"),
            ("numa_task_swapped", "tasks that NUMA balancing let change places"),
        ]
        .map(|(name, help)| Counter::number(name, help))
        .to_vec()
    }

    /// The values in the order of [`NumaBalancing::schema`].
    pub fn values(&self) -> Vec<u64> {
        vec![
            self.pte_updates,
            self.hint_faults,
            self.hint_faults_local,
            self.pages_migrated,
            self.tasks_migrated,
            self.tasks_swapped,
        ]
    }

    /// Adds what happened to pages.
    pub(crate) fn add_pages(&mut self, more: NumaBalancing) {
        self.pte_updates += more.pte_updates;
        self.hint_faults += more.hint_faults;
        self.hint_faults_local += more.hint_faults_local;
        self.pages_migrated += more.pages_migrated;
    }
}

/// Pressure stall information on CPUs, as the kernel sums it up, in us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pressure {
    /// Time in which a task of the machine waited for a CPU (`some` of `/proc/pressure/cpu`).
    pub some_us: u64,
    /// Time in which all tasks of a group that could run waited (`full` of `cpu.pressure`), over groups.
    pub full_us: u64,
}

impl Pressure {
    /// What an engine counts besides [`super::Counters::schema`] where a variant's configuration has it.
    pub fn schema() -> Vec<Counter> {
        let us = |name, help| Counter { unit: "us".into(), ..Counter::number(name, help) };
        vec![
            us("psi_cpu_some_us", "time in which some task waited for a CPU; 0 without PSI"),
            us(
                "psi_cpu_full_us",
                "time in which all tasks of a group waited, over groups; 0 without PSI",
            ),
        ]
    }

    /// The values in the order of [`Pressure::schema`].
    pub fn values(&self) -> Vec<u64> {
        vec![self.some_us, self.full_us]
    }
}
