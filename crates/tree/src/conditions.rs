//! Lists of which some lines hold for some trees only.
//!
//! `5.18..: TEXT` stands for `TEXT` from release 5.18 on, `..5.17: TEXT` up to 5.17, `5.10..5.17: TEXT` from the first to the last,
//! and `CONFIG_X: TEXT` where the configuration has this option. A line may have several conditions; one without any is for all.

use kernel::Version;

/// What lines depend on.
pub(crate) struct Conditions<'a> {
    /// The tree's release.
    pub(crate) release: Version,
    /// The configuration, as text.
    pub(crate) config: &'a str,
}

impl Conditions<'_> {
    /// The lines of `list` that hold, without their conditions.
    pub(crate) fn lines(&self, list: &str) -> String {
        list.lines().filter_map(|line| self.line(line)).map(|line| format!("{line}\n")).collect()
    }

    fn line<'l>(&self, mut line: &'l str) -> Option<&'l str> {
        while let Some((condition, rest)) = line.split_once(": ") {
            match self.holds(condition.trim_start()) {
                Some(true) => line = rest,
                Some(false) => return None,
                None => break,
            }
        }
        Some(line)
    }

    /// Whether a condition holds; nothing if it is none.
    fn holds(&self, condition: &str) -> Option<bool> {
        if condition.starts_with("CONFIG_") {
            return Some(self.config.lines().any(|l| l.strip_prefix(condition) == Some("=y")));
        }
        let (from, to) = condition.split_once("..")?;
        let end = |text: &str| match text {
            "" => Some(None),
            text => text.parse::<Version>().ok().map(Some),
        };
        let (from, to) = (end(from)?, end(to)?);
        Some(from.is_none_or(|v| v <= self.release) && to.is_none_or(|v| self.release <= v))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::{CONFIG, LINK, OBJECTS};

    fn lines(list: &str, release: &str) -> String {
        Conditions { release: release.parse().unwrap(), config: CONFIG }.lines(list)
    }

    const RELEASES: [&str; 6] = ["5.10", "5.17", "5.18", "5.19", "6.12", "7.3"];

    #[test]
    fn lines_hold_for_their_releases() {
        let list = "a.o\n\t5.18..: new.o\n..5.17: old.o\n5.10..5.18: b = .; c\n";
        assert_eq!(lines(list, "5.9"), "a.o\nold.o\n");
        assert_eq!(lines(list, "5.17"), "a.o\nold.o\nb = .; c\n");
        assert_eq!(lines(list, "5.18"), "a.o\nnew.o\nb = .; c\n");
        assert_eq!(lines(list, "6.1"), "a.o\nnew.o\n");
    }

    #[test]
    fn lines_hold_for_their_options() {
        let list = "CONFIG_A: a.o\nCONFIG_AB: b.o\n6.1..: CONFIG_A: c.o\nCONFIG_C: d.o\n";
        let config = "# CONFIG_AB is not set\nCONFIG_A=y\nCONFIG_C=m\n";
        let new = Conditions { release: Version::new(6, 1), config };
        assert_eq!(new.lines(list), "a.o\nc.o\n");
        let old = Conditions { release: Version::new(5, 10), config };
        assert_eq!(old.lines(list), "a.o\n");
    }

    #[test]
    fn what_only_looks_like_a_condition_is_a_line_of_all() {
        for line in [".part : ALIGN(4096) {", "*(.data..percpu) : x", "5.x..: a.o", "5.18: a.o"] {
            assert_eq!(lines(line, "6.12"), format!("{line}\n"));
        }
    }

    #[test]
    fn every_line_of_the_objects_is_read() {
        for release in RELEASES {
            let objects = lines(OBJECTS, release);
            let bad = objects.lines().find(|l| !l.ends_with(".o") || l.contains([' ', ':']));
            assert_eq!(bad, None, "{release}");
            let has = |name: &str| objects.lines().any(|l| l == format!("kernel/sched/{name}.o"));
            assert!(has("rt") != has("build_policy"), "{release}");
            assert!(has("topology") != has("build_utility"), "{release}");
        }
    }

    #[test]
    fn every_line_of_the_link_script_is_read() {
        for release in RELEASES {
            let script = lines(LINK, release);
            assert!(!script.contains(": __") && !script.contains(": *("), "{release}");
            let (old, new) = ("__begin_sched_classes =", "__sched_class_highest =");
            assert!(script.contains(old) != script.contains(new), "{release}");
        }
    }
}
