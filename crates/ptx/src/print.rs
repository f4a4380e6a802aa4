//! Trees back to text: what is printed reads back as the same tree.

use crate::tree::{
    Address, Function, Initial, Instruction, Item, Location, Module, Operand, Parameter, Registers,
    Statement, Tuning, Variable,
};
use std::fmt::{Display, Formatter, Result};

/// Items with a separator between them.
struct Listed<'l, T>(&'l [T], &'static str);

impl<T: Display> Display for Listed<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (i, item) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(self.1)?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Module<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if !self.version.is_empty() {
            writeln!(f, ".version {}", self.version)?;
        }
        if !self.target.is_empty() {
            writeln!(f, ".target {}", Listed(&self.target, ", "))?;
        }
        if let Some(bits) = self.address_size {
            writeln!(f, ".address_size {bits}")?;
        }
        self.items.iter().try_for_each(|item| writeln!(f, "{item}"))
    }
}

impl Display for Item<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Item::File { number, name, stamp } => {
                write!(f, ".file {number} \"{name}\"")?;
                stamp.map_or(Ok(()), |(time, size)| write!(f, ", {time}, {size}"))
            }
            Item::Variable(variable) => variable.fmt(f),
            Item::Function(function) => function.fmt(f),
            Item::Section { name, body } => write!(f, ".section {name} {body}"),
            Item::Other(text) => f.write_str(text),
        }
    }
}

impl Display for Function<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.linkage.iter().try_for_each(|word| write!(f, "{word} "))?;
        f.write_str(if self.kernel { ".entry " } else { ".func " })?;
        if !self.returns.is_empty() {
            write!(f, "({}) ", Listed(&self.returns, ", "))?;
        }
        f.write_str(self.name)?;
        if !self.parameters.is_empty() {
            write!(f, "(\n\t{}\n)", Listed(&self.parameters, ",\n\t"))?;
        } else if !self.kernel {
            f.write_str("()")?;
        }
        self.tuning.iter().try_for_each(|tuning| write!(f, "\n{tuning}"))?;
        let Some(body) = &self.body else { return f.write_str(";") };
        f.write_str("\n{\n")?;
        body.iter().try_for_each(|statement| writeln!(f, "{statement}"))?;
        f.write_str("}")
    }
}

impl Display for Tuning<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.name)?;
        if !self.numbers.is_empty() {
            write!(f, " {}", Listed(&self.numbers, ", "))?;
        }
        for (i, text) in self.texts.iter().enumerate() {
            write!(f, "{} \"{text}\"", if i > 0 { "," } else { "" })?;
        }
        f.write_str(if self.name == ".pragma" { ";" } else { "" })
    }
}

fn dims(f: &mut Formatter<'_>, dims: &[Option<u64>]) -> Result {
    dims.iter().try_for_each(|n| match n {
        Some(n) => write!(f, "[{n}]"),
        None => f.write_str("[]"),
    })
}

impl Display for Parameter<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.space)?;
        if let Some(bytes) = self.align {
            write!(f, " .align {bytes}")?;
        }
        if !self.ty.is_empty() {
            write!(f, " {}", self.ty)?;
        }
        if let Some(pointer) = &self.pointer {
            f.write_str(" .ptr")?;
            pointer.space.map_or(Ok(()), |space| write!(f, " {space}"))?;
            pointer.align.map_or(Ok(()), |bytes| write!(f, " .align {bytes}"))?;
        }
        write!(f, " {}", self.name)?;
        dims(f, &self.dims)
    }
}

impl Display for Variable<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.linkage.iter().try_for_each(|word| write!(f, "{word} "))?;
        f.write_str(self.space)?;
        self.attribute.map_or(Ok(()), |text| write!(f, " .attribute({text})"))?;
        self.align.map_or(Ok(()), |bytes| write!(f, " .align {bytes}"))?;
        self.lanes.map_or(Ok(()), |n| write!(f, " .v{n}"))?;
        write!(f, " {} {}", self.ty, self.name)?;
        dims(f, &self.dims)?;
        self.init.as_ref().map_or(Ok(()), |init| write!(f, " = {init}"))?;
        f.write_str(";")
    }
}

impl Display for Initial<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Initial::One(operand) => operand.fmt(f),
            Initial::Generic(Operand::Plus(name, offset)) => write!(f, "generic({name})+{offset}"),
            Initial::Generic(operand) => write!(f, "generic({operand})"),
            Initial::List(list) => write!(f, "{{{}}}", Listed(list, ", ")),
        }
    }
}

impl Display for Statement<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Statement::Open => f.write_str("{"),
            Statement::Close => f.write_str("}"),
            Statement::Label(name, _) => write!(f, "{name}:"),
            Statement::Registers(registers) => write!(f, "\t{registers}"),
            Statement::Variable(variable) => write!(f, "\t{variable}"),
            Statement::Location(location) => write!(f, "\t{location}"),
            Statement::Targets { label, kind, names, .. } => {
                write!(f, "{label}: {kind} {};", Listed(names, ", "))
            }
            Statement::Prototype { label, text } => write!(f, "{label}: .callprototype {text};"),
            Statement::Other(text) => write!(f, "\t{text};"),
            Statement::Instruction(instruction) => write!(f, "\t{instruction}"),
        }
    }
}

impl Display for Registers<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, ".reg {}", self.ty)?;
        for (i, (name, count)) in self.names.iter().enumerate() {
            write!(f, "{} {name}", if i > 0 { "," } else { "" })?;
            count.map_or(Ok(()), |n| write!(f, "<{n}>"))?;
        }
        f.write_str(";")
    }
}

impl Display for Location<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let blank = if self.rest.is_empty() || self.rest.starts_with(',') { "" } else { " " };
        write!(f, ".loc {} {} {}{blank}{}", self.file, self.line, self.column, self.rest)
    }
}

impl Display for Instruction<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(guard) = &self.guard {
            write!(f, "@{}{} ", if guard.negated { "!" } else { "" }, guard.name)?;
        }
        f.write_str(self.opcode)?;
        if !self.operands.is_empty() {
            write!(f, " {}", Listed(&self.operands, ", "))?;
        }
        f.write_str(";")
    }
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Operand::Name(name) => f.write_str(name),
            Operand::Int(value) => (*value as i64).fmt(f),
            Operand::F32(bits) => write!(f, "0f{bits:08X}"),
            Operand::F64(bits) => write!(f, "0d{bits:016X}"),
            Operand::Not(name) => write!(f, "!{name}"),
            Operand::Minus(name) => write!(f, "-{name}"),
            Operand::Plus(name, offset) => write!(f, "{name}+{offset}"),
            Operand::Pair(first, second) => write!(f, "{first}|{second}"),
            Operand::Vector(list) => write!(f, "{{{}}}", Listed(list, ", ")),
            Operand::VectorPair(list, p) => write!(f, "{{{}}}|{p}", Listed(list, ", ")),
            Operand::Address(address) => address.fmt(f),
            Operand::Group(list) => write!(f, "({})", Listed(list, ", ")),
        }
    }
}

impl Display for Address<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("[")?;
        match (self.base, self.offset) {
            (Some(base), 0) => f.write_str(base)?,
            (Some(base), offset) => write!(f, "{base}+{offset}")?,
            (None, offset) => offset.fmt(f)?,
        }
        self.sampler.map_or(Ok(()), |name| write!(f, ", {name}"))?;
        if !self.coords.is_empty() {
            write!(f, ", {{{}}}", Listed(&self.coords, ", "))?;
        }
        f.write_str("]")
    }
}
