//! An experiment's variants by a kernel tree's own scheduler, in place of the model's.
//!
//! What a study changes is a mechanism of the model. In a tree it is one of three things. A mechanism of the topology stays what
//! it is, since schedscape is the architecture; it gets the value that it has in the variant's own release, for that of the tree may
//! be newer. A rule of the scheduler is a patch of `patches/`, or a feature that such a patch adds. All else of a release, such as
//! EEVDF, is the tree's own.

use crate::{DefinitionError, ExperimentFile, SourceEntry};
use kernel::{Kernel, MECHANISMS, MechanismId, Version};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::file::{Patches, VariantEntry};

/// A patch of `patches/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShippedPatch {
    release: Version,
    name: &'static str,
    /// The patch.
    pub text: &'static str,
}

impl ShippedPatch {
    /// Its file below a directory.
    pub fn file(&self, dir: &Path) -> PathBuf {
        dir.join(self.release.to_string()).join(self.name)
    }
}

macro_rules! patch {
    ($major:literal, $minor:literal, $name:literal) => {
        ShippedPatch {
            release: Version::new($major, $minor),
            name: $name,
            text: include_str!(concat!("../../../patches/", $major, ".", $minor, "/", $name)),
        }
    };
}

const IDLER_LLC: &str = "idler-llc.patch";
const CLUSTER_SCAN_RFC: &str = "rfc-select-idle-cluster.patch";
const NO_CLUSTER_SCAN: &str = "no-cluster-wakeup.patch";

/// All patches for which a study's experiment has a mechanism.
pub const PATCHES: [ShippedPatch; 5] = [
    patch!(5, 10, "idler-llc.patch"),
    patch!(5, 10, "rfc-select-idle-cluster.patch"),
    patch!(6, 12, "idler-llc.patch"),
    patch!(6, 12, "no-cluster-wakeup.patch"),
    patch!(6, 12, "rfc-select-idle-cluster.patch"),
];

impl ExperimentFile {
    /// Whether any variant switches what is not KVM's, or leaves all to its release: what a tree's scheduler has a part in.
    pub fn is_of_the_scheduler(&self) -> bool {
        let kvm = [MechanismId::L2PrefetchEngine, MechanismId::L3PrefetchEngine];
        let names = self.variants.iter().flat_map(|v| v.mechanisms.keys());
        !names.filter_map(|name| MechanismId::by_name(name)).any(|id| kvm.contains(&id))
    }

    /// The same experiment where the code of `release` runs in place of the model of the first variant's release, with patches
    /// below `patches` ([`ShippedPatch::file`]). Variants of another release than the first one run the code of theirs.
    ///
    /// # Errors
    /// A mechanism that no patch for `release` brings.
    pub fn by_source(&self, release: Version, patches: &Path) -> Result<Self, DefinitionError> {
        let mut file = self.clone();
        let studied = self.variants.first().map_or(release, |v| v.kernel);
        for v in file.variants.iter_mut().filter(|v| v.source.is_none()) {
            let of = if v.kernel == studied { release } else { v.kernel };
            *v = by_code(v, of, patches).map_err(|mechanism| DefinitionError::Field {
                file: self.name.clone(),
                field: format!("variant `{}`: mechanisms", v.name),
                found: format!("`{mechanism}`"),
                expected: format!("one that patches/{of} has a patch for"),
            })?;
        }
        Ok(file)
    }
}

fn by_code(v: &VariantEntry, release: Version, patches: &Path) -> Result<VariantEntry, String> {
    let (own, set) = (Kernel::new(v.kernel), |id: MechanismId| v.mechanisms.get(id.row().name));
    let is_on = |id: MechanismId| set(id).copied().unwrap_or(own.has(id));
    let topology = MECHANISMS.iter().filter(|m| m.id.is_of_topology());
    let mechanisms = topology.map(|m| (m.name.to_string(), is_on(m.id))).collect();
    let mut features = BTreeMap::new();
    let mut names = vec![];
    for name in v.mechanisms.keys() {
        match MechanismId::by_name(name) {
            Some(id) if id.is_of_topology() => {}
            Some(MechanismId::WaIdlerLlc) if is_on(MechanismId::WaIdlerLlc) => {
                names.push(IDLER_LLC);
                features.insert("WA_WAKER".to_string(), is_on(MechanismId::WaWaker));
            }
            Some(MechanismId::WaWaker) => {}
            Some(MechanismId::ClusterScanRfc) if is_on(MechanismId::ClusterScanRfc) => {
                names.push(CLUSTER_SCAN_RFC);
            }
            _ => return Err(name.clone()),
        }
    }
    let has_scan = Kernel::new(release).has(MechanismId::ClusterScan);
    let clusters = is_on(MechanismId::SchedCluster) && !is_on(MechanismId::ClusterScan);
    if clusters && has_scan && !names.contains(&CLUSTER_SCAN_RFC) {
        names.push(NO_CLUSTER_SCAN);
    }
    let file = |name: &&str| {
        let patch = PATCHES.iter().find(|p| p.release == release && p.name == *name);
        patch.map(|p| p.file(patches)).ok_or_else(|| name.to_string())
    };
    let patch = Patches::Series(names.iter().map(file).collect::<Result<_, _>>()?);
    let source = Some(SourceEntry { patch, ..SourceEntry::of(release) });
    Ok(VariantEntry { kernel: release, source, features, mechanisms, ..v.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_source(experiment: &str, release: Version) -> ExperimentFile {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(experiment);
        ExperimentFile::load(&path).unwrap().by_source(release, Path::new("p")).unwrap()
    }

    fn patches(file: &ExperimentFile) -> Vec<Vec<String>> {
        let of = |v: &VariantEntry| {
            let files = v.source.as_ref().unwrap().patch.files();
            files.iter().map(|f| f.display().to_string()).collect()
        };
        file.variants.iter().map(of).collect()
    }

    #[test]
    fn the_idler_llc_is_a_patch_and_a_feature() {
        let file = by_source("power10-idler-llc.toml", Version::new(5, 10));
        let idler = vec!["p/5.10/idler-llc.patch".to_string()];
        assert_eq!(patches(&file), [vec![], vec![], idler.clone(), idler]);
        let waker = file.variants.iter().map(|v| v.features.get("WA_WAKER").copied());
        assert_eq!(waker.collect::<Vec<_>>(), [None, None, Some(false), Some(true)]);
        // 5.10 does not find LLCs of four threads, 5.11 does.
        let groups = file.variants.iter().map(|v| v.mechanisms["l2-thread-groups"]);
        assert_eq!(groups.collect::<Vec<_>>(), [true, false, true, true]);
    }

    #[test]
    fn clusters_are_searched_as_the_variant_says() {
        let of = |release, name: &str| vec![format!("p/{release}/{name}")];
        let file = by_source("kunpeng920-clusters.toml", Version::new(5, 10));
        let scan = of("5.10", CLUSTER_SCAN_RFC);
        assert_eq!(patches(&file), [vec![], vec![], scan, vec![], vec![]]);
        let releases: Vec<_> = file.variants.iter().map(|v| v.kernel.to_string()).collect();
        assert_eq!(releases, ["5.10", "5.10", "5.10", "6.12", "6.12"]);
        let file = by_source("kunpeng920-clusters.toml", Version::new(6, 12));
        let (domain, scan) = (of("6.12", NO_CLUSTER_SCAN), of("6.12", CLUSTER_SCAN_RFC));
        assert_eq!(patches(&file), [vec![], domain, scan, vec![], vec![]]);
    }

    #[test]
    fn small_cores_are_as_in_the_release_of_the_study() {
        let file = by_source("power9-big-core.toml", Version::new(5, 10));
        let small = file.variants.iter().map(|v| v.mechanisms["small-core-smt"]);
        assert_eq!(small.collect::<Vec<_>>(), [false, true, true]);
    }

    #[test]
    fn a_rule_without_a_patch_is_named() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let mut file = ExperimentFile::load(&path.join("power10-idler-llc.toml")).unwrap();
        file.variants[1].mechanisms.insert("wake-wide".to_string(), false);
        let error = file.by_source(Version::new(5, 10), Path::new("p")).unwrap_err().to_string();
        assert!(error.contains("variant `revert`: mechanisms: found `wake-wide`"), "{error}");
        assert!(
            !ExperimentFile::load(&path.join("power8-prefetch-engine.toml"))
                .unwrap()
                .is_of_the_scheduler()
        );
    }
}
