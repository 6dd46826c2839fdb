//! Files in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A tree of files in memory, seen from one of its directories.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    name: String,
    tree: Arc<Tree>,
    /// The directory that paths are relative to.
    base: String,
}

/// Contents by path from the root, and names by directory; a path that is a name in a directory and has no content is a link or
/// an empty directory.
#[derive(Debug, Default)]
struct Tree {
    files: BTreeMap<String, Vec<u8>>,
    directories: BTreeMap<String, BTreeSet<String>>,
}

impl Memory {
    /// A tree of `files`; errors call it `name`. `None` as content stands for a link or a directory.
    pub(crate) fn new(
        name: &str,
        files: impl IntoIterator<Item = (String, Option<Vec<u8>>)>,
    ) -> Memory {
        let mut tree = Tree::default();
        for (path, content) in files {
            let path = path.trim_matches('/');
            let mut rest = path;
            while let Some((dir, name)) = rest.rsplit_once('/') {
                if !tree.directories.entry(dir.to_string()).or_default().insert(name.to_string()) {
                    break;
                }
                rest = dir;
            }
            if !rest.contains('/') {
                tree.directories.entry(String::new()).or_default().insert(rest.to_string());
            }
            if let Some(content) = content {
                tree.files.insert(path.to_string(), content);
            }
        }
        Memory { name: name.to_string(), tree: Arc::new(tree), base: String::new() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The same tree seen from `dir`, which is relative to where it is seen from now.
    pub(crate) fn at(&self, dir: &str) -> Memory {
        Memory { base: self.path(dir), ..self.clone() }
    }

    /// `path` from the root on, without `.` and `..`; above the root there is nothing.
    fn path(&self, path: &str) -> String {
        let mut parts: Vec<&str> = Vec::new();
        for part in self.base.split('/').chain(path.split('/')) {
            match part {
                "" | "." => (),
                ".." if parts.is_empty() => parts.push(part),
                ".." => drop(parts.pop()),
                name => parts.push(name),
            }
        }
        parts.join("/")
    }

    pub(crate) fn file(&self, path: &str) -> Option<&[u8]> {
        self.tree.files.get(&self.path(path)).map(Vec::as_slice)
    }

    pub(crate) fn is_dir(&self, path: &str) -> bool {
        self.tree.directories.contains_key(&self.path(path))
    }

    pub(crate) fn entries(&self, dir: &str) -> Vec<String> {
        let names = self.tree.directories.get(&self.path(dir));
        names.map_or(Vec::new(), |names| names.iter().cloned().collect())
    }

    /// Directories, seen from the root, that hold `path`, in the order of their names.
    pub(crate) fn holders(&self, path: &str) -> Vec<String> {
        let end = format!("/{path}");
        let whole = self.tree.directories.contains_key(path).then(String::new);
        let below = self.tree.directories.keys().filter_map(|d| d.strip_suffix(&end));
        whole.into_iter().chain(below.map(str::to_string)).collect()
    }

    /// Every file below `dir`, with its path relative to `dir`.
    pub(crate) fn below(&self, dir: &str) -> Vec<(String, Vec<u8>)> {
        let start = format!("{}/", self.path(dir));
        let files = self.tree.files.range(start.clone()..);
        files
            .map_while(|(path, bytes)| Some((path.strip_prefix(&start)?, bytes)))
            .map(|(path, bytes)| (path.to_string(), bytes.clone()))
            .collect()
    }
}
