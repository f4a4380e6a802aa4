//! The instructions of a product by wgmma, as text.

use std::fmt::Write;
use std::rc::Rc;

use super::kind::Kind;
use crate::layout::{Engine, Operand};
use crate::llvm::Val;
use crate::lower::value::View;

/// Shape and kinds of a dot, checked.
pub(super) struct Shape {
    pub a: Kind,
    pub b: Kind,
    pub n: u64,
    /// Whether sums are f16, two in a register.
    pub half_sums: bool,
    /// Multiplications along K.
    pub steps: u64,
    /// Blocks of 64 rows per warpgroup.
    pub blocks: u64,
}

impl Shape {
    /// Registers of the sums of a block of 64 rows.
    pub fn registers(&self) -> u64 {
        if self.half_sums { self.n / 4 } else { self.n / 2 }
    }

    /// PTX name of the type of sums.
    fn sums(&self) -> &'static str {
        match (self.a.whole, self.half_sums) {
            (true, _) => "s32",
            (_, true) => "f16",
            (_, false) => "f32",
        }
    }
}

/// Where A comes from.
pub(super) enum First<'c> {
    /// A slot.
    Shared(View<'c>, Operand),
    /// Registers: for each block of rows and step along K, four of them.
    Registers(Rc<[Val<'c>]>),
}

/// The assembly of one dot. Operands: accumulators block by block; unless they start from zero, the same
/// again as inputs; then what [`Lower::sources`] appends.
pub(super) fn wgmma_text(shape: &Shape, a: &First, b: &Operand, zero: bool) -> String {
    let per_block = shape.registers();
    let lists: Vec<String> = (0..shape.blocks).map(|block| names(block * per_block, per_block)).collect();
    let accumulators = shape.blocks * per_block;
    let first = if zero { accumulators } else { 2 * accumulators };
    let (width, a_major) = match a {
        First::Shared(_, operand) => (1, format!(", {}", u8::from(operand.mn_major))),
        First::Registers(_) => (4, String::new()),
    };
    let majors = match shape.a.transposes(Engine::Wgmma) {
        true => format!("{a_major}, {}", u8::from(b.mn_major)),
        false => String::new(),
    };
    let signs = if shape.a.whole { "" } else { ", 1, 1" };
    let mut text = String::from("wgmma.fence.sync.aligned;\n");
    for step in 0..shape.steps {
        let keep = u8::from(!(zero && step == 0));
        let a_at = first + step * (shape.blocks * width + 1);
        let b_at = a_at + shape.blocks * width;
        for (block, list) in (0..).zip(&lists) {
            let a = match width {
                1 => format!("${}", a_at + block),
                _ => format!("{{{}}}", names(a_at + block * width, width)),
            };
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "\twgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{} {{{list}}}, {a}, ${b_at}, {keep}{signs}{majors};",
                shape.n,
                shape.a.k(),
                shape.sums(),
                shape.a.name,
                shape.b.name,
            );
        }
    }
    text.push_str("\twgmma.commit_group.sync.aligned;");
    text
}

/// `$first,$first+1,..`
fn names(first: u64, count: u64) -> String {
    let names: Vec<String> = (first..first + count).map(|i| format!("${i}")).collect();
    names.join(",")
}
