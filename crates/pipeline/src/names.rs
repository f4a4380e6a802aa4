//! Names of values, so that a text reads back as what was printed (C1).

use std::collections::HashSet;

use warploom_ir::{Module, OpId, Opcode, ValueId};

use crate::walk::preorder;

/// Takes a name away from all values but the first that has it, for copies of a loop's body have the names of the body;
/// arguments of blocks, which the text names whether they have a name or not, get one of their own.
pub(crate) fn name_once(out: &mut Module, func: OpId) {
    let ops = preorder(out, func);
    let (mut seen, mut args) = (HashSet::new(), Vec::new());
    for op in ops {
        for value in out.ops[op].results.clone() {
            let again = out.values[value].name.as_ref().is_some_and(|name| !seen.insert(name.clone()));
            if again {
                out.values[value].name = None;
            }
        }
        for &region in &out.ops[op].regions {
            args.extend(out.regions[region].blocks.iter().flat_map(|&block| out.blocks[block].args.clone()));
        }
        if let (Opcode::For, Some(body)) = (out.ops[op].opcode, out.entry(op, 0)) {
            // The text has no place for what a loop carries.
            let (unknown, carried) = (out.unknown_loc(), out.blocks[body].args.clone());
            carried.into_iter().for_each(|arg| out.values[arg].loc = unknown);
        }
    }
    let named = |out: &Module, seen: &mut HashSet<_>, value: ValueId| {
        out.values[value].name.as_ref().is_some_and(|name| seen.insert(name.clone()))
    };
    let nameless: Vec<ValueId> = args.into_iter().filter(|&arg| !named(out, &mut seen, arg)).collect();
    let mut number = 0usize;
    for arg in nameless {
        let name = loop {
            let name = format!("arg{number}");
            number += 1;
            if seen.insert(name.clone()) {
                break name;
            }
        };
        out.values[arg].name = Some(name);
    }
}
