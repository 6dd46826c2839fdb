//! Device-tree directories, as `/proc/device-tree` shows them: a file holds a property, a folder is a node.

use super::fdt::RawNode;
use super::node::READ;
use crate::error::MachineError;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Bytes that all properties together may have; the largest trees of servers have a few MiB.
const MAX_BYTES: usize = 64 << 20;
/// Files and folders that a tree may have.
const MAX_ENTRIES: usize = 1 << 20;
/// Nodes above one another.
const MAX_DEPTH: usize = 64;

/// A node before its place in the tree's order is known.
#[derive(Default)]
struct Folder {
    properties: Vec<(String, Vec<u8>)>,
    folders: BTreeMap<String, usize>,
}

/// Nodes of the tree whose properties are `files`: path below the root, with `/` between names, and bytes; `name`
/// names the tree in errors. The root is the first node, and a parent comes before its children; siblings are in
/// the order of name and unit address, as a directory keeps no other.
pub(super) fn nodes(
    files: impl IntoIterator<Item = (String, Vec<u8>)>,
    name: &str,
) -> Result<Vec<RawNode<'static>>, MachineError> {
    let wrong = |path: &str, expected: String| MachineError::File {
        file: name.to_string(),
        found: format!("property `{path}`"),
        expected,
    };
    let mut folders = vec![Folder::default()];
    let (mut bytes, mut entries) = (0usize, 0usize);
    for (path, value) in files {
        let mut parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
        let Some(property) = parts.pop().filter(|p| *p != ".." && !parts.contains(&"..")) else {
            return Err(wrong(&path, "a path below the root".to_string()));
        };
        if parts.len() > MAX_DEPTH {
            return Err(wrong(&path, format!("at most {MAX_DEPTH} nodes above one another")));
        }
        let folder = folder_of(&mut folders, &parts);
        bytes = bytes.saturating_add(value.len());
        entries += 1;
        if bytes > MAX_BYTES || entries + folders.len() > MAX_ENTRIES {
            let expected =
                format!("at most {MAX_BYTES} bytes and {MAX_ENTRIES} properties and nodes");
            return Err(wrong(&path, expected));
        }
        folders[folder].properties.push((property.to_string(), value));
    }
    for folder in &mut folders {
        folder.properties.sort();
        let twice = folder.properties.windows(2).find(|pair| pair[0].0 == pair[1].0);
        if let Some(pair) = twice {
            return Err(wrong(&pair[0].0, "each property of a node once".to_string()));
        }
    }
    Ok(in_order(folders))
}

/// The folder at `parts`, made where it is not there yet.
fn folder_of(folders: &mut Vec<Folder>, parts: &[&str]) -> usize {
    let mut at = 0;
    for part in parts {
        at = match folders[at].folders.get(*part) {
            Some(&next) => next,
            None => {
                let next = folders.len();
                folders[at].folders.insert((*part).to_string(), next);
                folders.push(Folder::default());
                next
            }
        };
    }
    at
}

/// Nodes with parents first and siblings by name and unit address.
fn in_order(mut folders: Vec<Folder>) -> Vec<RawNode<'static>> {
    let mut nodes = Vec::with_capacity(folders.len());
    let mut open = vec![(String::new(), None, 0)];
    while let Some((name, parent, index)) = open.pop() {
        let Folder { properties, folders: children } = std::mem::take(&mut folders[index]);
        let mut children: Vec<(String, usize)> = children
            .iter()
            .map(|(name, &child)| (without_suffix(name, &properties, &children), child))
            .collect();
        children.sort_by(|(a, _), (b, _)| order(b).cmp(&order(a)));
        let at = nodes.len();
        open.extend(children.into_iter().map(|(name, child)| (name, Some(at), child)));
        let properties =
            properties.into_iter().map(|(n, v)| (Cow::Owned(n), Cow::Owned(v))).collect();
        nodes.push(RawNode { name: Cow::Owned(name), parent, properties });
    }
    nodes
}

/// Name and unit address, the latter so that texts of hexadecimal digits compare as their numbers.
fn order(name: &str) -> (&str, usize, &str) {
    let (base, address) = name.split_once('@').unwrap_or((name, ""));
    (base, address.len(), address)
}

/// A node's own name: Linux adds `#1`, `#2` … to that of a folder whose name a property or node has already taken.
fn without_suffix(
    name: &str,
    properties: &[(String, Vec<u8>)],
    siblings: &BTreeMap<String, usize>,
) -> String {
    let stem =
        name.rsplit_once('#').filter(|(_, n)| n.parse::<u32>().is_ok()).map(|(stem, _)| stem);
    let taken = |stem: &&str| {
        siblings.contains_key(*stem) || properties.iter().any(|(property, _)| property == stem)
    };
    stem.filter(taken).unwrap_or(name).to_string()
}

/// Files below a directory, and those that the system would not let us read.
pub(super) struct Walked {
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) unreadable: usize,
}

/// All plain files below `root`, without the bytes of those that no reader asks for; symbolic links are not followed.
pub(super) fn walk(root: &Path) -> Result<Walked, MachineError> {
    let mut walked = Walked { files: Vec::new(), unreadable: 0 };
    let mut open = vec![(root.to_path_buf(), String::new(), 0)];
    let (mut bytes, mut entries) = (0, 0);
    while let Some((folder, prefix, depth)) = open.pop() {
        let unreadable = |e: std::io::Error| MachineError::unreadable(&folder, &e);
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let kind = entry.file_type().map_err(unreadable)?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            entries += 1;
            if kind.is_dir() && depth < MAX_DEPTH {
                open.push((entry.path(), format!("{name}/"), depth + 1));
            } else if kind.is_file()
                && !READ.contains(&entry.file_name().to_string_lossy().as_ref())
            {
                // Its name still counts: a folder of the same name has another in the tree.
                walked.files.push((name, Vec::new()));
            } else if kind.is_file() {
                match read_at_most(&entry.path(), MAX_BYTES - bytes) {
                    Ok(value) => {
                        bytes += value.len();
                        walked.files.push((name, value));
                    }
                    // Linux keeps some properties, such as `security-password`, for root.
                    Err(e) if e.kind() == ErrorKind::PermissionDenied => walked.unreadable += 1,
                    Err(e) => return Err(MachineError::unreadable(&entry.path(), &e)),
                }
            }
            if entries > MAX_ENTRIES || bytes >= MAX_BYTES || kind.is_dir() && depth >= MAX_DEPTH {
                return Err(MachineError::File {
                    file: folder.display().to_string(),
                    found: format!("{entries} files and folders of {bytes} bytes, {depth} deep"),
                    expected: format!(
                        "a device tree: at most {MAX_ENTRIES}, less than {MAX_BYTES} bytes and {MAX_DEPTH} deep"
                    ),
                });
            }
        }
    }
    Ok(walked)
}

fn read_at_most(path: &Path, bytes: usize) -> std::io::Result<Vec<u8>> {
    let mut value = Vec::new();
    fs::File::open(path)?.take(bytes as u64).read_to_end(&mut value)?;
    Ok(value)
}

#[cfg(test)]
mod tests;
