//! The sched domains of every variant side by side, with what differs from the baseline marked.

use super::Source;
use crate::domains_diff::{diff, of_domains};
use crate::domains_tree::domains_tree;
use kernel::Domains;
use machine::Machine;

/// The domains in one SMT mode.
#[derive(Debug)]
pub(super) struct Mode {
    pub(super) title: String,
    pub(super) variants: Vec<Column>,
}

impl Mode {
    /// Whether a variant has the baseline's domains.
    pub(super) fn has_same(&self) -> bool {
        self.variants.iter().any(|c| c.variant > 0 && c.same)
    }
}

/// The domains of one variant.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) variant: usize,
    pub(super) name: String,
    pub(super) kernel: String,
    /// Whether they are those of the baseline.
    pub(super) same: bool,
    /// Lines of the tree, and whether the baseline has none such.
    pub(super) lines: Vec<(String, bool)>,
    /// All differences, as text.
    pub(super) diff: String,
}

/// One mode for each SMT mode that the experiment shows, or the variants' own.
pub(super) fn modes(source: &Source) -> Result<Vec<Mode>, String> {
    let plan = source.plan.clone()?;
    let of = |title: String, machines: Vec<Machine>| mode(source, title, machines);
    let number = plan.file.variants.len();
    if plan.file.smt_modes.is_empty() {
        let machines: Result<_, _> = (0..number).map(|v| plan.machine_of(v)).collect();
        let machines = machines.map_err(|e| e.to_string())?;
        return Ok(vec![of("as the runs start".to_string(), machines)?]);
    }
    let modes = plan.file.smt_modes.iter();
    modes
        .map(|&smt| {
            let machine = plan.machine.with_smt(smt).map_err(|e| e.to_string())?;
            of(format!("SMT {smt}"), vec![machine; number])
        })
        .collect()
}

fn mode(source: &Source, title: String, machines: Vec<Machine>) -> Result<Mode, String> {
    let plan = source.plan.clone()?;
    let build = |(v, machine): (usize, &Machine)| {
        kernel::build(machine, &plan.kernels[v]).map_err(|e| e.to_string())
    };
    let built: Vec<Domains> = machines.iter().enumerate().map(build).collect::<Result<_, _>>()?;
    let mut variants: Vec<Column> = Vec::new();
    for (v, domains) in built.iter().enumerate() {
        let entry = &plan.file.variants[v];
        let tree = domains_tree(domains, entry.kernel, &entry.name);
        let base = variants.first().map(|b| b.lines.iter().map(|l| l.0.clone()).collect());
        let base: Vec<String> = base.unwrap_or_else(|| body(&tree));
        let lines = body(&tree).into_iter().map(|line| {
            let is_new = !base.contains(&line);
            (line, is_new)
        });
        let against = |at: usize| of_domains(&built[at], plan.file.variants[at].kernel);
        let names = (plan.file.variants[0].name.as_str(), entry.name.as_str());
        let diff = diff((names.0, &against(0)), (names.1, &against(v)));
        variants.push(Column {
            variant: v,
            name: entry.name.clone(),
            kernel: entry.kernel.to_string(),
            same: diff.is_none(),
            lines: lines.collect(),
            diff: diff.map_or(String::new(), |text| text),
        });
    }
    Ok(Mode { title, variants })
}

/// The tree's lines without its first, which names the variant.
fn body(tree: &str) -> Vec<String> {
    tree.lines().skip(1).map(String::from).collect()
}
