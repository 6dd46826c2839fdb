//! The build of one library: laying links, configuring, compiling, linking, and whether there is anything to do.

use crate::conditions::Conditions;
use crate::seed::Seed;
use crate::trees::{Tree, write};
use crate::{TreeError, arch, content, farm, link, make, sanitizer, seed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

const MADE_OF: &str = "library.toml";
const LIBRARY: &str = "library.so";
const LIBRARY_STEM: &str = "library";
const FARM: &str = "farm";
const OUT: &str = "out";

/// A tree's scheduler, ready to be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// The file.
    pub file: PathBuf,
    /// Digest of what it was made of.
    pub key: String,
    /// Whether it had to be made.
    pub is_new: bool,
    /// What a process that loads it needs in its environment.
    pub environment: Vec<(String, OsString)>,
    /// Options of the tree's `.config` about the scheduler that it does not have.
    pub left_out: Vec<String>,
}

impl Library {
    /// Where its objects are.
    pub(crate) fn out(&self) -> PathBuf {
        let stem = self.file.file_stem().map_or("".into(), |stem| stem.to_string_lossy());
        self.file.with_file_name(stem.replacen(LIBRARY_STEM, OUT, 1))
    }

    /// The farm that it was compiled from.
    pub(crate) fn farm(&self) -> PathBuf {
        self.file.with_file_name(FARM)
    }
}

/// What a library was made of.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MadeOf {
    key: String,
    files: BTreeSet<PathBuf>,
    #[serde(default)]
    left_out: Vec<String>,
}

/// One build.
pub(crate) struct Build<'a> {
    tree: &'a Tree,
    dir: PathBuf,
    compiler: String,
    seed: Seed,
    config: &'a [String],
    environment: Vec<(String, OsString)>,
}

impl<'a> Build<'a> {
    /// The build of `tree` in its directory `dir`, with `config` as the last lines of its configuration.
    ///
    /// # Errors
    /// A `.config` that cannot be read, and a compiler that does not start.
    pub(crate) fn new(
        tree: &'a Tree,
        dir: PathBuf,
        config: &'a [String],
    ) -> Result<Build<'a>, TreeError> {
        let (seed, environment) =
            (Seed::read(tree.config.as_deref())?, sanitizer::environment(config)?);
        Ok(Build { tree, dir, compiler: compiler()?, seed, config, environment })
    }

    /// `name`, and what tells builds of other configurations apart.
    fn of_config(&self, name: &str) -> String {
        let (stem, end) =
            name.split_once('.').map_or((name, String::new()), |(s, e)| (s, format!(".{e}")));
        match self.config {
            [] => name.to_string(),
            config => format!("{stem}-{}{end}", content::short(&config.join("\n"))),
        }
    }

    /// The configuration that the build starts from.
    fn start(&self) -> String {
        let lines = self.seed.lines.iter().chain(self.config);
        arch::CONFIG.to_string() + &lines.map(|l| format!("{l}\n")).collect::<String>()
    }

    /// The key of a library made of `files`.
    fn key(&self, files: &BTreeSet<PathBuf>) -> Result<String, TreeError> {
        let mut all = files.clone();
        all.extend(self.tree.patches.iter().cloned());
        let ours = arch::FILES.iter().map(|(_, text)| *text);
        let lists = [arch::CONFIG, arch::OBJECTS, arch::SYMBOLS, arch::LINK];
        let options = self.seed.lines.iter().chain(self.config).map(String::as_str);
        let own = options.chain([self.compiler.as_str()]);
        let others: Vec<&str> = ours.chain(lists).chain(own).collect();
        content::digest(&all, &others)
    }

    /// The last library, if it would become the same again. A patched file is a copy that the tree's original may have left
    /// behind, so originals count too.
    pub(crate) fn found(&self) -> Result<Option<Library>, TreeError> {
        let (file, made_of) =
            (self.dir.join(self.of_config(LIBRARY)), self.dir.join(self.of_config(MADE_OF)));
        let Ok(text) = std::fs::read_to_string(&made_of) else { return Ok(None) };
        let Ok(MadeOf { key, files, left_out }) = toml::from_str(&text) else { return Ok(None) };
        let same = files.iter().all(|f| f.exists()) && self.key(&files)? == key;
        Ok((same && file.is_file()).then_some(self.library(file, key, left_out, false)))
    }

    /// Makes it.
    ///
    /// # Errors
    /// As [`crate::Trees::build`].
    pub(crate) fn make(&self, say: &dyn Fn(&str)) -> Result<Library, TreeError> {
        let (farm, out) = (self.dir.join(FARM), self.dir.join(self.of_config(OUT)));
        say("laying links");
        farm::lay(&self.tree.root, &farm, &self.dir.join("arch"), &self.tree.patches)?;
        self.configure(&farm, &out, say)?;
        let config = out.join(".config");
        let config = std::fs::read_to_string(&config).map_err(TreeError::io(&config))?;
        let conditions = Conditions { release: self.tree.version()?, config: &config };
        let has = |object: &&str| {
            farm.join(object.strip_suffix(".o").unwrap_or(object)).with_extension("c").is_file()
        };
        let mut objects: Vec<String> =
            conditions.lines(arch::OBJECTS).lines().filter(has).map(str::to_string).collect();
        say(&format!("compiling {} files of {}", objects.len(), self.tree.release));
        let mut targets = objects.clone();
        targets.push(format!("arch/{}/kernel/", arch::NAME));
        make::make(&farm, &out, &targets, "compiling the scheduler")?;
        objects.extend(arch::objects());
        say("linking");
        let file = self.dir.join(self.of_config(LIBRARY));
        let runtimes = link::runtimes(&config);
        link::link(&out, &objects, &conditions.lines(arch::LINK), &runtimes, &file)?;
        let mut files = content::read_by(&out, &objects)?;
        files.extend(self.originals(&files, &farm));
        let key = self.key(&files)?;
        let left_out = self.left_out(&config);
        let made_of = MadeOf { key: key.clone(), files, left_out: left_out.clone() };
        write(&self.dir.join(self.of_config(MADE_OF)), &made_of)?;
        Ok(self.library(file, key, left_out, true))
    }

    fn library(&self, file: PathBuf, key: String, left_out: Vec<String>, is_new: bool) -> Library {
        Library { file, key, is_new, environment: self.environment.clone(), left_out }
    }

    /// What of the seed the configuration `taken` has not, unless an experiment asked for something else.
    fn left_out(&self, taken: &str) -> Vec<String> {
        let asked: Vec<_> = self.config.iter().filter_map(|line| seed::option(line)).collect();
        let is_left = |line: &&String| {
            let name = seed::option(line).map(|(name, _)| name);
            !is_taken(line, taken) && !asked.iter().any(|(option, _)| Some(*option) == name)
        };
        self.seed.never.iter().chain(self.seed.lines.iter().filter(is_left)).cloned().collect()
    }

    /// Copies in the farm stand for files of the tree.
    fn originals(&self, files: &BTreeSet<PathBuf>, farm: &Path) -> Vec<PathBuf> {
        let copies = files.iter().filter_map(|f| f.strip_prefix(farm).ok());
        let originals = copies.map(|below| self.tree.root.join(below));
        originals.filter(|path| path.is_file() && !self.tree.patches.is_empty()).collect()
    }

    fn configure(&self, farm: &Path, out: &Path, say: &dyn Fn(&str)) -> Result<(), TreeError> {
        say("configuring");
        let (seed, config, text) =
            (out.join("schedscape.config"), out.join(".config"), self.start());
        // A new header of ours may stand in for a generated one, which the tree's build system would not notice.
        let names: String = arch::FILES.iter().map(|(path, _)| format!("# {path}\n")).collect();
        let begins_with = text.clone() + &names;
        let same = std::fs::read(&seed).is_ok_and(|there| there == begins_with.as_bytes());
        if same && config.is_file() {
            // The same text again would make everything anew.
            return make::make(farm, out, &["prepare".to_string()], "preparing the tree");
        }
        if out.exists() {
            std::fs::remove_dir_all(out).map_err(TreeError::io(out))?;
        }
        std::fs::create_dir_all(out).map_err(TreeError::io(out))?;
        std::fs::write(&config, &text).map_err(TreeError::io(&config))?;
        let targets = ["olddefconfig", "prepare"].map(str::to_string);
        make::make(farm, out, &targets, "configuring the tree")?;
        let taken = std::fs::read_to_string(&config).map_err(TreeError::io(&config))?;
        let refused = self.config.iter().find(|line| !is_taken(line, &taken));
        if let Some(line) = refused {
            let expected = "an option that this release takes so on this architecture";
            return Err(TreeError::found("source.config", line, expected));
        }
        std::fs::write(&seed, begins_with).map_err(TreeError::io(&seed))
    }
}

/// Whether the configuration `taken` has `line`. An option that depends on one that is off is not listed, which is as good as not set.
pub(crate) fn is_taken(line: &str, taken: &str) -> bool {
    match seed::option(line) {
        Some((name, false)) => !taken.lines().any(|l| l.starts_with(&format!("CONFIG_{name}="))),
        _ => taken.lines().any(|l| l == line),
    }
}

/// The compiler's own version.
fn compiler() -> Result<String, TreeError> {
    make::run(Command::new("gcc").arg("--version"), "gcc --version")
}
