//! Temperatures: `/sys/class/hwmon` and `/sys/class/thermal`.

use super::sources::Counters;
use crate::facts::files;
use std::ops::Range;
use std::path::{Path, PathBuf};

const HWMON: &str = "sys/class/hwmon";
const THERMAL: &str = "sys/class/thermal";

/// Drivers and zones that tell a CPU's temperature have such a part in their names.
const OF_CPUS: [&str; 8] =
    ["coretemp", "k10temp", "zenpower", "cpu", "x86_pkg_temp", "soc", "ibmpowernv", "scpi"];

/// Labels of the sensors that stand for a whole package.
const OF_PACKAGES: [&str; 3] = ["Package", "Tctl", "Tdie"];

/// What a sensor may say, in millidegrees Celsius. One that is broken or not connected says 0, less, or far too much.
const PLAUSIBLE_MC: Range<u64> = 1..250_000;

/// The sensors to ask: those of CPUs, or all if none is known to be one.
///
/// Disks and network cards have sensors too, which take milliseconds to answer and say nothing about CPUs. Asking each core
/// would interrupt each core; where a sensor stands for the package, it is asked alone.
pub(super) fn find(root: &Path) -> Counters<PathBuf> {
    let zones = files::names(root, THERMAL, |name| name.starts_with("thermal_zone"));
    let zones = zones.iter().filter_map(|zone| {
        let dir = format!("{THERMAL}/{zone}");
        let kind = files::text(root, &format!("{dir}/type")).unwrap_or_default();
        Some((kind, vec![readable(root, &format!("{dir}/temp"))?]))
    });
    let chips = files::names(root, HWMON, |_| true);
    let chips = chips.iter().map(|chip| {
        let dir = format!("{HWMON}/{chip}");
        (files::text(root, &format!("{dir}/name")).unwrap_or_default(), inputs(root, &dir))
    });
    let (of_cpus, others): (Vec<_>, Vec<_>) = zones.chain(chips).partition(|(name, _)| {
        let name = name.to_lowercase();
        OF_CPUS.iter().any(|part| name.contains(part))
    });
    let asked = if of_cpus.iter().any(|(_, inputs)| !inputs.is_empty()) { of_cpus } else { others };
    Counters {
        here: asked.into_iter().flat_map(|(_, inputs)| inputs).collect(),
        why_not: "temperature: no thermal zone and no hwmon sensor that can be read".to_string(),
    }
}

/// The inputs of a chip, those of packages alone if it has any.
fn inputs(root: &Path, dir: &str) -> Vec<PathBuf> {
    let is_input = |name: &str| name.starts_with("temp") && name.ends_with("_input");
    let names = files::names(root, dir, is_input);
    let of_package = |name: &&String| {
        let label = name.replace("_input", "_label");
        let label = files::text(root, &format!("{dir}/{label}")).unwrap_or_default();
        OF_PACKAGES.iter().any(|start| label.starts_with(start))
    };
    let whole: Vec<&String> = names.iter().filter(of_package).collect();
    let asked = if whole.is_empty() { names.iter().collect() } else { whole };
    asked.iter().filter_map(|name| readable(root, &format!("{dir}/{name}"))).collect()
}

/// The path if it holds a temperature now.
fn readable(root: &Path, path: &str) -> Option<PathBuf> {
    let path = root.join(path);
    temperature_mc(&path).map(|_| path)
}

/// A sensor's temperature, in millidegrees Celsius.
fn temperature_mc(path: &Path) -> Option<u64> {
    files::read(path).ok()?.parse().ok().filter(|t| PLAUSIBLE_MC.contains(t))
}

/// The highest temperature of `sensors`, in millidegrees Celsius.
pub(super) fn highest_mc(sensors: &[PathBuf]) -> Option<u64> {
    sensors.iter().filter_map(|path| temperature_mc(path)).max()
}
