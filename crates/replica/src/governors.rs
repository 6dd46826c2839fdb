//! Lets a kernel's own cpufreq govern: P-states for its driver, then what an administrator writes to sysfs.

use crate::abi::Clocks;
use crate::{ReplicaError, Running};
use sim::source::Governing;

/// The folder of sysfs, below `devices/system/cpu`.
const FOLDER: &str = "cpufreq";

/// What a [`Clocks`] points at: a kernel looks at it as long as it runs.
pub(crate) struct States {
    khz: Vec<u32>,
    policy_cpus: Vec<u64>,
    clocks: Clocks,
}

impl States {
    fn new(governing: &Governing, mask: impl Fn(&machine::CpuSet) -> Vec<u64>) -> Box<States> {
        let khz = governing.khz.clone();
        let policy_cpus: Vec<u64> = governing.policies.iter().flat_map(mask).collect();
        let clocks = Clocks {
            states: khz.len() as u32,
            policies: governing.policies.len() as u32,
            khz: khz.as_ptr(),
            policy_cpus: policy_cpus.as_ptr(),
            latency_ns: governing.transition_latency_ns,
            boost_ratio: governing.boost_ratio.unwrap_or(0),
            fast_switch: governing.fast_switch.into(),
            invariant: governing.invariant.into(),
        };
        Box::new(States { khz, policy_cpus, clocks })
    }

    /// As a library takes it.
    pub(crate) fn clocks(&self) -> *const Clocks {
        debug_assert!(
            !self.khz.is_empty() && self.policy_cpus.len() >= self.clocks.policies as usize
        );
        &self.clocks
    }
}

impl Running {
    /// Lets the kernel's own governors govern.
    ///
    /// # Errors
    /// What the kernel refuses, by its file in sysfs.
    pub fn govern(&mut self, governing: &Governing) -> Result<(), ReplicaError> {
        let states = States::new(governing, |cpus| self.mask(cpus));
        self.register_driver(states)?;
        for policy in &governing.policies {
            if let Some(first) = policy.first() {
                let file = format!("{FOLDER}/policy{first}/scaling_governor");
                self.write_sysfs(&file, governing.governor)?;
            }
        }
        let file = |name: &str| format!("{FOLDER}/{}/{name}", governing.governor);
        // Some are refused until another was written: thresholds that would be the wrong way round.
        let mut left = Vec::new();
        for &(name, value) in &governing.tunables {
            if self.write_sysfs(&file(name), &value.to_string()).is_err() {
                left.push((name, value));
            }
        }
        for (name, value) in left {
            self.write_sysfs(&file(name), &value.to_string())?;
        }
        for &(name, value) in &governing.tunables {
            let kept = self.read_sysfs(&file(name))?.trim().to_string();
            if kept != value.to_string() {
                return Err(ReplicaError::Kept { file: file(name), found: value, kept });
            }
        }
        Ok(())
    }
}
