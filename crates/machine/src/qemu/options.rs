//! A command line's options: those that shape the machine, and those known not to.

use super::OptionFault;
use crate::error::Fault;

/// The options that shape the machine, their values not yet read.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// `-machine`; several add up.
    pub(super) machine: Vec<Item>,
    pub(super) cpu: Option<String>,
    pub(super) smp: Option<String>,
    pub(super) numa: Vec<String>,
    pub(super) object: Vec<String>,
    pub(super) memory: Option<String>,
    pub(super) accel: Vec<String>,
    /// Whether firmware was asked for (`-bios`, flash).
    pub(super) firmware: bool,
}

/// `key=value`, or a word alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) key: String,
    pub(super) value: Option<String>,
}

impl Item {
    /// The value; QEMU takes a key without one for `on`.
    pub(super) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or("on")
    }
}

/// Options without effect on the topology that take no value.
const HARMLESS_ALONE: &[&str] = &[
    "S",
    "daemonize",
    "nodefaults",
    "no-fd-bootchk",
    "no-reboot",
    "no-shutdown",
    "no-user-config",
    "nographic",
    "only-migratable",
    "s",
    "snapshot",
    "usb",
];

/// Options without effect on the topology that take a value.
const HARMLESS_WITH_VALUE: &[&str] = &[
    "D",
    "L",
    "append",
    "audiodev",
    "blockdev",
    "boot",
    "cdrom",
    "chardev",
    "d",
    "display",
    "drive",
    "dtb",
    "fsdev",
    "fw_cfg",
    "gdb",
    "hda",
    "hdb",
    "hdc",
    "hdd",
    "icount",
    "incoming",
    "initrd",
    "k",
    "kernel",
    "mem-path",
    "mon",
    "monitor",
    "msg",
    "name",
    "net",
    "netdev",
    "nic",
    "overcommit",
    "parallel",
    "pflash",
    "pidfile",
    "qmp",
    "rtc",
    "run-with",
    "sandbox",
    "seed",
    "serial",
    "smbios",
    "tpmdev",
    "trace",
    "uuid",
    "vga",
    "virtfs",
    "vnc",
    "watchdog-action",
];

fn missing(option: &str, expected: &str) -> OptionFault {
    (option.to_string(), Fault::new("no value", expected))
}

/// Splits `spec` as a shell does and sorts its options.
pub(super) fn parse(spec: &str) -> Result<Options, OptionFault> {
    let Some(words) = shlex::split(spec) else {
        return Err(("arguments".to_string(), Fault::new("an open quote", "its end")));
    };
    let mut options = Options::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let Some(name) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
            let expected = "an option such as -smp";
            return Err(("arguments".to_string(), Fault::new(format!("`{word}`"), expected)));
        };
        if HARMLESS_ALONE.contains(&name) {
            continue;
        }
        if name == "enable-kvm" {
            options.accel.push("kvm".to_string());
            continue;
        }
        let mut value = || words.next().ok_or_else(|| missing(&word, "one"));
        match name {
            "M" | "machine" => options.machine.extend(items(&value()?)),
            "cpu" => options.cpu = Some(value()?),
            "smp" => options.smp = Some(value()?),
            "numa" => options.numa.push(value()?),
            "object" => options.object.push(value()?),
            "m" => options.memory = Some(value()?),
            "accel" => options.accel.push(value()?),
            "bios" => {
                value()?;
                options.firmware = true;
            }
            "device" => refuse_plugged_cpu(&value()?)?,
            _ if HARMLESS_WITH_VALUE.contains(&name) => {
                let value = value()?;
                options.firmware |= name == "pflash" || value.contains("if=pflash");
            }
            _ => {
                let expected = "-machine, -cpu, -smp, -numa, -object, -m, -accel, or an option known to leave \
                                the topology alone";
                return Err((word.clone(), Fault::new("an unknown option", expected)));
            }
        }
    }
    Ok(options)
}

/// `-device` may plug in CPUs, memory and caches by itself.
fn refuse_plugged_cpu(value: &str) -> Result<(), OptionFault> {
    let driver = value.split(',').next().unwrap_or(value);
    let shapes = driver.contains("-cpu") || driver.contains("dimm") || driver.contains("spapr-cpu");
    match shapes {
        true => Err((
            "-device".to_string(),
            Fault::new(format!("`{driver}`"), "CPUs by -smp and memory by -numa"),
        )),
        false => Ok(()),
    }
}

/// The parts of a value between commas; `,,` stands for a comma.
pub(super) fn items(text: &str) -> Vec<Item> {
    let escaped = text.replace(",,", "\0");
    let item = |part: &str| {
        let part = part.replace('\0', ",");
        match part.split_once('=') {
            Some((key, value)) => Item { key: key.to_string(), value: Some(value.to_string()) },
            None => Item { key: part, value: None },
        }
    };
    escaped.split(',').filter(|part| !part.is_empty()).map(item).collect()
}

/// Whether a value is QEMU's `on` or `off`.
pub(super) fn switch(option: &str, item: &Item) -> Result<bool, OptionFault> {
    match item.value.as_deref() {
        None | Some("on" | "yes" | "true" | "y") => Ok(true),
        Some("off" | "no" | "false" | "n") => Ok(false),
        Some(other) => {
            let place = format!("{option} {}", item.key);
            Err((place, Fault::new(format!("`{other}`"), "on or off")))
        }
    }
}

/// The whole number that `item` holds.
pub(super) fn number(option: &str, item: &Item) -> Result<u32, OptionFault> {
    let text = item.text();
    text.parse().map_err(|_| {
        (format!("{option} {}", item.key), Fault::new(format!("`{text}`"), "a whole number"))
    })
}

/// A size as `512M` in KiB; a bare number counts in units of `bare_shift` bits (20 for MiB).
pub(super) fn size_kib(place: &str, text: &str, bare_shift: u32) -> Result<u64, OptionFault> {
    let fault = || {
        let expected = "a size of whole KiB such as 512M or 2G";
        (place.to_string(), Fault::new(format!("`{text}`"), expected))
    };
    let (digits, shift) = match text.char_indices().last() {
        Some((at, unit)) if unit.is_ascii_alphabetic() => {
            let shift = match unit.to_ascii_uppercase() {
                'B' => 0,
                'K' => 10,
                'M' => 20,
                'G' => 30,
                'T' => 40,
                _ => return Err(fault()),
            };
            (text.get(..at).ok_or_else(fault)?, shift)
        }
        _ => (text, bare_shift),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    bytes.filter(|b| b % 1024 == 0).map(|b| b / 1024).ok_or_else(fault)
}
