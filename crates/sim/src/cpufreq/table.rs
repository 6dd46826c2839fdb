//! The frequencies that a driver can set.

use super::{FrequencyError, within};

/// Which entry a frequency between two becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The lowest at or above (`CPUFREQ_RELATION_L`).
    Low,
    /// The highest at or below (`CPUFREQ_RELATION_H`).
    High,
    /// The closest, the higher of two that are equally far (`CPUFREQ_RELATION_C`).
    Closest,
}

/// P-states, P0 first and strictly descending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table(Box<[u64]>);

impl Table {
    /// The table of frequencies in kHz, P0 first.
    ///
    /// `acpi-cpufreq` leaves out states that are not below the one before; here they are an error.
    ///
    /// # Errors
    /// No state, one of 0 kHz or beyond the kernel's 32 bits, one equal to or above the state before it.
    pub(crate) fn new(khz: &[u64]) -> Result<Table, FrequencyError> {
        if khz.is_empty() {
            return Err(FrequencyError::NoStates);
        }
        if let Some(index) = khz.iter().position(|&khz| khz == 0) {
            return Err(FrequencyError::ZeroState { index });
        }
        within("P0 in kHz", khz[0], 1..=u64::from(u32::MAX))?;
        for (i, pair) in khz.windows(2).enumerate() {
            let (index, before, found) = (i + 1, pair[0], pair[1]);
            if found == before {
                return Err(FrequencyError::SameState { index, found });
            }
            if found > before {
                return Err(FrequencyError::StateOrder { index, found, before });
            }
        }
        Ok(Table(khz.into()))
    }

    /// The frequencies in kHz, P0 first.
    pub(crate) fn khz(&self) -> &[u64] {
        &self.0
    }

    /// P0 in kHz.
    pub(crate) fn highest_khz(&self) -> u64 {
        self.0[0]
    }

    /// The slowest state in kHz.
    pub(crate) fn lowest_khz(&self) -> u64 {
        self.0[self.0.len() - 1]
    }

    /// The entry for `target_khz`, which the limits bound first (`clamp_val` and
    /// `cpufreq_frequency_table_target` of a descending table). The search itself does not look at the limits, so
    /// the result is within them where they are entries themselves, as policies have them from 5.16 on. Targets
    /// beyond the table give its nearest end.
    pub(crate) fn resolve(
        &self,
        target_khz: u64,
        min_khz: u64,
        max_khz: u64,
        relation: Relation,
    ) -> u64 {
        let target = clamp_val(target_khz, min_khz, max_khz);
        let below = self.0.partition_point(|&khz| khz > target);
        match (self.0[..below].last(), self.0.get(below)) {
            (_, Some(&at)) if at == target => at,
            (Some(&above), Some(&below)) => match relation {
                Relation::Low => above,
                Relation::High => below,
                Relation::Closest if above - target > target - below => below,
                Relation::Closest => above,
            },
            (Some(&only), None) | (None, Some(&only)) => only,
            (None, None) => target,
        }
    }
}

/// `value`, at least `min` and then at most `max`, which wins where the two contradict each other (`clamp_val`).
pub(super) fn clamp_val(value: u64, min: u64, max: u64) -> u64 {
    value.max(min).min(max)
}
