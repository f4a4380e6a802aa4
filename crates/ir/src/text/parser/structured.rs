//! Operations with a format of their own: module, function, control flow, and a few with irregular lists.

use super::regions::Argument;
use super::{Parse, Parser};
use crate::attr::{Attr, AttrDict};
use crate::entity::OpId;
use crate::opcode::Opcode;
use crate::text::keywords::SCALE_TYPE;
use crate::text::lexer::Kind;
use crate::types::Type;

impl<'a> Parser<'a> {
    /// `module @name attributes {..} {..}`
    pub(super) fn module_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        if self.tok.kind == Kind::At {
            let name = self.symbol_name()?;
            self.set_prop(op, "sym_name", Attr::String(name));
        }
        self.attributes_clause(op)?;
        self.region(op, |p, region| {
            p.names.push_isolated();
            let done = p.blocks(region, Some(Vec::new()));
            p.pop_isolated();
            done
        })?;
        Ok(Vec::new())
    }

    /// `attributes {..}` if it comes next.
    pub(super) fn attributes_clause(&mut self, op: OpId) -> Parse<()> {
        if self.eat_word("attributes") {
            let at = self.tok.start;
            let dict = self.dict()?;
            self.place_attrs(op, dict, at)?;
        }
        Ok(())
    }

    /// `tt.func public @name(%a: T {..} loc(..), ..) -> T attributes {..} {..}`
    pub(super) fn func_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        let visibility = self.tok;
        if ["public", "private", "nested"].into_iter().any(|word| self.eat_word(word)) {
            let text = self.text(visibility).to_owned();
            self.set_prop(op, "sym_visibility", Attr::String(text));
        }
        let name = self.symbol_name()?;
        self.set_prop(op, "sym_name", Attr::String(name));
        let (args, arg_attrs) = self.func_arguments()?;
        let (results, res_attrs) = self.func_results()?;
        let inputs = args.iter().map(|a| a.ty.clone()).collect();
        self.set_prop(op, "function_type", Attr::Type(Type::Function { inputs, results }));
        for (name, dicts) in [("arg_attrs", arg_attrs), ("res_attrs", res_attrs)] {
            if dicts.iter().any(|d| !d.is_empty()) {
                self.set_prop(op, name, Attr::Array(dicts.into_iter().map(Attr::Dict).collect()));
            }
        }
        self.attributes_clause(op)?;
        if !self.is("{") {
            if let Some(arg) = args.iter().find(|a| a.name.is_some()) {
                // A function that ends before its body is more likely cut off than declared.
                let at = arg.at;
                return match self.tok.kind {
                    Kind::Eof => Err(self.unexpected("`{`")),
                    _ => Err(self.error(at, "arguments of a declaration have no names; expected a body `{`")),
                };
            }
            self.m.add_region(op);
            return Ok(Vec::new());
        }
        if let Some(arg) = args.iter().find(|a| a.name.is_none()) {
            let at = arg.at;
            return Err(self.error(at, "arguments of a function with a body need names"));
        }
        self.region(op, |p, region| {
            p.names.push_isolated();
            let done = p.blocks(region, Some(args));
            p.pop_isolated();
            done
        })?;
        Ok(Vec::new())
    }

    fn func_arguments(&mut self) -> Parse<(Vec<Argument<'a>>, Vec<AttrDict>)> {
        let mut args = Vec::new();
        let mut attrs = Vec::new();
        self.expect("(")?;
        if self.eat(")") {
            return Ok((args, attrs));
        }
        loop {
            let token = self.tok;
            let mut name = None;
            if token.kind == Kind::Percent {
                name = Some(self.text(self.tok));
                self.advance();
                self.expect(":")?;
            }
            let ty = self.ty()?;
            attrs.push(self.optional_dict()?);
            let loc = self.optional_loc()?;
            args.push(Argument { name, at: token.start, ty, loc });
            if !self.eat(",") {
                self.expect(")")?;
                return Ok((args, attrs));
            }
        }
    }

    fn func_results(&mut self) -> Parse<(Vec<Type>, Vec<AttrDict>)> {
        let mut types = Vec::new();
        let mut attrs = Vec::new();
        if !self.eat("->") {
            return Ok((types, attrs));
        }
        if !self.is("(") {
            types.push(self.ty()?);
            return Ok((types, attrs));
        }
        self.advance();
        if self.eat(")") {
            return Ok((types, attrs));
        }
        loop {
            types.push(self.ty()?);
            attrs.push(self.optional_dict()?);
            if !self.eat(",") {
                self.expect(")")?;
                return Ok((types, attrs));
            }
        }
    }

    /// `%name` where a block argument gets its name.
    fn argument_name(&mut self) -> Parse<Argument<'a>> {
        let token = self.expect_kind(Kind::Percent, "an argument")?;
        let loc = self.m.unknown_loc();
        Ok(Argument { name: Some(self.text(token)), at: token.start, ty: Type::None, loc })
    }

    /// `(%a = %x, %b = %y)`: arguments and their first values.
    pub(super) fn bindings(&mut self) -> Parse<(Vec<Argument<'a>>, Vec<super::names::Use>)> {
        let mut args = Vec::new();
        let mut inits = Vec::new();
        self.expect("(")?;
        if self.eat(")") {
            return Ok((args, inits));
        }
        loop {
            args.push(self.argument_name()?);
            self.expect("=")?;
            inits.push(self.operand()?);
            if !self.eat(",") {
                self.expect(")")?;
                return Ok((args, inits));
            }
        }
    }

    /// `scf.for %i = %lo to %hi step %s iter_args(%x = %y) -> (T) : i32 {..} {attrs}`
    pub(super) fn for_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        if self.eat_word("unsigned") {
            self.set_prop(op, "unsignedCmp", Attr::Unit);
        }
        let mut args = vec![self.argument_name()?];
        self.expect("=")?;
        let mut operands = vec![self.operand()?];
        self.expect_word("to")?;
        operands.push(self.operand()?);
        self.expect_word("step")?;
        operands.push(self.operand()?);
        let mut types = Vec::new();
        if self.is_word("iter_args") {
            let at = self.advance();
            let (more, inits) = self.bindings()?;
            self.expect("->")?;
            types = self.type_list()?;
            self.check_types(&inits, &types, at)?;
            args.extend(more);
            operands.extend(inits);
        }
        let index = match self.eat(":") {
            true => self.ty()?,
            false => Type::Index,
        };
        for bound in operands.iter().take(3) {
            self.check_type(*bound, &index);
        }
        for (arg, ty) in args.iter_mut().zip(std::iter::once(&index).chain(&types)) {
            arg.ty = ty.clone();
        }
        self.set_operands(op, &operands);
        self.plain_region(op, args)?;
        self.implied_yield(op, &types);
        self.trailing_dict(op)?;
        Ok(types)
    }

    fn trailing_dict(&mut self, op: OpId) -> Parse<()> {
        let at = self.tok.start;
        let dict = self.optional_dict()?;
        self.place_attrs(op, dict, at)
    }

    /// A region of an operation without results may leave its `scf.yield` out.
    fn implied_yield(&mut self, op: OpId, results: &[Type]) {
        let Some(&region) = self.m.ops[op].regions.last() else { return };
        let Some(&block) = self.m.regions[region].blocks.last() else { return };
        let ended = self.m.terminator(block).is_some_and(|last| self.m.ops[last].opcode == Opcode::Yield);
        if results.is_empty() && !ended {
            let yield_op = self.new_op(Opcode::Yield);
            self.m.append(block, yield_op);
        }
    }

    /// `scf.if %c -> (T) {..} else {..} {attrs}`
    pub(super) fn if_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        let condition = self.operand()?;
        self.check_type(condition, &Type::I1);
        let types = match self.eat("->") {
            true if self.is("(") => self.type_list()?,
            true => vec![self.ty()?],
            false => Vec::new(),
        };
        self.set_operands(op, &[condition]);
        self.plain_region(op, Vec::new())?;
        self.implied_yield(op, &types);
        if self.eat_word("else") {
            self.plain_region(op, Vec::new())?;
            self.implied_yield(op, &types);
        } else {
            self.m.add_region(op);
        }
        self.trailing_dict(op)?;
        Ok(types)
    }

    /// `scf.while (%a = %b) : (T) -> (U) {..} do {^bb0(%a: U): ..} attributes {..}`
    pub(super) fn while_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        let (mut args, inits) = match self.is("(") {
            true => self.bindings()?,
            false => Default::default(),
        };
        self.expect(":")?;
        let at = self.tok;
        let (inputs, results) = self.function_type()?;
        self.check_types(&inits, &inputs, at)?;
        for (arg, ty) in args.iter_mut().zip(&inputs) {
            arg.ty = ty.clone();
        }
        self.set_operands(op, &inits);
        self.plain_region(op, args)?;
        self.expect_word("do")?;
        self.region(op, |p, region| {
            p.names.push_region();
            let entry = (p.tok.kind != Kind::Caret).then(Vec::new);
            let done = p.blocks(region, entry);
            p.names.pop_region();
            done
        })?;
        self.attributes_clause(op)?;
        Ok(results)
    }

    /// `arith.constant {attrs} value`; the type of the value is the type of the result.
    pub(super) fn constant_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        self.trailing_dict(op)?;
        let at = self.tok.start;
        let value = self.attr()?;
        let ty = match &value {
            Attr::Bool(_) => {
                // `true` needs no type, but may have one.
                if self.eat(":") { self.ty()? } else { Type::I1 }
            }
            _ => match value.value_type() {
                Some(ty) => ty.clone(),
                None => return Err(self.error(at, "a constant needs a number or `dense<..>` with its type")),
            },
        };
        self.set_prop(op, "value", value);
        Ok(vec![ty])
    }

    /// `arith.select %c, %t, %f {..} : tensor<..xi1>, T`; a scalar condition's type is left out.
    pub(super) fn select_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        let operands = self.operand_list()?;
        let [condition, then, other] = operands[..] else {
            let count = operands.len();
            return Err(self.error(self.last_end, format!("arith.select has 3 operands, found {count}")));
        };
        self.trailing_dict(op)?;
        self.expect(":")?;
        let mut ty = self.ty()?;
        if self.eat(",") {
            self.check_type(condition, &ty);
            ty = self.ty()?;
        } else {
            self.check_type(condition, &Type::I1);
        }
        self.check_type(then, &ty);
        self.check_type(other, &ty);
        self.set_operands(op, &operands);
        Ok(vec![ty])
    }

    /// `tt.make_tensor_descriptor %p, [%n, ..], [%s, ..] {..} : <bf16>, <128x64xbf16>`
    pub(super) fn make_descriptor_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        let base = self.operand()?;
        let mut operands = vec![base];
        for _ in 0..2 {
            self.expect(",")?;
            self.expect("[")?;
            if !self.is("]") {
                operands.extend(self.operand_list()?);
            }
            self.expect("]")?;
        }
        self.trailing_dict(op)?;
        self.expect(":")?;
        let pointer = match self.is("<") {
            true => self.pointer_body()?,
            false => self.ty()?,
        };
        self.check_type(base, &pointer);
        self.expect(",")?;
        let start = self.tok.start;
        let result = match self.is("<") {
            true => self.descriptor_body(start)?,
            false => self.ty()?,
        };
        self.set_operands(op, &operands);
        Ok(vec![result])
    }

    /// `tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e2m1 {..} : TA, TS * TB, TT -> TC`.
    /// Operands in memory: a, b, c and the scales that are given.
    pub(super) fn dot_scaled_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        let a = self.operand()?;
        let a_scale = if self.eat_word("scale") { Some(self.operand()?) } else { None };
        self.expect(",")?;
        let b = self.operand()?;
        let b_scale = if self.eat_word("scale") { Some(self.operand()?) } else { None };
        self.expect(",")?;
        let c = self.operand()?;
        for (word, name) in [("lhs", "a_elem_type"), ("rhs", "b_elem_type")] {
            self.expect_word(word)?;
            self.expect("=")?;
            self.keyword(op, name, &SCALE_TYPE)?;
        }
        self.trailing_dict(op)?;
        self.expect(":")?;
        for (operand, scale, end) in [(a, a_scale, "*"), (b, b_scale, "->")] {
            let ty = self.ty()?;
            self.check_type(operand, &ty);
            if let Some(scale) = scale {
                self.expect(",")?;
                let ty = self.ty()?;
                self.check_type(scale, &ty);
            }
            self.expect(end)?;
        }
        let result = self.ty()?;
        self.check_type(c, &result);
        let given = |scale: Option<_>| i64::from(scale.is_some());
        let values = vec![1, 1, 1, given(a_scale), given(b_scale)];
        self.set_prop(op, "operandSegmentSizes", Attr::DenseArray { elem: Type::I32, values });
        let operands: Vec<_> = [Some(a), Some(b), Some(c), a_scale, b_scale].into_iter().flatten().collect();
        self.set_operands(op, &operands);
        Ok(vec![result])
    }
}
