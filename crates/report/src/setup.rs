//! What an experiment runs on, before any results: the machine, and the domains of each variant.

use crate::error::ReportError;
use crate::machine_tree::machine_tree;
use crate::text::heading;
use definition::Plan;
use kernel::{Domains, Kernel};
use machine::Machine;

/// The domains of a variant in an SMT mode.
#[derive(Debug)]
pub(crate) struct Mode {
    /// The variant's place.
    pub(crate) variant: usize,
    /// Threads of each core that are online.
    pub(crate) smt: u32,
    machine: Machine,
    /// What its kernel builds.
    pub(crate) domains: Domains,
}

/// All that is shown before results.
#[derive(Debug)]
pub(crate) struct Setup {
    /// By variant, then SMT mode.
    pub(crate) modes: Vec<Mode>,
}

impl Setup {
    pub(crate) fn of(plan: &Plan) -> Result<Setup, ReportError> {
        let mut modes = Vec::new();
        for variant in 0..plan.file.variants.len() {
            for &smt in &plan.file.smt_modes {
                let machine = plan.machine.with_smt(smt)?;
                let domains = kernel::build(&machine, &plan.kernels[variant])?;
                modes.push(Mode { variant, smt, machine, domains });
            }
        }
        Ok(Setup { modes })
    }
}

/// The big-core study's block, for the first two online CPUs.
pub fn study_form(machine: &Machine, built: &Domains, title: &str) -> String {
    let cpus: Vec<usize> = machine.online.iter().take(2).collect();
    kernel::log::study_form(built, &cpus, title)
}

/// The machine as a tree, the domains of each variant as the experiment asks for them, and what the file left to defaults.
///
/// # Errors
/// Domains that cannot be built.
pub fn setup(plan: &Plan) -> Result<String, ReportError> {
    let mut out = heading(&plan.file.title);
    let defaults = plan.file.defaults();
    if !defaults.is_empty() {
        out.push_str(&format!("by default: {}\n", defaults.join(", ")));
    }
    out.push_str(&format!("\n{}\n", machine_tree(&plan.machine)));
    for mode in Setup::of(plan)?.modes {
        let title = &plan.file.variants[mode.variant].title;
        let title = format!("{title} (ppc64_cpu --smt={})", mode.smt);
        out.push_str(&study_form(&mode.machine, &mode.domains, &title));
        out.push('\n');
    }
    for &version in &plan.file.log_kernels {
        let built = kernel::build(&plan.machine, &Kernel::new(version))?;
        out.push_str(&heading(&format!("kernel {version}, as it logs its domains")));
        out.push_str(&kernel::log::log(&built, version));
        out.push('\n');
    }
    Ok(out)
}
