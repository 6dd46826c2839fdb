//! A machine in the kernel's own form: the files of `/sys/devices/system/cpu` and `node` as Linux 6.5 and later
//! show them (`drivers/base/{cpu,topology,cacheinfo,node}.c`, `arch/powerpc/kernel/sysfs.c`).
//!
//! A file whose value the model does not know is left out. An id that the model does not know
//! ([`crate::OsIds`]) is the model's own number.

mod caches;
mod cpus;
mod nodes;
mod power;

use crate::cpuset::CpuSet;
use crate::model::Machine;

use crate::files::{CPU_DIR, NODE_DIR};

/// The files: path below `/` and text with its line ends, in natural order (`cpu2` before `cpu10`).
pub fn files(machine: &Machine) -> Vec<(String, String)> {
    let mut files = Files { list: Vec::new(), nr_cpus: machine.cpus.len() };
    cpus::add(machine, &mut files);
    caches::add(machine, &mut files);
    power::add(machine, &mut files);
    nodes::add(machine, &mut files);
    files.list.sort_by_cached_key(|(path, _)| natural_key(path));
    files.list
}

/// The files as `grep -r . /sys/devices/system` prints them: a line `PATH:VALUE` for each line that is not empty.
pub fn print(machine: &Machine) -> String {
    let mut out = String::new();
    for (path, text) in files(machine) {
        for line in text.lines().filter(|l| !l.is_empty()) {
            out.push_str(&format!("/{path}:{line}\n"));
        }
    }
    out
}

/// The files so far.
struct Files {
    list: Vec<(String, String)>,
    /// Possible CPUs, which decide how wide masks are.
    nr_cpus: usize,
}

impl Files {
    /// A file of one line.
    fn line(&mut self, path: String, value: impl std::fmt::Display) {
        self.list.push((path, format!("{value}\n")));
    }

    /// A file of one line where the value is known.
    fn known(&mut self, path: String, value: Option<impl std::fmt::Display>) {
        if let Some(value) = value {
            self.line(path, value);
        }
    }

    /// The file `mask` with the hexadecimal form of `cpus`, and `list` with the list form.
    fn set(&mut self, mask: String, list: String, cpus: CpuSet) {
        let text = cpus.mask(self.nr_cpus);
        self.line(mask, text);
        self.line(list, cpus);
    }
}

/// Numbers as the kernel lists those of nodes: as CPUs, `0-1,8`. Numbers that a set cannot hold are listed one
/// by one behind the others.
fn number_list(numbers: impl Iterator<Item = u32>) -> String {
    let mut set = CpuSet::EMPTY;
    let mut beyond = Vec::new();
    for number in numbers {
        match usize::try_from(number) {
            Ok(n) if n < crate::MAX_CPUS => set.insert(n),
            _ => beyond.push(number.to_string()),
        }
    }
    let near = (!set.is_empty()).then(|| set.to_string());
    near.into_iter().chain(beyond).collect::<Vec<_>>().join(",")
}

/// Text and number by turns, so that numbers compare by value.
fn natural_key(path: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let digits_at = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, tail) = rest.split_at(digits_at);
        let digits_end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        let (digits, tail) = tail.split_at(digits_end);
        let value = digits.bytes().fold(0u64, |v, d| v.saturating_mul(10) + u64::from(d - b'0'));
        key.push((text.to_string(), value));
        rest = tail;
    }
    key
}

#[cfg(test)]
mod tests;
