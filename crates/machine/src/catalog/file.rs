//! Catalog files that are not part of the catalog: a user's own.

use super::{Entry, build, error, parse, topology};
use crate::error::MachineError;
use crate::model::Machine;

/// The machine of the catalog file `text`, which errors call `file`. `machine` picks one of the file's variants; a
/// file with one machine needs none. The file must describe its machine by `[topology]`, as a device tree would lie
/// beside it: [`crate::resolve`] reads both.
///
/// # Errors
/// A file that is not of the form, several variants and none picked, a machine that the file does not hold, and a
/// device tree.
pub fn read(text: &str, file: &str, machine: Option<&str>) -> Result<Machine, MachineError> {
    read_beside(text, file, machine, |tree| {
        Err(error(file, "device_tree", format!("`{tree}`"), "[topology], or a path to the file"))
    })
}

/// As [`read`], with `tree` to read the device tree that lies beside the file under a name.
pub(crate) fn read_beside(
    text: &str,
    file: &str,
    machine: Option<&str>,
    tree: impl FnOnce(&str) -> Result<Vec<u8>, MachineError>,
) -> Result<Machine, MachineError> {
    let entry = pick(parse(text, file)?, machine, file)?;
    let Some(name) = entry.device_tree.clone() else {
        return build(entry, file, &[]);
    };
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
        let found = format!("`{name}`");
        return Err(error(file, "device_tree", found, "the name of a file beside this one"));
    }
    let bytes = tree(&name)?;
    build(entry, file, &[(&name, &bytes)])
}

/// What the file says of its machine `machine`, or of its only one.
fn pick(entry: Entry, machine: Option<&str>, file: &str) -> Result<Entry, MachineError> {
    let known: Vec<&str> = entry.variant.keys().map(String::as_str).collect();
    let name = match (machine, known.as_slice()) {
        (None, []) => return Ok(entry),
        (Some(name), []) if name == entry.name => return Ok(entry),
        (Some(name), []) => {
            let found = format!("`{}`, and `{name}` picked", entry.name);
            return Err(error(file, "name", found, "a file with that machine"));
        }
        (Some(name), _) => name.to_string(),
        (None, [only]) => only.to_string(),
        (None, several) => {
            let found = format!("{} machines and none picked", several.len());
            let expected = format!("one of {}", several.join(", "));
            return Err(error(file, "variant", found, &expected));
        }
    };
    topology::apply(entry, &name, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EPYC: &str = include_str!("../../catalog/epyc-7742.toml");
    const POWER9: &str = include_str!("../../catalog/power9-big-core.toml");
    const ONE: &str = "name = 'one'\ntitle = 'One'\nsource = 's'\n[topology]\narch = 'x86'\npackages = 1\n\
        cores = 2\nthreads = 1\norder = 'threads-apart'\nfirmware = 'acpi'\nmark = 'assumed'\nsource = 's'\n\
        [topology.nodes]\nper = 'package'\ndistances = [[10]]\nmark = 'assumed'\nsource = 's'\n";
    const VARIANT: &str = "[variant.a]\ntitle = 'A'\n";

    fn fail(text: &str, machine: Option<&str>) -> String {
        read(text, "o.toml", machine).unwrap_err().to_string()
    }

    #[test]
    fn picks_a_variant() {
        let picked = read(EPYC, "o.toml", Some("epyc-7742-2s-nps4")).unwrap();
        assert_eq!(picked, crate::catalog::load("epyc-7742-2s-nps4").unwrap());
        let error = fail(EPYC, None);
        assert!(
            error.starts_with(
                "o.toml: variant: found 6 machines and none picked, expected one of epyc-7742-1s-nps1, "
            ),
            "{error}"
        );
        let error = fail(EPYC, Some("rome"));
        assert!(error.starts_with("o.toml: variant: found no `rome`, expected one of "), "{error}");
    }

    #[test]
    fn a_file_with_one_machine_needs_no_pick() {
        assert_eq!(read(ONE, "o.toml", None).unwrap().cpus.len(), 2);
        assert_eq!(read(ONE, "o.toml", Some("one")).unwrap().name, "one");
        assert_eq!(
            fail(ONE, Some("two")),
            "o.toml: name: found `one`, and `two` picked, expected a file with that machine"
        );
        let varied = format!("{ONE}{VARIANT}");
        assert_eq!(read(&varied, "o.toml", None).unwrap().title, "A");
        let error = fail(&varied, Some("one"));
        assert_eq!(error, "o.toml: variant: found no `one`, expected one of a");
    }

    #[test]
    fn device_trees_lie_beside_the_file() {
        assert_eq!(
            fail(POWER9, None),
            "o.toml: device_tree: found `power9-big-core.dtb`, expected [topology], or a path to the file"
        );
        for name in ["../x.dtb", "/x.dtb", "", "..", "a\\\\b"] {
            let text = POWER9.replace("power9-big-core.dtb", name);
            let read = read_beside(&text, "o.toml", None, |_| unreachable!("{name} is not read"));
            let error = read.unwrap_err().to_string();
            assert!(error.ends_with("expected the name of a file beside this one"), "{error}");
        }
    }

    #[test]
    fn malformed_files_are_one_line_each() {
        for (from, to, wanted) in [
            ("cores = 2", "cores = -2", "o.toml: line 7: found invalid value: integer `-2`"),
            ("cores = 2", "", "o.toml: line 4: found missing field `cores`"),
            ("cores = 2", "cores", "o.toml: line 7: found "),
            ("'x86'", "'vax'", "o.toml: line 5: found unknown variant `vax`"),
            ("[[10]]", "[[10, 20]]", "o.toml: "),
            ("'assumed'", "'guessed'", "o.toml: line 11: found unknown variant `guessed`"),
            ("title = 'One'", "title = ' '", "o.toml: title: found no text, expected some"),
        ] {
            let error = fail(&ONE.replacen(from, to, 1), None);
            assert!(error.starts_with(wanted), "{error}");
            assert!(error.contains(", expected ") && !error.contains('\n'), "{error}");
        }
    }

    proptest! {
        #[test]
        fn damaged_files_never_panic(at in 0usize..16000, with in "[0-9\\[\\]\"a-z=.\n]{0,4}", pick in "[a-z0-9-]{0,9}") {
            let at = at % EPYC.len();
            let mut text = EPYC.to_string();
            text.replace_range(at..(at + with.len()).min(EPYC.len()), &with);
            let _ = read(&text, "o.toml", Some(&pick));
            let _ = read(&text, "o.toml", Some("epyc-7742-1s-nps1"));
        }
    }
}
