//! Functions of libdevice by their name, and inline assembly of the kernel (C3, C68).

use inkwell::types::BasicTypeEnum;
use warploom_ir::diag::Code;
use warploom_ir::{Attr, FloatKind, OpId, Opcode, Type};

use super::Lower;
use crate::error::{Result, internal, refuse};
use crate::llvm::Val;

/// What the f32 functions of libdevice that we have are called among the operations.
const LIBDEVICE: [(&str, Opcode); 16] = [
    ("__nv_expf", Opcode::Exp),
    ("__nv_exp2f", Opcode::Exp2),
    ("__nv_logf", Opcode::Log),
    ("__nv_log2f", Opcode::Log2),
    ("__nv_sqrtf", Opcode::PreciseSqrt),
    ("__nv_fsqrt_rn", Opcode::PreciseSqrt),
    ("__nv_rsqrtf", Opcode::Rsqrt),
    ("__nv_sinf", Opcode::Sin),
    ("__nv_cosf", Opcode::Cos),
    ("__nv_tanhf", Opcode::Tanh),
    ("__nv_erff", Opcode::Erf),
    ("__nv_floorf", Opcode::Floor),
    ("__nv_ceilf", Opcode::Ceil),
    ("__nv_fast_expf", Opcode::Exp),
    ("__nv_fast_sinf", Opcode::Sin),
    ("__nv_fast_cosf", Opcode::Cos),
];

impl<'c> Lower<'c, '_> {
    /// Refuses foreign code that may do something beside its result, used or not: there is no place in the order of
    /// memory for it, and lanes that hold copies of an element would do it again.
    pub(super) fn has_no_effects(&self, op: OpId) -> Result<()> {
        let symbol = self.module.attr(op, "symbol").and_then(Attr::as_str);
        let ours = symbol.is_some_and(|symbol| LIBDEVICE.iter().any(|(name, _)| *name == symbol));
        if ours || matches!(self.module.attr(op, "pure"), Some(Attr::Bool(true))) {
            return Ok(());
        }
        let text = format!("{} with side effects", self.module.op_name(op));
        Err(refuse(Code::Op, text).rule("C3").note("needs", "pure = true").into())
    }

    /// `tt.extern_elementwise`: our own function of that name.
    pub(super) fn foreign_function(&mut self, op: OpId, args: &[Val<'c>]) -> Result<Val<'c>> {
        let symbol = self.module.attr(op, "symbol").and_then(Attr::as_str).unwrap_or("?");
        let single = |ty: &Type| *ty == Type::Float(FloatKind::F32);
        let known = LIBDEVICE.iter().find(|(name, _)| *name == symbol);
        match (known, args) {
            (Some((_, opcode)), [x])
                if single(self.operand_elem(op, 0)?) && single(self.result_elem(op)?) =>
            {
                self.single_function(op, *opcode, *x)
            }
            _ => {
                let names: Vec<&str> = LIBDEVICE.iter().map(|(name, _)| *name).collect();
                let text = format!("tt.extern_elementwise of {symbol}");
                Err(refuse(Code::Op, text).rule("C68").note("instead", names.join(", ")).into())
            }
        }
    }

    /// `tt.elementwise_inline_asm` of one element at a time. LLVM ends the process on text that does not fit its
    /// operands, so what is passed on is checked first (C43).
    pub(super) fn foreign_assembly(&mut self, op: OpId, args: &[Val<'c>]) -> Result<Val<'c>> {
        let word = |name: &str| self.module.attr(op, name).and_then(Attr::as_str).unwrap_or("");
        let bad = |what: String| {
            let text = format!("tt.elementwise_inline_asm with {what}");
            let needs = "packed_element = 1, one result, a register class for each operand: \
                         =f, f, r, h, l or d; $0, $1, .. in the text";
            Err(refuse(Code::Op, text).rule("C3").note("needs", needs).into())
        };
        if self.count(op, "packed_element")? != 1 {
            return bad("packed elements".to_owned());
        }
        let (text, constraints) = (word("asm_string").to_owned(), word("constraints").to_owned());
        let result = self.result_type(op)?;
        let list: Vec<&str> = constraints.split(',').map(str::trim).collect();
        let types = std::iter::once(result).chain(args.iter().map(|a| a.get_type()));
        let fits = |(class, ty): (&&str, BasicTypeEnum)| register_class(ty) == Some(*class);
        let Some((first, rest)) = list.split_first() else { return bad("no constraints".to_owned()) };
        let classes: Vec<&str> = first.strip_prefix('=').into_iter().chain(rest.iter().copied()).collect();
        if classes.len() != 1 + args.len() || !classes.iter().zip(types).all(fits) {
            return bad(format!("constraints `{constraints}`"));
        }
        if !operands_exist(&text, classes.len()) {
            return bad(format!("text `{text}`"));
        }
        let value = self.ir.assembly(&text, &list.join(","), &[result], args, true)?;
        value.ok_or_else(|| internal("an assembly without a result"))
    }
}

/// The class of the register that holds a value of this type.
fn register_class(ty: BasicTypeEnum) -> Option<&'static str> {
    match ty {
        BasicTypeEnum::FloatType(ty) => match ty.get_bit_width() {
            32 => Some("f"),
            64 => Some("d"),
            _ => None,
        },
        BasicTypeEnum::IntType(ty) => match ty.get_bit_width() {
            16 => Some("h"),
            32 => Some("r"),
            64 => Some("l"),
            _ => None,
        },
        _ => None,
    }
}

/// Whether every `$` of the text names one of `count` operands or stands for itself, and nothing else of LLVM's
/// notation is in it.
fn operands_exist(text: &str, count: usize) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('$') {
            rest = behind;
            continue;
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if !rest[..digits].parse::<usize>().is_ok_and(|n| n < count) {
            return false;
        }
        rest = &rest[digits..];
    }
    !text.is_empty() && !text.contains(['\0', '{', '}', '|'])
}
