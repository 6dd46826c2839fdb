//! A writer of small flattened device trees for tests.

use std::fs;
use std::path::Path;

/// Checks that `bytes` are the seed `name` for fuzzing in `fuzz/corpus/FOLDER`; writes it where `UPDATE_SEEDS` is set.
pub(crate) fn seed(folder: &str, name: &str, bytes: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(folder);
    let path = folder.join(name);
    if std::env::var_os("UPDATE_SEEDS").is_some() {
        fs::create_dir_all(&folder).unwrap();
        fs::write(&path, bytes).unwrap();
    }
    assert_eq!(fs::read(&path).ok().as_deref(), Some(bytes), "{}", path.display());
}

/// A node under construction.
pub(crate) struct Dt {
    name: String,
    properties: Vec<(String, Vec<u8>)>,
    children: Vec<Dt>,
}

impl Dt {
    pub(crate) fn node(name: &str) -> Dt {
        Dt { name: name.to_string(), properties: Vec::new(), children: Vec::new() }
    }

    pub(crate) fn bytes(mut self, name: &str, value: &[u8]) -> Dt {
        self.properties.retain(|(n, _)| n != name);
        self.properties.push((name.to_string(), value.to_vec()));
        self
    }

    pub(crate) fn cells(self, name: &str, value: &[u32]) -> Dt {
        let bytes: Vec<u8> = value.iter().flat_map(|v| v.to_be_bytes()).collect();
        self.bytes(name, &bytes)
    }

    pub(crate) fn text(self, name: &str, value: &str) -> Dt {
        self.bytes(name, format!("{value}\0").as_bytes())
    }

    pub(crate) fn child(mut self, child: Dt) -> Dt {
        self.children.push(child);
        self
    }

    /// The tree below this node as a version 17 blob.
    pub(crate) fn blob(&self) -> Vec<u8> {
        let (mut structure, mut strings) = (Vec::new(), Vec::new());
        self.write(&mut structure, &mut strings);
        structure.extend(9u32.to_be_bytes());
        let start = 40 + 16;
        let strings_start = start + structure.len();
        let total = strings_start + strings.len();
        let header = [
            0xd00d_feed,
            total,
            start,
            strings_start,
            40,
            17,
            16,
            0,
            strings.len(),
            structure.len(),
        ];
        let mut blob: Vec<u8> = header.iter().flat_map(|&v| (v as u32).to_be_bytes()).collect();
        blob.extend([0; 16]);
        blob.extend(structure);
        blob.extend(strings);
        blob
    }

    /// The tree below this node as files of a directory: path and bytes.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = self.properties.clone();
        for child in &self.children {
            let below = child.files().into_iter();
            files.extend(below.map(|(path, bytes)| (format!("{}/{path}", child.name), bytes)));
        }
        files
    }

    fn write(&self, structure: &mut Vec<u8>, strings: &mut Vec<u8>) {
        let pad = |v: &mut Vec<u8>| v.resize(v.len().next_multiple_of(4), 0);
        structure.extend(1u32.to_be_bytes());
        structure.extend(self.name.as_bytes());
        structure.push(0);
        pad(structure);
        for (name, value) in &self.properties {
            structure.extend(3u32.to_be_bytes());
            structure.extend((value.len() as u32).to_be_bytes());
            structure.extend((strings.len() as u32).to_be_bytes());
            structure.extend(value);
            pad(structure);
            strings.extend(name.as_bytes());
            strings.push(0);
        }
        for child in &self.children {
            child.write(structure, strings);
        }
        structure.extend(2u32.to_be_bytes());
    }
}

/// A POWER core: CPU node `unit` with threads `ids`, 32 KiB L1 caches and chip 0.
pub(crate) fn core(ids: &[u32]) -> Dt {
    Dt::node(&format!("PowerPC,POWER9@{:x}", ids[0]))
        .text("device_type", "cpu")
        .cells("ibm,ppc-interrupt-server#s", ids)
        .cells("d-cache-size", &[0x8000])
        .cells("i-cache-size", &[0x8000])
        .cells("d-cache-line-size", &[128])
        .cells("i-cache-line-size", &[128])
        .cells("ibm,chip-id", &[0])
}

/// A POWER machine of `cores`.
pub(crate) fn machine(cores: Vec<Dt>) -> Dt {
    let cpus = Dt::node("cpus").cells("#address-cells", &[1]).cells("#size-cells", &[0]);
    Dt::node("")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .child(cores.into_iter().fold(cpus, Dt::child))
}
