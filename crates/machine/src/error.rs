//! What can be wrong with a machine's description.

use std::path::Path;

/// A machine description that cannot be read. Every message says file, place, what was found there and
/// what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// A file or directory that cannot be read as a whole.
    #[error("{file}: found {found}, expected {expected}")]
    File {
        /// Path as given.
        file: String,
        /// What is there.
        found: String,
        /// What would do.
        expected: String,
    },
    /// A flattened device tree or an ACPI table whose bytes do not follow the format.
    #[error("{file}: offset {offset:#x}: found {found}, expected {expected}")]
    Blob {
        /// Name of the file that holds the tree.
        file: String,
        /// Offset from the start of the file, in bytes.
        offset: usize,
        /// What is there.
        found: String,
        /// What would do.
        expected: String,
    },
    /// A device-tree node as a whole.
    #[error("{file}: {node}: found {found}, expected {expected}")]
    Node {
        /// Name of the file that holds the tree.
        file: String,
        /// Path of the node.
        node: String,
        /// What is there.
        found: String,
        /// What would do.
        expected: String,
    },
    /// The value of a device-tree property.
    #[error("{file}: {node} {property}: found {found}, expected {expected}")]
    Property {
        /// Name of the file that holds the tree.
        file: String,
        /// Path of the node.
        node: String,
        /// Name of the property.
        property: String,
        /// What is there.
        found: String,
        /// What would do.
        expected: String,
    },
    /// A file or directory of sysfs.
    #[error("{root}: {path}: found {found}, expected {expected}")]
    Sysfs {
        /// Directory that holds `sys`.
        root: String,
        /// Path below it.
        path: String,
        /// What is there.
        found: String,
        /// What would do.
        expected: String,
    },
    /// A field of a text file (catalog, XML) or of a machine written as a string.
    #[error("{file}: {field}: found {found}, expected {expected}")]
    Field {
        /// Name of the file, or which form of string.
        file: String,
        /// The field, or the line where the file stops being readable.
        field: String,
        /// What is there.
        found: String,
        /// What would do.
        expected: String,
    },
    /// A machine asked for by a name or path that leads nowhere, or a host of an unknown architecture.
    #[error("machine `{spec}`: found {found}, expected {expected}")]
    Spec {
        /// The name or path.
        spec: String,
        /// What it leads to.
        found: String,
        /// What would do.
        expected: String,
    },
}

impl MachineError {
    /// A file that the system would not let us read.
    pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> MachineError {
        MachineError::File {
            file: path.display().to_string(),
            found: error.to_string(),
            expected: "a readable file".to_string(),
        }
    }
}

/// A wrong value, before its reader adds file and place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) found: String,
    pub(crate) expected: String,
}

impl Fault {
    pub(crate) fn new(found: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault { found: found.into(), expected: expected.into() }
    }
}
