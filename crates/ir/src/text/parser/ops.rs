//! Operations, regions and blocks.

use super::kept::is_op_name;
use super::names::{ResultNames, Use};
use super::{Parse, Parser};
use crate::attr::{Attr, AttrDict};
use crate::diag::Code;
use crate::entity::{BlockId, NameId, OpId};
use crate::module::ValueDef;
use crate::opcode::Opcode;
use crate::text::dialect::ASSEMBLY;
use crate::text::format::{Format, enumeration, format};
use crate::text::lexer::{Kind, Token};
use crate::types::Type;

impl<'a> Parser<'a> {
    /// One operation at the end of a block.
    pub(super) fn operation(&mut self, block: BlockId) -> Parse<()> {
        let begin = self.tok.start;
        let mut names = ResultNames::new();
        let done = self.result_names(&mut names).and_then(|()| self.operation_body(block, &names));
        let done = done.map(|op| {
            let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            self.spans[op] = (byte(begin), byte(self.tok.start));
        });
        if done.is_err() {
            for (name, ..) in &names {
                self.poison(name);
            }
        }
        done
    }

    /// `%a, %b:2 =`
    fn result_names(&mut self, names: &mut ResultNames<'a>) -> Parse<()> {
        if self.tok.kind != Kind::Percent {
            return Ok(());
        }
        loop {
            let token = self.expect_kind(Kind::Percent, "a value name")?;
            let mut count = 1;
            if self.eat(":") {
                let number = self.expect_kind(Kind::Integer, "a number of results")?;
                count = match self.text(number).parse::<usize>() {
                    Ok(n) if n > 0 => n,
                    _ => return Err(self.error(number.start, "the number of results is out of range")),
                };
            }
            names.push((self.text(token), count, token.start));
            if !self.eat(",") {
                break;
            }
        }
        self.expect("=")?;
        Ok(())
    }

    fn operation_body(&mut self, block: BlockId, names: &ResultNames<'a>) -> Parse<OpId> {
        let start = self.tok.start;
        let (op, types) = match self.tok.kind {
            Kind::String => self.generic()?,
            Kind::Word => self.custom(names)?,
            _ => return Err(self.unexpected_here("an operation")),
        };
        let loc = self.optional_loc()?;
        self.m.ops[op].loc = loc;
        self.m.ops[op].span = u32::try_from(start).ok();
        self.renew(op);
        self.results(op, names, &types, start)?;
        if self.m.ops[op].props.contains(ASSEMBLY) {
            let results = self.m.ops[op].results.iter().copied();
            self.guessed.extend(results);
        }
        self.m.append(block, op);
        Ok(op)
    }

    /// Gives the operation its results and binds their names.
    fn results(&mut self, op: OpId, names: &ResultNames<'a>, types: &[Type], start: usize) -> Parse<()> {
        if names.is_empty() {
            for ty in types {
                self.m.add_result(op, ty.clone());
            }
            return Ok(());
        }
        // Counts come from the text and may be huge; the sum saturates.
        let named = names.iter().fold(0usize, |n, (_, count, _)| n.saturating_add(*count));
        if named != types.len() {
            let message = format!("`{}` has {} results, {named} are named", self.m.op_name(op), types.len());
            let diag = self.diagnostic(Code::Verify, message, start);
            return Err(self.report(diag));
        }
        let loc = self.m.ops[op].loc;
        let mut first = 0usize;
        for (name, count, at) in names {
            let types = types.get(first..first + count).unwrap_or(&[]);
            let base = first as u32;
            let values =
                self.define(name, *at, types, loc, |index| ValueDef::Result { op, index: base + index })?;
            self.m.ops[op].results.extend(values);
            first += count;
        }
        Ok(())
    }

    /// A new detached operation.
    pub(super) fn new_op(&mut self, opcode: Opcode) -> OpId {
        let unknown = self.m.unknown_loc();
        self.m.create_op(opcode, &[], &[], unknown)
    }

    pub(super) fn set_operands(&mut self, op: OpId, operands: &[Use]) {
        self.m.ops[op].operands = operands.iter().map(|u| u.value).collect();
    }

    /// Sorts the attributes of an attribute dictionary of a known operation: names without a dialect
    /// belong to the meaning, the others are hints.
    pub(super) fn place_attrs(&mut self, op: OpId, dict: AttrDict, at: usize) -> Parse<()> {
        let opcode = self.m.ops[op].opcode;
        for (name, attr) in dict.into_entries() {
            let attr = match (enumeration(opcode, &name), &attr) {
                (Some(words), Attr::Int { value, .. }) => match words.word(*value) {
                    Some(word) => Attr::Opaque(word.to_owned()),
                    None => return Err(self.error(at, format!("{value} is no value of `{name}`"))),
                },
                _ => attr,
            };
            let target = &mut self.m.ops[op];
            let hint = match opcode {
                Opcode::Other(_) => true,
                Opcode::Func | Opcode::Module => !INHERENT.contains(&name.as_str()),
                _ => name.contains('.'),
            };
            let dict = if hint { &mut target.attrs } else { &mut target.props };
            if dict.set(name.as_str(), attr).is_some() {
                return Err(self.error(at, format!("attribute `{name}` is given twice")));
            }
        }
        Ok(())
    }

    /// `"name"(operands) <{properties}> ({regions}) {attributes} : (types) -> types`
    fn generic(&mut self) -> Parse<(OpId, Vec<Type>)> {
        let token = self.advance();
        let name = self.string_value(token)?;
        let opcode = match Opcode::from_name(&name) {
            Some(opcode) => opcode,
            None => Opcode::Other(self.name_id(&name)),
        };
        let op = self.new_op(opcode);
        let open = self.expect("(")?;
        let operands = if self.is(")") { Vec::new() } else { self.operand_list()? };
        self.expect(")")?;
        if self.is("[") && matches!(opcode, Opcode::Br | Opcode::CondBr) {
            self.generic_successors(op)?;
        } else if self.is("[") {
            let diag = self
                .diagnostic(
                    Code::Op,
                    format!("`{name}` has successors: branches are not supported"),
                    self.tok.start,
                )
                .note("instead", "scf.if, scf.for or scf.while");
            return Err(self.report(diag));
        }
        if self.is("<") {
            let at = self.advance().start;
            let props = self.dict()?;
            self.expect(">")?;
            match opcode {
                Opcode::Other(_) => self.m.ops[op].props = props,
                _ => self.place_attrs(op, props, at)?,
            }
        }
        if self.eat("(") {
            loop {
                self.generic_region(op)?;
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        let at = self.tok.start;
        let attrs = self.optional_dict()?;
        self.place_attrs(op, attrs, at)?;
        self.expect(":")?;
        let (inputs, results) = self.function_type()?;
        self.check_types(&operands, &inputs, open)?;
        self.set_operands(op, &operands);
        self.drop_segments(op);
        Ok((op, results))
    }

    /// The generic form writes how optional operands are divided; where their number says it, that is left
    /// out as in the custom form.
    fn drop_segments(&mut self, op: OpId) {
        let target = &mut self.m.ops[op];
        if target.opcode == Opcode::CondBr {
            target.props.remove("operandSegmentSizes");
        }
        if target.opcode == Opcode::Load
            && let Some(Attr::DenseArray { values, .. }) = target.props.get("operandSegmentSizes")
            && matches!(values[..], [1, 0, 0] | [1, 1, 0] | [1, 1, 1])
        {
            target.props.remove("operandSegmentSizes");
        }
    }

    fn name_id(&mut self, name: &str) -> NameId {
        if let Some(id) = self.op_names.get(name) {
            return *id;
        }
        let id = self.m.names.push(name.to_owned());
        self.op_names.insert(name.to_owned(), id);
        id
    }

    /// Types of a signature belong to operands one by one.
    pub(super) fn check_types(&mut self, operands: &[Use], types: &[Type], at: Token) -> Parse<()> {
        if operands.len() != types.len() {
            let message = format!("{} operands but {} operand types", operands.len(), types.len());
            return Err(self.error(at.start, message));
        }
        for (operand, ty) in operands.iter().zip(types) {
            self.check_type(*operand, ty);
        }
        Ok(())
    }

    /// `%name` or `%name#2`
    pub(super) fn operand(&mut self) -> Parse<Use> {
        let token = self.expect_kind(Kind::Percent, "a value")?;
        let mut index = 0;
        if self.tok.kind == Kind::Hash && self.tok.start == token.end {
            let number = self.advance();
            index = match self.slice(number.start + 1, number.end).parse() {
                Ok(n) => n,
                Err(_) => return Err(self.error(number.start, "expected the number of a result")),
            };
        }
        self.lookup(self.text(token), index, token.start)
    }

    /// `%a, %b`, at least one.
    pub(super) fn operand_list(&mut self) -> Parse<Vec<Use>> {
        let mut operands = vec![self.operand()?];
        while self.eat(",") {
            operands.push(self.operand()?);
        }
        Ok(operands)
    }

    fn custom(&mut self, names: &ResultNames<'a>) -> Parse<(OpId, Vec<Type>)> {
        let token = self.tok;
        let name = self.text(token);
        if let Some(dialect) = self.dialect
            && is_op_name(name)
            && name != "module"
            && Opcode::from_name(name).is_none()
        {
            self.advance();
            let id = self.name_id(name);
            let op = self.new_op(Opcode::Other(id));
            let types = match (dialect.format)(name) {
                Some(format) => self.formatted(op, format, token)?,
                None => self.kept_op(op, names)?,
            };
            return Ok((op, types));
        }
        let Some(opcode) = Opcode::from_name(if name == "module" { "builtin.module" } else { name }) else {
            if let Some(failed) = self.cut_off(token) {
                return Err(failed);
            }
            let message = match name.contains('.') {
                true => format!("unknown operation `{name}`"),
                false => format!("expected an operation, found `{name}`"),
            };
            let diag = self
                .diagnostic(if name.contains('.') { Code::Op } else { Code::Parse }, message, token.start)
                .rule("C5")
                .note(
                    "instead",
                    format!("write an operation that is not known in generic form: \"{name}\"(..)"),
                );
            return Err(self.report(diag));
        };
        self.advance();
        let op = self.new_op(opcode);
        let types = self.formatted(op, format(opcode), token)?;
        Ok((op, types))
    }

    /// The assembly behind the name, by its format.
    fn formatted(&mut self, op: OpId, format: Format, token: Token) -> Parse<Vec<Type>> {
        Ok(match format {
            Format::Items(items, infer) => self.items(op, items, infer)?,
            Format::Generic => return Err(self.no_custom_form(self.text(token), token)),
            Format::Module => self.module_op(op)?,
            Format::Func => self.func_op(op)?,
            Format::For => self.for_op(op)?,
            Format::If => self.if_op(op)?,
            Format::While => self.while_op(op)?,
            Format::Branch => self.branch_op(op)?,
            Format::Constant => self.constant_op(op)?,
            Format::Select => self.select_op(op)?,
            Format::MakeDescriptor => self.make_descriptor_op(op)?,
            Format::DotScaled => self.dot_scaled_op(op)?,
            Format::WarpSpecialize => self.warp_specialize_op(op)?,
            Format::CondDo => self.cond_do_op(op)?,
        })
    }

    fn no_custom_form(&mut self, name: &str, token: Token) -> super::Failed {
        let diag = self
            .diagnostic(Code::Parse, format!("`{name}` has only the generic form"), token.start)
            .rule("C5")
            .note("needs", format!("\"{name}\"(%x) <{{..}}> ({{..}}) : (T) -> R"));
        self.report(diag)
    }
}

/// Attributes of functions and modules that belong to their meaning.
const INHERENT: [&str; 5] = ["sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"];
