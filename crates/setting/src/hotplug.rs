//! CPUs that go offline or come online while a run lasts.

/// One write to `/sys/devices/system/cpu/cpuN/online` in the middle of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotplugStep {
    /// When, in ns from the start of the run.
    pub at_ns: u64,
    /// CPU number.
    pub cpu: usize,
    /// Whether it comes online (1) or goes offline (0).
    pub online: bool,
}
