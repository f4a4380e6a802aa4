//! Products that no one layout of a partition holds together: lanes multiply the smallest (Q20, C67).

use warploom_chips::Target;
use warploom_chips::mma::MmaInstruction;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode};

use crate::engines::asynchronous::Products;
use crate::engines::shape;
use crate::normalize::small::multiply_by_lanes;
use crate::place::remark;
use crate::transports::find;
use crate::transports::operands::operands;
use crate::walk::preorder;

/// Elements of a product that lanes multiply at most: 16 for each of a warpgroup.
const LARGEST: u64 = 2048;

/// Has lanes multiply as few products of a function as must be so that the others fit the warps of one partition; tells of
/// each. None where that does not help.
pub(crate) fn by_lanes(module: &mut Module, func: OpId, target: &Target) -> Vec<Diagnostic> {
    let mut dots: Vec<OpId> =
        preorder(module, func).into_iter().filter(|&op| module.ops[op].opcode == Opcode::Dot).collect();
    if dots.len() < 2 || fit(module, func, target) {
        return Vec::new();
    }
    // The largest, which comes last, stays.
    dots.sort_by_key(|&dot| work(module, dot));
    let (mut kernel, mut told) = (module.clone(), Vec::new());
    dots.pop();
    let small =
        |dot: &OpId| module.result(*dot).and_then(|v| module.ty(v).elements()).is_some_and(|n| n <= LARGEST);
    for dot in dots.into_iter().take_while(small) {
        let text = "no warps hold this product beside the others: lanes multiply";
        told.push(remark(module, dot, Code::Shape, text).rule("C67"));
        multiply_by_lanes(&mut kernel, dot);
        if fit(&kernel, func, target) {
            *module = kernel;
            return told;
        }
    }
    Vec::new()
}

/// Whether some engine of the chip holds the products of a function together.
fn fit(module: &Module, func: OpId, target: &Target) -> bool {
    let (found, _) = find::loops(module, func, target);
    let operands = operands(module, func, &found, false);
    let holds = |products| shape::choose(module, func, target, products, &operands).is_ok();
    let native = target.mma_instruction() != MmaInstruction::MmaSync;
    holds(Products::Synchronous) || native && holds(Products::Asynchronous { pending: 0 })
}

/// Multiplications of a product.
fn work(module: &Module, dot: OpId) -> u64 {
    let extents = module.ops[dot].operands.iter().flat_map(|&v| module.ty(v).shape());
    extents.fold(1, |n: u64, &extent| n.saturating_mul(extent))
}
