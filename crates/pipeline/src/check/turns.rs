//! Replicas of a partition that take turns, as declared (Q41).

use warploom_ir::{Attr, Module, OpId};

use super::report::{Report, Rule};

/// A declaration of turns: a named barrier for each replica of a partition, where its warps wait for their turn and the
/// replica before gives it to them.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    pub name: String,
    /// The named barrier of the first replica; the others follow.
    pub id: u64,
    pub replicas: u64,
    /// The partitions that take them, by their warps.
    pub takers: Vec<usize>,
}

impl Turns {
    /// Reads a declaration.
    pub fn read(module: &Module, op: OpId, report: &mut Report) -> Option<Turns> {
        let number =
            |name: &str| module.attr(op, name).and_then(Attr::as_i64).and_then(|n| u64::try_from(n).ok());
        let name = module.symbol_name(op).unwrap_or_default().to_owned();
        match (number("id"), number("replicas")) {
            (Some(id), Some(replicas @ 2..=15)) => Some(Turns { name, id, replicas, takers: Vec::new() }),
            _ => {
                report.add(Rule::Form, format!("@{name}"), "turns need an id and 2 to 15 replicas");
                None
            }
        }
    }
}
