//! The built-in benchmarks in one table: name in experiment files, module, and how one is built for a machine.

use crate::program::Workload;
use crate::{
    WorkloadError, daytrader, ebizzy, false_sharing, hackbench, netperf, schbench, sched_pipe,
};
use machine::constants::{Constants, MissingConstant};

/// Why a benchmark cannot be built for a machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The machine lacks a constant.
    #[error(transparent)]
    Constant(#[from] MissingConstant),
    /// A parameter cannot be.
    #[error(transparent)]
    Parameter(#[from] WorkloadError),
}

/// Calls `$then!` with the table, a line a benchmark: field of an experiment file, variant of [`Benchmark`], module.
#[macro_export]
macro_rules! for_each_benchmark {
    ($then:ident) => {
        $then! {
            ebizzy Ebizzy,
            sched_pipe SchedPipe,
            hackbench Hackbench,
            schbench Schbench,
            netperf Netperf,
            daytrader Daytrader,
            false_sharing FalseSharing,
        }
    };
}

macro_rules! benchmarks {
    ($($module:ident $variant:ident),+ $(,)?) => {
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

            /// The workload for a machine with these constants.
            pub fn build(&self, constants: &Constants) -> Result<Workload, BuildError> {
                match self {
                    $(Benchmark::$variant(params) => {
                        Ok($module::build(params, &$module::Costs::of(constants)?)?)
                    })+
                }
            }
        }
    };
}

for_each_benchmark!(benchmarks);
