//! The loop and the answer as data, and the loop as the solvers see it: numbers instead of names.

pub(crate) mod answer;
pub(crate) mod binding;
pub(crate) mod budget;
pub(crate) mod core;
pub(crate) mod digraph;
pub(crate) mod error;
pub(crate) mod graph;
pub(crate) mod graph_error;
pub(crate) mod guard;
pub(crate) mod int;
pub(crate) mod observer;
pub(crate) mod options;
pub(crate) mod partition;
pub(crate) mod paths;
pub(crate) mod problem;
pub(crate) mod random;
pub(crate) mod rational;
pub(crate) mod read_error;
pub(crate) mod record;
pub(crate) mod recurrence;
pub(crate) mod resource_use;
pub(crate) mod start;
pub(crate) mod unroll;
pub(crate) mod validate;
pub(crate) mod visit;
