//! Names to registers, symbols to addresses.

use crate::error::RefusalReason;
use crate::isa::op::{Addr, PSrc, Pred, Reg, Special, Src};
use crate::isa::types::{Ty, low_mask};
use std::cmp::Ordering;
use std::collections::HashMap;
use warploom_ptx::{Address, Code, Operand, RegisterClass, Step};

pub(crate) type Res<T> = Result<T, RefusalReason>;

/// Where a named variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// At an address of its space.
    At(u64),
    /// In the frame of the function, so many bytes behind its beginning.
    Frame(u32),
}

/// What the bodies that are decoded together have in common: a kernel and the functions it calls.
#[derive(Debug, Default)]
pub(crate) struct Together<'a> {
    /// Width of each general register.
    pub widths: Vec<u8>,
    /// Name of each general register, for reports.
    pub names: Vec<String>,
    opcodes: HashMap<&'a str, u32>,
    pub opcode_list: Vec<String>,
    /// Predicate registers so far.
    pub preds: u32,
    pub predicate_names: Vec<String>,
    /// Instructions so far.
    pub first: u32,
    /// Functions with a body, by name: their numbers among those decoded.
    pub functions: HashMap<&'a str, u32>,
}

/// Everything needed to understand the operands of one body.
pub(crate) struct Context<'e, 'a> {
    code: &'e Code<'e, 'a>,
    symbols: HashMap<&'a str, Symbol>,
    slots: HashMap<(u32, &'a str), u32>,
    pred_slots: HashMap<(u32, &'a str), u32>,
    pub together: Together<'a>,
    /// A device function, which returns, and not a kernel.
    pub function: bool,
    scope: u32,
    line: u32,
}

impl<'e, 'a> Context<'e, 'a> {
    pub(crate) fn new(
        code: &'e Code<'e, 'a>,
        symbols: HashMap<&'a str, Symbol>,
        together: Together<'a>,
        function: bool,
    ) -> Self {
        Context {
            code,
            symbols,
            slots: HashMap::new(),
            pred_slots: HashMap::new(),
            together,
            function,
            scope: 0,
            line: 0,
        }
    }

    pub(crate) fn begin(&mut self, step: &Step<'_, '_>) {
        self.scope = step.scope;
        self.line = step.instruction.line.0;
    }

    pub(crate) fn fail(&self, message: impl Into<String>) -> RefusalReason {
        RefusalReason::new("P01", self.line, message, "check the operands of this instruction")
    }

    pub(crate) fn unsupported(&self, message: impl Into<String>, remedy: &str) -> RefusalReason {
        RefusalReason::new("X01", self.line, message, remedy)
    }

    pub(crate) fn opcode(&mut self, text: &'a str) -> u32 {
        let next = self.together.opcode_list.len() as u32;
        let i = *self.together.opcodes.entry(text).or_insert(next);
        if i == next {
            self.together.opcode_list.push(text.to_string());
        }
        i
    }

    fn find(&self, name: &str) -> Option<(RegisterClass, u32)> {
        self.code.register(name, self.scope)
    }

    /// The slot of a general register.
    pub(crate) fn reg(&mut self, name: &'a str) -> Res<Reg> {
        match self.find(name) {
            Some((RegisterClass::Bits(128), _)) => Err(self.unsupported(
                format!("{name} of 128 bits"),
                "mov, ld, st, atom.exch and atom.cas have such registers",
            )),
            Some((RegisterClass::Bits(w), scope)) => {
                let next = self.together.widths.len() as u32;
                let slot = *self.slots.entry((scope, name)).or_insert(next);
                if slot == next {
                    self.together.widths.push(w);
                    self.together.names.push(name.to_string());
                }
                Ok(slot)
            }
            Some((RegisterClass::Predicate, _)) => {
                Err(self.fail(format!("predicate {name} where a value is expected")))
            }
            Some(_) => Err(self.unsupported(format!("the type of {name}"), "use registers of .b8 to .b64")),
            None => Err(self.fail(format!("'{}' is not declared", clip(name)))),
        }
    }

    /// The slots of a register of 128 bits, the low half first.
    pub(crate) fn wide(&mut self, raw: &Operand<'a>) -> Res<[Reg; 2]> {
        let Operand::Name(name) = raw else { return Err(self.fail("a register of 128 bits is expected")) };
        let Some((RegisterClass::Bits(128), scope)) = self.find(name) else {
            return Err(self.fail(format!("'{}' is no register of 128 bits", clip(name))));
        };
        let next = self.together.widths.len() as u32;
        let slot = *self.slots.entry((scope, name)).or_insert(next);
        if slot == next {
            self.together.widths.extend([64, 64]);
            self.together.names.extend([format!("{name} (low)"), format!("{name} (high)")]);
        }
        Ok([slot, slot + 1])
    }

    /// The slot of a predicate register.
    pub(crate) fn pred(&mut self, name: &'a str) -> Res<Pred> {
        match self.find(name) {
            Some((RegisterClass::Predicate, scope)) => {
                let next = self.together.preds;
                let slot = *self.pred_slots.entry((scope, name)).or_insert(next);
                if slot == next {
                    self.together.preds += 1;
                    self.together.predicate_names.push(name.to_string());
                }
                Ok(slot)
            }
            Some(_) => Err(self.fail(format!("{name} is no predicate"))),
            None => Err(self.fail(format!("'{}' is not declared", clip(name)))),
        }
    }

    pub(crate) fn width(&self, reg: Reg) -> u32 {
        self.together.widths.get(reg as usize).map_or(64, |w| u32::from(*w))
    }

    pub(crate) fn arg<'r>(&self, args: &'r [Operand<'a>], i: usize) -> Res<&'r Operand<'a>> {
        args.get(i).ok_or_else(|| self.fail(format!("operand {} is missing", i + 1)))
    }

    /// Fails unless there are between `low` and `high` operands.
    pub(crate) fn count(&self, args: &[Operand<'a>], low: usize, high: usize) -> Res<()> {
        if (low..=high).contains(&args.len()) {
            return Ok(());
        }
        Err(self.fail(format!("{} operands where {low} to {high} are expected", args.len())))
    }

    /// A destination register.
    pub(crate) fn dst(&mut self, raw: &Operand<'a>) -> Res<Reg> {
        match raw {
            Operand::Name(n) => self.reg(n),
            _ => Err(self.fail("a destination must be a register")),
        }
    }

    /// A destination register or `_`.
    pub(crate) fn dst_opt(&mut self, raw: &Operand<'a>) -> Res<Option<Reg>> {
        match raw {
            Operand::Name("_") => Ok(None),
            other => self.dst(other).map(Some),
        }
    }

    /// A predicate destination, or `_`.
    pub(crate) fn pdst(&mut self, raw: &Operand<'a>) -> Res<Option<Pred>> {
        match raw {
            Operand::Name("_") => Ok(None),
            Operand::Name(n) => self.pred(n).map(Some),
            _ => Err(self.fail("a destination must be a predicate")),
        }
    }

    /// `d|p`, or `d` alone.
    pub(crate) fn dst_pair(&mut self, raw: &Operand<'a>) -> Res<(Option<Reg>, Option<Pred>)> {
        match raw {
            Operand::Pair(d, p) => {
                let d = if *d == "_" { None } else { Some(self.reg(d)?) };
                let p = if *p == "_" { None } else { Some(self.pred(p)?) };
                Ok((d, p))
            }
            other => Ok((self.dst_opt(other)?, None)),
        }
    }

    /// A predicate operand: register, negation, or a constant.
    pub(crate) fn psrc(&mut self, raw: &Operand<'a>) -> Res<PSrc> {
        match raw {
            Operand::Name("PT") => Ok(PSrc::Imm(true)),
            Operand::Name(n) => Ok(PSrc::Reg(self.pred(n)?, false)),
            Operand::Not(n) => Ok(PSrc::Reg(self.pred(n)?, true)),
            Operand::Int(v) => Ok(PSrc::Imm(*v != 0)),
            _ => Err(self.fail("a predicate is expected")),
        }
    }

    /// A value operand of a type: constants are cut or converted to it.
    pub(crate) fn src(&mut self, raw: &Operand<'a>, ty: Ty) -> Res<Src> {
        Ok(match raw {
            Operand::Int(v) => Src::Imm(match ty {
                Ty::F32 => return Err(self.fail("an integer where an f32 is expected")),
                Ty::F64 => return Err(self.fail("an integer where an f64 is expected")),
                _ => *v & low_mask(ty.bits()),
            }),
            Operand::F32(v) => Src::Imm(match ty {
                Ty::F64 => f64::from(f32::from_bits(*v)).to_bits(),
                _ => u64::from(*v),
            }),
            Operand::F64(v) => Src::Imm(match ty {
                Ty::F32 => u64::from((f64::from_bits(*v) as f32).to_bits()),
                _ => *v,
            }),
            Operand::Name(n) => self.name(n)?,
            Operand::Plus(n, k) => match self.name(n)? {
                Src::Reg(r) => Src::Plus(r, *k as u64),
                Src::Imm(v) => Src::Imm(v.wrapping_add(*k as u64)),
                Src::Frame(v) => Src::Frame(v.wrapping_add(*k as u32)),
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
        match self.symbols.get(n) {
            Some(Symbol::At(address)) => return Ok(Src::Imm(*address)),
            Some(Symbol::Frame(offset)) => return Ok(Src::Frame(*offset)),
            None => {}
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
    pub(crate) fn addr(&mut self, raw: &Operand<'a>) -> Res<Addr> {
        match raw {
            Operand::Address(a) if a.coords.is_empty() => self.address(a),
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
    pub(crate) fn parts<'r>(&self, raw: &'r Operand<'a>) -> &'r [Operand<'a>] {
        match raw {
            Operand::Vector(v) => v,
            other => std::slice::from_ref(other),
        }
    }

    /// Where in the frame a parameter of a call stands.
    pub(crate) fn frame(&self, raw: &Operand<'a>) -> Res<u32> {
        match raw {
            Operand::Name(n) => match self.symbols.get(n) {
                Some(Symbol::Frame(offset)) => Ok(*offset),
                _ => Err(self.unsupported(
                    format!("'{}' is passed in a register", clip(n)),
                    "pass it in a .param variable, as the ABI has it",
                )),
            },
            _ => Err(self.unsupported("a constant is passed to a call", "pass it in a .param variable")),
        }
    }

    /// Instruction index of a label.
    pub(crate) fn label(&self, raw: &Operand<'a>) -> Res<u32> {
        match raw {
            Operand::Name(n) => self.label_named(n, self.scope),
            _ => Err(self.fail("a label is expected")),
        }
    }

    fn label_named(&self, n: &str, scope: u32) -> Res<u32> {
        let found = self.code.label(n, scope);
        found
            .map(|at| at + self.together.first)
            .ok_or_else(|| self.fail(format!("label '{}' is not in reach", clip(n))))
    }

    /// The labels of a `.branchtargets` list.
    pub(crate) fn targets(&self, raw: &Operand<'a>) -> Res<Vec<u32>> {
        let Operand::Name(n) = raw else { return Err(self.fail("a .branchtargets label is expected")) };
        let (list, scope) = self
            .code
            .targets(n, self.scope)
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
        "clock" | "clock64" => Special::Clock,
        "globaltimer" | "globaltimer_lo" => Special::GlobalTimer,
        "lanemask_eq" => Special::LaneMask(Ordering::Equal, false),
        "lanemask_lt" => Special::LaneMask(Ordering::Less, false),
        "lanemask_le" => Special::LaneMask(Ordering::Less, true),
        "lanemask_gt" => Special::LaneMask(Ordering::Greater, false),
        "lanemask_ge" => Special::LaneMask(Ordering::Greater, true),
        "cluster_ctarank" => Special::ClusterRank,
        "cluster_nctarank" => Special::ClusterSize,
        "dynamic_smem_size" => Special::DynamicSmem,
        "total_smem_size" | "aggr_smem_size" => Special::TotalSmem,
        "reserved_smem_offset_begin" | "reserved_smem_offset_0" | "reserved_smem_offset_1" => {
            Special::ReservedSmem
        }
        "reserved_smem_offset_end" | "reserved_smem_offset_cap" => Special::ReservedSmemEnd,
        "envreg2" => Special::GridWorkspace(false),
        "envreg1" => Special::GridWorkspace(true),
        "clock_hi" | "globaltimer_hi" | "current_graph_exec" => Special::Zero,
        n if n.starts_with("envreg") || n.starts_with("pm") && n.len() <= 6 => Special::Zero,
        _ => return None,
    })
}
