//! The running kernel's configuration.

use super::files::{self, MAX_BYTES};
use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Hexadecimal digits of the digest that are kept.
const DIGITS: usize = 16;

/// Options that change what a scheduler does or what times mean, without `CONFIG_`; `*` at the end stands for any rest.
const CHOSEN: [&str; 23] = [
    "HZ",
    "NO_HZ_IDLE",
    "NO_HZ_FULL",
    "HIGH_RES_TIMERS",
    "PREEMPT*",
    "SCHED_CLASS_EXT",
    "SCHED_CORE",
    "SCHED_SMT",
    "SCHED_MC",
    "SCHED_CLUSTER",
    "SCHED_MC_PRIO",
    "SCHED_AUTOGROUP",
    "SCHED_HRTICK",
    "SCHED_DEBUG",
    "FAIR_GROUP_SCHED",
    "CFS_BANDWIDTH",
    "RT_GROUP_SCHED",
    "CPUSETS",
    "UCLAMP_TASK",
    "NUMA_BALANCING",
    "ENERGY_MODEL",
    "PSI",
    "NR_CPUS",
];

/// The kernel's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Config {
    digest: String,
    /// Values by option without `CONFIG_`: `y`, `m`, a number, or text in quotes.
    options: BTreeMap<String, String>,
}

impl Config {
    /// The configuration of the kernel `release`: the running kernel's own copy if it has one, else the file that its
    /// package installs, which belongs to whatever was installed last under this release. None if no file is readable.
    pub(super) fn read(root: &Path, release: &str) -> Option<Config> {
        let installed = [format!("boot/config-{release}"), format!("lib/modules/{release}/config")];
        let texts = installed.iter().filter_map(|path| files::text(root, path));
        unpacked(root).into_iter().chain(texts).find_map(|text| Config::parse(&text))
    }

    /// None if `text` holds no option at all.
    fn parse(text: &str) -> Option<Config> {
        let options: BTreeMap<String, String> = text.lines().filter_map(option).collect();
        let digest = Sha256::digest(text.trim());
        let digest = digest.iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
        (!options.is_empty()).then_some(Config { digest, options })
    }

    /// The first digits of the SHA-256 of its text without space at the ends.
    pub(super) fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether the option is built in; `name` without `CONFIG_`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.get(name).is_some_and(|value| value == "y")
    }

    /// The options that are set of those in [`CHOSEN`], with `CONFIG_`, in the order of their names.
    pub(super) fn chosen(&self) -> Vec<(String, String)> {
        let is_chosen = |name: &str| {
            CHOSEN.iter().any(|chosen| match chosen.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == *chosen,
            })
        };
        let chosen = self.options.iter().filter(|(name, _)| is_chosen(name));
        chosen.map(|(name, value)| (format!("CONFIG_{name}"), value.clone())).collect()
    }
}

/// The text of `/proc/config.gz`.
fn unpacked(root: &Path) -> Option<String> {
    let packed = files::bytes(&root.join("proc/config.gz")).ok()?;
    let mut text = Vec::new();
    MultiGzDecoder::new(&packed[..]).take(MAX_BYTES).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Name and value of a line `CONFIG_NAME=value`; lines that say what is not set are comments.
fn option(line: &str) -> Option<(String, String)> {
    let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
    Some((name.to_string(), value.trim().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tree::Tree;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    const TEXT: &str = "# Linux\nCONFIG_HZ=250\nCONFIG_HZ_250=y\n# CONFIG_KASAN is not set\n\
                        CONFIG_PREEMPT_DYNAMIC=y\nCONFIG_PROVE_LOCKING=y\nCONFIG_LOCALVERSION=\"-x\"\n";

    #[test]
    fn options_that_matter_are_told_and_others_can_be_asked() {
        let config = Config::parse(TEXT).unwrap();
        let chosen = config.chosen();
        let chosen: Vec<(&str, &str)> = chosen.iter().map(|(n, v)| (&n[..], &v[..])).collect();
        assert_eq!(chosen, [("CONFIG_HZ", "250"), ("CONFIG_PREEMPT_DYNAMIC", "y")]);
        assert!(config.has("PROVE_LOCKING") && !config.has("KASAN"));
        assert_eq!(config.digest().len(), DIGITS);
        assert_eq!(Config::parse("# nothing\n"), None);
    }

    #[test]
    fn the_running_kernels_own_copy_goes_before_an_installed_file() {
        let tree = Tree::new(&[("boot/config-6.12.1", TEXT)]);
        let installed = Config::read(tree.root(), "6.12.1").unwrap();
        assert_eq!(Config::read(tree.root(), "6.12.2"), None);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(TEXT.replace("250", "1000").as_bytes()).unwrap();
        tree.write_bytes("proc/config.gz", &packed.finish().unwrap());
        let own = Config::read(tree.root(), "6.12.1").unwrap();
        assert_ne!(own.digest(), installed.digest());
        assert_eq!(own.chosen()[0].1, "1000");
        tree.write_bytes("proc/config.gz", b"no gzip");
        assert_eq!(Config::read(tree.root(), "6.12.1"), Some(installed));
    }

    #[test]
    fn a_packed_copy_and_a_file_with_the_same_text_have_the_same_digest() {
        let tree = Tree::new(&[("boot/config-1", TEXT)]);
        let installed = Config::read(tree.root(), "1").unwrap();
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(TEXT.as_bytes()).unwrap();
        let tree = Tree::new(&[]);
        tree.write_bytes("proc/config.gz", &packed.finish().unwrap());
        assert_eq!(Config::read(tree.root(), "1"), Some(installed));
    }
}
