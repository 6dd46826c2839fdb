//! What variants with a source or a scheduler have that others have not, and the release of each.

use super::{ExperimentFile, NO_RELEASE, SourceEntry, groups};
use crate::{DefinitionError, folder_of};
use kernel::MechanismId;
use std::path::Path;

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
            let Some(source) = &v.source else {
                if v.kernel == NO_RELEASE {
                    return Err(refuse("kernel", "none".to_string(), "a release, or a source"));
                }
                if let Some(path) = v.groups.keys().next() {
                    let expected = "none without a source: the model has no task groups";
                    return Err(refuse("groups", format!("`{path}`"), expected));
                }
                let set = [
                    ("features", v.features.is_empty()),
                    ("debug", v.debug.is_empty()),
                    ("sysctl", v.sysctl.is_empty()),
                ];
                if let Some((set, _)) = set.into_iter().find(|(_, is_empty)| !is_empty) {
                    let expected =
                        "none without a source: what the model can switch are `mechanisms`";
                    return Err(refuse(set, "some".to_string(), expected));
                }
                continue;
            };
            if let Some((at, found, expected)) =
                groups::wrong(&v.groups, |option| source.has(option))
            {
                let field =
                    if at.is_empty() { "groups".to_string() } else { format!("groups.{at}") };
                return Err(refuse(&field, found, expected));
            }
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
