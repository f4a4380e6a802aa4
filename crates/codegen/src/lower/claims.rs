//! `tt.assert` and `tt.print`, by the device runtime as Triton calls it: `__assertfail` and `vprintf` (C3).

use std::fmt::Write;

use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as Llvm, IntValue};
use warploom_ir::diag::Code;
use warploom_ir::{Attr, FloatKind, OpId, Opcode, Type, ValueId};

use super::Lower;
use super::value::Coords;
use crate::error::{Result, called_from, refuse};
use crate::intrinsic::PROGRAM;
use crate::llvm::{Val, as_int};

/// Most arguments that `vprintf` takes.
const ARGUMENTS: usize = 32;

/// What `vprintf` is to print: a conversion of C's for each value.
#[derive(Default)]
struct Line<'c> {
    format: String,
    values: Vec<Val<'c>>,
}

impl<'c> Lower<'c, '_> {
    /// `tt.assert`: each lane looks at what it holds.
    pub(super) fn assert(&mut self, op: OpId) -> Result<()> {
        let holds = self.all_hold(self.operand(op, 0)?)?;
        self.fail_unless(op, holds)
    }

    /// `tt.assert` in the region of a reduction or scan: only where what is combined is kept.
    pub(super) fn assert_kept(&mut self, op: OpId, kept: Option<IntValue<'c>>) -> Result<()> {
        let holds = self.int(self.operand(op, 0)?)?;
        let holds = match kept {
            Some(kept) => self.ir.or(holds, self.ir.xor(kept, kept.get_type().const_all_ones())?)?,
            None => holds,
        };
        self.fail_unless(op, holds)
    }

    /// Ends the kernel with the message of `op` where a condition does not hold.
    fn fail_unless(&mut self, op: OpId, holds: IntValue<'c>) -> Result<()> {
        let message = self.module.attr(op, "message").and_then(Attr::as_str).unwrap_or("");
        let (file, line, _) = called_from(self.module, op).unwrap_or(("unknown", 0, 0));
        let (fails, done) = (self.ir.block(), self.ir.block());
        self.ir.br_if(holds, done, fails)?;
        self.ir.seek(fails);
        let (message, file) = (self.ir.text(message)?, self.ir.text(file)?);
        let function = self.ir.text(self.program.name)?;
        let args = [message, file, self.ir.c32(u64::from(line)).into(), function, self.ir.c64(1).into()];
        self.ir.call_runtime("__assertfail", None, &args)?;
        self.ir.br(done)?;
        self.ir.seek(done);
        Ok(())
    }

    /// Whether a truth holds, or every one that this lane holds.
    fn all_hold(&mut self, value: ValueId) -> Result<IntValue<'c>> {
        if !self.module.ty(value).is_tensor() {
            return self.int(value);
        }
        let family = self.family()?;
        let (form, mut all) = (self.form_now(value, family)?, self.always());
        for one in self.held_elements(value, form)? {
            all = self.ir.binary(Llvm::And, all, one)?;
        }
        as_int(all)
    }

    /// `tt.print`: a line for each element, by the lane that acts for it: the program, the place, the value.
    pub(super) fn print(&mut self, op: OpId) -> Result<()> {
        let operands = self.module.ops[op].operands.to_vec();
        let prefix = self.module.attr(op, "prefix").and_then(Attr::as_str).unwrap_or("").to_owned();
        let program = self.program_line()?;
        if operands.is_empty() {
            let first = self.first_thread()?;
            let line = Line { format: format!("{}{}\n", program.format, escaped(&prefix)), ..program };
            return self.print_if(Some(first), &line);
        }
        let several = operands.len() > 1;
        for (n, &value) in operands.iter().enumerate() {
            let name = if several { format!("(operand {n}) ") } else { String::new() };
            let conversion = self.conversion(op, n, value)?;
            let places = match self.module.ty(value).is_tensor() {
                true => {
                    let family = self.family()?;
                    let form = self.form_now(value, family)?;
                    let owner = self.owner(value, family, form)?;
                    let places = self.places(value, family, form)?;
                    self.reach(value, &places)?;
                    places.into_iter().map(|at| (at, owner)).collect()
                }
                false => vec![(Coords::new(), Some(self.first_thread()?))],
            };
            for (at, owner) in places {
                let mut line = Line { format: program.format.clone(), values: program.values.clone() };
                line.format.push_str(" idx (");
                for (d, (coord, extent)) in at.iter().zip(self.module.ty(value).shape()).enumerate() {
                    let width = extent.saturating_sub(1).max(1).to_string().len();
                    let _ = write!(line.format, "{}%{width}u", if d == 0 { "" } else { ", " });
                    line.values.push(self.coordinate(*coord)?.into());
                }
                let _ = writeln!(line.format, "){}{name}{conversion}", escaped(&prefix));
                let element = match at.is_empty() {
                    true => self.scalar(value)?,
                    false => self.at(value, at)?,
                };
                line.values.push(self.promoted(op, n, value, element)?);
                self.print_if(owner, &line)?;
            }
        }
        Ok(())
    }

    /// `pid (x, y, z)`.
    fn program_line(&mut self) -> Result<Line<'c>> {
        let values = PROGRAM.into_iter().map(|name| self.ir.intrinsic(name, &[])).collect::<Result<_>>()?;
        Ok(Line { format: "pid (%u, %u, %u)".to_owned(), values })
    }

    /// Whether the author calls the integers of operand `n` signed.
    fn is_signed(&self, op: OpId, n: usize) -> bool {
        match self.module.attr(op, "isSigned") {
            Some(Attr::DenseArray { values, .. }) => values.get(n).is_none_or(|&signed| signed != 0),
            _ => true,
        }
    }

    /// C's conversion for operand `n`.
    fn conversion(&self, op: OpId, n: usize, value: ValueId) -> Result<String> {
        let elem = self.module.ty(value).elem();
        let bits = elem.elem_bits().unwrap_or(64);
        let long = if bits > 32 { "ll" } else { "" };
        let hex = matches!(self.module.attr(op, "hex"), Some(Attr::Bool(true)));
        Ok(match elem {
            Type::Ptr { .. } => "%p".to_owned(),
            Type::Int(..) | Type::Float(_) if hex => format!("0x%0{}{long}x", bits.div_ceil(4)),
            Type::Float(_) => "%f".to_owned(),
            Type::Int(..) if self.is_signed(op, n) => format!("%{long}i"),
            Type::Int(..) => format!("%{long}u"),
            _ => return Err(self.bad_type(op)),
        })
    }

    /// An element as C passes it behind a format: integers of 32 bits at least, f64.
    fn promoted(&mut self, op: OpId, n: usize, value: ValueId, element: Val<'c>) -> Result<Val<'c>> {
        let elem = self.module.ty(value).elem().clone();
        let bits = elem.elem_bits().unwrap_or(64);
        let hex = matches!(self.module.attr(op, "hex"), Some(Attr::Bool(true)));
        let (int, cast) = match self.is_signed(op, n) && !hex && bits > 1 {
            true => (bits < 32, Llvm::SExt),
            false => (bits < 32, Llvm::ZExt),
        };
        match elem {
            Type::Float(_) if hex => {
                let word = as_int(self.ir.bits(element, self.ir.int(bits).into())?)?;
                Ok(if int { self.ir.zext(word, self.ir.i32())?.into() } else { word.into() })
            }
            Type::Float(FloatKind::F64) => Ok(element),
            Type::Float(kind) => {
                let single = self.widened(op, element, kind)?;
                self.ir.cast(Llvm::FPExt, single, self.ir.f64().into())
            }
            Type::Int(..) if int => self.ir.cast(cast, element, self.ir.i32().into()),
            _ => Ok(element),
        }
    }

    /// Prints a line where the condition holds.
    fn print_if(&mut self, condition: Option<Val<'c>>, line: &Line<'c>) -> Result<()> {
        if line.values.len() > ARGUMENTS {
            let text = format!("tt.print of {} numbers in a line", line.values.len());
            return Err(refuse(Code::Op, text).rule("C3").note("needs", "32 at most").into());
        }
        let done = self.only_where(condition)?;
        let list = self.ir.own_bytes(8 * ARGUMENTS as u32)?;
        let mut at = 0u32;
        for &value in &line.values {
            let bytes = match value.get_type() {
                BasicTypeEnum::IntType(ty) if ty.get_bit_width() == 32 => 4,
                _ => 8,
            };
            at = at.next_multiple_of(bytes);
            self.ir.store(value, self.ir.plus(list, u64::from(at))?, bytes)?;
            at += bytes;
        }
        let format = self.ir.text(&line.format)?;
        self.ir.call_runtime("vprintf", Some(self.ir.i32().into()), &[format, list.into()])?;
        self.rejoin(done)
    }

    /// `tt.assert` or `tt.print`.
    pub(super) fn claim(&mut self, op: OpId) -> Result<()> {
        match self.module.ops[op].opcode {
            Opcode::Assert => self.assert(op),
            _ => self.print(op),
        }
    }
}

/// Text that stands for itself in a format.
fn escaped(text: &str) -> String {
    text.replace('%', "%%")
}
