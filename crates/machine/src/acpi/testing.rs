//! Hand-made ACPI tables.

use std::fs;
use tempfile::TempDir;

/// A table of `signature` and `revision` with `body` after the header, its length and checksum right.
pub(crate) fn sealed(signature: &str, revision: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = signature.as_bytes().to_vec();
    bytes.extend((36 + body.len() as u32).to_le_bytes());
    bytes.extend([revision, 0]);
    bytes.extend(b"MAKER MACHINE 12345678AAAA"[..26].iter());
    bytes.extend(body);
    seal(&mut bytes);
    bytes
}

/// Makes the checksum right.
pub(crate) fn seal(bytes: &mut [u8]) {
    let sum = bytes.iter().fold(0u8, |sum, &b| sum.wrapping_add(b));
    bytes[9] = bytes[9].wrapping_sub(sum);
}

/// Little-endian bytes of 32-bit words.
pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn entry(kind: u8, body: Vec<u8>) -> Vec<u8> {
    [vec![kind, body.len() as u8 + 2], body].concat()
}

/// A GIC CPU interface; `flags` bit 0 is enabled.
pub(crate) fn gicc(uid: u32, mpidr: u64, flags: u32) -> Vec<u8> {
    let mut body = vec![0; 78];
    body[6..10].copy_from_slice(&uid.to_le_bytes());
    body[10..14].copy_from_slice(&flags.to_le_bytes());
    body[66..74].copy_from_slice(&mpidr.to_le_bytes());
    entry(11, body)
}

/// A local APIC.
pub(crate) fn lapic(uid: u8, id: u8, flags: u32) -> Vec<u8> {
    entry(0, [vec![uid, id], words(&[flags])].concat())
}

/// A local x2APIC.
pub(crate) fn x2apic(uid: u32, id: u32, flags: u32) -> Vec<u8> {
    entry(9, [vec![0, 0], words(&[id, flags, uid])].concat())
}

/// The table of `entries`.
pub(crate) fn madt(entries: &[Vec<u8>]) -> Vec<u8> {
    sealed("APIC", 4, &[vec![0; 8], entries.concat()].concat())
}

/// Enabled GIC CPU interfaces 0 to `count - 1`.
pub(crate) fn giccs(count: u32) -> Vec<u8> {
    madt(&(0..count).map(|i| gicc(i, u64::from(i), 1)).collect::<Vec<_>>())
}

/// A processor node of the PPTT.
pub(crate) fn processor(flags: u32, parent: u32, id: u32, resources: &[u32]) -> Vec<u8> {
    let fields = [flags, parent, id, resources.len() as u32];
    entry(0, [vec![0, 0], words(&fields), words(resources)].concat())
}

/// A cache of the PPTT with valid size, type and line size; `kind` is 0 data, 1 instruction, 2 unified.
pub(crate) fn cache(next: u32, size_bytes: u32, kind: u8) -> Vec<u8> {
    let fields = [0x51, next, size_bytes, 0];
    entry(1, [vec![0, 0], words(&fields), vec![8, kind << 2, 64, 0]].concat())
}

/// Puts structures behind each other, and lets later ones name earlier ones by offset.
#[derive(Default)]
pub(crate) struct Pptt {
    body: Vec<u8>,
}

impl Pptt {
    /// Adds a structure; gives its offset in the table.
    pub(crate) fn add(&mut self, structure: Vec<u8>) -> u32 {
        let offset = 36 + self.body.len() as u32;
        self.body.extend(structure);
        offset
    }

    /// The table, in `revision`.
    pub(crate) fn table(&self, revision: u8) -> Vec<u8> {
        sealed("PPTT", revision, &self.body)
    }
}

/// Affinity of the GIC CPU interface with ACPI processor `uid`.
pub(crate) fn gicc_affinity(domain: u32, uid: u32) -> Vec<u8> {
    entry(3, words(&[domain, uid, 1, 0]))
}

/// Affinity of a local APIC, domain in all four bytes.
pub(crate) fn lapic_affinity(domain: u32, id: u8) -> Vec<u8> {
    let [low, high @ ..] = domain.to_le_bytes();
    entry(0, [vec![low, id], words(&[1]), vec![0], high.to_vec(), words(&[0])].concat())
}

/// Affinity of a local x2APIC.
pub(crate) fn x2apic_affinity(domain: u32, id: u32) -> Vec<u8> {
    entry(2, [vec![0, 0], words(&[domain, id, 1, 0, 0])].concat())
}

/// Affinity of `bytes` of memory; `flags` bit 0 is enabled, bit 1 hot-pluggable.
pub(crate) fn memory_affinity(domain: u32, bytes: u64, flags: u32) -> Vec<u8> {
    let (low, high) = (bytes as u32, (bytes >> 32) as u32);
    let head = [words(&[domain]), vec![0, 0], words(&[0, 0, low, high])].concat();
    entry(1, [head, words(&[0, flags, 0, 0])].concat())
}

/// The table of `entries`.
pub(crate) fn srat(revision: u8, entries: &[Vec<u8>]) -> Vec<u8> {
    sealed("SRAT", revision, &[vec![0; 12], entries.concat()].concat())
}

/// The table of `distances`, row after row.
pub(crate) fn slit(localities: u64, distances: &[u8]) -> Vec<u8> {
    sealed("SLIT", 1, &[localities.to_le_bytes().to_vec(), distances.to_vec()].concat())
}

/// A directory with these tables, by signature.
pub(crate) fn directory(tables: &[(&str, Vec<u8>)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in tables {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    dir
}
