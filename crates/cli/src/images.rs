//! Kernels that guests boot, built from the sources of an experiment's variants.

use crate::Failure;
use crate::args::OwnKernelArgs;
use crate::kernels::{self, release_named, trees};
use crate::progress;
use crate::sources::{self, Root, hz_line};
use definition::file::{Patches, VariantEntry};
use definition::{Plan, SourceEntry};
use kernel::Version;
use std::path::Path;
use tree::Library;
use tree::image::{Image, Images, Order, Target, Toolchain};
use vm::board::Board;
use vm::{Arch, Cache, KernelImage};

/// The kernel that the command line gives, if it gives one, for guests of the architecture that `arch` finds.
pub fn given(
    args: &OwnKernelArgs,
    cache: &Cache,
    arch: impl FnOnce() -> Result<Arch, Failure>,
) -> Result<Option<KernelImage>, Failure> {
    if let Some(image) = &args.kernel_image {
        return Ok(Some(KernelImage::of_file(image, args.modules.as_deref(), arch()?)?));
    }
    if let Some(package) = &args.kernel_deb {
        return Ok(Some(cache.kernel_of_package(package, arch()?)?));
    }
    let Some(source) = source_of(args) else { return Ok(None) };
    let arch = arch()?;
    let image = built(&source, Path::new(""), cache, arch, None, args.debug_config);
    let image = image.map_err(|e| format!("--source: {e}"))?;
    for line in &image.left_out {
        anstream::eprintln!("{}: left out: {line}", image.release);
    }
    Ok(Some(bootable(&image, arch)))
}

/// The source that the command line names.
fn source_of(args: &OwnKernelArgs) -> Option<SourceEntry> {
    let tree = args.kernel_source.as_ref()?;
    let kernel = release_named(tree);
    let tree = kernel.is_none().then(|| tree.clone());
    Some(SourceEntry {
        kernel,
        tree,
        commit: args.commit.clone(),
        patch: Patches::Series(args.patches.clone()),
        config_file: args.config.clone(),
        ..SourceEntry::of(Version::OLDEST)
    })
}

/// The scheduler of the source that the command line names, for the simulator.
pub fn scheduler(args: &OwnKernelArgs, cache: &Cache) -> Result<Option<Library>, Failure> {
    let Some(source) = source_of(args) else { return Ok(None) };
    let tree = sources::tree(Path::new(""), cache, &source)?;
    Ok(Some(kernels::built(&trees(cache), &tree, &[])?))
}

/// By variant: the kernel of its source, where it has one, built where it has not been before.
pub fn of_variants(
    plan: &Plan,
    cache: &Cache,
    debug: bool,
) -> Result<Vec<Option<KernelImage>>, Failure> {
    if plan.file.variants.iter().all(|variant| variant.source.is_none()) {
        return Ok(Vec::new());
    }
    let arch = Board::of(&plan.machine, false)?.arch();
    let of = |variant: &VariantEntry| match &variant.source {
        None => Ok(None),
        Some(source) => of_variant(plan, cache, arch, variant, source, debug).map(Some),
    };
    plan.file.variants.iter().map(of).collect()
}

fn of_variant(
    plan: &Plan,
    cache: &Cache,
    arch: Arch,
    variant: &VariantEntry,
    source: &SourceEntry,
    debug: bool,
) -> Result<KernelImage, Failure> {
    let wrong = |e: Failure| -> Failure {
        format!("{}: variant `{}`: source: {e}", plan.path, variant.name).into()
    };
    let image = built(source, plan.folder(), cache, arch, variant.hz, debug).map_err(wrong)?;
    for line in &image.left_out {
        anstream::eprintln!("variant `{}`: {}: left out: {line}", variant.name, image.release);
    }
    Ok(bootable(&image, arch))
}

/// The kernel of `source`, whose files are relative to `folder`, with progress on a terminal's stderr.
fn built(
    source: &SourceEntry,
    folder: &Path,
    cache: &Cache,
    arch: Arch,
    hz: Option<u32>,
    debug: bool,
) -> Result<Image, Failure> {
    let Root { path, name, identity } = sources::root(source, folder, cache, true)?;
    let toolchain = toolchain(cache, arch)?;
    let config = source.config_file.as_ref().map(|file| folder.join(file));
    let order = Order {
        root: &path,
        identity,
        patches: source.patches(folder),
        config: config.as_deref(),
        options: hz_line(hz).into_iter().chain(source.config_lines()).collect(),
        debug,
        target: target(arch),
        toolchain: &toolchain,
    };
    let bar = progress::bar("{spinner} {msg}, {elapsed}")?;
    let say = |step: &str| bar.set_message(format!("{name}: {step}"));
    let image = Images::new(&cache.dir().join("images")).get(&order, &say);
    bar.finish_and_clear();
    Ok(image?)
}

/// An installed compiler for `arch`, or Debian's from the cache.
fn toolchain(cache: &Cache, arch: Arch) -> Result<Toolchain, Failure> {
    let cross = cache.cross_compiler(arch, |prefix| Toolchain::installed(prefix).works())?;
    Ok(Toolchain { prefix: cross.prefix, path: cross.programs, libraries: cross.libraries })
}

fn target(arch: Arch) -> Target {
    match arch {
        Arch::X86 => Target::Amd64,
        Arch::Arm64 => Target::Arm64,
        Arch::Powerpc => Target::Ppc64el,
    }
}

/// The image as guests boot it.
fn bootable(image: &Image, arch: Arch) -> KernelImage {
    KernelImage {
        version: (image.version.major, image.version.minor),
        release: image.release.clone(),
        arch,
        image: image.image.clone(),
        config: image.config.clone(),
        modules: None,
    }
}
