//! Runs of programs in one boot of a guest, one after the other, with what the scheduler counted during each.
//!
//! The initramfs holds the programs, their files and the scripts of all runs. After each run the guest sends an archive: what the program
//! printed, its exit code, and what the scheduler counted before and after. The caller gets every run as it arrives, so that an
//! interrupted session keeps the runs that it finished. A program that fails makes its run an error, and the session goes on unless the
//! caller refuses. Runs that sent nothing make the whole session an error.
//!
//! No mean is taken here and no counter is renamed: the caller knows the experiment.

use crate::boot::{Guest, Limits, boot};
use crate::firmware::TreeEdits;
use crate::frames::Said;
use crate::pinning::Pinning;
use crate::programs::{FileSource, Program, WORKER};
use crate::qemu::Qemu;
use crate::sched_ext::{self, Outcome, Scheduler};
use crate::splats::{Splat, splats};
use crate::{KernelImage, VmError, Workers, elf, guest};
use flate2::read::GzDecoder;
use kernel::recorded::schedstat::Schedstat;
use machine::CpuSet;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// One run, as scripts for busybox's shell with the functions of the guest's init.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GuestRun {
    /// Makes the guest ready; a failure is the run's.
    pub before: String,
    /// Runs in the background meanwhile, and is stopped at the end.
    pub beside: String,
    /// The program.
    pub command: String,
    /// Undoes what `before` and `beside` did.
    pub after: String,
    /// The scheduler that is loaded, which `before` does (`scheduler_on`) and `after` undoes (`scheduler_off`).
    pub scheduler: Option<Scheduler>,
    /// Whether the scheduler's tracepoints are recorded while the program runs.
    pub traced: bool,
    /// Whether the [plugin](crate::plugin) is asked for a snapshot at the program's start and at its end.
    pub counted: bool,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The program's standard output.
    pub stdout: String,
    /// What the scheduler counted from its start to its end, on the whole guest.
    pub schedstat: Schedstat,
    /// Context switches meanwhile.
    pub context_switches: u64,
    /// The program's timeline as ftrace's text, compressed with gzip, if it was wanted.
    pub trace_gz: Option<Vec<u8>>,
    /// The CPUs that tasks may use, by pid, of those that lived before or after a run whose timeline was wanted.
    pub affinity: BTreeMap<u32, CpuSet>,
    /// What its sched_ext scheduler said of itself, where it had one.
    pub scheduler: Option<Outcome>,
    /// By path of a control group: the numbers of its `cpu.stat`, from its making to the end of the program.
    pub groups: BTreeMap<String, BTreeMap<String, u64>>,
    /// By name: how much the numbers of `/proc/vmstat` about NUMA balancing rose.
    pub vmstat: BTreeMap<String, u64>,
    /// What the kernel's log says went wrong: during the run, and in the first run of a boot, also before.
    pub splats: Vec<Splat>,
}

impl Answer {
    /// The program's timeline as ftrace's text, if it was wanted.
    pub fn trace(&self) -> Option<impl BufRead + '_> {
        Some(BufReader::new(GzDecoder::new(self.trace_gz.as_deref()?)))
    }
}

/// A guest for runs.
#[derive(Debug, Clone)]
pub struct Session<'a> {
    /// The kernel.
    pub kernel: &'a KernelImage,
    /// Unpacked guest programs.
    pub tree: &'a Path,
    /// Our programs ([`crate::Cache::workers`]).
    pub workers: &'a Workers,
    /// What the runs need.
    pub programs: &'a [&'a Program],
    /// QEMU's arguments for the machine and what runs it.
    pub machine: &'a [String],
    /// What QEMU's device tree lacks.
    pub edits: TreeEdits<'a>,
    /// What follows on the kernel's command line, the board's words included.
    pub append: &'a str,
    /// Where the guest's CPUs run, if they are bound.
    pub pinning: Option<&'a Pinning>,
    /// How long it may take.
    pub limits: Limits,
}

/// Something that a session says.
#[derive(Debug)]
pub enum Heard {
    /// How far it got.
    Note(String),
    /// The end of a run, by its place in the list; the error says how it failed.
    Run(usize, Box<Result<Answer, String>>),
}

impl Session<'_> {
    /// Boots the guest, makes `runs`, and hands what comes of each to `hear`, whose error ends it.
    ///
    /// # Errors
    /// All that can happen to a guest, and what `hear` refuses.
    pub fn run<E: From<VmError>>(
        &self,
        qemu: &Qemu,
        runs: &[GuestRun],
        stop: &AtomicBool,
        hear: &mut dyn FnMut(Heard) -> Result<(), E>,
    ) -> Result<(), E> {
        let work = tempfile::Builder::new().prefix(".schedscape-vm").tempdir();
        let work = work.map_err(VmError::io(Path::new("temporary directory")))?;
        let initramfs = work.path().join("initramfs.gz");
        self.root(runs)?.write(&initramfs)?;
        let guest = Guest {
            kernel: self.kernel,
            initramfs: &initramfs,
            machine: self.machine,
            edits: self.edits,
            append: self.append,
            pinning: self.pinning,
            work: work.path(),
        };
        let refused = AtomicBool::new(false);
        let mut refusal = None;
        let mut left = runs.len();
        let booted = boot(qemu, &guest, self.limits, &[stop, &refused], &mut |said| {
            let heard = match said {
                Said::Note(note) => Heard::Note(note),
                Said::File { name, content } => match place(&name) {
                    Some(at) => {
                        left = left.saturating_sub(1);
                        Heard::Run(at, Box::new(answer(&content)))
                    }
                    None => return,
                },
                Said::Console(_) | Said::Printed { .. } | Said::Done => return,
            };
            if let Err(e) = hear(heard) {
                refused.store(true, std::sync::atomic::Ordering::Relaxed);
                refusal = refusal.take().or(Some(e));
            }
        });
        match (refusal, booted) {
            (Some(refusal), _) => Err(refusal),
            (None, Err(e)) => Err(e.into()),
            (None, Ok(())) if left > 0 => Err(VmError::Failed {
                program: "guest".to_owned(),
                status: "done".to_owned(),
                message: format!("{left} of {} runs sent nothing", runs.len()),
            }
            .into()),
            (None, Ok(())) => Ok(()),
        }
    }

    fn root(&self, runs: &[GuestRun]) -> Result<crate::initramfs::Initramfs, VmError> {
        let mut root = guest::base(self.tree, self.kernel)?;
        let mut paths: Vec<&str> =
            self.programs.iter().flat_map(|p| p.programs.iter().copied()).collect();
        paths.sort_unstable();
        paths.dedup();
        elf::programs(self.tree, &paths)?.add_to(self.tree, &mut root)?;
        let files: BTreeMap<&String, &FileSource> = self
            .programs
            .iter()
            .flat_map(|p| p.files.iter().map(|(path, file)| (path, file)))
            .collect();
        for (path, file) in files {
            root.file(path, file.mode(), file.content(self.tree, self.workers)?);
        }
        let mut job = "echo 1 > /proc/sys/kernel/sched_schedstats\nip link set lo up\n".to_owned();
        let loads = self.add_schedulers(&mut root, runs, &mut job)?;
        if runs.iter().any(|run| run.counted || run.scheduler.is_some()) {
            let worker = FileSource::Worker;
            root.file(WORKER, worker.mode(), worker.content(self.tree, self.workers)?);
        }
        if runs.iter().any(|run| run.counted) {
            job.push_str(&format!("/{WORKER} mark at=watch\n"));
        }
        for (at, run) in runs.iter().enumerate() {
            for (name, script) in [
                ("before", &run.before),
                ("beside", &run.beside),
                ("command", &run.command),
                ("after", &run.after),
            ] {
                root.file(&format!("runs/{at}/{name}"), 0o644, script.as_str());
            }
            if let Some(load) = &loads[at] {
                root.file(&format!("runs/{at}/scheduler"), 0o644, load.as_str());
            }
            for (name, _) in
                [("traced", run.traced), ("counted", run.counted)].iter().filter(|(_, is)| *is)
            {
                root.file(&format!("runs/{at}/{name}"), 0o644, "");
            }
            job.push_str(&format!("run {at}\n"));
        }
        root.file("job", 0o644, job);
        Ok(root)
    }

    /// Puts the schedulers of `runs` into the guest, each once; by run, what it says to load its own.
    fn add_schedulers(
        &self,
        root: &mut crate::initramfs::Initramfs,
        runs: &[GuestRun],
        job: &mut String,
    ) -> Result<Vec<Option<String>>, VmError> {
        let mut all: Vec<&Scheduler> = Vec::new();
        for scheduler in runs.iter().filter_map(|run| run.scheduler.as_ref()) {
            if !all.contains(&scheduler) {
                all.push(scheduler);
            }
        }
        if all.is_empty() {
            return Ok(vec![None; runs.len()]);
        }
        job.push_str(sched_ext::JOB);
        // Where BPF programs that ask for the configuration look for it (libbpf's kconfig externs).
        let config = &self.kernel.config;
        let content = std::fs::read(config).map_err(VmError::io(config))?;
        root.file(&format!("boot/config-{}", self.kernel.release), 0o644, content);
        let loads = sched_ext::add_all(root, &all)?;
        let load = |run: &GuestRun| {
            let at = all.iter().position(|s| Some(*s) == run.scheduler.as_ref())?;
            loads.get(at).cloned()
        };
        Ok(runs.iter().map(load).collect())
    }
}

/// The run whose archive has this name.
fn place(name: &str) -> Option<usize> {
    name.strip_prefix("run-")?.strip_suffix(".tar.gz")?.parse().ok()
}

/// What an archive says of a run; the error says how it failed.
fn answer(archive: &[u8]) -> Result<Answer, String> {
    let files = files(archive).map_err(|e| format!("archive: {e}"))?;
    let text = |name: &str| match files.get(name) {
        Some(content) => Ok(String::from_utf8_lossy(content).into_owned()),
        None => Err(format!("found no file {name}, expected it")),
    };
    let last = |text: String| match text.trim().lines().last() {
        Some(line) => line.to_owned(),
        None => "nothing said".to_owned(),
    };
    let scheduler = |name: &str| text(name).ok();
    let Some(status) = files.get("status") else {
        let said = sched_ext::failure(&scheduler).map_or(String::new(), |said| format!(": {said}"));
        return Err(format!("the guest could not be made ready: {}{said}", last(text("before")?)));
    };
    if let Some(reason) = sched_ext::failure(&scheduler) {
        return Err(reason);
    }
    let status = String::from_utf8_lossy(status).trim().to_owned();
    let stdout = text("out")?;
    if status != "0" {
        let said = if text("err")?.trim().is_empty() { stdout } else { text("err")? };
        return Err(format!("exit code {status}: {}", last(said)));
    }
    let schedstat = |name: &str| Schedstat::parse(&text(name)?).map_err(|e| e.to_string());
    let switches = |name: &str| {
        let said = text(name)?;
        let number = said.trim().strip_prefix("ctxt ").and_then(|n| n.parse::<u64>().ok());
        number.ok_or_else(|| format!("{name}: found `{said}`, expected ctxt and a number"))
    };
    let log = |name: &str| files.get(name).map(|log| splats(&String::from_utf8_lossy(log)));
    Ok(Answer {
        scheduler: Outcome::of(&scheduler)?,
        groups: match files.contains_key("groups") {
            true => groups(&text("groups")?)?,
            false => BTreeMap::new(),
        },
        vmstat: match files.contains_key("vmstat.after") {
            true => risen(&text("vmstat.before")?, &text("vmstat.after")?),
            false => BTreeMap::new(),
        },
        splats: ["log.before", "log"].into_iter().filter_map(log).flatten().collect(),
        stdout,
        schedstat: schedstat("schedstat.after")?.since(&schedstat("schedstat.before")?),
        context_switches: switches("stat.after")?.saturating_sub(switches("stat.before")?),
        trace_gz: files.get("trace.txt.gz").cloned(),
        affinity: match files.contains_key("affinity") {
            true => affinity(&text("affinity")?)?,
            false => BTreeMap::new(),
        },
    })
}

/// Lines of a name and a number, as in `cpu.stat` and `/proc/vmstat`; other lines are left out.
pub fn numbers(text: &str) -> BTreeMap<String, u64> {
    let number = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    };
    text.lines().filter_map(number).collect()
}

/// How much each of the [`numbers`] rose.
fn risen(before: &str, after: &str) -> BTreeMap<String, u64> {
    let old = numbers(before);
    let less = |name: &str, n: u64| n.saturating_sub(old.get(name).copied().unwrap_or(0));
    numbers(after).into_iter().map(|(name, n)| (name.clone(), less(&name, n))).collect()
}

/// Lines with a number's name, its value, and the path of its group.
fn groups(said: &str) -> Result<BTreeMap<String, BTreeMap<String, u64>>, String> {
    let mut all: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for line in said.lines() {
        let wrong = || format!("groups: found `{line}`, expected a name, a number and a path");
        let mut words = line.splitn(3, ' ');
        let (name, value) = (words.next().ok_or_else(wrong)?, words.next().ok_or_else(wrong)?);
        let path = words.next().ok_or_else(wrong)?;
        let value = value.parse().map_err(|_| wrong())?;
        all.entry(path.to_owned()).or_default().insert(name.to_owned(), value);
    }
    Ok(all)
}

/// Lines of `grep -H Cpus_allowed_list /proc/PID/status`.
fn affinity(said: &str) -> Result<BTreeMap<u32, CpuSet>, String> {
    let of = |line: &str| {
        let (path, list) = line.split_once(":Cpus_allowed_list:")?;
        let pid = path.strip_prefix("/proc/")?.strip_suffix("/status")?.parse().ok()?;
        Some((pid, list.trim().parse().ok()?))
    };
    let refused = |line: &str| {
        format!("affinity: found `{line}`, expected /proc/PID/status:Cpus_allowed_list: and CPUs")
    };
    said.lines().map(|line| of(line).ok_or_else(|| refused(line))).collect()
}

fn files(archive: &[u8]) -> std::io::Result<BTreeMap<String, Vec<u8>>> {
    let mut out = BTreeMap::new();
    for entry in tar::Archive::new(GzDecoder::new(archive)).entries()? {
        let mut entry = entry?;
        let path = entry.path()?.display().to_string();
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        out.insert(path.trim_start_matches("./").to_owned(), content);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, content) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, format!("./{name}"), content.as_bytes()).unwrap();
        }
        tar.into_inner().unwrap().finish().unwrap()
    }

    const STAT: &str = "version 16\ntimestamp 1\ncpu0 0 0 0 0 5 5 0 0 0\n";

    #[test]
    fn a_run_that_went_well() {
        let after = STAT.replace("5 5", "9 6");
        let files = [
            ("out", "hello\n"),
            ("err", ""),
            ("status", "0\n"),
            ("schedstat.before", STAT),
            ("schedstat.after", &after),
            ("stat.before", "ctxt 10\n"),
            ("stat.after", "ctxt 25\n"),
            ("vmstat.before", "numa_hit 5\nnuma_hint_faults 3\n"),
            ("vmstat.after", "numa_hit 9\nnuma_hint_faults 7\n"),
        ];
        let answer = answer(&archive(&files)).unwrap();
        assert_eq!((answer.stdout.as_str(), answer.context_switches), ("hello\n", 15));
        assert_eq!(answer.vmstat["numa_hint_faults"], 4);
        assert!(answer.trace().is_none());
        assert_eq!(answer.schedstat.cpus[0].ttwu_count, 4);
    }

    #[test]
    fn a_traced_run() {
        let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
        std::io::Write::write_all(&mut gz, b"# tracer: nop\n").unwrap();
        let answer = Answer {
            stdout: String::new(),
            schedstat: Schedstat::parse(STAT).unwrap(),
            context_switches: 0,
            scheduler: None,
            splats: vec![],
            trace_gz: Some(gz.finish().unwrap()),
            affinity: BTreeMap::new(),
            groups: BTreeMap::new(),
            vmstat: BTreeMap::new(),
        };
        let mut text = String::new();
        answer.trace().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "# tracer: nop\n");
    }

    #[test]
    fn what_groups_counted() {
        let said = "usage_usec 120 web\nnr_throttled 3 web\nusage_usec 7 web/a b\n";
        let found = groups(said).unwrap();
        assert_eq!((found["web"]["usage_usec"], found["web"]["nr_throttled"]), (120, 3));
        assert_eq!(found["web/a b"]["usage_usec"], 7);
        for bad in ["usage_usec 120", "usage_usec x web", "usage_usec"] {
            assert!(groups(bad).unwrap_err().starts_with("groups: found"));
        }
    }

    #[test]
    fn who_may_run_where() {
        let said =
            "/proc/1/status:Cpus_allowed_list:\t0-3\n/proc/12/status:Cpus_allowed_list:\t2\n";
        let affinity = |said: &str| super::affinity(said);
        let found = affinity(said).unwrap();
        assert_eq!((found[&1].len(), found[&12].to_string()), (4, "2".to_owned()));
        for bad in [
            "/proc/x/status:Cpus_allowed_list:\t0",
            "/proc/1/status:Cpus_allowed_list:\ta",
            "hello",
        ] {
            assert!(affinity(bad).unwrap_err().starts_with("affinity: found `"), "{bad}");
        }
    }

    #[test]
    fn runs_that_did_not() {
        let of = |files: &[(&str, &str)]| answer(&archive(files)).unwrap_err();
        let failed = [("out", ""), ("err", "a\nperf: no\n"), ("status", "127\n")];
        assert_eq!(of(&failed), "exit code 127: perf: no");
        let unready = [("before", "write error: Invalid argument\n")];
        assert_eq!(
            of(&unready),
            "the guest could not be made ready: write error: Invalid argument"
        );
        assert_eq!(of(&failed[..2]), "found no file before, expected it");
        assert!(answer(b"rubbish").unwrap_err().starts_with("archive: "));
    }

    #[test]
    fn names_of_archives() {
        assert_eq!(place("run-12.tar.gz"), Some(12));
        assert_eq!(place("capture.tar.gz"), None);
    }
}
