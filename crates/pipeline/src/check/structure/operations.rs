//! The operations of all partitions.

use warploom_ir::Opcode;

use crate::check::model::{Model, Placed};

pub(super) fn operations<'a>(model: &'a Model<'_>) -> impl Iterator<Item = (usize, Placed, Opcode)> + 'a {
    let all = model.partitions.iter().enumerate();
    all.flat_map(move |(partition, a)| {
        a.ops.iter().map(move |&p| (partition, p, model.module.ops[p.op].opcode))
    })
}
