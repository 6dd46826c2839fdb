//! Arguments of `schedscape kernel`.

use super::{CacheArgs, MachineArgs};
use clap::{Args as ClapArgs, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Give a tree, or a release's source package, a name
    Add(AddArgs),
    /// List the trees that have names
    List(ListArgs),
    /// Build a tree's scheduler, unless that is done
    Build(NameArgs),
    /// Show the sched domains that a tree's own code builds on a machine
    Domains(KernelDomainsArgs),
    /// Show the features of a tree's scheduler, as sched/features does
    Features(FeaturesArgs),
    /// Build a tree and compare its domains with the predicted ones; exit code 1 if they differ
    Check(CheckArgs),
    /// Forget a tree and what was built of it; the tree itself stays
    Remove(NameArgs),
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape kernel add ~/linux --name mine
  schedscape kernel add 6.12
  schedscape kernel add 6.12 --patch wa-idler.patch --name patched")]
pub struct AddArgs {
    /// A kernel tree as it is checked out, or a release such as 6.12, whose source package Debian has
    pub source: String,
    /// Its name from now on [default: the release]
    #[arg(long)]
    pub name: Option<String>,
    /// A patch to apply, as `git apply` does; may be repeated. The tree is not written to
    #[arg(long = "patch", value_name = "FILE")]
    pub patches: Vec<PathBuf>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
pub struct FeaturesArgs {
    /// The tree's name, as `kernel list` shows it
    pub name: String,
    /// Words to write to sched/features before, such as NO_WA_BIAS
    pub words: Vec<String>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
pub struct NameArgs {
    /// The tree's name, as `kernel list` shows it
    pub name: String,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape kernel domains 6.12 power9-big-core
  schedscape kernel domains mine kunpeng920-2node --online 0-23
  schedscape kernel domains mine epyc-7742-2s-nps1 --diff")]
pub struct KernelDomainsArgs {
    /// The tree's name, as `kernel list` shows it
    pub name: String,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Compare with the predicted domains of the tree's release; exit code 1 if they differ
    #[arg(long)]
    pub diff: bool,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape kernel check 6.12
  schedscape kernel check mine power9-big-core host capture/boot")]
pub struct CheckArgs {
    /// The tree's name, as `kernel list` shows it
    pub name: String,
    /// Machines to compare on [default: all of the catalog]
    pub machines: Vec<String>,
    #[command(flatten)]
    pub cache: CacheArgs,
}
