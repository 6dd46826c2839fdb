//! What a capture or this computer recorded of its kernel's domains.

use crate::Failure;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Where kernels show domains: debugfs from 5.13 on, `/proc` before.
const RUNNING: [&str; 2] = ["/sys/kernel/debug/sched/domains", "/proc/sys/kernel/sched_domain"];
/// The same in a capture's step.
const CAPTURED: &str = "debug/domains";

/// The CPU that went offline last for the capture's step at `spec`, by `config.json` beside the step's directory;
/// `None` where `spec` is no such directory.
pub fn last_offline(spec: &str) -> Result<Option<usize>, Failure> {
    let Ok(dir) = fs::canonicalize(spec) else { return Ok(None) };
    let (Some(step), Some(capture)) = (dir.file_name(), dir.parent()) else { return Ok(None) };
    let config = capture.join("config.json");
    if !dir.join("sys/devices/system/cpu").is_dir() || !config.is_file() {
        return Ok(None);
    }
    let text = read(&config)?;
    let last = kernel::recorded::last_offline(&text, &step.to_string_lossy());
    last.map_err(|e| format!("{}: {e}", capture.display()).into())
}

/// Files of the running kernel's domains by path (`cpuN/domainM/FILE`).
pub fn running() -> Result<BTreeMap<String, String>, Failure> {
    let wanted = "expected debugfs that is mounted and that you may read (try as root)";
    for dir in RUNNING {
        match fs::read_dir(dir) {
            Ok(_) => return tree(Path::new(dir)),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(format!("{dir}: found {e}, {wanted}").into()),
        }
    }
    Err(format!("{}: found no such directory, {wanted}", RUNNING[0]).into())
}

/// Files of the domains in the capture's step at `spec`; none where the step shows no domain.
pub fn captured(spec: &str) -> Result<BTreeMap<String, String>, Failure> {
    let dir = Path::new(spec).join(CAPTURED);
    if dir.is_dir() { tree(&dir) } else { Ok(BTreeMap::new()) }
}

/// The capture's log of attached domains, where there is one.
pub fn log(spec: &str) -> Result<Option<String>, Failure> {
    let path = Path::new(spec).join("attach.log");
    if path.is_file() { read(&path).map(Some) } else { Ok(None) }
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|e| format!("{}: found {e}, expected a text file", path.display()).into())
}

/// Files two directories below `dir`: `cpuN/domainM/FILE`.
fn tree(dir: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut files = BTreeMap::new();
    for cpu in directories(dir)? {
        for domain in directories(&dir.join(&cpu))? {
            let below = format!("{cpu}/{domain}");
            for (name, is_dir) in entries(&dir.join(&below))? {
                if !is_dir {
                    let path = format!("{below}/{name}");
                    files.insert(path.clone(), read(&dir.join(path))?);
                }
            }
        }
    }
    Ok(files)
}

fn directories(dir: &Path) -> Result<Vec<String>, Failure> {
    Ok(entries(dir)?.into_iter().filter(|(_, is_dir)| *is_dir).map(|(name, _)| name).collect())
}

/// Names in `dir`, and whether each is a directory.
fn entries(dir: &Path) -> Result<Vec<(String, bool)>, Failure> {
    let unreadable = |e: std::io::Error| -> Failure {
        format!("{}: found {e}, expected a readable directory", dir.display()).into()
    };
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let is_dir = entry.file_type().map_err(unreadable)?.is_dir();
        out.push((entry.file_name().to_string_lossy().into_owned(), is_dir));
    }
    Ok(out)
}
