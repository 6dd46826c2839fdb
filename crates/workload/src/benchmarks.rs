//! The built-in benchmarks as one type, out of the table in the crate's root: what each is called in experiment files,
//! and how it is built for a machine.

use crate::WorkloadError;
use crate::rt_app::{Built, RtAppError};
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
    /// Whether a kernel's own code schedules it, which has `SCHED_DEADLINE`, too.
    pub deadlines: bool,
    /// Gives the text of a file that a benchmark's parameters name.
    pub read: &'a dyn Fn(&str) -> io::Result<String>,
    /// Makes a workload of a trace.
    pub replay: &'a dyn Fn(&crate::replay::Params) -> Result<Built, BuildError>,
}

/// The [`Target::replay`] of those who read no traces.
///
/// # Errors
/// Always.
pub fn no_traces(params: &crate::replay::Params) -> Result<Built, BuildError> {
    Err(BuildError::File { file: params.trace.clone(), reason: "no traces here".to_string() })
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

macro_rules! built {
    (costs $module:ident $params:ident $target:ident) => {
        Ok(crate::$module::build($params, &crate::$module::Costs::of($target.constants)?)?.into())
    };
    (online $module:ident $params:ident $target:ident) => {
        Ok(crate::$module::build(
            $params,
            &crate::$module::Costs::of($target.constants)?,
            &$target.online,
        )?
        .into())
    };
    (file $module:ident $params:ident $target:ident) => {
        crate::$module::build_file($params, $target)
    };
    (trace $module:ident $params:ident $target:ident) => {
        ($target.replay)($params)
    };
}

macro_rules! file_of {
    (trace $params:ident) => {
        Some($params.trace.as_str())
    };
    (costs $params:ident) => {{
        let _ = $params;
        None
    }};
    (online $params:ident) => {
        file_of!(costs $params)
    };
    (file $params:ident) => {
        Some($params.file.as_str()).filter(|file| !file.is_empty())
    };
}

macro_rules! reason {
    () => {
        None
    };
    ($reason:literal) => {
        Some($reason)
    };
}

macro_rules! benchmarks {
    ($($module:ident $variant:ident $from:ident $((not in guests: $reason:literal))?;)+) => {
        /// A benchmark with its parameters.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Benchmark {
            $(
                #[doc = concat!("See [`mod@crate::", stringify!($module), "`].")]
                $variant(crate::$module::Params)
            ),+
        }

        impl Benchmark {
            /// Names in experiment files.
            pub const NAMES: &[&str] = &[$(stringify!($module)),+];

            /// Its name in experiment files.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Benchmark::$variant(_) => stringify!($module),)+
                }
            }

            /// Why no guest in QEMU can run it, where that is so whatever programs are written.
            pub fn not_in_guests(&self) -> Option<&'static str> {
                match self {
                    $(Benchmark::$variant(_) => reason!($($reason)?),)+
                }
            }

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

crate::for_each_benchmark!(benchmarks);
