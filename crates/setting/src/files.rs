//! Files of a running kernel and what is written to them.

/// How a file says what it holds, which is what a write is checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It holds what was written, apart from white space.
    Value,
    /// It lists words and marks the chosen one: `always [madvise] never`.
    Choice,
    /// It lists words, one of which is the written one (`NO_` before it switches it off): `sched/features`.
    Feature,
    /// It lists words; `+word` adds one and `-word` takes it away: `cgroup.subtree_control`.
    Member,
}

/// A write to one of the kernel's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelFile {
    /// The file, below the root.
    pub path: String,
    /// What is written.
    pub value: String,
    /// How the file is read back.
    pub form: Form,
}

impl KernelFile {
    /// `value` for the file `path`, which holds what is written to it.
    pub fn value(path: impl Into<String>, value: impl ToString) -> KernelFile {
        KernelFile { path: path.into(), value: value.to_string(), form: Form::Value }
    }

    /// The word `value` for the file `path`, which marks it among others.
    pub fn choice(path: impl Into<String>, value: impl ToString) -> KernelFile {
        KernelFile { form: Form::Choice, ..KernelFile::value(path, value) }
    }

    /// The scheduler's feature `name`, on or off.
    pub fn feature(name: &str, on: bool) -> KernelFile {
        let value = format!("{}{name}", if on { "" } else { "NO_" });
        KernelFile { form: Form::Feature, ..KernelFile::value(FEATURES, value) }
    }

    /// The word `value` (`+word` or `-word`) for the file `path`, which lists its members.
    pub fn member(path: impl Into<String>, value: impl ToString) -> KernelFile {
        KernelFile { form: Form::Member, ..KernelFile::value(path, value) }
    }

    /// A tunable of the scheduler in debugfs, by its path below `sched`.
    pub fn debug(path: &str, value: impl ToString) -> KernelFile {
        let path = format!("{DEBUG}/{path}");
        // `preempt` and `tunable_scaling` of some releases mark the chosen word.
        KernelFile::value(path, value)
    }

    /// A sysctl, such as `kernel.sched_rt_runtime_us`.
    pub fn sysctl(name: &str, value: impl ToString) -> KernelFile {
        KernelFile::value(format!("/proc/sys/{}", name.replace('.', "/")), value)
    }

    /// Whether a file that reads `content` holds what was written.
    pub fn is_held_by(&self, content: &str) -> bool {
        let words = || content.split_whitespace();
        match self.form {
            Form::Value | Form::Choice if marked(content).is_some() => {
                marked(content) == Some(self.value.as_str())
            }
            Form::Choice => false,
            Form::Value => self.is_read_as(content),
            Form::Feature => words().any(|w| w == self.value),
            Form::Member => match self.value.strip_prefix('-') {
                Some(name) => words().all(|w| w != name),
                None => words().any(|w| Some(w) == self.value.strip_prefix('+')),
            },
        }
    }

    /// Word by word, numbers by their value. Files of control groups may go on with words that were not written: `cpu.max`.
    fn is_read_as(&self, content: &str) -> bool {
        let same = |(a, b): (&str, &str)| {
            let numbers = a.parse::<f64>().ok().zip(b.parse::<f64>().ok());
            a == b || numbers.is_some_and(|(a, b)| a == b)
        };
        let (written, read) = (self.value.split_whitespace(), content.split_whitespace());
        let lengths = (written.clone().count(), read.clone().count());
        let may_go_on = self.path.starts_with(GROUPS) && lengths.0 > 0 && lengths.0 <= lengths.1;
        (lengths.0 == lengths.1 || may_go_on) && written.zip(read).all(same)
    }

    /// What puts back a file that reads `content` now.
    pub fn undone(&self, content: &str) -> KernelFile {
        let value = match self.form {
            Form::Choice | Form::Value => marked(content).unwrap_or(content.trim()).to_owned(),
            Form::Feature => match self.value.strip_prefix("NO_") {
                Some(name) => name.to_owned(),
                None => format!("NO_{}", self.value),
            },
            Form::Member => match self.value.strip_prefix('-') {
                Some(name) => format!("+{name}"),
                None => self.value.replacen('+', "-", 1),
            },
        };
        KernelFile { value, ..self.clone() }
    }
}

/// The word that `content` marks, as `[madvise]` or `(voluntary)`.
fn marked(content: &str) -> Option<&str> {
    content.split_whitespace().find_map(|w| w.strip_prefix(['[', '('])?.strip_suffix([']', ')']))
}

/// Where control groups are.
const GROUPS: &str = "/sys/fs/cgroup/";
/// The scheduler's directory in debugfs, from 5.13 on.
const DEBUG: &str = "/sys/kernel/debug/sched";
/// Its features.
const FEATURES: &str = "/sys/kernel/debug/sched/features";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_what_was_written() {
        let thp = KernelFile::choice("/x", "never");
        assert!(thp.is_held_by("always madvise [never]\n") && !thp.is_held_by("[always] never\n"));
        assert_eq!(thp.undone("always [madvise] never\n").value, "madvise");
        let max = KernelFile::value("/x", "50000  100000");
        assert!(max.is_held_by("50000 100000\n") && !max.is_held_by("max 100000\n"));
        assert_eq!(max.undone("max 100000\n").value, "max 100000");
        let max = KernelFile::value("/sys/fs/cgroup/web/cpu.max", "50000");
        assert!(max.is_held_by("50000 100000\n") && !max.is_held_by("5000 100000\n"));
        assert!(KernelFile::value("/x", "50").is_held_by("50.00\n"));
        let preempt = KernelFile::debug("preempt", "full");
        assert_eq!(preempt.path, "/sys/kernel/debug/sched/preempt");
        assert!(preempt.is_held_by("none voluntary (full) lazy\n"));
        assert_eq!(preempt.undone("none (voluntary) full\n").value, "voluntary");
    }

    #[test]
    fn features_and_members_are_words_among_others() {
        let off = KernelFile::feature("WA_WEIGHT", false);
        assert!(off.is_held_by("WA_IDLE NO_WA_WEIGHT\n") && !off.is_held_by("WA_WEIGHT\n"));
        assert_eq!(off.undone("WA_WEIGHT\n").value, "WA_WEIGHT");
        let on = KernelFile::feature("WA_WEIGHT", true);
        assert_eq!(on.undone("").value, "NO_WA_WEIGHT");
        let add = KernelFile::member("/x", "+cpu");
        assert!(add.is_held_by("cpuset cpu\n") && !add.is_held_by("cpuset\n"));
        let take = add.undone("cpuset\n");
        assert_eq!((take.value.as_str(), take.is_held_by("cpuset\n")), ("-cpu", true));
    }

    #[test]
    fn a_sysctl_is_a_file() {
        let file = KernelFile::sysctl("kernel.sched_rt_runtime_us", 900_000);
        assert_eq!(
            (file.path.as_str(), file.value.as_str()),
            ("/proc/sys/kernel/sched_rt_runtime_us", "900000")
        );
    }
}
