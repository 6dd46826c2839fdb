//! A digest of all that decides what a run gives: the sources of this crate and of those below it, and the lock file. It is the same on
//! every computer, which a digest of the program would not be.

use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 12] = [
    "machine",
    "setting",
    "stats",
    "cache",
    "kernel",
    "workload",
    "trace",
    "sim",
    "definition",
    "results",
    "experiment",
    "sweep",
];

fn main() {
    let crates = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("..");
    let mut files = vec![crates.join("../Cargo.lock")];
    for name in CRATES {
        let dir = crates.join(name);
        println!("cargo::rerun-if-changed={}", dir.join("src").display());
        gather(&dir.join("src"), &mut files);
        // What is data beside the sources: machines and their counted costs.
        for data in ["catalog", "costs"].map(|data| dir.join(data)) {
            if data.is_dir() {
                println!("cargo::rerun-if-changed={}", data.display());
                gather(&data, &mut files);
            }
        }
    }
    println!("cargo::rerun-if-changed={}", files[0].display());
    let mut digest = Sha256::new();
    for file in files {
        let bytes = fs::read(&file).expect("a file that was listed");
        let name = file.strip_prefix(&crates).unwrap_or(&file).to_string_lossy().into_owned();
        for part in [name.as_bytes(), &bytes] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=SCHEDSCAPE_BUILD={digest}");
}

/// Adds all files below `dir`, in the order of their names.
fn gather(dir: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(dir).expect("a directory of sources");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true => gather(&path, files),
            false => files.push(path),
        }
    }
}
