//! `tt.atomic_rmw`: reductions in global memory where nobody reads the old value, atomics where somebody does.

use std::fmt::Write;

use inkwell::types::BasicTypeEnum;
use warploom_chips::{Feature, PtxVersion};
use warploom_ir::diag::Code;
use warploom_ir::{Attr, FloatKind, OpId, Type};

use super::Lower;
use super::update::{Atomic, LOAD, STORE, Stored};
use super::value::Bound;
use crate::error::{Result, internal, refuse};
use crate::llvm::Val;

/// First version with vectors of reductions (PTX ISA 8.1, sm_90).
const VECTORS: PtxVersion = PtxVersion { major: 8, minor: 1 };

impl<'c> Lower<'c, '_> {
    /// `tt.atomic_rmw`.
    pub(super) fn atomic(&mut self, op: OpId) -> Result<()> {
        let result = self.only_result(op)?;
        let unread = self.last_use[result] == 0;
        let found = self.atomic_kind(op)?;
        // Nobody acquires what nobody looks at.
        let order = match found.order {
            "acq_rel" if unread => "release",
            "acquire" if unread => "relaxed",
            order => order,
        };
        let atomic = if found.by_swapping() { found } else { Atomic { order, ..found } };
        let stored = self.stored(op, Some(atomic))?;
        if unread && matches!(atomic.order, "relaxed" | "release") && !atomic.by_swapping() {
            self.before_release(op, atomic)?;
            self.put(&stored)?;
            // Nobody asks for the old values.
            self.bound.insert(result, Bound::Poison);
            return Ok(());
        }
        self.fetch_all(op, &stored, atomic)
    }

    /// The operation, its type and its order, as PTX names them.
    fn atomic_kind(&self, op: OpId) -> Result<Atomic> {
        let word = |name: &str| self.module.attr(op, name).and_then(Attr::as_str).unwrap_or("");
        let elem = self.module.ty(self.operand(op, 1)?).elem();
        let unsigned = |name: &'static str| match elem {
            Type::Int(32, _) => Some((name, "u32", None)),
            Type::Int(64, _) => Some((name, "u64", None)),
            _ => None,
        };
        let signed = |name: &'static str| match elem {
            Type::Int(32, _) => Some((name, "s32", None)),
            Type::Int(64, _) => Some((name, "s64", None)),
            _ => None,
        };
        let bits = |name: &'static str| match elem {
            Type::Int(32, _) | Type::Float(FloatKind::F32) => Some((name, "b32", None)),
            Type::Int(64, _) | Type::Float(FloatKind::F64) => Some((name, "b64", None)),
            _ => None,
        };
        let whole = matches!(elem, Type::Int(..));
        let kind = match word("atomic_rmw_op") {
            "fadd" => match elem {
                Type::Float(FloatKind::F32) => Some(("add", "f32", None)),
                Type::Float(FloatKind::F64) => Some(("add", "f64", None)),
                Type::Float(FloatKind::F16) => Some(("add.noftz", "f16", Some("f16x2"))),
                // PTX has it from sm_90 on; before, sums are swapped in.
                Type::Float(FloatKind::BF16) if self.ir.target.chip.capability < 90 => {
                    Some(("add", "bf16", None))
                }
                Type::Float(FloatKind::BF16) => Some(("add.noftz", "bf16", Some("bf16x2"))),
                _ => None,
            },
            "add" => unsigned("add"),
            "max" | "min" if !whole => match (elem, word("atomic_rmw_op") == "max") {
                (Type::Float(FloatKind::F16), true) => Some(("max", "f16", None)),
                (Type::Float(FloatKind::F16), false) => Some(("min", "f16", None)),
                (Type::Float(FloatKind::BF16), true) => Some(("max", "bf16", None)),
                (Type::Float(FloatKind::BF16), false) => Some(("min", "bf16", None)),
                _ => None,
            },
            "max" if whole => signed("max"),
            "min" if whole => signed("min"),
            "umax" if whole => unsigned("max"),
            "umin" if whole => unsigned("min"),
            "and" if whole => bits("and"),
            "or" if whole => bits("or"),
            "xor" if whole => bits("xor"),
            "exch" => bits("exch"),
            _ => None,
        };
        let Some((name, ty, packed)) = kind else {
            let text = format!("tt.atomic_rmw {} of {elem}", word("atomic_rmw_op"));
            let known = "fadd of f16, bf16, f32, f64; min, max of f16, bf16; add, and, or, xor, min, max, exch of i32, i64";
            return Err(refuse(Code::Op, text).rule("C3").note("instead", known).into());
        };
        let (order, scope) = self.order_and_scope(op)?;
        Ok(Atomic { name, ty, packed, order, scope })
    }

    /// `tt.atomic_cas`.
    pub(super) fn compare_and_swap(&mut self, op: OpId) -> Result<()> {
        let (order, scope) = self.order_and_scope(op)?;
        let stored = Stored { mask: None, ..self.stored(op, None)? };
        let ty = match stored.bits {
            16 => "b16",
            32 => "b32",
            64 => "b64",
            _ => return Err(self.bad_type(op)),
        };
        self.fetch_all(op, &stored, Atomic { name: "cas", ty, packed: None, order, scope })
    }

    /// `tt.atomic_load`.
    pub(super) fn atomic_load(&mut self, op: OpId) -> Result<()> {
        let (order, scope) = self.order_and_scope(op)?;
        let pointer = self.operand(op, 0)?;
        let elem = self.result_elem(op)?;
        let (bits, ty) = self.memory_word(op, elem)?;
        let mask = self.module.ops[op].operands.get(1).copied();
        let module = self.module;
        let elem = module.ty(self.only_result(op)?).elem();
        let stored = Stored { pointer, value: pointer, mask, elem, bits, cache: "", atomic: None };
        self.fetch_all(op, &stored, Atomic { name: LOAD, ty, packed: None, order, scope })
    }

    /// `tt.atomic_store`.
    pub(super) fn atomic_store(&mut self, op: OpId) -> Result<()> {
        let (order, scope) = self.order_and_scope(op)?;
        let elem = self.module.ty(self.operand(op, 1)?).elem().clone();
        let (_, ty) = self.memory_word(op, &elem)?;
        let atomic = Atomic { name: STORE, ty, packed: None, order, scope };
        let stored = self.stored(op, Some(atomic))?;
        let scalar = !self.module.ty(stored.pointer).is_tensor();
        if scalar && order == "release" && !self.place.elected {
            self.meet_all()?;
        }
        self.put(&stored)
    }

    /// Bits of an element in memory, and their PTX type.
    fn memory_word(&self, op: OpId, elem: &Type) -> Result<(u32, &'static str)> {
        match elem.elem_bits() {
            Some(8) => Ok((8, "b8")),
            Some(16) => Ok((16, "b16")),
            Some(32) => Ok((32, "b32")),
            Some(64) => Ok((64, "b64")),
            _ => Err(self.bad_type(op)),
        }
    }

    pub(super) fn order_and_scope(&self, op: OpId) -> Result<(&'static str, &'static str)> {
        let word = |name: &str| self.module.attr(op, name).and_then(Attr::as_str).unwrap_or("");
        let order = ["relaxed", "acquire", "release", "acq_rel"].into_iter().find(|&o| o == word("sem"));
        let scope = ["gpu", "cta", "sys"].into_iter().find(|&s| s == word("scope"));
        order.zip(scope).ok_or_else(|| {
            let text = format!("{} needs an order and a scope", self.module.op_name(op));
            refuse(Code::Verify, text).into()
        })
    }

    /// Most elements that one reduction takes.
    pub(super) fn updates_together(&self, atomic: Atomic, bits: u32) -> u64 {
        let vectors = self.ir.ptx >= VECTORS && self.ir.target.has(Feature::TmaLoad);
        match (atomic.ty, atomic.packed) {
            _ if matches!(atomic.name, "exch" | STORE) => 1,
            ("f32", _) if vectors => 4,
            (_, Some(_)) if vectors => 8,
            (_, Some(_)) => u64::from(32 / bits.max(1)),
            _ => 1,
        }
    }

    /// Updates memory by words of one row, behind a pointer; the old values are dropped.
    pub(super) fn update(
        &mut self,
        atomic: Atomic,
        stored: &Stored,
        to: Val<'c>,
        words: &[Val<'c>],
        mask: Option<Val<'c>>,
    ) -> Result<()> {
        let Some(BasicTypeEnum::IntType(ty)) = words.first().map(|w| w.get_type()) else {
            return Err(internal("an update by no words"));
        };
        let pairs = stored.bits == 16 && ty.get_bit_width() == 32;
        let ty_name = if pairs { atomic.packed.unwrap_or(atomic.ty) } else { atomic.ty };
        let Atomic { name, order, scope, .. } = atomic;
        let class = match ty.get_bit_width() {
            64 => ",l",
            16 => ",h",
            _ => ",r",
        };
        let count = words.len();
        let mut text = String::new();
        if mask.is_some() {
            let _ = write!(text, "@${} ", count + 1);
        }
        // A reduction returns nothing; an exchange is no reduction.
        let (verb, sink) = match name {
            "exch" => ("atom", "_, "),
            STORE => (STORE, ""),
            _ => ("red", ""),
        };
        let (name, noftz) = name.split_once('.').map_or((name, ""), |(name, _)| (name, ".noftz"));
        let name = if name == STORE { String::new() } else { format!(".{name}") };
        let vector = if count > 1 { format!(".v{count}") } else { String::new() };
        let list: Vec<String> = (0..count).map(|i| format!("${}", i + 1)).collect();
        let list = if count > 1 { format!("{{{}}}", list.join(", ")) } else { list.concat() };
        let _ =
            write!(text, "{verb}.{order}.{scope}.global{name}{noftz}{vector}.{ty_name} {sink}[$0], {list};");
        let mut args = vec![to];
        args.extend(words);
        args.extend(mask);
        let constraints = format!("l{}{}", class.repeat(count), if mask.is_some() { ",b" } else { "" });
        self.ir.assembly(&text, &constraints, &[], &args, false).map(|_| ())
    }
}
