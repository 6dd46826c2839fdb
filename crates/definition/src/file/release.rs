//! What variants with a source or a scheduler have that others have not, and the release of each.

use super::{ExperimentFile, HostEntry, NO_RELEASE, SourceEntry};
use crate::{DefinitionError, folder_of};
use kernel::{MechanismId, Version};
use std::path::Path;

/// The release of the running kernel.
const RUNNING: &str = "/proc/sys/kernel/osrelease";

/// The kernel that runs here, or what was found in its place.
fn running() -> Result<Version, String> {
    let text = std::fs::read_to_string(RUNNING).map_err(|e| format!("{RUNNING}: {e}"))?;
    text.trim().parse().map_err(|e: kernel::KernelError| e.to_string())
}

impl ExperimentFile {
    /// Gives the release of its source to each variant that names none.
    pub(super) fn release_all(&mut self, file: &str) -> Result<(), DefinitionError> {
        for v in &mut self.variants {
            let refuse = |field: &str, found: String, expected: &str| DefinitionError::Field {
                file: file.to_string(),
                field: format!("variant `{}`: {field}", v.name),
                found,
                expected: expected.to_string(),
            };
            if let Some((field, found, expected)) = v.source.as_ref().and_then(SourceEntry::wrong) {
                return Err(refuse(field, found, expected));
            }
            if let Some((field, found, expected)) =
                v.scheduler.as_ref().and_then(|scheduler| scheduler.wrong(file))
            {
                return Err(refuse(field, found, expected));
            }
            if let Some((field, found, expected)) = v.host.as_ref().and_then(HostEntry::wrong) {
                return Err(refuse(&format!("host.{field}"), found, expected));
            }
            let Some(source) = &v.source else {
                if v.kernel == NO_RELEASE && self.machine == machine::HOST {
                    v.kernel = running().map_err(|found| {
                        refuse("kernel", found, "a release that schedscape knows")
                    })?;
                }
                if v.kernel == NO_RELEASE {
                    return Err(refuse("kernel", "none".to_string(), "a release, or a source"));
                }
                continue;
            };
            let rule = v
                .mechanisms
                .keys()
                .find(|name| !MechanismId::by_name(name).is_some_and(MechanismId::is_of_topology));
            if let Some(rule) = rule {
                let expected = "none that is a rule of the scheduler: a tree has its own, and `features` switch them";
                return Err(refuse("mechanisms", format!("`{rule}`"), expected));
            }
            let release = match (source.kernel, source.root(folder_of(Path::new(file)))) {
                (Some(release), _) => release,
                (None, Some(root)) => tree::release(&root)
                    .map_err(|e| refuse("source.tree", e.to_string(), "a kernel tree"))?,
                (None, None) => continue,
            };
            if v.kernel == NO_RELEASE {
                v.kernel = release;
            } else if v.kernel != release {
                let expected = format!("{release}, as its source is");
                return Err(refuse("kernel", v.kernel.to_string(), &expected));
            }
        }
        Ok(())
    }
}
