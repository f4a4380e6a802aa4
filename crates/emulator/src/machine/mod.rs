//! The machine: grid, clusters, warps, lanes, and what runs beside them (E5-E12).

pub(crate) mod agents;
pub(crate) mod between;
pub(crate) mod core;
pub(crate) mod deadlock;
pub(crate) mod device;
pub(crate) mod ending;
pub(crate) mod exec;
pub(crate) mod findings;
pub(crate) mod global;
pub(crate) mod launch;
pub(crate) mod mbarrier;
pub(crate) mod named;
pub(crate) mod rng;
pub(crate) mod run;
pub(crate) mod sched;
pub(crate) mod tensormap;
pub(crate) mod tmem;
pub(crate) mod touch;
pub(crate) mod trace;
pub(crate) mod warp;
