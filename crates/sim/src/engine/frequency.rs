//! Clocks and who governs them, where the setting has governors.
//!
//! Governors are made first, since clocks start at what they ask for. Both begin at a random point, each by a draw of
//! its own. A setting without governors has neither, and every core keeps its nominal clock.
//!
//! After the start nothing happens here: `governors` listen and ask, `clocks` answer as firmware would.

use super::clocks::Clocks;
use super::governors::Governors;
use crate::SimError;
use crate::rng::{Purpose, Stream};
use crate::setup::Setup;

/// Both or none.
#[derive(Debug)]
pub(super) struct Frequency<'a> {
    pub(super) clocks: Option<Clocks<'a>>,
    pub(super) governors: Option<Governors<'a>>,
}

impl<'a> Frequency<'a> {
    /// Where governors are the core's own (`by_core`), clocks start at the lowest, until the core tells what it asks for.
    pub(super) fn new(
        setup: &'a Setup,
        seed: u64,
        tick_ns: u64,
        by_core: bool,
    ) -> Result<Frequency<'a>, SimError> {
        let Some(governed) = &setup.governed else {
            return Ok(Frequency { clocks: None, governors: None });
        };
        // Two draws: where firmware's slots begin says nothing of when governors sample.
        let mut draws = Stream::new(seed, Purpose::Clocks);
        let slot_phase_ns = draws.below(governed.model.slot_ns.max(1));
        let first_sample_ns = draws.below(tick_ns);
        let refuse = |source| SimError::Frequency { machine: setup.machine.clone(), source };
        let governors = match by_core {
            true => Governors::of_core(governed),
            false => Governors::new(governed, tick_ns, first_sample_ns).map_err(refuse)?,
        };
        let clocks = Clocks::new(&governed.model, governors.start_khz(), slot_phase_ns);
        Ok(Frequency { clocks: Some(clocks), governors: Some(governors) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::{Kernel, Version};
    use setting::{Governor, Setting};
    use workload::Workload;

    #[test]
    fn firmware_and_governors_begin_apart() {
        let machine = machine::catalog::load("epyc-7742-1s-nps1").unwrap();
        let kernel = Kernel::new(Version::new(5, 9));
        let frequency = Some(setting::Frequency::new(Governor::Ondemand));
        let setting = Setting { frequency, ..Setting::default() };
        let setup = Setup::new(&machine, &kernel, Workload::default(), &setting).unwrap();
        let tick_ns = 4_000_000;
        let mut apart = Vec::new();
        for seed in 0..64 {
            let Frequency { clocks, governors } =
                Frequency::new(&setup, seed, tick_ns, false).unwrap();
            let (clocks, governors) = (clocks.unwrap(), governors.unwrap());
            let slot = clocks.phase_ns as f64 / clocks.model.slot_ns as f64;
            let sample = governors.first_sample_ns as f64 / tick_ns as f64;
            apart.push((slot - sample).abs());
        }
        // Two independent fractions are a third apart on average.
        let mean = apart.iter().sum::<f64>() / apart.len() as f64;
        assert!((0.2..0.5).contains(&mean), "{mean}");
    }
}
