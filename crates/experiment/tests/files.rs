//! Every experiment that comes with the program can be planned, and its workloads built for their machines.

use definition::{ExperimentFile, Plan};
use experiment::check_groups;
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let entries = std::fs::read_dir(&folder).expect("a folder of experiments");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    paths
}

/// Plans `file` and builds each workload under each of its variants; the number of workloads built.
fn build_all(file: ExperimentFile, path: &str) -> Result<usize, String> {
    let plan = Plan::new(file, path).map_err(|e| e.to_string())?;
    check_groups(&plan).map_err(|e| e.to_string())?;
    let mut built = 0;
    for (w, entry) in plan.file.workloads.iter().enumerate() {
        for &v in &plan.file.variants_of(w) {
            let machine = plan.machine_of(v).map_err(|e| e.to_string())?;
            // This computer has no constants, from which steps could be built.
            if plan.file.machine != "host" {
                plan.workload(entry, &machine).map_err(|e| format!("{}: {e}", entry.name))?;
            }
            built += 1;
        }
    }
    Ok(built)
}

#[test]
fn every_experiment_can_be_planned_and_built() {
    let files = files();
    for name in ["containers.toml", "containers-clusters.toml", "fleet-guest.toml"] {
        assert!(files.iter().any(|path| path.ends_with(name)), "no {name}");
    }
    for path in files {
        let name = path.display().to_string();
        let all = ExperimentFile::load_each(&path).unwrap_or_else(|e| panic!("{e}"));
        for file in all {
            let (machine, workloads) = (file.machine.clone(), file.workloads.len());
            let built = build_all(file, &name).unwrap_or_else(|e| panic!("{name}, {machine}: {e}"));
            assert!(built >= workloads, "{name}: a workload without variants");
        }
    }
}
