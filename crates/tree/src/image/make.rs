//! The build of one kernel: links, configuration, compiler.

use super::config::Wanted;
use super::{Order, farm};
use crate::TreeError;
use crate::make::{of_tree, run};
use std::path::{Path, PathBuf};

/// The moment and the place that a kernel says it was built at, so that the same sources give the same image.
const STAMPS: [(&str, &str); 4] = [
    ("KBUILD_BUILD_TIMESTAMP", "2026-01-01"),
    ("KBUILD_BUILD_USER", "schedscape"),
    ("KBUILD_BUILD_HOST", "schedscape"),
    ("KBUILD_BUILD_VERSION", "1"),
];
const SEED: &str = "schedscape.config";

pub(super) struct Build<'a> {
    pub(super) order: &'a Order<'a>,
    pub(super) root: &'a Path,
    pub(super) dir: PathBuf,
    pub(super) wanted: &'a Wanted,
}

/// What came of it.
pub(super) struct Built {
    pub(super) image: PathBuf,
    pub(super) config: PathBuf,
    pub(super) release: String,
    pub(super) left_out: Vec<String>,
}

impl Build<'_> {
    /// Builds it.
    ///
    /// # Errors
    /// As [`super::Images::get`].
    pub(super) fn make(&self, say: &dyn Fn(&str)) -> Result<Built, TreeError> {
        let (farm, out) = (self.dir.join("farm"), self.dir.join("out"));
        say("laying links");
        farm::lay(self.root, &self.dir, &farm, self.order.target.arch(), &self.order.patches)?;
        let left_out = self.configure(&farm, &out, say)?;
        let (target, image) = self.order.target.image();
        say(&format!("compiling {target} for {}", self.order.target.name()));
        self.run(&farm, &out, &[target], "compiling the kernel")?;
        let release = out.join("include/config/kernel.release");
        let said = std::fs::read_to_string(&release).map_err(TreeError::io(&release))?;
        let (image, config) = (out.join(image), out.join(".config"));
        Ok(Built { image, config, release: said.trim().to_owned(), left_out })
    }

    /// Options of ours that were not taken.
    fn configure(
        &self,
        farm: &Path,
        out: &Path,
        say: &dyn Fn(&str),
    ) -> Result<Vec<String>, TreeError> {
        let (seed, config) = (out.join(SEED), out.join(".config"));
        let begun = std::fs::read_to_string(&seed).is_ok_and(|there| there == self.wanted.text);
        if !begun || !config.is_file() {
            say("configuring");
            std::fs::create_dir_all(out).map_err(TreeError::io(out))?;
            let partial = out.join("schedscape.partial");
            std::fs::write(&partial, &self.wanted.text).map_err(TreeError::io(&partial))?;
            let goal = if self.wanted.is_whole {
                "allnoconfig"
            } else {
                std::fs::copy(&partial, &config).map_err(TreeError::io(&config))?;
                "olddefconfig"
            };
            let all = format!("KCONFIG_ALLCONFIG={}", partial.display());
            let with: &[&str] = if self.wanted.is_whole { &[&all, goal] } else { &[goal] };
            self.run(farm, out, with, "configuring the kernel")?;
            std::fs::rename(&partial, &seed).map_err(TreeError::io(&seed))?;
        }
        let taken = std::fs::read_to_string(&config).map_err(TreeError::io(&config))?;
        self.wanted.left_out(&taken)
    }

    fn run(&self, farm: &Path, out: &Path, goals: &[&str], what: &str) -> Result<(), TreeError> {
        let tools = self.order.toolchain;
        let mut command = of_tree(tools.command("make")?, farm, out, self.order.target.arch());
        command.arg(format!("CROSS_COMPILE={}", tools.prefix));
        command.arg(format!("CC={}", tools.compiler()));
        command.args(goals).envs(STAMPS).env("CCACHE_BASEDIR", &self.dir);
        run(&mut command, what).map(drop)
    }
}
