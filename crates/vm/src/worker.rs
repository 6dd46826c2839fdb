//! The guests' own worker: a small static program for the benchmarks that no package has.

use crate::compile::Sources;
use crate::{Arch, Cache, VmError};
use std::path::PathBuf;

pub(crate) const WORKER: Sources = Sources {
    name: "worker",
    files: &[
        ("alone.c", include_str!("guest/worker/alone.c")),
        ("common.c", include_str!("guest/worker/common.c")),
        ("costs.c", include_str!("guest/worker/costs.c")),
        ("loops.c", include_str!("guest/worker/loops.c")),
        ("main.c", include_str!("guest/worker/main.c")),
        ("mark.c", include_str!("guest/worker/mark.c")),
        ("messages.c", include_str!("guest/worker/messages.c")),
        ("netperf.c", include_str!("guest/worker/netperf.c")),
        ("schbench.c", include_str!("guest/worker/schbench.c")),
        ("stats.c", include_str!("guest/worker/stats.c")),
        ("stream.c", include_str!("guest/worker/stream.c")),
        ("times.c", include_str!("guest/worker/times.c")),
        ("work.c", include_str!("guest/worker/work.c")),
    ],
    headers: &[
        ("costs.h", include_str!("guest/worker/costs.h")),
        ("marks.h", include_str!("guest/worker/marks.h")),
        ("worker.h", include_str!("guest/worker/worker.h")),
    ],
    flags: &["-std=gnu11", "-O2", "-Wall", "-Wextra", "-static", "-pthread", "-s"],
};

impl Cache {
    /// The worker for guests of `arch`, built if this source has not been built before.
    ///
    /// # Errors
    /// No compiler that does it, with what to install.
    pub fn worker(&self, arch: Arch) -> Result<PathBuf, VmError> {
        self.build(&WORKER, arch)
    }

    /// The worker for guests of `arch`, where it is built.
    pub(crate) fn built_worker(&self, arch: Arch) -> Option<PathBuf> {
        self.built(&WORKER, arch)
    }
}
