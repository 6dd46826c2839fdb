//! What a group's files say to the controllers cpu and cpuset.

use super::{Group, GroupError, words};
use machine::CpuSet;

/// Files that [`CpuFiles`] reads, and the release that brought each, major and minor number.
pub const FILES: [(&str, (u16, u16)); 9] = [
    ("cpu.idle", (5, 15)),
    ("cpu.max", (4, 15)),
    ("cpu.max.burst", (5, 14)),
    ("cpu.uclamp.max", (5, 4)),
    ("cpu.uclamp.min", (5, 4)),
    ("cpu.weight", (4, 15)),
    ("cpu.weight.nice", (4, 15)),
    ("cpuset.cpus", (5, 0)),
    ("cpuset.cpus.partition", (5, 0)),
];

/// What a group weighs against its siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// `cpu.weight`, 1 to 10000; 100 is what a group has that says nothing.
    Cgroup(u32),
    /// `cpu.weight.nice`, -20 to 19: the weight of a task with this nice value (`sched_prio_to_weight`).
    Nice(i8),
}

/// `cpuset.cpus.partition`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Partition {
    /// Its CPUs are its parent's, too.
    #[default]
    Member,
    /// Its CPUs are its own, with sched domains of their own.
    Root,
    /// Its CPUs are its own, and nobody balances them. From 6.1 on.
    Isolated,
}

/// What a group's files say. What no file says is as the kernel has it in a new group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuFiles {
    /// `cpu.weight` or `cpu.weight.nice`.
    pub weight: Option<Weight>,
    /// `cpu.idle`: it is SCHED_IDLE among its siblings, and has the weight of that.
    pub is_idle: bool,
    /// Quota of `cpu.max`, 1000 us and more; none for `max`.
    pub quota_us: Option<u64>,
    /// Period of `cpu.max`, 1000 to 1,000,000 us.
    pub period_us: u64,
    /// `cpu.max.burst`, at most the quota where there is one.
    pub burst_us: u64,
    /// `cpu.uclamp.min`, of 1024.
    pub uclamp_min: Option<u16>,
    /// `cpu.uclamp.max`, of 1024.
    pub uclamp_max: Option<u16>,
    /// `cpuset.cpus` as it is written; none where it is empty. What is left of it: [`super::Place::cpus`].
    pub cpus: Option<CpuSet>,
    /// `cpuset.cpus.partition`.
    pub partition: Partition,
}

impl Default for CpuFiles {
    fn default() -> Self {
        CpuFiles {
            weight: None,
            is_idle: false,
            quota_us: None,
            // `default_cfs_period`.
            period_us: 100_000,
            burst_us: 0,
            uclamp_min: None,
            uclamp_max: None,
            cpus: None,
            partition: Partition::Member,
        }
    }
}

impl Group {
    /// What its files say, written in the order of their names. Files that [`FILES`] does not have are skipped; see [`Group::beyond`].
    ///
    /// # Errors
    /// What the kernel refuses, whatever other groups and the machine are: see `tg_set_cfs_bandwidth` and its neighbours.
    pub fn cpu_files(&self) -> Result<CpuFiles, GroupError> {
        let mut all = CpuFiles::default();
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort();
        for (file, text) in files {
            let text = text.trim();
            let refuse = |expected: &str| self.error(file, format!("`{text}`"), expected);
            all.write(file, text).map_err(refuse)?;
        }
        Ok(all)
    }

    /// What it asks for besides [`FILES`]: the name of a file, or `core_cookie` or `session`.
    pub fn beyond(&self) -> Option<&str> {
        let files = self.files.iter().map(|(file, _)| file.as_str());
        let mut other = files.filter(|file| FILES.iter().all(|(known, _)| known != file));
        let ours = [("core_cookie", self.core_cookie), ("session", self.session)];
        other.next().or_else(|| ours.iter().find(|(_, is_on)| *is_on).map(|(name, _)| *name))
    }

    /// The first of its files that a kernel of `release` does not have, and the release that brought it.
    pub fn newer_than(&self, release: (u16, u16)) -> Option<(&str, (u16, u16))> {
        let since = |file: &str| FILES.iter().find(|(known, _)| *known == file).map(|(_, at)| *at);
        let files = self.files.iter().filter_map(|(file, _)| Some((file.as_str(), since(file)?)));
        let isolated = self.files.iter().find(|(_, text)| text == "isolated");
        let isolated = isolated.map(|(file, _)| (file.as_str(), (6, 1)));
        files.chain(isolated).find(|(_, since)| *since > release)
    }

    /// The error of `file`.
    pub(super) fn error(&self, file: &str, found: String, expected: &str) -> GroupError {
        let (path, file) = (self.path.clone(), file.to_string());
        GroupError { path, file, found, expected: expected.to_string() }
    }
}

impl CpuFiles {
    fn write(&mut self, file: &str, text: &str) -> Result<(), &'static str> {
        match file {
            "cpu.weight" | "cpu.weight.nice" if self.is_idle => {
                words::any_weight(file, text)?;
                return Err("none beside `cpu.idle`: an idle group has the weight of SCHED_IDLE");
            }
            "cpu.weight.nice" if self.weight.is_some() => {
                return Err("none beside `cpu.weight`: they are two ways to say the same");
            }
            "cpu.weight" | "cpu.weight.nice" => self.weight = Some(words::any_weight(file, text)?),
            "cpu.idle" => self.is_idle = words::idle(text)?,
            "cpu.max" => {
                (self.quota_us, self.period_us) = words::max(text, self.period_us)?;
            }
            "cpu.max.burst" => self.burst_us = words::burst(text, self.quota_us)?,
            "cpu.uclamp.min" => self.uclamp_min = Some(words::clamp(text)?),
            "cpu.uclamp.max" => self.uclamp_max = Some(words::clamp(text)?),
            "cpuset.cpus" => self.cpus = words::cpus(text)?,
            "cpuset.cpus.partition" => self.partition = words::partition(text)?,
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn group(files: &[(&str, &str)]) -> Group {
        let text = |(a, b): &(&str, &str)| (a.to_string(), b.to_string());
        Group {
            path: "web".to_string(),
            files: files.iter().map(text).collect(),
            ..Group::default()
        }
    }

    #[test]
    fn files_say_what_the_kernel_reads() {
        assert_eq!(group(&[]).cpu_files().unwrap(), CpuFiles::default());
        let all = group(&[
            ("cpu.weight", "200"),
            ("cpu.max", "200000 50000"),
            ("cpu.max.burst", "100000"),
            ("cpu.uclamp.min", "12.5"),
            ("cpu.uclamp.max", "max"),
            ("cpuset.cpus", "0-3,8"),
            ("cpuset.cpus.partition", "root"),
            ("cpu.idle", "0"),
        ]);
        let expected = CpuFiles {
            weight: Some(Weight::Cgroup(200)),
            is_idle: false,
            quota_us: Some(200_000),
            period_us: 50_000,
            burst_us: 100_000,
            uclamp_min: Some(128),
            uclamp_max: Some(1024),
            cpus: Some("0-3,8".parse().unwrap()),
            partition: Partition::Root,
        };
        assert_eq!(all.cpu_files().unwrap(), expected);
        let of = |files: &[(&str, &str)]| group(files).cpu_files().unwrap();
        assert_eq!(of(&[("cpu.weight.nice", "-20")]).weight, Some(Weight::Nice(-20)));
        let max = of(&[("cpu.max", "max")]);
        assert_eq!((max.quota_us, max.period_us), (None, 100_000));
        assert_eq!(of(&[("cpu.max", "5000")]).quota_us, Some(5000));
        assert_eq!(of(&[("cpuset.cpus", "")]).cpus, None);
        // DIV_ROUND_CLOSEST: 33.33 % of 1024 is 341.3, 0.15 % is 1.5.
        assert_eq!(of(&[("cpu.uclamp.min", "33.33")]).uclamp_min, Some(341));
        assert_eq!(of(&[("cpu.uclamp.min", "0.146484375")]).uclamp_min, Some(2));
    }

    #[test]
    fn what_the_kernel_refuses_is_refused_with_the_field() {
        for (file, text, expected) in [
            ("cpu.weight", "0", "1 to 10000"),
            ("cpu.weight", "10001", "1 to 10000"),
            ("cpu.weight.nice", "20", "-20 to 19"),
            ("cpu.max", "999 100000", "a quota of at least 1000 us"),
            ("cpu.max", "5000 999", "a period of 1000 to 1000000 us"),
            ("cpu.max", "5000 1000001", "a period of 1000 to 1000000 us"),
            ("cpu.max", "17592186044416", "a quota of at most 17592186044415 us"),
            ("cpu.max", "-1", "a quota in us or `max`"),
            ("cpu.max", "5000 5000 5000", "a quota in us or `max`"),
            ("cpu.max", "", "a quota in us or `max`"),
            ("cpu.max.burst", "-1", "a burst in us"),
            ("cpu.idle", "2", "0 or 1"),
            ("cpu.uclamp.min", "100.01", "0.00 to 100.00"),
            ("cpu.uclamp.max", "-1", "0.00 to 100.00"),
            ("cpu.uclamp.max", "1e1", "0.00 to 100.00"),
            ("cpuset.cpus", "3-1", "CPUs such as `0-3,8`"),
            ("cpuset.cpus.partition", "alone", "`member`, `root` or `isolated`"),
        ] {
            let error = group(&[(file, text)]).cpu_files().unwrap_err().to_string();
            let expected = format!("web.{file}: found `{text}`, expected {expected}");
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn files_are_refused_beside_others() {
        let refused = |files: &[(&str, &str)]| group(files).cpu_files().unwrap_err().to_string();
        let burst = refused(&[("cpu.max", "5000 100000"), ("cpu.max.burst", "5001")]);
        assert!(burst.ends_with("expected a burst that is not larger than the quota"), "{burst}");
        let idle = refused(&[("cpu.weight", "50"), ("cpu.idle", "1")]);
        assert!(idle.starts_with("web.cpu.weight: found `50`, expected none beside"), "{idle}");
        let both = refused(&[("cpu.weight", "50"), ("cpu.weight.nice", "0")]);
        assert!(both.starts_with("web.cpu.weight.nice: found `0`, expected none beside"), "{both}");
        let most = group(&[("cpu.max.burst", "5001")]).cpu_files().unwrap();
        assert_eq!(most.burst_us, 5001);
    }

    #[test]
    fn releases_bring_files() {
        let idle = group(&[("cpu.max", "5000"), ("cpu.idle", "1")]);
        assert_eq!(idle.newer_than((5, 10)), Some(("cpu.idle", (5, 15))));
        assert_eq!(idle.newer_than((5, 15)), None);
        let isolated = group(&[("cpuset.cpus.partition", "isolated")]);
        assert_eq!(isolated.newer_than((5, 15)), Some(("cpuset.cpus.partition", (6, 1))));
        assert_eq!(idle.beyond(), None);
        assert_eq!(group(&[("cpuset.mems", "0")]).beyond(), Some("cpuset.mems"));
        let cookie = Group { core_cookie: true, ..group(&[("cpu.weight", "1")]) };
        assert_eq!(cookie.beyond(), Some("core_cookie"));
    }

    proptest! {
        #[test]
        fn words_never_panic(at in 0..FILES.len(), text in ".{0,24}", number in "[0-9.]{0,24}") {
            for text in [text, number] {
                let file = FILES[at].0;
                if let Ok(files) = group(&[(file, &text)]).cpu_files() {
                    prop_assert!(files.uclamp_min.is_none_or(|of| of <= 1024));
                    prop_assert!(files.quota_us.is_none_or(|us| us >= 1000));
                }
            }
        }
    }
}
