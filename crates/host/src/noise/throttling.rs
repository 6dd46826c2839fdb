//! Times that heat held down clocks: `/sys/devices/system/cpu/cpu*/thermal_throttle`.

use super::sources::Counters;
use crate::facts::files;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const DIR: &str = "sys/devices/system/cpu";

/// One counter of each core and one of each package: every thread of a core and every CPU of a package counts the same event.
pub(super) fn find(root: &Path) -> Counters<PathBuf> {
    let mut seen = BTreeSet::new();
    let mut here = Vec::new();
    for cpu in files::numbered(root, DIR, "cpu") {
        let topology = |name: &str| files::text(root, &format!("{DIR}/cpu{cpu}/topology/{name}"));
        // Without a topology, each CPU stands for itself.
        let itself = || format!("cpu{cpu}");
        let core = topology("thread_siblings_list").unwrap_or_else(itself);
        let package = topology("physical_package_id").unwrap_or_else(itself);
        for (kind, of) in [("core", core), ("package", package)] {
            let path = format!("{DIR}/cpu{cpu}/thermal_throttle/{kind}_throttle_count");
            if files::number(root, &path).is_some() && seen.insert((kind, of)) {
                here.push(root.join(path));
            }
        }
    }
    Counters { here, why_not: "throttling: no thermal_throttle files".to_string() }
}
