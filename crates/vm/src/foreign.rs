//! Programs that are not of the guest's packages: schedulers, and what a user names.
//!
//! A program brings its own loader and libraries, in a directory of its own: it was not built for the guest's Debian, and nothing else in
//! the guest is to change. The loader goes by the program's name, since that is how the kernel calls the task.

use crate::initramfs::Initramfs;
use crate::packages::host_arch;
use crate::{Arch, VmError, elf};
use std::path::{Path, PathBuf};

/// The tree that has the libraries of the program `file`, for guests of `arch` whose unpacked packages are `guest`: this computer, where it
/// is of that architecture, else the guest's packages.
///
/// # Errors
/// A file that is no program for `arch`, and libraries that are not there.
pub(crate) fn root_of(file: &Path, arch: Arch, guest: &Path) -> Result<PathBuf, VmError> {
    let machine = elf::machine_of(file);
    if machine != Some(arch.elf_machine()) {
        let found = if machine.is_some() { "another architecture" } else { "no program" };
        let expected = format!("a program for {arch}");
        return Err(VmError::Found { path: file.to_owned(), found: found.into(), expected });
    }
    let own = host_arch().is_ok_and(|host| host == arch);
    let root = if own { PathBuf::from("/") } else { guest.to_owned() };
    elf::foreign(&root, file)?;
    Ok(root)
}

/// Puts the program `file`, whose libraries are in the tree `root`, into a guest below `dir`, to be started as `name`; gives the command.
///
/// # Errors
/// What cannot be read.
pub(crate) fn add(
    guest: &mut Initramfs,
    dir: &str,
    root: &Path,
    file: &Path,
    name: &str,
) -> Result<Vec<String>, VmError> {
    let needed = elf::foreign(root, file)?;
    let start = format!("{dir}/bin/{name}");
    let Some(loader) = &needed.loader else {
        guest.file(&start, 0o755, read(file)?);
        return Ok(vec![format!("/{start}")]);
    };
    guest.file(&start, 0o755, read(&root.join(loader))?);
    let own = format!("{dir}/program");
    guest.file(&own, 0o755, read(file)?);
    let libraries = format!("{dir}/lib");
    for (name, path) in &needed.libraries {
        guest.file(&format!("{libraries}/{}", name.display()), 0o755, read(&root.join(path))?);
    }
    let words = [start, "--library-path".to_owned(), libraries, own];
    let absolute = |word: String| if word.starts_with('-') { word } else { format!("/{word}") };
    Ok(words.map(absolute).to_vec())
}

/// What the file `path` holds.
///
/// # Errors
/// One that cannot be read.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, VmError> {
    std::fs::read(path).map_err(VmError::io(path))
}

/// The last part of a path.
pub(crate) fn name_of(file: &Path) -> String {
    file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// `words` as the shell takes them.
pub(crate) fn quoted<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    words.into_iter().map(|word| quoted_word(word.as_ref())).collect::<Vec<_>>().join(" ")
}

fn quoted_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-=:,".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_the_shell() {
        assert_eq!(quoted(["a", "--slice-us=500"]), "a --slice-us=500");
        assert_eq!(quoted(["a b; $(c)"]), "'a b; $(c)'");
        assert_eq!(quoted(["it's"]), "'it'\\''s'");
    }
}
