//! Control groups of a kernel that has booted.

use crate::abi::shared;
use crate::library::{Running, c_text, shown};
use crate::{ReplicaError, fault};
use setting::Group;
use sim::counters::{Bandwidth, Pressure};

impl Running {
    /// Makes `groups`, in which those above come first, with the controllers that they use, and writes to their files.
    ///
    /// # Errors
    /// [`ReplicaError::Group`] with what the kernel refuses.
    pub fn make_groups(&mut self, groups: &[Group]) -> Result<(), ReplicaError> {
        if groups.is_empty() {
            return Ok(());
        }
        let writes =
            |to: &str| groups.iter().flat_map(|g| &g.files).any(|(file, _)| file.starts_with(to));
        let all = [("cpu.", "+cpu"), ("cpuset.", "+cpuset")];
        let used: Vec<&str> = all.iter().filter(|(to, _)| writes(to)).map(|(_, on)| *on).collect();
        let controllers = used.join(" ");
        self.write_group("", "cgroup.subtree_control", &controllers)?;
        for group in groups {
            let path = c_text(&group.path);
            let number = fault::inside(|| (self.api().group_make)(path.as_ptr()));
            if number < 0 {
                let reason = error_name(number);
                return Err(ReplicaError::Group {
                    file: group.path.clone(),
                    found: "a group".into(),
                    reason,
                });
            }
            self.groups.push(c_text(&format!("{}/cgroup.procs", group.path)));
            debug_assert_eq!(number as usize, self.groups.len());
            let below = format!("{}/", group.path);
            if groups.iter().any(|other| other.path.starts_with(&below)) {
                self.write_group(&group.path, "cgroup.subtree_control", &controllers)?;
            }
        }
        for (number, group) in (1..).zip(groups) {
            self.lead_group(number, group)?;
            for (file, text) in &group.files {
                self.write_group(&group.path, file, text)?;
            }
        }
        self.settled();
        Ok(())
    }

    /// The group at `number` gets what its tasks share.
    fn lead_group(&self, number: u32, group: &Group) -> Result<(), ReplicaError> {
        let all = [
            ("core_cookie", group.core_cookie, shared::COOKIE),
            ("session", group.session, shared::SESSION),
        ];
        let asked = all.iter().filter(|(_, is_on, _)| *is_on);
        let bits = asked.clone().fold(0, |bits, (_, _, bit)| bits | bit);
        if bits == 0 {
            return Ok(());
        }
        match fault::inside(|| (self.api().group_lead)(number, bits)) {
            answer if answer < 0 => {
                let names: Vec<&str> = asked.map(|(name, ..)| *name).collect();
                let file = format!("{}.{}", group.path, names.join(", "));
                let reason = error_name(answer);
                Err(ReplicaError::Group { file, found: "true".to_string(), reason })
            }
            _ => Ok(()),
        }
    }

    fn write_group(&self, group: &str, name: &str, text: &str) -> Result<(), ReplicaError> {
        let file = if group.is_empty() { name.to_string() } else { format!("{group}/{name}") };
        let (path, value) = (c_text(&file), c_text(text));
        match fault::inside(|| (self.api().group_write)(path.as_ptr(), value.as_ptr())) {
            answer if answer < 0 => Err(ReplicaError::Group {
                file: format!("{group}.{name}"),
                found: text.to_string(),
                reason: error_name(answer),
            }),
            _ => Ok(()),
        }
    }

    /// Moves a task that sleeps to the group at `place`, from 1 on.
    pub(crate) fn join_group(&self, pid: i64, place: u32) -> Result<(), String> {
        let Some(procs) = (place as usize).checked_sub(1).and_then(|at| self.groups.get(at)) else {
            return Err(format!("found group {place}, expected one of {}", self.groups.len()));
        };
        match fault::inside(|| (self.api().group_join)(pid, place, procs.as_ptr())) {
            answer if answer < 0 => {
                let file = procs.to_string_lossy();
                Err(format!("{file}: task {pid} is refused: {}", error_name(answer)))
            }
            _ => Ok(()),
        }
    }

    /// What the quotas of all groups did, from their `cpu.stat`.
    pub(crate) fn bandwidth(&self) -> Bandwidth {
        let mut sum = Bandwidth::default();
        for number in 1..=self.groups.len() as u32 {
            let text = self.stat_of_group(number);
            for (name, value) in text.lines().filter_map(|l| l.split_once(' ')) {
                let value: u64 = value.trim().parse().unwrap_or(0);
                match name {
                    "nr_periods" => sum.periods += value,
                    "nr_throttled" => sum.throttled += value,
                    "throttled_usec" => sum.throttled_us += value,
                    _ => {}
                }
            }
        }
        sum
    }

    /// The pressure on CPUs: some tasks waited in the machine, and all of a group did, summed over groups.
    pub(crate) fn pressure(&self) -> Pressure {
        let total = |group: u32, line: &str| -> u64 {
            let show = |to, size| (self.api().pressure)(group, to, size);
            let text = shown(show, "cpu.pressure").unwrap_or_default();
            let line = text.lines().find_map(|l| l.strip_prefix(line));
            let total = line.and_then(|l| l.split_once("total=")).map(|(_, total)| total.trim());
            total.and_then(|total| total.parse().ok()).unwrap_or(0)
        };
        let full = (1..=self.groups.len() as u32).map(|group| total(group, "full")).sum();
        Pressure { some_us: total(0, "some"), full_us: full }
    }

    /// What `cpu.stat` shows of a group; nothing where the kernel does not.
    fn stat_of_group(&self, number: u32) -> String {
        let show = |to, size| (self.api().group_stat)(number, to, size);
        shown(show, "cpu.stat").unwrap_or_default()
    }
}

/// The name of an error number, which is below 0.
fn error_name(number: i64) -> String {
    let names = [
        (libc::EPERM, "EPERM"),
        (libc::ENOENT, "ENOENT, there is no such file"),
        (libc::EAGAIN, "EAGAIN"),
        (libc::EACCES, "EACCES, the file is not to be written to"),
        (libc::EBUSY, "EBUSY"),
        (libc::ENODEV, "ENODEV, such as siblings of a machine without SMT"),
        (libc::EEXIST, "EEXIST"),
        (libc::EINVAL, "EINVAL"),
        (libc::ENOSPC, "ENOSPC"),
        (libc::ERANGE, "ERANGE"),
        (libc::EOPNOTSUPP, "EOPNOTSUPP"),
    ];
    let name = names.iter().find(|(n, _)| i64::from(*n) == -number);
    name.map_or(format!("error {number}"), |(_, name)| format!("{name} ({number})"))
}
