//! What else runs on an idle server: a kernel thread on each CPU that wakes now and then, and a few daemons.
//!
//! It matters because placement looks at what earlier tasks left behind: a CPU whose load average has not
//! decayed to zero loses against one whose has. Rates and bursts are assumed; an experiment file can change them.

use crate::program::{Op, Spawn, Spread, Work, Workload};
use crate::{WorkloadError, check};
use machine::CpuSet;
use serde::{Deserialize, Serialize};

const NAME: &str = "background";

/// How busy the background is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// Mean sleep of each CPU's kernel thread, in ms; 0 for none.
    pub kthread_period_ms: f64,
    /// Median run of a kernel thread, in us.
    pub kthread_burst_us: f64,
    /// Daemons that may run anywhere.
    pub daemons: u16,
    /// Mean sleep of a daemon, in ms.
    pub daemon_period_ms: f64,
    /// Median run of a daemon, in us.
    pub daemon_burst_us: f64,
}

impl Background {
    /// Names of backgrounds that need no numbers.
    pub const NAMES: [&str; 2] = ["idle-server", "none"];

    /// The background called `name`, one of [`Background::NAMES`].
    pub fn named(name: &str) -> Option<Background> {
        match name {
            "idle-server" => Some(Background::default()),
            "none" => {
                Some(Background { kthread_period_ms: 0.0, daemons: 0, ..Background::default() })
            }
            _ => None,
        }
    }
}

impl Default for Background {
    /// `idle-server`: each CPU's kernel thread about once a second, and eight daemons every 50 ms. Assumed.
    fn default() -> Background {
        Background {
            kthread_period_ms: 1000.0,
            kthread_burst_us: 40.0,
            daemons: 8,
            daemon_period_ms: 50.0,
            daemon_burst_us: 150.0,
        }
    }
}

/// Standard deviation of the logarithm of a burst: most are short, a few are ten times the median.
const BURST_SIGMA: f64 = 1.0;

/// Adds the background to `w` for the CPUs `online`, with `cycles_per_us` of the machine.
pub fn add(
    w: &mut Workload,
    background: &Background,
    online: CpuSet,
    cycles_per_us: f64,
) -> Result<(), WorkloadError> {
    check_params(background)?;
    let ops = |burst_us: f64, period_ms: f64| {
        vec![
            Op::Compute(Work {
                cycles: burst_us * cycles_per_us,
                spread: Spread::LogNormal(BURST_SIGMA),
            }),
            Op::Sleep { mean_ns: period_ms * 1e6, spread: Spread::Exponential },
            Op::Loop { to: 0, times: 0 },
        ]
    };
    if background.kthread_period_ms > 0.0 {
        let kthread =
            w.program("kworker", ops(background.kthread_burst_us, background.kthread_period_ms));
        w.spawns.extend(online.iter().map(|cpu| Spawn {
            affinity: Some(CpuSet::single(cpu)),
            within_ns: (background.kthread_period_ms * 1e6) as u64,
            daemon: true,
            ..Spawn::new(kthread)
        }));
    }
    let daemon = w.program("daemon", ops(background.daemon_burst_us, background.daemon_period_ms));
    w.spawns.extend((0..background.daemons).map(|_| Spawn {
        within_ns: (background.daemon_period_ms * 1e6) as u64,
        daemon: true,
        ..Spawn::new(daemon)
    }));
    Ok(())
}

fn check_params(b: &Background) -> Result<(), WorkloadError> {
    let expected = "a positive number, at most 1e6";
    let kthreads = b.kthread_period_ms;
    check::within(NAME, "kthread_period_ms", kthreads, 0.0..=1e6, "0 to 1e6")?;
    let rest = [
        ("kthread_burst_us", b.kthread_burst_us),
        ("daemon_period_ms", b.daemon_period_ms),
        ("daemon_burst_us", b.daemon_burst_us),
    ];
    rest.into_iter().try_for_each(|(field, v)| check::within(NAME, field, v, 1e-3..=1e6, expected))
}
