//! Configurations of kernels for guests, and what they must have.

use super::{Order, Target};
use crate::TreeError;
use crate::build::is_taken;
use crate::seed::option;
use std::path::Path;

const COMMON: &str = include_str!("../../image/common.config");
const DEBUG: &str = include_str!("../../image/debug.config");
const AMD64: &str = include_str!("../../image/amd64.config");
const ARM64: &str = include_str!("../../image/arm64.config");
const PPC64EL: &str = include_str!("../../image/ppc64el.config");

/// What no guest does without: to boot from a compressed initramfs, to speak, to be asked about its domains, to be traced.
const NEEDED: [&str; 12] = [
    "SMP",
    "BLK_DEV_INITRD",
    "RD_GZIP",
    "BINFMT_ELF",
    "BINFMT_SCRIPT",
    "TTY",
    "PRINTK",
    "PROC_FS",
    "SYSFS",
    "TMPFS",
    "DEVTMPFS",
    "DEBUG_FS",
];

/// The console that a guest speaks through.
fn console(target: Target) -> &'static str {
    match target {
        Target::Amd64 => "SERIAL_8250_CONSOLE",
        Target::Arm64 => "SERIAL_AMBA_PL011_CONSOLE",
        Target::Ppc64el => "HVC_OPAL",
    }
}

/// The configuration that a build starts from.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Its text.
    pub(super) text: String,
    /// Whether what it does not name is off, as in ours, or as the tree's defaults have it.
    pub(super) is_whole: bool,
    /// Lines that must be taken as they are.
    asked: Vec<String>,
    /// The file that it came from.
    place: String,
    target: Target,
}

impl Wanted {
    /// The configuration of `order`.
    ///
    /// # Errors
    /// A file that cannot be read, is no kernel's configuration, or lacks what guests need, which is named.
    pub(super) fn read(order: &Order) -> Result<Wanted, TreeError> {
        let (target, asked) = (order.target, order.options.clone());
        let more = if order.debug { DEBUG } else { "" };
        let lines: String = asked.iter().map(|line| format!("{line}\n")).collect();
        let Some(file) = order.config else {
            let own = match target {
                Target::Amd64 => AMD64,
                Target::Arm64 => ARM64,
                Target::Ppc64el => PPC64EL,
            };
            let text = [COMMON, own, more, &lines].concat();
            let place = "schedscape's configuration".to_owned();
            return Ok(Wanted { text, is_whole: true, asked, place, target });
        };
        let begins = std::fs::read(file).map_err(TreeError::io(file))?;
        let begins = String::from_utf8_lossy(&begins).into_owned();
        check_file(file, &begins, target)?;
        let text = [begins.as_str(), "\n", more, &lines].concat();
        let place = file.display().to_string();
        Ok(Wanted { text, is_whole: false, asked, place, target })
    }

    /// Options of ours that the configuration `taken` has not.
    ///
    /// # Errors
    /// One that guests need or that was asked for.
    pub(super) fn left_out(&self, taken: &str) -> Result<Vec<String>, TreeError> {
        check_needed(&self.place, taken, self.target)?;
        if let Some(line) = self.asked.iter().find(|line| !is_taken(line, taken)) {
            let expected = "an option that this release takes so on this architecture";
            return Err(TreeError::found("source.config", line, expected));
        }
        let lines = if self.is_whole { self.text.lines() } else { "".lines() };
        // A later line overrides an earlier one.
        let is_last = |line: &&str| {
            let name = option(line).map(|(name, _)| name);
            let last = self.text.lines().rev().find(|l| option(l).map(|(n, _)| n) == name);
            name.is_some() && last == Some(*line)
        };
        Ok(lines.filter(is_last).filter(|l| !is_taken(l, taken)).map(str::to_owned).collect())
    }
}

fn check_file(file: &Path, text: &str, target: Target) -> Result<(), TreeError> {
    match text.lines().any(|line| option(line).is_some()) {
        true => check_needed(&file.display().to_string(), text, target),
        false => Err(TreeError::found(
            file.display(),
            "no option of a kernel",
            "a kernel's .config, such as /boot/config-6.12",
        )),
    }
}

/// Modules count as missing: guests load none.
fn check_needed(place: &str, text: &str, target: Target) -> Result<(), TreeError> {
    let all = NEEDED.into_iter().chain([console(target)]);
    let has = |name: &&str| text.lines().any(|line| line == format!("CONFIG_{name}=y"));
    let missing: Vec<String> =
        all.filter(|name| !has(name)).map(|name| format!("CONFIG_{name}")).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(TreeError::found(
            place,
            format!("no {}", missing.join(", ")),
            "them built in, as guests need them",
        )),
    }
}
