//! What an error says, part by part, for those who handle errors and do not print them.

use crate::error::MachineError;

/// The parts of an error's line. One that the error does not have is missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wrong {
    /// The file, or what stands for one.
    pub file: Option<String>,
    /// The place in it.
    pub field: Option<String>,
    /// What was found there.
    pub found: Option<String>,
    /// What would do.
    pub expected: Option<String>,
}

impl Wrong {
    /// A place without a file.
    pub fn at(field: &str, found: &str, expected: &str) -> Wrong {
        Wrong {
            file: None,
            field: Some(field.to_string()),
            found: Some(found.to_string()),
            expected: Some(expected.to_string()),
        }
    }

    /// A file as a whole, or a place in it, of which no more is known.
    pub fn place(file: &str, field: Option<&str>) -> Wrong {
        Wrong { file: Some(file.to_string()), field: field.map(String::from), ..Wrong::default() }
    }

    /// The same said of `place` in `file`; the place may be empty. A file that the inner error names becomes part of its field.
    pub fn within(self, file: &str, place: &str) -> Wrong {
        let outer = Some(place.to_string()).filter(|p| !p.is_empty());
        let parts: Vec<String> = [outer, self.file, self.field].into_iter().flatten().collect();
        let field = Some(parts.join(": ")).filter(|f| !f.is_empty());
        Wrong { file: Some(file.to_string()), field, ..self }
    }
}

impl MachineError {
    /// Its parts.
    pub fn wrong(&self) -> Wrong {
        let (file, field, found, expected) = match self {
            MachineError::File { file, found, expected } => (Some(file), None, found, expected),
            MachineError::Blob { file, offset, found, expected } => {
                (Some(file), Some(format!("offset {offset:#x}")), found, expected)
            }
            MachineError::Node { file, node, found, expected } => {
                (Some(file), Some(node.clone()), found, expected)
            }
            MachineError::Property { file, node, property, found, expected } => {
                (Some(file), Some(format!("{node} {property}")), found, expected)
            }
            MachineError::Sysfs { root, path, found, expected } => {
                (Some(root), Some(path.clone()), found, expected)
            }
            MachineError::Field { file, field, found, expected } => {
                (Some(file), Some(field.clone()), found, expected)
            }
            MachineError::Spec { spec, found, expected } => {
                (None, Some(format!("machine `{spec}`")), found, expected)
            }
        };
        Wrong {
            file: file.cloned(),
            field,
            found: Some(found.clone()),
            expected: Some(expected.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_gathers_what_is_inside_it() {
        let inner = crate::resolve("no-such-machine").unwrap_err().wrong();
        assert_eq!(inner.file, None);
        let outer = inner.within("x.toml", "machine");
        assert_eq!(outer.file.as_deref(), Some("x.toml"));
        assert_eq!(outer.field.as_deref(), Some("machine: machine `no-such-machine`"));
        assert_eq!(outer.found.as_deref(), Some("neither a name of the catalog nor a path"));
        assert!(outer.expected.is_some());
        assert_eq!(Wrong::default().within("x", ""), Wrong::place("x", None));
    }
}
