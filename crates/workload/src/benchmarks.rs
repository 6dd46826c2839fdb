//! The built-in benchmarks in one table: name in experiment files, module, and how one is built for a machine.

use crate::rtapp as rt_app;
use crate::rtapp::{Built, RtAppError};
use crate::{
    WorkloadError, daytrader, dbench, ebizzy, false_sharing, gitsource, hackbench, kernbench, kvm,
    netperf, schbench, sched_pipe, stream, tbench,
};
use machine::CpuSet;
use machine::constants::{Constants, MissingConstant};
use std::io;

/// What a benchmark is built for, and where its files come from.
#[derive(Clone)]
pub struct Target<'a> {
    /// The machine's constants.
    pub constants: &'a Constants,
    /// The machine's CPUs that are online.
    pub online: CpuSet,
    /// Gives the text of a file that a benchmark's parameters name.
    pub read: &'a dyn Fn(&str) -> io::Result<String>,
}

/// Why a benchmark cannot be built for a machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// A file that cannot be read.
    #[error("{file}: {reason}")]
    File {
        /// The file.
        file: String,
        /// The reader's reason.
        reason: String,
    },
    /// What an rt-app file says.
    #[error(transparent)]
    RtApp(#[from] RtAppError),
    /// The machine lacks a constant.
    #[error(transparent)]
    Constant(#[from] MissingConstant),
    /// A parameter cannot be.
    #[error(transparent)]
    Parameter(#[from] WorkloadError),
}

/// Calls `$then!` with the table, a line a benchmark: field of an experiment file and module, variant of [`Benchmark`],
/// and whether it is built of `costs` alone or of a `file` too.
#[macro_export]
macro_rules! for_each_benchmark {
    ($then:ident) => {
        $then! {
            ebizzy Ebizzy costs,
            sched_pipe SchedPipe costs,
            hackbench Hackbench costs,
            schbench Schbench costs,
            netperf Netperf costs,
            daytrader Daytrader costs,
            false_sharing FalseSharing costs,
            stream Stream costs,
            tbench Tbench costs,
            dbench Dbench costs,
            kernbench Kernbench costs,
            gitsource Gitsource costs,
            kvm Kvm costs,
            rt_app RtApp file,
        }
    };
}

macro_rules! built {
    (costs $module:ident $params:ident $target:ident) => {
        Ok($module::build($params, &$module::Costs::of($target.constants)?)?.into())
    };
    (file $module:ident $params:ident $target:ident) => {
        $module::build_file($params, $target)
    };
}

macro_rules! file_of {
    (costs $params:ident) => {{
        let _ = $params;
        None
    }};
    (file $params:ident) => {
        Some($params.file.as_str())
    };
}

macro_rules! benchmarks {
    ($($module:ident $variant:ident $from:ident),+ $(,)?) => {
        /// A benchmark with its parameters.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Benchmark {
            $(
                #[doc = concat!("See [`mod@", stringify!($module), "`].")]
                $variant($module::Params)
            ),+
        }

        impl Benchmark {
            /// Names in experiment files.
            pub const NAMES: &[&str] = &[$(stringify!($module)),+];

            /// The workload for `target`.
            ///
            /// # Errors
            ///
            /// Constants that the machine lacks, impossible parameters, files that cannot be read or say what cannot be.
            pub fn build(&self, target: &Target<'_>) -> Result<Built, BuildError> {
                match self {
                    $(Benchmark::$variant(params) => built!($from $module params target),)+
                }
            }

            /// The file that the parameters name, where the benchmark has one.
            pub fn file(&self) -> Option<&str> {
                match self {
                    $(Benchmark::$variant(params) => file_of!($from params),)+
                }
            }
        }
    };
}

for_each_benchmark!(benchmarks);
