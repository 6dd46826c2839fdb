//! One run in a guest with the scheduler's tracepoints on.

use super::bench::{Bench, Options};
use super::boots::Told;
use crate::ExperimentError;
use crate::engine::EngineError;
use kernel::Kernel;
use machine::Machine;
use std::sync::atomic::AtomicBool;
use vm::VmError;
use vm::session::{Answer, GuestRun, Heard};

/// A run's timeline, and whose it is.
#[derive(Debug)]
pub struct Traced {
    /// What came of the run, its timeline among it.
    pub answer: Box<Answer>,
    /// The machine that the guest's firmware describes.
    pub machine: Machine,
    /// The kernel as a model.
    pub kernel: Kernel,
    /// The kernel's release, as 6.12.9-amd64.
    pub release: String,
}

impl Bench {
    /// Boots a guest for one run of `workload` under `variant`, and records what the scheduler did while the program ran.
    ///
    /// # Errors
    /// Names that the bench does not have, all that can happen to a guest, and a run that fails.
    pub fn trace(
        &self,
        options: &Options,
        (workload, variant): (&str, &str),
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Traced, ExperimentError> {
        let run = |reason: String| ExperimentError::Run {
            workload: workload.to_string(),
            variant: variant.to_string(),
            run: 0,
            reason: Box::new(EngineError::Reported(reason)),
        };
        let at = (0..self.jobs.len()).find(|&job| self.names(job) == (workload, variant));
        let at = at.ok_or_else(|| run(self.notes.join("; ")))?;
        let job = &self.jobs[at];
        let (program, realised) = (&self.programs[job.workload], &self.variants[job.variant]);
        let failed = |e| self.failed(e);
        let ground = self.ground(options)?;
        let board = self.board(realised.boot.plain).map_err(failed)?;
        let machine = ground.described(&board).map_err(failed)?;
        tell(Told::Lost(&ground.in_words(&board, &machine)));
        let spec = board.spec();
        tell(Told::Boot { number: 1, of: 1, boot: &realised.boot, machine: &spec });
        let runs = [GuestRun { traced: true, ..self.script(at, 1) }];
        let mut answer = None;
        let mut hear = |heard| -> Result<(), VmError> {
            if let Heard::Run(_, came) = heard {
                answer = Some(came);
            }
            Ok(())
        };
        ground
            .session(&realised.boot, &board, &[program], &runs, stop, &mut hear)
            .map_err(failed)?;
        let missing = || Err("the guest sent nothing".to_string());
        let answer = answer.unwrap_or_else(missing).map_err(run)?;
        let kernel = realised.boot.kernel.model().map_err(failed)?;
        Ok(Traced { answer, machine, kernel, release: realised.boot.kernel.release.clone() })
    }
}
