//! `tt.dot_scaled` as a product of scaled factors, on every chip (C3, C68).
//!
//! Each factor is made anew, element by element: decoded, times its scale, in the format in which that product is
//! exact: bf16 for narrow floats with scales that are powers of two, two of bf16 for f16 beside such, f32 (multiplied as
//! tf32) where more bits come together. A scale of 255 is no number; what leaves the range of f32 is infinite, as it is in the tensor cores' own
//! scaled products.
//!
//! B is scaled as it is stored, a row for each column of the product, and turned afterwards.

use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, BlockId, FloatKind, Module, OpId, Opcode, Type, ValueId};

use crate::emit::{Emit, number};
use crate::normalize::block_scaled;
use crate::place::{file_order, refuse, remark};
use crate::walk::preorder;

/// A format of elements: bits of its fraction with the leading one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// A float that tiles can have as elements, by integers of its width too.
    Float(FloatKind, u64),
    /// e2m1, two to a byte, the earlier one in the low half.
    E2M1,
}

impl Format {
    fn of(name: &str) -> Option<Format> {
        Some(match name {
            "e4m3" => Format::Float(FloatKind::F8E4M3FN, 4),
            "e5m2" => Format::Float(FloatKind::F8E5M2, 3),
            "bf16" => Format::Float(FloatKind::BF16, 8),
            "fp16" => Format::Float(FloatKind::F16, 11),
            "e2m1" => Format::E2M1,
            _ => return None,
        })
    }

    fn bits(self) -> u64 {
        match self {
            Format::Float(_, bits) => bits,
            Format::E2M1 => 2,
        }
    }
}

/// Bits of a fraction that bf16 holds.
const BF16_BITS: u64 = 8;

/// Rewrites the scaled products of a kernel; tells of each what it has become.
///
/// # Errors
/// Formats that have no code.
pub(crate) fn lower(
    module: &mut Module,
    func: OpId,
    target: &Target,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let scaled = |module: &Module, op: &OpId| module.ops[*op].opcode == Opcode::DotScaled;
    let all: Vec<OpId> = preorder(module, func).into_iter().filter(|op| scaled(module, op)).collect();
    let (mut told, mut errors) = (Vec::new(), Vec::new());
    for op in all {
        let Some(block) = module.ops[op].block else { continue };
        let Some(at) = module.blocks[block].ops.iter().position(|&o| o == op) else { continue };
        let behind = module.blocks[block].ops.split_off(at);
        let why = block_scaled::refused(module, op, target);
        match product(module, block, op) {
            Ok((dot, remark)) => {
                told.push(match why {
                    Some(why) => remark.note("because", why),
                    None => remark,
                });
                let (old, new) = (module.result(op), module.result(dot));
                module.ops[op].block = None;
                module.blocks[block].ops.extend(behind.into_iter().skip(1));
                if let (Some(old), Some(new)) = (old, new) {
                    module.replace_all_uses(old, new);
                }
            }
            Err(error) => {
                module.blocks[block].ops.extend(behind);
                errors.push(*error);
            }
        }
    }
    file_order(&mut errors);
    if errors.is_empty() { Ok(told) } else { Err(errors) }
}

/// The product of both factors, at the end of a block.
fn product(module: &mut Module, block: BlockId, op: OpId) -> Result<(OpId, Diagnostic), Box<Diagnostic>> {
    let operands = module.ops[op].operands.to_vec();
    let broken = |module: &Module, text: String| {
        let error = refuse(module, op, Code::Op, text).rule("C3");
        Box::new(error.note("instead", "e4m3, e5m2, e2m1, bf16 and fp16, packed along K, with 8-bit scales"))
    };
    let format = |module: &Module, name: &str| {
        let word = module.attr(op, name).and_then(Attr::as_str).unwrap_or("?").to_owned();
        let found = Format::of(&word);
        found.ok_or_else(|| broken(module, format!("tt.dot_scaled of {word} is not supported")))
    };
    let formats = [format(module, "a_elem_type")?, format(module, "b_elem_type")?];
    for (name, format) in ["lhs_k_pack", "rhs_k_pack"].into_iter().zip(formats) {
        if format == Format::E2M1 && module.attr(op, name) == Some(&Attr::Bool(false)) {
            return Err(broken(module, format!("tt.dot_scaled with {name} = false is not supported")));
        }
    }
    let given: Vec<bool> = match module.attr(op, "operandSegmentSizes") {
        Some(Attr::DenseArray { values, .. }) => values.iter().map(|&n| n == 1).collect(),
        _ => (0..5).map(|n| n < operands.len()).collect(),
    };
    let mut rest = operands.iter().skip(3).copied();
    let scales = [3, 4].map(|n| if given.get(n) == Some(&true) { rest.next() } else { None });
    let (&[a, b, sum, ..], Some(result)) = (operands.as_slice(), module.result(op)) else {
        return Err(broken(module, "tt.dot_scaled without its operands".to_owned()));
    };
    let bits = |n: usize| {
        let scale = scales[n].map_or(Some(0), |s| scale_bits(module.ty(s).elem()));
        scale.map(|scale| formats[n].bits() + scale)
    };
    let (Some(bits_a), Some(bits_b)) = (bits(0), bits(1)) else {
        return Err(broken(module, "tt.dot_scaled with scales of this type is not supported".to_owned()));
    };
    // f16 as it is, beside narrow numbers, comes in two parts.
    let half = |n: usize| formats[n] == Format::Float(FloatKind::F16, 11) && scales[n].is_none();
    let parts = [half(0) && bits_b <= BF16_BITS, half(1) && bits_a <= BF16_BITS];
    let wide = bits_a.max(bits_b) > BF16_BITS && parts == [false; 2];
    let to = if wide { Type::Float(FloatKind::F32) } else { Type::Float(FloatKind::BF16) };
    let ty = module.ty(result).clone();
    let loc = module.ops[op].loc;
    let mut emit = Emit { out: module, block, loc };
    let malformed =
        |out: &Module| broken(out, "tt.dot_scaled of shapes that do not belong together".to_owned());
    let left = emit.factors(a, scales[0], formats[0], (&to, parts[0]));
    // B as its columns.
    let stored = emit.stored(b);
    let right = stored.and_then(|stored| emit.factors(stored, scales[1], formats[1], (&to, parts[1])));
    let right = right.and_then(|all| all.into_iter().map(|part| emit.turned(part)).collect());
    let (Some(left), Some(right)): (_, Option<Vec<ValueId>>) = (left, right) else {
        return Err(malformed(module));
    };
    let precision = Attr::Opaque(if wide { "tf32" } else { "ieee" }.to_owned());
    let props = [("inputPrecision", precision), ("maxNumImpreciseAcc", number(0u64))];
    let (mut dot, mut sum) = (op, sum);
    for (&left, &right) in left.iter().flat_map(|left| right.iter().map(move |right| (left, right))) {
        dot = emit.op(Opcode::Dot, &[left, right, sum], std::slice::from_ref(&ty), &props);
        emit.out.ops[dot].span = emit.out.ops[op].span;
        sum = emit.out.ops[dot].results[0];
    }
    let how = match parts.contains(&true) {
        true => "bf16 operands, f16 as the sum of two",
        false if wide => "f32 operands, multiplied as tf32",
        false => "bf16 operands",
    };
    let text = format!("tt.dot_scaled multiplies {how}, scaled before");
    let told = remark(module, op, Code::Op, text).rule("C3");
    Ok((dot, told))
}

/// Bits of a scale's fraction beyond its leading one, by which a product with it grows; integers are exponents.
fn scale_bits(elem: &Type) -> Option<u64> {
    match elem {
        Type::Int(8, _) => Some(0),
        Type::Float(FloatKind::F8E4M3FN) => Some(4),
        Type::Float(FloatKind::F8E5M2) => Some(3),
        _ => None,
    }
}

impl Emit<'_> {
    /// A tile with rows and columns exchanged.
    pub(super) fn turned(&mut self, tile: ValueId) -> Option<ValueId> {
        let ty = self.out.ty(tile).clone();
        let &[rows, cols] = ty.shape() else { return None };
        let order = Attr::DenseArray { elem: Type::I32, values: vec![1, 0] };
        let to = Type::tensor(&[cols, rows], ty.elem().clone());
        let op = self.op(Opcode::Trans, &[tile], &[to], &[("order", order)]);
        self.out.result(op)
    }

    /// A factor in the format that it is multiplied in, in one part or two.
    fn factors(
        &mut self,
        tile: ValueId,
        scale: Option<ValueId>,
        format: Format,
        (to, in_two): (&Type, bool),
    ) -> Option<Vec<ValueId>> {
        if in_two {
            let tile = self.scaled(tile, scale, format, &Type::F32)?;
            return Some(self.in_two(tile).to_vec());
        }
        Some(vec![self.scaled(tile, scale, format, to)?])
    }

    /// A factor [rows, K] in the format that it is multiplied in.
    fn scaled(
        &mut self,
        tile: ValueId,
        scale: Option<ValueId>,
        format: Format,
        to: &Type,
    ) -> Option<ValueId> {
        if scale.is_none()
            && matches!(format, Format::Float(kind, _) if Type::Float(kind) == *to)
            && self.out.ty(tile).elem() == to
        {
            return Some(tile);
        }
        let mut value = match format {
            Format::Float(kind, _) => self.float(tile, kind),
            Format::E2M1 => self.halves(tile)?,
        };
        if let Some(scale) = scale {
            let k = *self.out.ty(value).shape().get(1)?;
            let factor = self.power(scale);
            let factor = self.repeated(factor, k)?;
            value = self.same(Opcode::MulF, value, factor);
        }
        let ty = self.out.ty(value).with_elem(to.clone());
        Some(if *self.out.ty(value) == ty { value } else { self.value(Opcode::TruncF, &[value], &ty) })
    }

    /// Narrow floats, or integers of their bits, as f32.
    fn float(&mut self, tile: ValueId, kind: FloatKind) -> ValueId {
        let ty = self.out.ty(tile).clone();
        let own = Type::Float(kind);
        let tile = match *ty.elem() == own {
            true => tile,
            false => self.value(Opcode::Bitcast, &[tile], &ty.with_elem(own)),
        };
        let wide = ty.with_elem(Type::Float(FloatKind::F32));
        match kind {
            FloatKind::BF16 | FloatKind::F16 => self.value(Opcode::ExtF, &[tile], &wide),
            _ => self.value(Opcode::FpToFp, &[tile], &wide),
        }
    }

    /// A number everywhere in a tile like another.
    pub(super) fn like(&mut self, tile: ValueId, bits: u64) -> ValueId {
        let ty = self.out.ty(tile).clone();
        let value = match ty.elem() {
            Type::Float(_) => Attr::Float { bits, ty: ty.elem().clone() },
            _ => Attr::Int { value: i128::from(bits), ty: ty.elem().clone() },
        };
        let splat = Attr::Splat { value: Box::new(value), ty: ty.clone() };
        let op = self.op(Opcode::Constant, &[], &[ty], &[("value", splat)]);
        self.out.ops[op].results[0]
    }

    /// An operation on a tile and a number.
    pub(super) fn with(&mut self, opcode: Opcode, tile: ValueId, bits: u64) -> ValueId {
        let other = self.like(tile, bits);
        self.same(opcode, tile, other)
    }

    /// Bytes of two e2m1 numbers as f32: the exponent is read with the bias of f32 and put right by an exact product.
    fn halves(&mut self, tile: ValueId) -> Option<ValueId> {
        let &[rows, bytes] = self.out.ty(tile).shape() else { return None };
        let k = bytes.checked_mul(2)?;
        let shape = [rows, k];
        let both = self.repeated(tile, k)?;
        let word = self.value(Opcode::ExtUI, &[both], &Type::tensor(&shape, Type::I32));
        let place = self.range(k);
        let place = self.stand(place, 1, 2);
        let odd = self.with(Opcode::AndI, place, 1);
        let shift = self.with(Opcode::ShLI, odd, 2);
        let shift = self.broadcast(shift, &shape);
        let code = self.same(Opcode::ShRUI, word, shift);
        let size = self.with(Opcode::AndI, code, 7);
        let low = self.with(Opcode::ShLI, size, 22);
        let single = Type::tensor(&shape, Type::Float(FloatKind::F32));
        let low = self.value(Opcode::ArithBitcast, &[low], &single);
        let number = self.with(Opcode::MulF, low, (127 + 126) << 23);
        let number = self.value(Opcode::ArithBitcast, &[number], &Type::tensor(&shape, Type::I32));
        let sign = self.with(Opcode::AndI, code, 8);
        let sign = self.with(Opcode::ShLI, sign, 28);
        let number = self.same(Opcode::OrI, number, sign);
        Some(self.value(Opcode::ArithBitcast, &[number], &single))
    }

    /// Scales as f32: exponents of two with a bias of 127, the least of them below the normal numbers, 255 no number;
    /// or narrow floats, which have no sign where tensor cores scale by them.
    fn power(&mut self, scale: ValueId) -> ValueId {
        let ty = self.out.ty(scale).clone();
        if let Type::Float(kind) = *ty.elem() {
            let factor = self.float(scale, kind);
            let ty = self.out.ty(factor).clone();
            return self.value(Opcode::AbsF, &[factor], &ty);
        }
        let code = self.value(Opcode::ExtUI, &[scale], &ty.with_elem(Type::I32));
        let mut bits = self.with(Opcode::ShLI, code, 23);
        for (special, instead) in [(0, 0x0040_0000), (255, 0x7fc0_0000)] {
            let special = self.like(code, special);
            let is = self.compare("eq", code, special);
            let instead = self.like(code, instead);
            let all = ty.with_elem(Type::I32);
            bits = self.value(Opcode::Select, &[is, instead, bits], &all);
        }
        self.value(Opcode::ArithBitcast, &[bits], &ty.with_elem(Type::Float(FloatKind::F32)))
    }

    /// A tile [rows, groups] with each element as often as makes `k` columns.
    fn repeated(&mut self, tile: ValueId, k: u64) -> Option<ValueId> {
        let ty = self.out.ty(tile).clone();
        let &[rows, groups] = ty.shape() else { return None };
        if groups == 0 || !k.is_multiple_of(groups) {
            return None;
        }
        let of = |shape: &[u64]| Type::tensor(shape, ty.elem().clone());
        let expand =
            self.op(Opcode::ExpandDims, &[tile], &[of(&[rows, groups, 1])], &[("axis", number(2u64))]);
        let tile = self.out.result(expand)?;
        let tile = self.broadcast(tile, &[rows, groups, k / groups]);
        Some(self.value(Opcode::Reshape, &[tile], &of(&[rows, k])))
    }
}
