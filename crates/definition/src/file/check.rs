//! What the whole file is checked for: names, numbers, and control groups that exist.

use super::{ExperimentFile, MAX_RUNS, PartEntry, WorkloadEntry, first_twice, groups};
use crate::DefinitionError;
use setting::GroupError;

fn refuse(file: &str, field: String, found: String, expected: &str) -> DefinitionError {
    let (file, expected) = (file.to_string(), expected.to_string());
    DefinitionError::Field { file, field, found, expected }
}

impl ExperimentFile {
    /// Checks what the file alone can tell.
    pub(super) fn check(&self, file: &str) -> Result<(), DefinitionError> {
        let refuse = |field: String, found: String, expected: &str| {
            Err(refuse(file, field, found, expected))
        };
        if self.variants.is_empty() {
            return refuse("variant".into(), "none".into(), "at least one [[variant]]");
        }
        if self.workloads.is_empty() {
            return refuse("workload".into(), "none".into(), "at least one [[workload]]");
        }
        let variants: Vec<&str> = self.variants.iter().map(|v| v.name.as_str()).collect();
        let workloads: Vec<&str> = self.workloads.iter().map(|w| w.name.as_str()).collect();
        for (field, names) in [("variant.name", &variants), ("workload.name", &workloads)] {
            if let Some(twice) = first_twice(names) {
                return refuse(field.into(), format!("`{twice}` twice"), "each name once");
            }
        }
        self.check_groups(file)?;
        let governed = self.variants[0].frequency.is_some();
        for v in &self.variants {
            if v.frequency.is_some() != governed {
                let (found, expected) = match governed {
                    true => ("none", "one, as the baseline has one"),
                    false => ("one", "none, as the baseline has none"),
                };
                return refuse(format!("variant `{}`: frequency", v.name), found.into(), expected);
            }
            if let Some((key, found, expected)) =
                v.frequency.as_ref().and_then(|f| f.wrong(v.source.is_some()))
            {
                return refuse(format!("variant `{}`: frequency.{key}", v.name), found, expected);
            }
            let hz = v.hz.unwrap_or(kernel::Kernel::DEFAULT_HZ);
            if ![100, 250, 300, 1000].contains(&hz) {
                return refuse(
                    format!("variant `{}`: hz", v.name),
                    hz.to_string(),
                    "100, 250, 300 or 1000",
                );
            }
        }
        self.workloads.iter().try_for_each(|w| self.check_workload(file, w))?;
        (0..self.workloads.len()).try_for_each(|at| self.check_groups_of(file, at))
    }

    fn check_workload(&self, file: &str, w: &WorkloadEntry) -> Result<(), DefinitionError> {
        let refuse = |field: &str, found: String, expected: &str| {
            Err(refuse(file, format!("workload `{}`: {field}", w.name), found, expected))
        };
        let variants: Vec<&str> = self.variants.iter().map(|v| v.name.as_str()).collect();
        if w.runs == 0 || w.runs > MAX_RUNS {
            return refuse("runs", w.runs.to_string(), "1 to 100000");
        }
        let unknown = w.variants.iter().flatten().find(|v| !variants.contains(&v.as_str()));
        if let Some(unknown) = unknown {
            return refuse("variants", format!("`{unknown}`"), &variants.join(", "));
        }
        if let Some(h) = w.histogram
            && !(h.low.is_finite() && h.width > 0.0 && (1..=1000).contains(&h.bins))
        {
            let found = format!("low {}, width {}, bins {}", h.low, h.width, h.bins);
            return refuse("histogram", found, "a positive width and 1 to 1000 bins");
        }
        if w.alone().is_some() {
            return Ok(());
        }
        let names: Vec<&str> = w.parts.iter().map(|part| part.name.as_str()).collect();
        if let Some(twice) = first_twice(&names) {
            return refuse("together.name", format!("`{twice}` twice"), "each name once");
        }
        if names.contains(&"") {
            return refuse("together.name", "an empty one".to_string(), "a name");
        }
        match w.parts.iter().any(|part| part.measured) {
            true => Ok(()),
            false => {
                refuse("together.measured", "none".into(), "at least one part that is measured")
            }
        }
    }

    /// Groups as they are written, before anything runs: of the file, then of each variant.
    fn check_groups(&self, file: &str) -> Result<(), DefinitionError> {
        if let Some((field, found, expected)) = groups::wrong_tables(&self.groups) {
            return Err(refuse(file, field, found, expected));
        }
        for (at, v) in self.variants.iter().enumerate() {
            let has = |option: &str| v.source.as_ref().is_none_or(|source| source.has(option));
            let all = groups::merged(&self.groups, &v.groups);
            if let Some((path, name, found, expected)) = groups::wrong(&all, has) {
                let field = match (path.as_str(), name) {
                    ("", _) => format!("variant `{}`: groups", v.name),
                    (path, "") => {
                        self.group_field(at, path, "").trim_end_matches(['.', ':', ' ']).to_string()
                    }
                    (path, name) => self.group_field(at, path, name),
                };
                return Err(refuse(file, field, found, expected));
            }
            // A tree's own code says itself what it takes: a patch may change that.
            if v.source.is_none() {
                let wrong = |e: GroupError| {
                    let field = self.group_field(at, &e.path, &e.file);
                    refuse(file, field, e.found, &e.expected)
                };
                self.groups(at)
                    .iter()
                    .try_for_each(|g| g.cpu_files().map(|_| ()))
                    .map_err(wrong)?;
            }
        }
        Ok(())
    }

    /// Groups in which the tasks of the workload at `at` begin.
    fn check_groups_of(&self, file: &str, at: usize) -> Result<(), DefinitionError> {
        let w = &self.workloads[at];
        for v in self.variants_of(at) {
            let all = self.groups(v);
            let paths: Vec<&str> = all.iter().map(|group| group.path.as_str()).collect();
            let named = |part: &PartEntry| part.group.clone();
            for (part, group) in w.parts.iter().filter_map(|part| Some((part, named(part)?))) {
                let of_part = if part.name.is_empty() { "" } else { "together." };
                let field = || format!("workload `{}`: {of_part}group", w.name);
                if !paths.contains(&group.as_str()) {
                    let expected = match paths.is_empty() {
                        true => "a path that a [[group]] has".to_string(),
                        false => format!("one of {}", paths.join(", ")),
                    };
                    return Err(refuse(file, field(), format!("`{group}`"), &expected));
                }
                let below = format!("{group}/");
                if let Some(other) = paths.iter().find(|path| path.starts_with(&below)) {
                    let found = format!("`{group}`, with `{other}` below");
                    let expected = "a group without others below: a group of cgroup v2 has tasks or groups with controllers";
                    return Err(refuse(file, field(), found, expected));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{ExperimentFile, Plan};

    const HEAD: &str = "name = 'x'\nmachine = 'epyc-7742-1s-nps1'\n";
    const VARIANTS: &str = "[[variant]]\nname = 'a'\nkernel = '6.12'\n\
                            [[variant]]\nname = 'b'\nkernel = '6.12'\n";
    const WORKLOAD: &str = "[[workload]]\nname = 'w'\nruns = 1\n\
                            sched_pipe = { loops = 10, loops_run = 10 }\n";
    const MIXED: &str = "[[workload]]\nname = 'mixed'\nruns = 2\n\
        [[workload.together]]\nname = 'front'\ngroup = 'web/db'\n\
        sched_pipe = { loops = 10, loops_run = 10 }\n\
        [[workload.together]]\nname = 'farm'\nmeasured = false\n\
        hackbench = { groups = 1, loops = 1, fds = 1, datasize = 1, pipe = true }\n";

    fn plan(groups: &str, variants: &str, workloads: &str) -> Result<Plan, String> {
        let text = format!("{HEAD}{groups}{variants}{workloads}");
        let file = ExperimentFile::parse(&text, "x.toml").map_err(|e| e.to_string())?;
        let again = toml::to_string(&file).unwrap();
        assert_eq!(ExperimentFile::parse(&again, "x.toml").unwrap(), file, "{again}");
        let json = serde_json::to_string(&file).unwrap();
        assert_eq!(serde_json::from_str::<ExperimentFile>(&json).unwrap(), file);
        Plan::new(file, "x.toml").map_err(|e| e.to_string())
    }

    fn table(path: &str, files: &str) -> String {
        format!("[[group]]\npath = '{path}'\n{files}\n")
    }

    #[test]
    fn groups_hold_for_all_variants_that_say_nothing_else() {
        let groups = table("web", "cpu.weight = 200\ntasks = ['pipe*']")
            + &table("batch", "'cpu.max' = 'max'");
        let own =
            "[variant.groups.batch]\n'cpu.max' = '50000'\n[variant.groups.'c/d']\ncpu.idle = 1\n";
        let plan = plan(&groups, &format!("{VARIANTS}{own}"), WORKLOAD).unwrap();
        let shown = |at: usize| -> Vec<String> {
            let line = |g: setting::Group| format!("{} {:?} {:?}", g.path, g.tasks, g.files);
            plan.setting(at).groups.into_iter().map(line).collect()
        };
        let web = r#"web ["pipe*"] [("cpu.weight", "200")]"#;
        assert_eq!(shown(0), [r#"batch [] [("cpu.max", "max")]"#, web]);
        let other =
            [r#"batch [] [("cpu.max", "50000")]"#, "c [] []", r#"c/d [] [("cpu.idle", "1")]"#, web];
        assert_eq!(shown(1), other);
    }

    #[test]
    fn parts_have_their_groups_and_their_figures() {
        let groups = table("web", "cpu.weight = 200") + &table("web/db", "");
        let plan = plan(&groups, VARIANTS, MIXED).unwrap();
        let built = plan.workload(&plan.file.workloads[0], &plan.machine).unwrap().workload;
        let names: Vec<&str> = built.metrics.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["front: seconds"]);
        let of = |name: &str| {
            let at = built.programs.iter().position(|p| p.name == name)?;
            Some(built.groups[at].clone())
        };
        assert_eq!(of("sched-pipe"), Some(Some("web/db".to_string())));
        assert_eq!(of("hackbench"), Some(None));
        // The background has programs beyond those, and no group.
        assert!(built.programs.len() > built.groups.len());
    }

    /// The examples of groups and of workloads side by side are one experiment.
    #[test]
    fn documented_groups_are_good() {
        let doc = include_str!("../../../../docs/experiments.md");
        let (_, doc) = doc.split_once("### Groups\n").unwrap();
        let (doc, _) = doc.split_once("### Background\n").unwrap();
        let blocks = doc.split("```toml\n").skip(1).filter_map(|s| s.split("```").next());
        let blocks: Vec<&str> = blocks.collect();
        assert_eq!(blocks.len(), 3);
        let base = "[[variant]]\nname = 'base'\nkernel = '6.12'\n";
        let plan = plan(blocks[0], &format!("{base}{}", blocks[1]), blocks[2]).unwrap();
        let built = plan.workload(&plan.file.workloads[0], &plan.machine).unwrap().workload;
        assert!(built.metrics.iter().any(|m| m.name == "front: wakeup_p99_us"));
        assert!(built.metrics.iter().any(|m| m.name == "farm: seconds"));
        for (file, _) in setting::FILES {
            assert!(
                doc.contains(&format!("| `{file}`")) || doc.contains(&format!(", `{file}`")),
                "{file}"
            );
        }
    }

    #[test]
    fn what_the_kernel_would_refuse_is_refused_with_the_field() {
        for (path, files, expected) in [
            ("web/db", "", "group: path: found `web/db` without `web`, expected a [[group]]"),
            ("/web", "", "group: path: found `/web`, expected names joined by `/`"),
            ("web", "taks = ['x']", "group `web`: found `taks`, expected `tasks`"),
            ("web", "tasks = ['x']", "group `web`: found tasks alone"),
            (
                "web",
                "'cpu.max' = '999 100000'",
                "group `web`: cpu.max: found `999 100000`, expected a quota of at least 1000 us",
            ),
            ("web", "cpu.weight = 0", "group `web`: cpu.weight: found `0`, expected 1 to 10000"),
            (
                "web",
                "cpu.uclamp.max = 101",
                "group `web`: cpu.uclamp.max: found `101`, expected 0.00 to 100.00",
            ),
            (
                "web",
                "cpuset.cpus = '0-128'",
                "group `web`: cpuset.cpus: found `0-128`, expected CPUs of the machine, which has 0-127",
            ),
            (
                "web",
                "'cpuset.cpus' = '0-3'\n'cpuset.cpus.partition' = 'none'",
                "group `web`: cpuset.cpus.partition: found `none`, expected `member`",
            ),
            ("web", "cpuset.cpus = '0-3'\ncpuset.cpus.partition = 'root'", "TOML"),
        ] {
            let error = plan(&table(path, files), VARIANTS, WORKLOAD).unwrap_err();
            // A dotted key cannot be a value and a table.
            let is_toml = expected == "TOML";
            assert!(error.starts_with("x.toml: "), "{error}");
            assert!(is_toml || error.contains(expected), "{error}");
        }
        let twice = plan(&table("web", "cpu.weight = 1").repeat(2), VARIANTS, WORKLOAD);
        assert_eq!(
            twice.unwrap_err(),
            "x.toml: group: path: found `web` twice, expected each path once"
        );
    }

    #[test]
    fn who_said_it_is_named() {
        let own = "[variant.groups.web]\n'cpu.max' = '500'\n";
        let error = plan(&table("web", "cpu.weight = 1"), &format!("{VARIANTS}{own}"), WORKLOAD);
        let error = error.unwrap_err();
        assert!(
            error.starts_with("x.toml: variant `b`: groups.web.cpu.max: found `500`"),
            "{error}"
        );
        let own = "[variant.groups.web]\n'cpu.max.burst' = 60000\n";
        let max = table("web", "'cpu.max' = '50000 100000'");
        let error = plan(&max, &format!("{VARIANTS}{own}"), WORKLOAD).unwrap_err();
        assert!(error.contains("variant `b`: groups.web.cpu.max.burst: found `60000`"), "{error}");
        // A tree's own code says itself what it takes.
        let source = "[[variant]]\nname = 'a'\nsource = { kernel = '6.12' }\n";
        let small = table("web", "'cpu.max' = '500'\ncpuset.cpus = '0-9999'");
        assert!(plan(&small, source, WORKLOAD).is_ok());
    }

    #[test]
    fn groups_of_workloads_exist_and_have_no_groups_below() {
        let web = table("web", "cpu.weight = 200");
        let refused =
            |groups: &str, workloads: &str| plan(groups, VARIANTS, workloads).unwrap_err();
        let plain = WORKLOAD.replace("runs = 1", "runs = 1\ngroup = 'wob'");
        let error = refused(&web, &plain);
        assert!(
            error.ends_with("workload `w`: group: found `wob`, expected one of web"),
            "{error}"
        );
        let error = refused("", &plain);
        assert!(error.ends_with("expected a path that a [[group]] has"), "{error}");
        let error = refused(&web, MIXED);
        assert!(error.contains("workload `mixed`: together.group: found `web/db`"), "{error}");
        let both = web + &table("web/db", "");
        let error = refused(&both, &MIXED.replace("'web/db'", "'web'"));
        assert!(error.contains("together.group: found `web`, with `web/db` below"), "{error}");
    }

    #[test]
    fn parts_are_two_and_more_with_names_of_their_own() {
        let refused =
            |from: &str, to: &str| plan("", VARIANTS, &MIXED.replace(from, to)).unwrap_err();
        let error = refused("group = 'web/db'\n", "measured = false\n");
        assert!(error.contains("workload `mixed`: together.measured: found none"), "{error}");
        let alone = MIXED.replace("group = 'web/db'\n", "");
        let refused =
            |from: &str, to: &str| plan("", VARIANTS, &alone.replace(from, to)).unwrap_err();
        let error = refused("'farm'", "'front'");
        assert!(error.contains("workload `mixed`: together.name: found `front` twice"), "{error}");
        let error = refused("'farm'", "''");
        assert!(error.contains("workload `mixed`: together.name: found an empty one"), "{error}");
        let error = refused("runs = 2\n", "runs = 2\ngroup = 'x'\n");
        assert!(error.contains("workload `mixed`: group: found one beside `together`"), "{error}");
        let (one, _) = alone.rsplit_once("[[workload.together]]").unwrap();
        let error = plan("", VARIANTS, one).unwrap_err();
        assert!(error.contains("together: found 1, expected at least two parts"), "{error}");
        let error = refused("runs = 2\n", "runs = 2\nsched_pipe = { loops = 1, loops_run = 1 }\n");
        assert!(error.contains("found 2 of them, expected exactly one of"), "{error}");
        let error = refused("sched_pipe = { loops = 10, loops_run = 10 }\n", "");
        assert!(error.contains("workload `front`: program: found 0 of them"), "{error}");
    }
}
