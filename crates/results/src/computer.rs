//! The computer whose own kernel ran variants, as it was when it did, and what differs between the computers of several boots.

use definition::ExperimentFile;
use definition::file::VariantEntry;
use serde::{Deserialize, Serialize};

/// One fact of a computer: a name such as `kernel`, `kernel-build`, `command-line`, `config`, `cpu-model`, `microcode`,
/// `mitigations`, `governor`, `turbo`, `smt` or `thp`, and its value as people read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// A computer while it ran some of an experiment's variants: once for each command that ran them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Computer {
    /// Variants that it ran, in the experiment's order.
    pub variants: Vec<String>,
    /// What it was, in the order in which it is shown. What differs from boot to boot in any case, such as a date, is none.
    pub facts: Vec<Fact>,
    /// What may have spoilt its runs, a line each.
    pub warnings: Vec<String>,
}

impl Computer {
    /// The value of the fact called `name`.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
    }
}

/// A fact that computers do not have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The fact's name.
    pub name: String,
    /// By computer; none where it is not known.
    pub values: Vec<Option<String>>,
    /// Whether it differs because variants do: that is what is compared. What differs besides may be why results do.
    pub is_compared: bool,
}

/// Names of all facts of `computers`, in the order in which they come first.
pub fn names(computers: &[Computer]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for fact in computers.iter().flat_map(|computer| &computer.facts) {
        if !names.contains(&fact.name.as_str()) {
            names.push(&fact.name);
        }
    }
    names
}

/// Facts that differ between the `computers` that ran `experiment`'s variants.
pub fn differences(computers: &[Computer], experiment: &ExperimentFile) -> Vec<Difference> {
    let compared = compared(&experiment.variants);
    let difference = |name: &str| {
        let values: Vec<Option<String>> =
            computers.iter().map(|c| c.fact(name).map(str::to_string)).collect();
        let is_one = values.windows(2).all(|pair| pair[0] == pair[1]);
        let is_compared = compared.contains(&name);
        (!is_one).then(|| Difference { name: name.to_string(), values, is_compared })
    };
    names(computers).into_iter().filter_map(difference).collect()
}

/// Facts that may differ because `variants` do: each has a kernel and a command line of its own.
fn compared(variants: &[VariantEntry]) -> Vec<&'static str> {
    let differ = |same: &dyn Fn(&VariantEntry, &VariantEntry) -> bool| {
        variants.windows(2).any(|pair| !same(&pair[0], &pair[1]))
    };
    let mut names = vec!["kernel", "kernel-build", "command-line"];
    if differ(&|a, b| a.frequency == b.frequency) {
        names.extend(["governor", "driver", "turbo"]);
    }
    if differ(&|a, b| a.smt == b.smt) {
        names.extend(["smt", "cpus"]);
    }
    if differ(&|a, b| a.hz == b.hz && a.source == b.source) {
        names.push("config");
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computer(variant: &str, facts: &[(&str, &str)]) -> Computer {
        let fact = |&(name, value): &(&str, &str)| Fact { name: name.into(), value: value.into() };
        Computer {
            variants: vec![variant.to_string()],
            facts: facts.iter().map(fact).collect(),
            warnings: vec![],
        }
    }

    fn experiment(more: &str) -> ExperimentFile {
        let text = format!(
            "name = \"e\"\nmachine = \"power9-big-core\"\n\
             variant = [{{ name = \"a\", kernel = \"6.1\" }}, {{ name = \"b\", kernel = \"6.12\"{more} }}]\n\
             workload = [{{ name = \"w\", sched_pipe = {{ loops = 1, loops_run = 1 }} }}]\n"
        );
        ExperimentFile::parse(&text, "x.toml").unwrap()
    }

    #[test]
    fn what_variants_name_may_differ() {
        let a = computer("a", &[("kernel", "6.1"), ("smt", "on"), ("microcode", "1")]);
        let b = computer("b", &[("kernel", "6.12"), ("smt", "off"), ("thp", "never")]);
        let found = |more: &str| {
            let all = differences(&[a.clone(), b.clone()], &experiment(more));
            let shown = all.iter().map(|d| format!("{} {}", d.name, d.is_compared));
            shown.collect::<Vec<_>>()
        };
        assert_eq!(found(""), ["kernel true", "smt false", "microcode false", "thp false"]);
        assert_eq!(found(", smt = 1")[1], "smt true");
        let values = &differences(&[a.clone(), b.clone()], &experiment(""))[3].values;
        assert_eq!(values, &[None, Some("never".to_string())]);
        assert_eq!(differences(&[a.clone(), a], &experiment("")), []);
    }
}
