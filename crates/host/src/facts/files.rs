//! Small files of the running kernel below a root, each read once and never trusted to be short or text.

use machine::CpuSet;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a file that are read; a kernel's configuration has about 300 kB.
pub(crate) const MAX_BYTES: u64 = 4 << 20;

/// The content of `path` without space at its ends; bytes that are no text are replaced.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let bytes = bytes(path)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_string())
}

/// The bytes of `path`, the first [`MAX_BYTES`] of them.
pub(crate) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of the file at `path` below `root`; none if it is absent, not readable or empty.
pub(crate) fn text(root: &Path, path: &str) -> Option<String> {
    read(&root.join(path)).ok().filter(|text| !text.is_empty())
}

/// The number in the file at `path` below `root`.
pub(crate) fn number(root: &Path, path: &str) -> Option<u64> {
    text(root, path)?.parse().ok()
}

/// The CPUs in the file at `path` below `root`, which holds a list such as `0-3,8`.
pub(crate) fn cpus(root: &Path, path: &str) -> Option<CpuSet> {
    text(root, path)?.parse().ok()
}

/// Names in the directory `dir` below `root` that pass `keep`, in the order of their text; none if there is no such directory.
pub(crate) fn names(root: &Path, dir: &str, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let entries = fs::read_dir(root.join(dir)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| keep(name)).collect();
    names.sort();
    names
}

/// Numbers of the entries of `dir` that are called `prefix` and a number, ascending: of `cpu0`, `cpu1` and `cpuidle` 0 and 1.
pub(crate) fn numbered(root: &Path, dir: &str, prefix: &str) -> Vec<usize> {
    let number = |name: &str| name.strip_prefix(prefix)?.parse::<usize>().ok();
    let names = names(root, dir, |name| number(name).is_some());
    let mut numbers: Vec<usize> = names.iter().filter_map(|name| number(name)).collect();
    numbers.sort_unstable();
    numbers
}

/// The value of `key` in lines such as `key : value`, in the first that has it.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// The choice that the kernel marks in text such as `always [madvise] never`.
pub(crate) fn chosen(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(choice, _)| choice)
}

/// Values by the CPUs that have them, in the order of their lowest CPU.
pub(crate) fn by_value<T: PartialEq>(
    each: impl IntoIterator<Item = (CpuSet, T)>,
) -> Vec<(CpuSet, T)> {
    let mut out: Vec<(CpuSet, T)> = Vec::new();
    for (cpus, value) in each {
        match out.iter_mut().find(|(_, known)| *known == value) {
            Some((all, _)) => *all |= &cpus,
            None => out.push((cpus, value)),
        }
    }
    out.sort_by_key(|(cpus, _)| cpus.first());
    out
}

/// One value as it is, several as `a on 0-3, b on 4-7`; none if there is no value.
pub(crate) fn where_they_differ<T: Display>(values: &[(CpuSet, T)]) -> Option<String> {
    match values {
        [] => None,
        [(_, value)] => Some(value.to_string()),
        several => {
            let each = several.iter().map(|(cpus, value)| format!("{value} on {cpus}"));
            Some(each.collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_with_their_cpus_only_where_they_differ() {
        let of = |cpus: &str, value: &'static str| (cpus.parse::<CpuSet>().unwrap(), value);
        let same = by_value([of("0-1", "a"), of("2", "a")]);
        assert_eq!(where_they_differ(&same).unwrap(), "a");
        let other = by_value([of("4", "b"), of("0-1", "a"), of("5", "b")]);
        assert_eq!(where_they_differ(&other).unwrap(), "a on 0-1, b on 4-5");
        assert_eq!(where_they_differ::<&str>(&[]), None);
    }

    #[test]
    fn the_forms_of_small_files_are_read() {
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("none"), None);
        assert_eq!(field("a b\t: 1\nc: x: y\n", "c"), Some("x: y"));
        assert_eq!(field("abc: 1", "a"), None);
        let root = tempfile::tempdir().unwrap();
        for name in ["cpu10", "cpu2", "cpuidle", "cpu"] {
            fs::create_dir_all(root.path().join("d").join(name)).unwrap();
        }
        assert_eq!(numbered(root.path(), "d", "cpu"), [2, 10]);
        assert!(numbered(root.path(), "none", "cpu").is_empty());
    }
}
