//! Names of values as MLIR gives them out: numbers, and what an operation suggests (A20).

use warploom_ir::{Attr, Module, OpId, Opcode, Type, walk};

/// Forgets the names of the text. The printer numbers what is left without one.
pub(crate) fn as_mlir(m: &mut Module) {
    m.values.values_mut().for_each(|v| v.name = None);
    let ops: Vec<OpId> = walk::ops(m, m.root).collect();
    for op in ops {
        let named: Vec<_> = m.ops[op].results.iter().copied().zip(suggested(m, op)).collect();
        for (value, name) in named {
            m.values[value].name = Some(name);
        }
    }
}

fn suggested(m: &Module, op: OpId) -> Vec<String> {
    let results = m.ops[op].results.len();
    match (m.ops[op].opcode, m.op_name(op)) {
        (Opcode::Constant, _) => vec![match m.attr(op, "value") {
            Some(Attr::Bool(b)) => b.to_string(),
            Some(Attr::Int { value, ty: Type::Index }) => format!("c{value}"),
            Some(Attr::Int { value, ty }) => format!("c{value}_{ty}"),
            _ => "cst".to_owned(),
        }],
        // Memory, and the token that orders its uses.
        (_, "ttng.tmem_alloc") => vec!["result".to_owned(), "token".to_owned()],
        (_, "ttng.tmem_load") if results == 2 => vec!["result".to_owned(), "token".to_owned()],
        _ => Vec::new(),
    }
}
