//! A guest's CPUs bound to this computer's, one to one, so that no scheduler but the guest's decides where its tasks run.
//!
//! The CPUs of both are put in the order of packages, last-level caches, cores and threads, and bound in this order. Where shapes differ,
//! CPUs that share something in the guest may not share it here, which [`Pinning::in_words`] says.

use machine::Machine;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::path::Path;
use std::time::{Duration, Instant};

/// How this computer hands out huge pages by itself.
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// What makes QEMU name its threads, `CPU 3/KVM` that of CPU 3.
pub(crate) const NAMED_THREADS: [&str; 2] = ["-name", "schedscape,debug-threads=on"];
/// QEMU has a thread for each CPU after this time at the latest.
const THREADS_WITHIN: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// By CPU of the guest: the CPU of this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinning {
    cpus: Vec<usize>,
    /// What guests' CPUs share and these do not, or the other way.
    otherwise: Vec<&'static str>,
}

impl Pinning {
    /// The CPUs of `guest` on the online ones of `host`.
    ///
    /// # Errors
    /// A sentence that says why not: the guest has more.
    pub fn of(guest: &Machine, host: &Machine) -> Result<Pinning, String> {
        let wanted = guest.cpus.len();
        let all = in_order(host, host.online.iter().collect());
        // A guest without SMT has whole cores where there are enough.
        let cores: Vec<usize> =
            all.iter().copied().filter(|&cpu| host.cpus[cpu].thread == 0).collect();
        let smt = guest.cpus.iter().any(|cpu| cpu.thread > 0);
        let from = if !smt && cores.len() >= wanted { cores } else { all };
        if from.len() < wanted {
            return Err(format!("the guest has {wanted} CPUs and this computer {}", from.len()));
        }
        let mut cpus = vec![0; wanted];
        for (own, here) in in_order(guest, (0..wanted).collect()).into_iter().zip(from) {
            cpus[own] = here;
        }
        let shared = |what: Shares| {
            (0..wanted).any(|a| (0..a).any(|b| what(guest, a, b) != what(host, cpus[a], cpus[b])))
        };
        let levels: [(&'static str, Shares); 3] = [
            ("cores", &|m, a, b| m.cpus[a].core == m.cpus[b].core),
            ("last-level caches", &|m, a, b| llc(m, a) == llc(m, b)),
            ("packages", &|m, a, b| m.cpus[a].package == m.cpus[b].package),
        ];
        let otherwise = levels.iter().filter(|(_, what)| shared(what)).map(|(name, _)| *name);
        Ok(Pinning { otherwise: otherwise.collect(), cpus })
    }

    /// What is bound, and what that means for figures.
    pub fn in_words(&self) -> String {
        let cpus: machine::CpuSet = self.cpus.iter().copied().collect();
        let last = self.cpus.len().saturating_sub(1);
        match &self.otherwise[..] {
            [] => format!("its CPUs 0-{last} are bound to {cpus}, which share what they share"),
            differ => format!(
                "its CPUs 0-{last} are bound to {cpus}, which do not share the same {}: what distances cost is this computer's",
                differ.join(", ")
            ),
        }
    }

    /// Binds the threads of the QEMU process `qemu`.
    ///
    /// # Errors
    /// Threads that do not come, and what the kernel refuses.
    pub(crate) fn apply(&self, qemu: u32) -> Result<(), String> {
        let until = Instant::now() + THREADS_WITHIN;
        let threads = loop {
            let threads = threads(qemu);
            if threads.len() == self.cpus.len() {
                break threads;
            }
            if Instant::now() > until {
                return Err(format!(
                    "found {} threads for {} CPUs, expected one each",
                    threads.len(),
                    self.cpus.len()
                ));
            }
            std::thread::sleep(LOOK);
        };
        for (cpu, thread) in threads {
            let here = self.cpus.get(cpu).ok_or_else(|| format!("found a thread of CPU {cpu}"))?;
            let mut set = CpuSet::new();
            set.set(*here);
            sched_setaffinity(Some(thread), &set).map_err(|e| format!("CPU {here}: {e}"))?;
        }
        Ok(())
    }
}

/// Whether two CPUs of a machine share something.
type Shares<'a> = &'a dyn Fn(&Machine, usize, usize) -> bool;

/// How this computer backs a guest's memory, which QEMU asks huge pages for.
pub fn pages_in_words() -> String {
    let said = std::fs::read_to_string(HUGE_PAGES).unwrap_or_default();
    let chosen = said.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    match chosen {
        Some(("never", _)) => {
            "its memory has small pages (transparent_hugepage: never), so more TLB misses"
                .to_owned()
        }
        Some((mode, _)) => {
            format!("its memory has huge pages where some are free (transparent_hugepage: {mode})")
        }
        None => "whether its memory has huge pages is not known".to_owned(),
    }
}

fn llc(machine: &Machine, cpu: usize) -> Option<usize> {
    let of = |level| crate::board::cache_cpus(machine, level, cpu);
    of(3).or_else(|| of(2)).and_then(|cpus| cpus.first())
}

fn in_order(machine: &Machine, mut cpus: Vec<usize>) -> Vec<usize> {
    cpus.sort_by_key(|&at| {
        let cpu = &machine.cpus[at];
        (cpu.package, llc(machine, at), cpu.core, cpu.thread)
    });
    cpus
}

/// Threads that execute CPUs, each with its CPU.
fn threads(qemu: u32) -> Vec<(usize, Pid)> {
    let dir = format!("/proc/{qemu}/task");
    let Ok(entries) = std::fs::read_dir(Path::new(&dir)) else { return Vec::new() };
    let cpu = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        let comm = std::fs::read_to_string(entry.path().join("comm")).ok()?;
        let cpu = comm.strip_prefix("CPU ")?.split_once('/')?.0.parse().ok()?;
        let thread = entry.file_name().to_str()?.parse().ok()?;
        Some((cpu, Pid::from_raw(thread)?))
    };
    entries.filter_map(cpu).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(spec: &str) -> Machine {
        machine::qemu::read(spec).unwrap()
    }

    #[test]
    fn cpus_of_the_same_shape_share_what_they_share() {
        let guest = machine("-M q35 -cpu EPYC -smp 8,sockets=2,cores=2,threads=2");
        let pinning = Pinning::of(&guest, &guest).unwrap();
        assert_eq!(pinning.cpus, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(pinning.in_words().ends_with("0-7, which share what they share"));
    }

    #[test]
    fn a_guest_without_smt_has_whole_cores() {
        let guest = machine("-M q35 -cpu EPYC -smp 2,sockets=1,cores=2,threads=1");
        let host = machine("-M q35 -cpu EPYC -smp 4,sockets=1,cores=2,threads=2");
        assert_eq!(Pinning::of(&guest, &host).unwrap().cpus, [0, 2]);
    }

    #[test]
    fn other_shapes_are_said_and_small_computers_refused() {
        let guest = machine("-M q35 -cpu EPYC -smp 4,sockets=2,cores=2,threads=1");
        let host = machine("-M q35 -cpu EPYC -smp 4,sockets=1,cores=4,threads=1");
        let said = Pinning::of(&guest, &host).unwrap().in_words();
        assert!(said.contains("do not share the same last-level caches, packages"), "{said}");
        let small = machine("-M q35 -cpu EPYC -smp 2");
        let refused = Pinning::of(&guest, &small).unwrap_err();
        assert_eq!(refused, "the guest has 4 CPUs and this computer 2");
    }

    #[test]
    fn threads_are_found_by_their_names_and_bound() {
        let wait = std::sync::Arc::new(std::sync::Barrier::new(3));
        let one = |cpu: usize| {
            let wait = std::sync::Arc::clone(&wait);
            let named = std::thread::Builder::new().name(format!("CPU {cpu}/KVM"));
            let allowed = move || {
                wait.wait();
                std::fs::read_to_string("/proc/thread-self/status").unwrap()
            };
            named.spawn(allowed).unwrap()
        };
        let both = [one(0), one(1)];
        Pinning { cpus: vec![0, 0], otherwise: vec![] }.apply(std::process::id()).unwrap();
        wait.wait();
        for thread in both {
            let status = thread.join().unwrap();
            assert!(status.contains("\nCpus_allowed_list:\t0\n"), "{status}");
        }
        assert_eq!(threads(u32::MAX), []);
    }
}
