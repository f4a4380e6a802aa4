//! Names to registers, symbols to addresses.

use super::Res;
use crate::error::Diagnostic;
use crate::isa::op::{Addr, PSrc, Pred, Reg, Special, Src};
use crate::isa::types::{Ty, low_mask};
use crate::ptx::raw::{Address, Raw, RawEntry, RawInst};
use crate::ptx::scope::{Class, outwards};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Where a named variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub address: u64,
}

/// Everything needed to understand the operands of one entry.
pub(crate) struct Context<'e, 'a> {
    entry: &'e RawEntry<'a>,
    symbols: HashMap<&'a str, Symbol>,
    slots: HashMap<(u32, &'a str), u32>,
    pred_slots: HashMap<(u32, &'a str), u32>,
    /// Width of each general register.
    pub widths: Vec<u8>,
    /// Name of each general register, for reports.
    pub names: Vec<String>,
    opcodes: HashMap<&'a str, u32>,
    pub opcode_list: Vec<String>,
    scope: u32,
    line: u32,
}

impl<'e, 'a> Context<'e, 'a> {
    pub(crate) fn new(entry: &'e RawEntry<'a>, symbols: HashMap<&'a str, Symbol>) -> Self {
        Context {
            entry,
            symbols,
            slots: HashMap::new(),
            pred_slots: HashMap::new(),
            widths: Vec::new(),
            names: Vec::new(),
            opcodes: HashMap::new(),
            opcode_list: Vec::new(),
            scope: 0,
            line: 0,
        }
    }

    pub(crate) fn begin(&mut self, raw: &RawInst<'_>) {
        self.scope = raw.scope;
        self.line = raw.line;
    }

    /// Number of predicate registers in use.
    pub(crate) fn preds(&self) -> usize {
        self.pred_slots.len()
    }

    pub(crate) fn fail(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new("P01", self.line, message, "check the operands of this instruction")
    }

    pub(crate) fn unsupported(&self, message: impl Into<String>, remedy: &str) -> Diagnostic {
        Diagnostic::new("X01", self.line, message, remedy)
    }

    pub(crate) fn opcode(&mut self, text: &'a str) -> u32 {
        let next = self.opcode_list.len() as u32;
        let i = *self.opcodes.entry(text).or_insert(next);
        if i == next {
            self.opcode_list.push(text.to_string());
        }
        i
    }

    fn find(&self, name: &str) -> Option<(Class, u32)> {
        outwards(&self.entry.scopes, self.scope, |s| s.register(name))
    }

    /// The slot of a general register.
    pub(crate) fn reg(&mut self, name: &'a str) -> Res<Reg> {
        match self.find(name) {
            Some((Class::Bits(128), _)) => {
                Err(self.unsupported("128-bit registers", "use two .b64 registers"))
            }
            Some((Class::Bits(w), scope)) => {
                let next = self.widths.len() as u32;
                let slot = *self.slots.entry((scope, name)).or_insert(next);
                if slot == next {
                    self.widths.push(w);
                    self.names.push(name.to_string());
                }
                Ok(slot)
            }
            Some((Class::Pred, _)) => Err(self.fail(format!("predicate {name} where a value is expected"))),
            None => Err(self.fail(format!("'{}' is not declared", clip(name)))),
        }
    }

    /// The slot of a predicate register.
    pub(crate) fn pred(&mut self, name: &'a str) -> Res<Pred> {
        match self.find(name) {
            Some((Class::Pred, scope)) => {
                let next = self.pred_slots.len() as u32;
                Ok(*self.pred_slots.entry((scope, name)).or_insert(next))
            }
            Some(_) => Err(self.fail(format!("{name} is no predicate"))),
            None => Err(self.fail(format!("'{}' is not declared", clip(name)))),
        }
    }

    pub(crate) fn width(&self, reg: Reg) -> u32 {
        self.widths.get(reg as usize).map_or(64, |w| u32::from(*w))
    }

    pub(crate) fn arg<'r>(&self, args: &'r [Raw<'a>], i: usize) -> Res<&'r Raw<'a>> {
        args.get(i).ok_or_else(|| self.fail(format!("operand {} is missing", i + 1)))
    }

    /// Fails unless there are between `low` and `high` operands.
    pub(crate) fn count(&self, args: &[Raw<'a>], low: usize, high: usize) -> Res<()> {
        if (low..=high).contains(&args.len()) {
            return Ok(());
        }
        Err(self.fail(format!("{} operands where {low} to {high} are expected", args.len())))
    }

    /// A destination register.
    pub(crate) fn dst(&mut self, raw: &Raw<'a>) -> Res<Reg> {
        match raw {
            Raw::Name(n) => self.reg(n),
            _ => Err(self.fail("a destination must be a register")),
        }
    }

    /// A destination register or `_`.
    pub(crate) fn dst_opt(&mut self, raw: &Raw<'a>) -> Res<Option<Reg>> {
        match raw {
            Raw::Name("_") => Ok(None),
            other => self.dst(other).map(Some),
        }
    }

    /// A predicate destination, or `_`.
    pub(crate) fn pdst(&mut self, raw: &Raw<'a>) -> Res<Option<Pred>> {
        match raw {
            Raw::Name("_") => Ok(None),
            Raw::Name(n) => self.pred(n).map(Some),
            _ => Err(self.fail("a destination must be a predicate")),
        }
    }

    /// `d|p`, or `d` alone.
    pub(crate) fn dst_pair(&mut self, raw: &Raw<'a>) -> Res<(Option<Reg>, Option<Pred>)> {
        match raw {
            Raw::Pair(d, p) => {
                let d = if *d == "_" { None } else { Some(self.reg(d)?) };
                let p = if *p == "_" { None } else { Some(self.pred(p)?) };
                Ok((d, p))
            }
            other => Ok((self.dst_opt(other)?, None)),
        }
    }

    /// A predicate operand: register, negation, or a constant.
    pub(crate) fn psrc(&mut self, raw: &Raw<'a>) -> Res<PSrc> {
        match raw {
            Raw::Name("PT") => Ok(PSrc::Imm(true)),
            Raw::Name(n) => Ok(PSrc::Reg(self.pred(n)?, false)),
            Raw::Not(n) => Ok(PSrc::Reg(self.pred(n)?, true)),
            Raw::Int(v) => Ok(PSrc::Imm(*v != 0)),
            _ => Err(self.fail("a predicate is expected")),
        }
    }

    /// A value operand of a type: constants are cut or converted to it.
    pub(crate) fn src(&mut self, raw: &Raw<'a>, ty: Ty) -> Res<Src> {
        Ok(match raw {
            Raw::Int(v) => Src::Imm(match ty {
                Ty::F32 => return Err(self.fail("an integer where an f32 is expected")),
                Ty::F64 => return Err(self.fail("an integer where an f64 is expected")),
                _ => *v & low_mask(ty.bits()),
            }),
            Raw::F32(v) => Src::Imm(match ty {
                Ty::F64 => f64::from(f32::from_bits(*v)).to_bits(),
                _ => u64::from(*v),
            }),
            Raw::F64(v) => Src::Imm(match ty {
                Ty::F32 => u64::from((f64::from_bits(*v) as f32).to_bits()),
                _ => *v,
            }),
            Raw::Name(n) => self.name(n)?,
            Raw::Plus(n, k) => match self.name(n)? {
                Src::Reg(r) => Src::Plus(r, *k as u64),
                Src::Imm(v) => Src::Imm(v.wrapping_add(*k as u64)),
                _ => return Err(self.fail("a register or symbol is expected before '+'")),
            },
            _ => return Err(self.fail("a value is expected")),
        })
    }

    /// A register, symbol or special register.
    fn name(&mut self, n: &'a str) -> Res<Src> {
        if self.find(n).is_some() {
            return self.reg(n).map(Src::Reg);
        }
        if let Some(s) = self.symbols.get(n) {
            return Ok(Src::Imm(s.address));
        }
        if n == "WARP_SZ" {
            return Ok(Src::Imm(32));
        }
        match special(n) {
            Some(s) => Ok(Src::Special(s)),
            None if n.starts_with('%') => Err(self
                .unsupported(format!("register '{}' is not declared and not known", clip(n)), "declare it")),
            None => Err(self.fail(format!("'{}' is not declared", clip(n)))),
        }
    }

    /// A memory operand.
    pub(crate) fn addr(&mut self, raw: &Raw<'a>) -> Res<Addr> {
        match raw {
            Raw::Address(a) if a.coords.is_empty() => self.address(a),
            _ => Err(self.fail("an address in brackets is expected")),
        }
    }

    /// Base and offset of a memory operand, without its coordinates.
    pub(crate) fn address(&mut self, a: &Address<'a>) -> Res<Addr> {
        let base = match a.base {
            None => Src::Imm(0),
            Some(n) => self.name(n)?,
        };
        Ok(Addr { base, offset: a.offset as u64 })
    }

    /// The operands of `{...}`, or the single one.
    pub(crate) fn parts<'r>(&self, raw: &'r Raw<'a>) -> &'r [Raw<'a>] {
        match raw {
            Raw::Vector(v) => v,
            other => std::slice::from_ref(other),
        }
    }

    /// Instruction index of a label.
    pub(crate) fn label(&self, raw: &Raw<'a>) -> Res<u32> {
        match raw {
            Raw::Name(n) => self.label_named(n, self.scope),
            _ => Err(self.fail("a label is expected")),
        }
    }

    fn label_named(&self, n: &str, scope: u32) -> Res<u32> {
        outwards(&self.entry.scopes, scope, |s| s.labels.get(n).copied())
            .map(|(at, _)| at)
            .ok_or_else(|| self.fail(format!("label '{}' is not in reach", clip(n))))
    }

    /// The labels of a `.branchtargets` list.
    pub(crate) fn targets(&self, raw: &Raw<'a>) -> Res<Vec<u32>> {
        let Raw::Name(n) = raw else { return Err(self.fail("a .branchtargets label is expected")) };
        let (list, scope) = outwards(&self.entry.scopes, self.scope, |s| s.targets.get(n))
            .ok_or_else(|| self.fail(format!("'{}' names no .branchtargets", clip(n))))?;
        list.iter().map(|l| self.label_named(l, scope)).collect()
    }
}

fn clip(n: &str) -> String {
    n.chars().take(40).collect()
}

fn special(n: &str) -> Option<Special> {
    let n = n.strip_prefix('%')?;
    if let Some((head, axis)) = n.split_once('.') {
        let axis = match axis {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => return None,
        };
        return Some(match head {
            "tid" => Special::Tid(axis),
            "ntid" => Special::Ntid(axis),
            "ctaid" => Special::Ctaid(axis),
            "nctaid" => Special::Nctaid(axis),
            "cluster_ctaid" => Special::ClusterCtaid(axis),
            "cluster_nctaid" => Special::ClusterNctaid(axis),
            "clusterid" => Special::ClusterId(axis),
            "nclusterid" => Special::NClusterId(axis),
            _ => return None,
        });
    }
    Some(match n {
        "laneid" => Special::LaneId,
        "warpid" => Special::WarpId,
        "nwarpid" => Special::NWarpId,
        "smid" => Special::SmId,
        "nsmid" => Special::NSmId,
        "gridid" => Special::GridId,
        "clock" | "clock64" | "clock_hi" => Special::Clock,
        "globaltimer" | "globaltimer_lo" | "globaltimer_hi" => Special::GlobalTimer,
        "lanemask_eq" => Special::LaneMask(Ordering::Equal, false),
        "lanemask_lt" => Special::LaneMask(Ordering::Less, false),
        "lanemask_le" => Special::LaneMask(Ordering::Less, true),
        "lanemask_gt" => Special::LaneMask(Ordering::Greater, false),
        "lanemask_ge" => Special::LaneMask(Ordering::Greater, true),
        "cluster_ctarank" => Special::ClusterRank,
        "cluster_nctarank" => Special::ClusterSize,
        "dynamic_smem_size" => Special::DynamicSmem,
        "total_smem_size" => Special::TotalSmem,
        _ => return None,
    })
}
