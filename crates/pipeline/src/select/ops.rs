//! The operations that are refused, each with what is supported instead (C92).

use warploom_chips::{Feature, Target};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{FloatKind, Module, OpId, Opcode, Type};

use crate::classes::{Class, class};
use crate::nest::innermost_for;
use crate::place::refuse;
use crate::walk::preorder;

/// Beyond so many refusals a kernel is not looked at further: it is another kind of file.
const MOST_REFUSALS: usize = 1000;

/// Refuses every operation of the function that is not supported anywhere.
pub(super) fn check(module: &Module, func: OpId, target: &Target, errors: &mut Vec<Diagnostic>) {
    for op in outside_reductions(module, func) {
        if errors.len() >= MOST_REFUSALS {
            return;
        }
        let opcode = module.ops[op].opcode;
        match class(opcode) {
            // The loop that it ends is refused.
            Class::Unsupported if opcode == Opcode::Condition => {}
            Class::Unsupported => errors.push(unsupported(module, op, target)),
            Class::Dot if !target.has(Feature::Wgmma) && !target.has(Feature::Tcgen05) => errors.push(
                refuse(
                    module,
                    op,
                    Code::Target,
                    format!("tt.dot is not supported for {} yet", target.name()),
                )
                .rule("T5")
                .note("supported", "wgmma, which sm_90a has, and tcgen05 of sm_100a, sm_103a, sm_110a"),
            ),
            _ => {}
        }
        let doubles = module.ops[op].results.iter().any(|&v| is_double_tile(module.ty(v)));
        if doubles && class(opcode) != Class::Unsupported {
            let text = format!("{} makes a tile of f64", module.op_name(op));
            errors
                .push(refuse(module, op, Code::Type, text).note("supported", "f32, bf16, f16, 8-bit floats"));
        }
    }
}

fn is_double_tile(ty: &Type) -> bool {
    ty.is_tensor() && *ty.elem() == Type::Float(FloatKind::F64)
}

/// The function's operations without those in the bodies of reductions and scans, whose owner is refused.
fn outside_reductions(module: &Module, func: OpId) -> Vec<OpId> {
    let reducing = |op: OpId| {
        module.parent(op).is_some_and(|p| matches!(module.ops[p].opcode, Opcode::Reduce | Opcode::Scan))
    };
    preorder(module, func).into_iter().filter(|&op| !reducing(op)).collect()
}

/// Refuses what may not stand in the pipelined loop: one refusal per kind of operation, at its first place.
pub(super) fn check_loop(module: &Module, scf_for: OpId, target: &Target, errors: &mut Vec<Diagnostic>) {
    let supported =
        "tt.descriptor_load, tile arithmetic, tt.reduce, tt.dot; memory is written after the loop";
    let mut seen: Vec<(Opcode, OpId, usize)> = Vec::new();
    for op in outside_reductions(module, scf_for).into_iter().skip(1) {
        let opcode = module.ops[op].opcode;
        let nested = innermost_for(module, op) != Some(scf_for);
        let tile_load = opcode == Opcode::Load
            && module.parent(op) == Some(scf_for)
            && module.ops[op].results.iter().any(|&v| module.ty(v).is_tensor());
        let refused = match class(opcode) {
            Class::TileStore | Class::PointerStore => true,
            Class::PointerLoad => tile_load,
            Class::TileLoad | Class::Dot => nested || module.parent(op) != Some(scf_for),
            _ => opcode == Opcode::For,
        };
        if !refused {
            continue;
        }
        match seen.iter_mut().find(|(known, ..)| *known == opcode) {
            Some((.., count)) => *count += 1,
            None => seen.push((opcode, op, 1)),
        }
    }
    for (opcode, op, count) in seen {
        let name = module.op_name(op);
        let text = format!("{name} inside the pipelined loop is not supported for {}", target.name());
        let mut error = refuse(module, op, Code::Op, text);
        if count > 1 {
            error = error.note("found", format!("{count} of them"));
        }
        error = error.note("supported", supported);
        errors.push(match class(opcode) {
            Class::PointerLoad => error.note("instead", "load the tile by a tensor descriptor"),
            Class::TileStore | Class::PointerStore => error.note("instead", "store after the loop"),
            _ => error,
        });
    }
}

/// The refusal of one operation, with what it needs and what to use instead.
fn unsupported(module: &Module, op: OpId, target: &Target) -> Diagnostic {
    let opcode = module.ops[op].opcode;
    let name = module.op_name(op);
    let error = refuse(module, op, Code::Op, format!("{name} is not supported for {}", target.name()));
    use Opcode::*;
    let notes: &[(&'static str, &str)] = match opcode {
        DescriptorGather => {
            &[("needs", "gather4, sm_100 and later"), ("instead", "tt.load through pointers")]
        }
        DescriptorScatter => {
            &[("needs", "scatter4, sm_100 and later"), ("instead", "tt.store through pointers")]
        }
        DescriptorReduce | AtomicCas | AtomicLoad | AtomicStore | AtomicPoll => {
            &[("supported", "results written by tt.descriptor_store or tt.store")]
        }
        While => &[("supported", "scf.for"), ("instead", "a counted loop")],
        DotScaled => &[("supported", "tt.dot of bf16, f16, tf32 and 8-bit floats")],
        RemF => &[("supported", "exp, exp2, log, log2, sqrt, rsqrt, erf")],
        _ if opcode.name().is_some_and(|n| n.starts_with("warploom.")) => {
            &[("supported", "program form, in a module with warploom.form = \"program\"")]
        }
        _ => {
            &[("supported", "element-wise arith and math operations, tt.splat, tt.broadcast, tt.expand_dims")]
        }
    };
    notes.iter().fold(error, |error, (label, text)| error.note(label, *text))
}
