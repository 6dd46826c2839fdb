//! Our own programs for guests: what no package has.

use crate::compile::Sources;
use crate::{Arch, Cache, VmError};
use std::path::PathBuf;

/// The worker, which also counts costs: a small static program.
pub(crate) const WORKER: Sources = Sources {
    name: "worker",
    files: &[
        ("alone.c", include_str!("guest/worker/alone.c")),
        ("bound.c", include_str!("guest/worker/bound.c")),
        ("children.c", include_str!("guest/worker/children.c")),
        ("common.c", include_str!("guest/worker/common.c")),
        ("costs.c", include_str!("guest/worker/costs.c")),
        ("loopback.c", include_str!("guest/worker/loopback.c")),
        ("loops.c", include_str!("guest/worker/loops.c")),
        ("main.c", include_str!("guest/worker/main.c")),
        ("mark.c", include_str!("guest/worker/mark.c")),
        ("messages.c", include_str!("guest/worker/messages.c")),
        ("netperf.c", include_str!("guest/worker/netperf.c")),
        ("parts.c", include_str!("guest/worker/parts.c")),
        ("schbench.c", include_str!("guest/worker/schbench.c")),
        ("stats.c", include_str!("guest/worker/stats.c")),
        ("placement.c", include_str!("guest/worker/placement.c")),
        ("stream.c", include_str!("guest/worker/stream.c")),
        ("times.c", include_str!("guest/worker/times.c")),
        ("work.c", include_str!("guest/worker/work.c")),
    ],
    headers: &[
        ("costs.h", include_str!("guest/worker/costs.h")),
        ("marks.h", include_str!("guest/worker/marks.h")),
        ("stream.h", include_str!("guest/worker/stream.h")),
        ("worker.h", include_str!("guest/worker/worker.h")),
    ],
    flags: &["-std=gnu11", "-O2", "-Wall", "-Wextra", "-static", "-pthread", "-s"],
    libraries: &[],
};

/// What fleets run. It is a program of its own because libgomp does something before `main`, which the costs of `execve` would have in them.
pub(crate) const FLEET: Sources = Sources {
    name: "fleet",
    files: &[
        ("channel.c", include_str!("guest/worker/channel.c")),
        ("children.c", include_str!("guest/worker/children.c")),
        ("common.c", include_str!("guest/worker/common.c")),
        ("draw.c", include_str!("guest/worker/draw.c")),
        ("fleet.c", include_str!("guest/worker/fleet.c")),
        ("loopback.c", include_str!("guest/worker/loopback.c")),
        ("main.c", include_str!("guest/worker/main.c")),
        ("memory.c", include_str!("guest/worker/memory.c")),
        ("noisy.c", include_str!("guest/worker/noisy.c")),
        ("oltp.c", include_str!("guest/worker/oltp.c")),
        ("openmp.c", include_str!("guest/worker/openmp.c")),
        ("pipeline.c", include_str!("guest/worker/pipeline.c")),
        ("processes.c", include_str!("guest/worker/processes.c")),
        ("service.c", include_str!("guest/worker/service.c")),
        ("placement.c", include_str!("guest/worker/placement.c")),
        ("stream.c", include_str!("guest/worker/stream.c")),
        ("times.c", include_str!("guest/worker/times.c")),
        ("work.c", include_str!("guest/worker/work.c")),
    ],
    headers: &[
        ("fleet.h", include_str!("guest/worker/fleet.h")),
        ("stream.h", include_str!("guest/worker/stream.h")),
        ("worker.h", include_str!("guest/worker/worker.h")),
    ],
    flags: &["-std=gnu11", "-O2", "-Wall", "-Wextra", "-static", "-pthread", "-fopenmp", "-s"],
    libraries: &["-lm"],
};

/// Where our programs are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workers {
    /// The worker.
    pub worker: PathBuf,
    /// What fleets run.
    pub fleet: PathBuf,
}

impl Cache {
    /// Our programs for guests of `arch`, each built if its source has not been built before.
    ///
    /// # Errors
    /// No compiler that does it, with what to install.
    pub fn workers(&self, arch: Arch) -> Result<Workers, VmError> {
        Ok(Workers { worker: self.build(&WORKER, arch)?, fleet: self.build(&FLEET, arch)? })
    }

    /// Our programs for guests of `arch`, where they are built.
    pub(crate) fn built_workers(&self, arch: Arch) -> Option<Workers> {
        Some(Workers { worker: self.built(&WORKER, arch)?, fleet: self.built(&FLEET, arch)? })
    }
}
