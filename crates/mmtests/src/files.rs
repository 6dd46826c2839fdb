//! Log files: their names without `.gz` and `.xz`, and their text.

use crate::error::MmtestsError;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest size of a log; no benchmark logs more.
const LONGEST: u64 = 256 << 20;

/// The logs of one benchmark in one iteration.
pub(crate) struct Logs {
    /// Files by their names without `.gz` and `.xz`.
    files: BTreeMap<String, PathBuf>,
}

impl Logs {
    /// The regular files in `dir`. If a log exists both compressed and not, the compressed one counts, gzip before xz, as in
    /// MMTests.
    pub(crate) fn of(dir: &Path) -> Result<Logs, MmtestsError> {
        let mut files: BTreeMap<String, PathBuf> = BTreeMap::new();
        for name in entries(dir, |kind| kind.is_file())? {
            let path = dir.join(&name);
            let known = files.entry(stem(&name).to_string()).or_insert_with(|| path.clone());
            if preference(&path) < preference(known) {
                *known = path;
            }
        }
        Ok(Logs { files })
    }

    /// Names without `.gz` and `.xz`, sorted.
    pub(crate) fn stems(&self) -> Vec<String> {
        self.files.keys().cloned().collect()
    }

    /// Path and text of the log called `stem`.
    pub(crate) fn read(&self, stem: &str) -> Result<(String, String), MmtestsError> {
        let missing = || unreadable(Path::new(stem), &"no such log");
        let path = self.files.get(stem).ok_or_else(missing)?;
        let bytes = fs::read(path).map_err(|e| unreadable(path, &e))?;
        let name = path.display().to_string();
        let text = text(&name, &bytes)?.into_owned();
        Ok((name, text))
    }
}

fn preference(path: &Path) -> usize {
    let order = ["gz", "xz"];
    let extension = path.extension().and_then(|e| e.to_str());
    order.iter().position(|&e| Some(e) == extension).unwrap_or(order.len())
}

/// `name` without `.gz` or `.xz`.
pub(crate) fn stem(name: &str) -> &str {
    let packed = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".xz"));
    packed.unwrap_or(name)
}

/// The text in `bytes`, decompressed according to the file's name.
pub(crate) fn text<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, MmtestsError> {
    let unpacked: Cow<[u8]> = if name.ends_with(".gz") {
        unpack(name, "gzip", MultiGzDecoder::new(bytes))?.into()
    } else if name.ends_with(".xz") {
        unpack(name, "xz", XzReader::new(bytes, true))?.into()
    } else {
        bytes.into()
    };
    let refused = |valid: &[u8]| MmtestsError::Line {
        file: name.to_string(),
        line: 1 + valid.iter().filter(|&&b| b == b'\n').count(),
        found: "bytes that are no UTF-8".to_string(),
        expected: "text".to_string(),
    };
    match unpacked {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes)
            .map(Cow::Borrowed)
            .map_err(|e| refused(bytes.get(..e.valid_up_to()).unwrap_or(bytes))),
        Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|e| {
            let valid = e.utf8_error().valid_up_to();
            refused(e.as_bytes().get(..valid).unwrap_or(e.as_bytes()))
        }),
    }
}

fn unpack(name: &str, form: &str, packed: impl Read) -> Result<Vec<u8>, MmtestsError> {
    let refused = |found: String| MmtestsError::File {
        file: name.to_string(),
        found,
        expected: format!("a log packed with {form}"),
    };
    let mut out = Vec::new();
    let taken = packed.take(LONGEST + 1).read_to_end(&mut out);
    taken.map_err(|e| refused(e.to_string()))?;
    if out.len() as u64 > LONGEST {
        return Err(refused(format!("more than {} MiB", LONGEST >> 20)));
    }
    Ok(out)
}

/// Names of the directories in `dir`, sorted.
pub(crate) fn directories(dir: &Path) -> Result<Vec<String>, MmtestsError> {
    entries(dir, |kind| kind.is_dir())
}

/// Names of the wanted kind in `dir`, sorted. MMTests writes no names that are not UTF-8.
fn entries(
    dir: &Path,
    wanted: impl Fn(&fs::Metadata) -> bool,
) -> Result<Vec<String>, MmtestsError> {
    let refused = |e: std::io::Error| MmtestsError::File {
        file: dir.display().to_string(),
        found: e.to_string(),
        expected: "a readable directory".to_string(),
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        if let Ok(name) = entry.file_name().into_string()
            && fs::metadata(entry.path()).is_ok_and(|m| wanted(&m))
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn unreadable(path: &Path, found: &dyn std::fmt::Display) -> MmtestsError {
    MmtestsError::File {
        file: path.display().to_string(),
        found: found.to_string(),
        expected: "a readable log".to_string(),
    }
}
