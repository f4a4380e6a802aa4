//! `tt.elementwise_inline_asm`: assembly of the author, once for each element or for each pack of elements (C3).

use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode as Llvm;
use warploom_ir::diag::Code;
use warploom_ir::{Attr, OpId, ValueId};

use super::Lower;
use super::value::{Bound, Coords};
use crate::error::{Result, internal, refuse};
use crate::llvm::{Val, as_int};

/// Most elements of a pack.
const MOST: u64 = 64;

impl<'c> Lower<'c, '_> {
    /// Assembly with one result, one element at a time and without effects, is computed where its result is used; any
    /// other here, by every lane for what it holds.
    pub(super) fn inline_assembly(&mut self, op: OpId) -> Result<()> {
        let alone = self.count(op, "packed_element")? == 1 && self.module.ops[op].results.len() == 1;
        match (alone, self.is_pure(op)) {
            (true, true) => self.pure(op),
            (true, false) => self.pure_now(op),
            _ => self.packs(op),
        }
    }

    /// Runs the assembly for pack after pack of what a lane holds.
    fn packs(&mut self, op: OpId) -> Result<()> {
        let results = self.module.ops[op].results.to_vec();
        let operands = self.module.ops[op].operands.to_vec();
        let Some(&first) = results.first() else {
            return Err(refuse(Code::Op, "tt.elementwise_inline_asm without a result").rule("C3").into());
        };
        let pack = self.count(op, "packed_element")?;
        if !pack.is_power_of_two() || pack > MOST {
            let text = format!("tt.elementwise_inline_asm of {pack} elements at a time");
            let needs = format!("a power of two up to {MOST}");
            return Err(refuse(Code::Op, text).rule("C3").note("needs", needs).into());
        }
        let pack = pack as usize;
        let tensor = self.module.ty(first).is_tensor();
        let form = if tensor { Some(self.form(first, self.family()?)?) } else { None };
        let places = match form {
            Some(form) => self.places(first, self.family()?, form)?,
            None => vec![Coords::new()],
        };
        for &operand in operands.iter().filter(|&&v| self.module.ty(v).is_tensor()) {
            self.reach(operand, &places)?;
        }
        let mut found: Vec<Vec<Val<'c>>> = vec![Vec::new(); results.len()];
        for together in places.chunks(pack.max(1)) {
            let mut args = Vec::new();
            for &operand in &operands {
                args.push(self.pack_of(operand, together, pack)?);
            }
            let made = self.run_pack(op, &args, pack)?;
            for (all, made) in found.iter_mut().zip(made) {
                all.extend(made.into_iter().take(together.len()));
            }
        }
        for (&result, elements) in results.iter().zip(found) {
            match (form, elements.as_slice()) {
                (Some(_), _) => {
                    let own = self.form(result, self.family()?)?;
                    if Some(own) != form {
                        return Err(internal("results of one shape in different forms"));
                    }
                    self.hold(result, own, elements)?;
                }
                (None, &[scalar]) => {
                    self.bound.insert(result, Bound::Scalar(scalar));
                }
                _ => return Err(internal("a scalar of several elements")),
            }
        }
        Ok(())
    }

    /// The elements of an operand at these places; where a lane holds fewer than a pack, the last again.
    fn pack_of(&mut self, operand: ValueId, places: &[Coords], pack: usize) -> Result<Vec<Val<'c>>> {
        let mut elements = Vec::new();
        for place in places {
            elements.push(match self.module.ty(operand).is_tensor() {
                true => self.at(operand, place.clone())?,
                false => self.scalar(operand)?,
            });
        }
        let last = elements.last().copied().ok_or_else(|| internal("an empty pack"))?;
        elements.resize(pack, last);
        Ok(elements)
    }

    /// One element of a pure assembly with one result.
    pub(super) fn foreign_assembly(&mut self, op: OpId, args: &[Val<'c>]) -> Result<Val<'c>> {
        let args: Vec<Vec<Val<'c>>> = args.iter().map(|&arg| vec![arg]).collect();
        let made = self.run_pack(op, &args, 1)?;
        made.into_iter().flatten().next().ok_or_else(|| internal("an assembly without a result"))
    }

    /// Runs the assembly once; the elements of each result. LLVM ends the process on text that does not fit its operands,
    /// so what is passed on is checked first (C43).
    fn run_pack(&mut self, op: OpId, args: &[Vec<Val<'c>>], pack: usize) -> Result<Vec<Vec<Val<'c>>>> {
        let word = |name: &str| self.module.attr(op, name).and_then(Attr::as_str).unwrap_or("");
        let bad = |what: String| {
            let text = format!("tt.elementwise_inline_asm with {what}");
            let needs = "a register class for each register of 32 bits, or of one element, results first: =f, f, r, h, \
                         l or d; n or i for constants; $0, $1, .. in the text";
            refuse(Code::Op, text).rule("C3").note("needs", needs)
        };
        let (text, constraints) = (word("asm_string").to_owned(), word("constraints").to_owned());
        let (mut results, mut shares) = (Vec::new(), Vec::new());
        for &result in &self.module.ops[op].results {
            let ty = self.element_type(self.module.ty(result))?;
            let each = together(bits_of(ty)?, pack);
            let registers = pack / each;
            shares.push((ty, each, registers));
            results.extend(std::iter::repeat_n(self.register_type(ty, each)?, registers));
        }
        let mut registers = Vec::new();
        for elements in args {
            let elements = elements.iter().map(|&one| self.as_number(one)).collect::<Result<Vec<_>>>()?;
            for part in elements.chunks(together(bits_of(elements[0].get_type())?, pack)) {
                registers.push(self.in_register(part)?);
            }
        }
        let list: Vec<&str> = constraints
            .split(',')
            .map(str::trim)
            .filter(|one| !one.starts_with('~') && !one.is_empty())
            .collect();
        let (outputs, inputs) = list.split_at(results.len().min(list.len()));
        let classes: Vec<&str> = outputs
            .iter()
            .map(|one| one.strip_prefix("=&").or(one.strip_prefix('=')).unwrap_or("?"))
            .chain(inputs.iter().map(|one| tied(one, outputs).unwrap_or(one)))
            .collect();
        if classes.len() != results.len() + registers.len() {
            return Err(bad(format!("constraints `{constraints}`")).into());
        }
        let unlike = || bad(format!("constraints `{constraints}`"));
        let (made, read) = classes.split_at(results.len());
        for (result, class) in results.iter_mut().zip(made) {
            *result = self.class_type(class, *result).ok_or_else(unlike)?;
        }
        for (register, &class) in registers.iter_mut().zip(read) {
            match (class, *register) {
                ("n" | "i", Val::IntValue(number)) if number.is_const() => {}
                ("n" | "i", Val::IntValue(_)) => {
                    return Err(bad(format!("a number for `{class}` that is no constant")).into());
                }
                _ => {
                    let ty = self.class_type(class, register.get_type()).ok_or_else(unlike)?;
                    *register = self.in_class(*register, ty)?;
                }
            }
        }
        if !operands_exist(&text, classes.len()) {
            return Err(bad(format!("text `{text}`")).into());
        }
        let pure = self.is_pure(op);
        let memory = if pure { "" } else { ",~{memory}" };
        let constraints = format!("{}{memory}", list.join(","));
        let made = self.ir.assembly(&text, &constraints, &results, &registers, pure)?;
        let made = made.ok_or_else(|| internal("an assembly without a result"))?;
        let mut next = 0;
        let mut out = Vec::new();
        for (ty, each, count) in shares {
            let mut elements = Vec::new();
            for _ in 0..count {
                let register = if results.len() == 1 { made } else { self.ir.member(made, next)? };
                next += 1;
                elements.extend(self.out_of_register(register, ty, each)?);
            }
            out.push(elements);
        }
        Ok(out)
    }

    /// An element as assembly reads it: a pointer by its number.
    fn as_number(&self, element: Val<'c>) -> Result<Val<'c>> {
        match element {
            Val::PointerValue(pointer) => Ok(self.ir.address(pointer, 64)?.into()),
            _ => Ok(element),
        }
    }

    /// The type of a register with so many elements.
    fn register_type(&self, ty: BasicTypeEnum<'c>, each: usize) -> Result<BasicTypeEnum<'c>> {
        let bits = bits_of(ty)?;
        Ok(match ty {
            _ if each > 1 || bits == 16 => self.ir.int(bits * each as u32).into(),
            _ if bits < 16 => self.ir.int(16).into(),
            _ => ty,
        })
    }

    /// What a register holds, in one of its class: below 32 bits zeros follow.
    fn in_class(&self, register: Val<'c>, ty: BasicTypeEnum<'c>) -> Result<Val<'c>> {
        let bits = bits_of(register.get_type())?;
        match ty {
            BasicTypeEnum::IntType(whole) if bits < whole.get_bit_width() => {
                let narrow = as_int(self.ir.bits(register, self.ir.int(bits).into())?)?;
                Ok(self.ir.zext(narrow, whole)?.into())
            }
            _ => self.ir.bits(register, ty),
        }
    }

    /// The type of a register of a class that holds the bits of a type; what is narrower than 32 bits may lie in one of 32.
    fn class_type(&self, class: &str, ty: BasicTypeEnum<'c>) -> Option<BasicTypeEnum<'c>> {
        let held: BasicTypeEnum = match class {
            "r" => self.ir.i32().into(),
            "h" => self.ir.int(16).into(),
            "l" => self.ir.int(64).into(),
            "f" => self.ir.f32().into(),
            "d" => self.ir.f64().into(),
            _ => return None,
        };
        let (room, bits) = (bits_of(held).ok()?, bits_of(ty).ok()?);
        (room == bits || (class == "r" && bits < room)).then_some(held)
    }

    /// Elements in one register, the first lowest.
    fn in_register(&mut self, elements: &[Val<'c>]) -> Result<Val<'c>> {
        let [first, ..] = elements else { return Err(internal("an empty register")) };
        let ty = self.register_type(first.get_type(), elements.len())?;
        let bits = bits_of(first.get_type())?;
        let BasicTypeEnum::IntType(whole) = ty else { return Ok(*first) };
        let mut word = whole.const_zero();
        for (i, &element) in (0u64..).zip(elements) {
            let element = self.ir.bits(element, self.ir.int(bits).into())?;
            let wide = self.ir.zext(as_int(element)?, whole)?;
            word = self.ir.or(word, self.ir.shl(wide, i * u64::from(bits))?)?;
        }
        Ok(word.into())
    }

    /// The elements of a register.
    fn out_of_register(
        &mut self,
        register: Val<'c>,
        ty: BasicTypeEnum<'c>,
        each: usize,
    ) -> Result<Vec<Val<'c>>> {
        let (Val::IntValue(word), bits) = (register, bits_of(ty)?) else {
            return Ok(vec![self.ir.bits(register, ty)?]);
        };
        (0..each as u64)
            .map(|i| {
                let part = self.ir.shr(word, i * u64::from(bits))?;
                let part = match part.get_type().get_bit_width() == bits {
                    true => part.into(),
                    false => self.ir.cast(Llvm::Trunc, part.into(), self.ir.int(bits).into())?,
                };
                self.ir.bits(part, ty)
            })
            .collect()
    }
}

/// Elements of so many bits in one register.
fn together(bits: u32, pack: usize) -> usize {
    ((32 / bits.clamp(1, 32)) as usize).min(pack).max(1)
}

/// Bits of an element; a pointer has none here.
fn bits_of(ty: BasicTypeEnum) -> Result<u32> {
    match ty {
        BasicTypeEnum::FloatType(ty) => Ok(ty.get_bit_width()),
        BasicTypeEnum::IntType(ty) => Ok(ty.get_bit_width()),
        _ => {
            let text = "tt.elementwise_inline_asm whose result is a pointer";
            Err(refuse(Code::Type, text).rule("C3").note("instead", "an i64 and tt.int_to_ptr").into())
        }
    }
}

/// The class of the output that an input shares its register with.
fn tied<'a>(input: &str, outputs: &[&'a str]) -> Option<&'a str> {
    let output = outputs.get(input.parse::<usize>().ok()?)?;
    output.strip_prefix("=&").or(output.strip_prefix('='))
}

/// Whether every `$` of the text names one of `count` operands or stands for itself.
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
    !text.is_empty() && !text.contains('\0')
}
