//! Kernels that guests boot, built from the sources of an experiment's variants.

use crate::Failure;
use crate::args::OwnKernelArgs;
use crate::kernels::{fetched, trees};
use crate::progress;
use definition::file::{Patches, VariantEntry};
use definition::{Plan, SourceEntry};
use kernel::{Kernel, Version};
use std::path::{Path, PathBuf};
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
    let (kernel, tree) = match tree.parse::<Version>() {
        Ok(version) if !Path::new(tree).exists() => (Some(version), None),
        _ => (None, Some(tree.clone())),
    };
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
    let (root, identity) = tree(&source, Path::new(""), cache)?;
    let trees = trees(cache);
    let name = identity.unwrap_or_else(|| "tree".to_owned());
    let tree = trees.unnamed(&name, &root, &args.patches, args.config.as_deref())?;
    Ok(Some(crate::kernels::built(&trees, &tree, &[])?))
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
    let hz = variant.hz.filter(|&hz| hz != Kernel::DEFAULT_HZ);
    let image = built(source, plan.folder(), cache, arch, hz, debug).map_err(wrong)?;
    for line in &image.left_out {
        anstream::eprintln!("variant `{}`: {}: left out: {line}", variant.name, image.release);
    }
    Ok(bootable(&image, arch))
}

/// The kernel of `source`, whose files are relative to `folder`, with progress on a terminal's stderr.
pub fn built(
    source: &SourceEntry,
    folder: &Path,
    cache: &Cache,
    arch: Arch,
    hz: Option<u32>,
    debug: bool,
) -> Result<Image, Failure> {
    let (root, identity) = tree(source, folder, cache)?;
    let toolchain = toolchain(cache, arch)?;
    let config = source.config_file.as_ref().map(|file| folder.join(file));
    let hz = hz.into_iter().flat_map(|hz| [format!("CONFIG_HZ_{hz}=y")]);
    let order = Order {
        root: &root,
        identity,
        patches: source.patches(folder),
        config: config.as_deref(),
        options: hz.chain(source.config_lines()).collect(),
        debug,
        target: target(arch),
        toolchain: &toolchain,
    };
    let bar = progress::bar("{spinner} {msg}, {elapsed}")?;
    let name = root.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let say = |step: &str| bar.set_message(format!("{name}: {step}"));
    let image = Images::new(&cache.dir().join("images")).get(&order, &say);
    bar.finish_and_clear();
    Ok(image?)
}

/// Where the whole tree of `source` is, and what tells it from others where it never changes.
fn tree(
    source: &SourceEntry,
    folder: &Path,
    cache: &Cache,
) -> Result<(PathBuf, Option<String>), Failure> {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    match (source.kernel, source.root(folder), &source.commit) {
        (Some(version), _, _) => {
            let root = fetched(cache, version)?;
            // The package's directory has its version.
            let identity = root.parent().and_then(name);
            Ok((root, identity))
        }
        (None, Some(root), None) => Ok((root, None)),
        (None, Some(root), Some(commit)) => {
            let root = trees(cache).commit(&root, commit, true)?;
            let identity = name(&root);
            Ok((root, identity))
        }
        (None, None, _) => Err("found neither kernel nor tree, expected one".into()),
    }
}

/// An installed compiler for `arch`, or Debian's from the cache.
fn toolchain(cache: &Cache, arch: Arch) -> Result<Toolchain, Failure> {
    let cross = cache.cross_compiler(arch, |prefix| Toolchain::installed(prefix).works())?;
    let mut toolchain = Toolchain::installed(&cross.prefix);
    if let Some(root) = cross.root {
        toolchain.path = vec![root.join("usr/bin")];
        let lib = format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        toolchain.libraries = vec![root.join(lib)];
    }
    Ok(toolchain)
}

fn target(arch: Arch) -> Target {
    match arch {
        Arch::X86 => Target::Amd64,
        Arch::Arm64 => Target::Arm64,
        Arch::Powerpc => Target::Ppc64el,
    }
}

/// The image as guests boot it.
pub fn bootable(image: &Image, arch: Arch) -> KernelImage {
    KernelImage {
        version: (image.version.major, image.version.minor),
        release: image.release.clone(),
        arch,
        image: image.image.clone(),
        config: image.config.clone(),
        modules: None,
    }
}
