//! sched_ext schedulers that the variants of an experiment name, built or found for guests.

use crate::Failure;
use crate::progress;
use definition::Plan;
use definition::file::{SchedulerEntry, SchedulerKind};
use vm::sched_ext::Scheduler;
use vm::{Arch, Cache};

/// By variant: its scheduler, where it has one and `is_wanted`, for guests of `arch`.
pub fn of_variants(
    plan: &Plan,
    cache: &Cache,
    arch: Arch,
    is_wanted: &dyn Fn(usize) -> bool,
) -> Result<Vec<Option<Scheduler>>, Failure> {
    let of = |at: usize| {
        let variant = &plan.file.variants[at];
        let Some(entry) = variant.scheduler.as_ref().filter(|_| is_wanted(at)) else {
            return Ok(None);
        };
        scheduler(plan, cache, arch, entry).map(Some).map_err(|e| {
            format!("{}: variant `{}`: scheduler: {e}", plan.path, variant.name).into()
        })
    };
    (0..plan.file.variants.len()).map(of).collect()
}

fn scheduler(
    plan: &Plan,
    cache: &Cache,
    arch: Arch,
    entry: &SchedulerEntry,
) -> Result<Scheduler, Failure> {
    let found = match entry.kind(plan.folder()) {
        Some(SchedulerKind::Program(file)) => Scheduler::program(&file, arch, &cache.guest(arch)?)?,
        Some(SchedulerKind::Object(file)) => Scheduler::object(&file, arch, cache)?,
        Some(SchedulerKind::Crate(name)) => {
            let bar = progress::bar("{spinner} {msg}, {elapsed}")?;
            let say = |step: &str| bar.set_message(format!("{name}: {step}"));
            let built = cache.scheduler(&name, entry.version.as_deref(), arch, &say);
            bar.finish_and_clear();
            Scheduler::of_crate(&built?, arch, &cache.guest(arch)?)?
        }
        None => return Err(format!("found `{}`, expected a crate or a path", entry.program).into()),
    };
    Ok(found.with_options(&entry.options))
}
