//! A kernel tree as a kernel that a guest boots.
//!
//! A farm of links stands in for the tree (`farm`), with patched files as copies, and the tree's own build system makes the
//! image from it. The configuration is ours (`config`: small, without modules, with what guests and tracing need) or a `.config`, which
//! must have what guests need.
//!
//! Images are kept by what they are made of: the tree, the patches, the configuration, the compiler. A tree is told by its commit or its
//! package where it has one, and otherwise by the names, sizes and times of all its files. Objects are kept by tree, architecture and
//! configuration, so a variant with a patch compiles only what the patch changes, whichever variant was built before it (`farm`).

mod config;
mod farm;
mod make;
mod toolchain;

pub use toolchain::Toolchain;

use crate::content;
use crate::lock::Lock;
use crate::tools::{check_tools, missing_headers};
use crate::trees::write;
use crate::{TreeError, make as run, missing_tools};
use config::Wanted;
use kernel::Version;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const MADE_OF: &str = "image.toml";
const IMAGE: &str = "vmlinuz";
const CONFIG: &str = "config";

/// An architecture that kernels are built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// 64-bit x86.
    Amd64,
    /// 64-bit Arm.
    Arm64,
    /// 64-bit POWER, little endian.
    Ppc64el,
}

impl Target {
    /// `ARCH` of the tree's build system.
    fn arch(self) -> &'static str {
        match self {
            Target::Amd64 => "x86",
            Target::Arm64 => "arm64",
            Target::Ppc64el => "powerpc",
        }
    }

    /// What is made, and where it lies afterwards.
    fn image(self) -> (&'static str, &'static str) {
        match self {
            Target::Amd64 => ("bzImage", "arch/x86/boot/bzImage"),
            Target::Arm64 => ("Image", "arch/arm64/boot/Image"),
            Target::Ppc64el => ("vmlinux", "vmlinux"),
        }
    }

    /// Debian's name.
    fn name(self) -> &'static str {
        match self {
            Target::Amd64 => "amd64",
            Target::Arm64 => "arm64",
            Target::Ppc64el => "ppc64el",
        }
    }
}

/// What is to be built.
#[derive(Debug, Clone)]
pub struct Order<'a> {
    /// The tree.
    pub root: &'a Path,
    /// What the tree is, where it never changes: a commit, or a package with its version. Without it, its files are looked at.
    pub identity: Option<String>,
    /// Patches, in order.
    pub patches: Vec<PathBuf>,
    /// A `.config` in place of ours.
    pub config: Option<&'a Path>,
    /// Lines that come last in the configuration.
    pub options: Vec<String>,
    /// Whether the kernel looks for bugs (lockdep, KASAN).
    pub debug: bool,
    /// For what.
    pub target: Target,
    /// With what.
    pub toolchain: &'a Toolchain,
}

/// A kernel that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its version.
    pub version: Version,
    /// What `uname -r` says.
    pub release: String,
    /// The image.
    pub image: PathBuf,
    /// Its configuration.
    pub config: PathBuf,
    /// Whether it had to be built.
    pub is_new: bool,
    /// Options of ours that this release does not take.
    pub left_out: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MadeOf {
    release: String,
    /// The tree, for people.
    root: PathBuf,
    patches: Vec<PathBuf>,
    left_out: Vec<String>,
}

/// The images in a directory.
#[derive(Debug, Clone)]
pub struct Images {
    dir: PathBuf,
}

impl Images {
    /// Those in `dir`, which need not exist yet.
    pub fn new(dir: &Path) -> Images {
        Images { dir: dir.to_owned() }
    }

    /// The kernel of `order`, built unless it has been before. `say` hears what is done. Another process that builds from the same
    /// tree is waited for.
    ///
    /// # Errors
    /// Missing programs, a tree that is none, a patch that does not apply, a configuration without something that guests need,
    /// and what the compiler says.
    pub fn get(&self, order: &Order, say: &dyn Fn(&str)) -> Result<Image, TreeError> {
        let version = crate::release(order.root)?;
        let root = std::fs::canonicalize(order.root).map_err(TreeError::io(order.root))?;
        check_architecture(&root, order.target)?;
        let mut missing = missing_tools();
        if order.target == Target::Amd64 {
            missing.extend(missing_headers());
        }
        check_tools(missing)?;
        let wanted = Wanted::read(order)?;
        let compiler = order.toolchain.version()?;
        let identity = match &order.identity {
            Some(identity) => identity.clone(),
            None => stamp_of(&root)?,
        };
        let key = key(order, &identity, &wanted, &compiler)?;
        let dir = self.dir.join(&key);
        if let Some(image) = found(&dir, version, false)? {
            return Ok(image);
        }
        // Objects of one configuration serve all patches of a tree.
        let place = [root.to_string_lossy().as_ref(), &wanted.text, &compiler].join("\n");
        let builds = format!("build-{}-{}", order.target.name(), content::short(&place));
        let _lock = Lock::take(&self.dir, &builds, say)?;
        if let Some(image) = found(&dir, version, false)? {
            return Ok(image);
        }
        let build = make::Build { order, root: &root, dir: self.dir.join(builds), wanted: &wanted };
        let built = build.make(say)?;
        self.keep(order, &built, &dir)?;
        found(&dir, version, true)?.ok_or_else(|| {
            TreeError::found(dir.display(), "no kernel", "the one that was built just now")
        })
    }

    /// Puts what was built under its final name, whole.
    fn keep(&self, order: &Order, built: &make::Built, dir: &Path) -> Result<(), TreeError> {
        let partial = dir.with_extension("partial");
        for old in [&partial, &dir.to_owned()] {
            if old.exists() {
                std::fs::remove_dir_all(old).map_err(TreeError::io(old))?;
            }
        }
        std::fs::create_dir_all(&partial).map_err(TreeError::io(&partial))?;
        for (from, name) in [(&built.image, IMAGE), (&built.config, CONFIG)] {
            std::fs::copy(from, partial.join(name)).map_err(TreeError::io(from))?;
        }
        let made_of = MadeOf {
            release: built.release.clone(),
            root: order.root.to_owned(),
            patches: order.patches.clone(),
            left_out: built.left_out.clone(),
        };
        write(&partial.join(MADE_OF), &made_of)?;
        std::fs::rename(&partial, dir).map_err(TreeError::io(dir))
    }
}

/// The image that was kept in `dir`.
fn found(dir: &Path, version: Version, is_new: bool) -> Result<Option<Image>, TreeError> {
    let file = dir.join(MADE_OF);
    let Ok(text) = std::fs::read_to_string(&file) else { return Ok(None) };
    let made_of: MadeOf = toml::from_str(&text)
        .map_err(|e| TreeError::found(file.display(), e, "what a build of a kernel wrote"))?;
    let (image, config) = (dir.join(IMAGE), dir.join(CONFIG));
    let MadeOf { release, left_out, .. } = made_of;
    Ok(Some(Image { version, release, image, config, is_new, left_out }))
}

fn check_architecture(root: &Path, target: Target) -> Result<(), TreeError> {
    match root.join("arch").join(target.arch()).join("Makefile").is_file() {
        true => Ok(()),
        false => Err(TreeError::found(
            root.display(),
            format!("no arch/{}", target.arch()),
            format!("a tree that has what {} needs", target.name()),
        )),
    }
}

fn key(
    order: &Order,
    identity: &str,
    wanted: &Wanted,
    compiler: &str,
) -> Result<String, TreeError> {
    let mut parts = content::Parts::default();
    [identity, &wanted.text, compiler].iter().for_each(|text| parts.add(text.as_bytes()));
    for patch in &order.patches {
        parts.add(&std::fs::read(patch).map_err(TreeError::io(patch))?);
    }
    let mut digest = parts.digest();
    digest.truncate(16);
    Ok(format!("{}-{digest}", order.target.name()))
}

/// What tells one state of the tree at `root` from another: names, sizes and times of its files, but for what git keeps there.
fn stamp_of(root: &Path) -> Result<String, TreeError> {
    let mut command = std::process::Command::new("find");
    command.arg(root).args(["-path", "*/.git", "-prune", "-o", "-type", "f", "-printf"]);
    command.arg("%P %s %T@\\n");
    let said = run::run(&mut command, "find")?;
    let mut files: Vec<&str> = said.lines().collect();
    files.sort_unstable();
    Ok(content::text(&files.join("\n")))
}

#[cfg(test)]
mod tests;
