//! A case as an ordinary experiment file.

use crate::{Case, groups, rtapp};

impl Case {
    /// The file; `source` is the tree, as a value of TOML, and each line of `head` becomes a comment.
    pub fn experiment(&self, name: &str, source: &str, head: &str) -> String {
        let mut text: String =
            head.lines().map(|line| format!("# {line}").trim_end().to_string() + "\n").collect();
        text += &format!("name = \"{name}\"\nmachine = \"{}\"\n", self.shape.machine());
        if let Some(constants) = self.shape.constants() {
            text += &format!("constants = \"{constants}\"\n");
        }
        text +=
            &format!("seed = {}\n\n[[variant]]\nname = \"tree\"\nsource = {source}\n", self.seed);
        if self.hz != 250 {
            text += &format!("hz = {}\n", self.hz);
        }
        let table = |name: &str, rows: Vec<String>| match rows.is_empty() {
            true => String::new(),
            false => format!("{name} = {{ {} }}\n", rows.join(", ")),
        };
        text +=
            &table("features", self.features.iter().map(|(n, v)| format!("{n} = {v}")).collect());
        text += &table("debug", self.debug.iter().map(|(n, v)| format!("{n} = {v}")).collect());
        text += &self.steps();
        text += &groups::text(self);
        text += "\n[[workload]]\nname = \"tasks\"\nruns = 1\n";
        if !self.background {
            text += "background = false\n";
        }
        let seconds = f64::from(self.duration_ms) / 1e3;
        text += &format!("\n[workload.rt_app]\nduration_s = {seconds:?}\ntext = '''\n");
        text + &rtapp::text(self) + "'''\n"
    }

    fn steps(&self) -> String {
        if self.hotplug.is_empty() {
            return String::new();
        }
        let step = |step: &crate::Step| {
            let which = if step.online { "online" } else { "offline" };
            let at_s = f64::from(step.at_ms) / 1e3;
            format!("    {{ at_s = {at_s:?}, {which} = \"{}\" }},\n", step.cpu)
        };
        format!("hotplug = [\n{}]\n", self.hotplug.iter().map(step).collect::<String>())
    }
}
