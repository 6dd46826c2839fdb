//! Captures of real kernels: firmware, and per step what the kernel made of it.

use flate2::read::GzDecoder;
use kernel::{Domains, Kernel, Version};
use machine::devicetree;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/oracle/dev");

/// One step of a capture: what the kernel shows, and what is predicted for it.
pub struct Step {
    /// Capture and step, for messages.
    pub what: String,
    /// Whether the step is the boot, whose log is whole.
    pub is_boot: bool,
    pub version: Version,
    pub predicted: Domains,
    /// Files of the step by path below it.
    pub files: BTreeMap<String, String>,
}

/// Every step of every powerpc capture; `None` (and a line saying so) where there are no captures at all.
pub fn powerpc_steps() -> Option<Vec<Step>> {
    let Ok(dir) = fs::read_dir(CAPTURES) else {
        println!("skipped: no ../shared");
        return None;
    };
    let mut names: Vec<String> =
        dir.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|n| n.starts_with("ppc64-") && n.ends_with(".tar.gz"));
    names.sort();
    assert!(!names.is_empty(), "no powerpc capture in {CAPTURES}");
    Some(names.iter().flat_map(|name| steps(name)).collect())
}

/// Whether a comparison needs the file at `path` of a step.
fn is_needed(path: &str) -> bool {
    matches!(path, "attach.log" | "uname" | "sys/devices/system/cpu/online")
        || path.starts_with("debug/domains/")
}

fn steps(archive: &str) -> Vec<Step> {
    let file = File::open(Path::new(CAPTURES).join(archive)).unwrap();
    let mut fdt = Vec::new();
    let mut by_step: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for entry in tar::Archive::new(GzDecoder::new(file)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_str().unwrap().to_string();
        let mut parts = path.splitn(3, '/').skip(1);
        let (Some(step), Some(path)) = (parts.next(), parts.next()) else { continue };
        if (step, path) == ("fw", "fdt") {
            entry.read_to_end(&mut fdt).unwrap();
        } else if is_needed(path) && entry.header().entry_type().is_file() {
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            by_step.entry(step.to_string()).or_default().insert(path.to_string(), text);
        }
    }
    let machine = devicetree::read(&fdt, archive).unwrap();
    let step = |(step, files): (String, BTreeMap<String, String>)| {
        let release = files["uname"].split_whitespace().nth(2).unwrap();
        let version: Version = release.parse().unwrap();
        let online = files["sys/devices/system/cpu/online"].parse().unwrap();
        let machine = machine.with_online(online).unwrap();
        let predicted = kernel::build(&machine, &Kernel::new(version)).unwrap();
        let what = format!("{archive} {step}");
        Step { what, is_boot: step == "boot", version, predicted, files }
    };
    by_step.into_iter().map(step).collect()
}
