//! Operations with a format of their own. Each routine says whether the operation fits the format, and
//! writes nothing when it does not.

use super::Printer;
use crate::attr::Attr;
use crate::entity::{BlockId, OpId, RegionId};
use crate::opcode::Opcode;
use crate::text::keywords::SCALE_TYPE;
use crate::types::Type;

impl<'m> Printer<'m> {
    /// The first block of a region, if it has these argument types.
    pub(super) fn entry_with(&self, region: RegionId, args: &[&Type]) -> Option<BlockId> {
        let block = *self.m.regions[region].blocks.first()?;
        self.m.blocks[block].args.iter().map(|a| self.m.ty(*a)).eq(args.iter().copied()).then_some(block)
    }

    /// Whether the only block ends in `scf.yield`, and whether that one says nothing and may be left out.
    fn yields(&self, region: RegionId) -> Option<bool> {
        let [block] = self.m.regions[region].blocks[..] else { return None };
        let last = &self.m.ops[self.m.terminator(block)?];
        let silent = last.operands.is_empty()
            && last.props.is_empty()
            && last.attrs.is_empty()
            && (!self.locs || last.loc == self.m.unknown_loc());
        (last.opcode == Opcode::Yield).then_some(silent)
    }

    pub(super) fn attributes_clause(&mut self, op: OpId, used: &[&str]) {
        let data = self.op_data(op);
        if data.props.iter().any(|(name, _)| !used.contains(&name)) || !data.attrs.is_empty() {
            self.push(" attributes");
            self.attr_dict(op, used, false);
        }
    }

    pub(super) fn for_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let m = self.m;
        let ([region], [low, high, step, inits @ ..]) = (&data.regions[..], &data.operands[..]) else {
            return false;
        };
        let index = m.ty(*low);
        let types: Vec<&Type> = std::iter::once(index).chain(inits.iter().map(|v| m.ty(*v))).collect();
        let bounds = [high, step].iter().all(|v| m.ty(**v) == index);
        let results = data.results.iter().map(|v| m.ty(*v)).eq(types[1..].iter().copied());
        let flag = matches!(data.props.get("unsignedCmp"), None | Some(Attr::Unit));
        let (Some(block), Some(silent)) = (self.entry_with(*region, &types), self.yields(*region)) else {
            return false;
        };
        if !bounds || !results || !flag {
            return false;
        }
        let args = &m.blocks[block].args;
        self.push("scf.for ");
        if data.props.contains("unsignedCmp") {
            self.push("unsigned ");
        }
        self.value(args[0]);
        for (word, value) in [(" = ", low), (" to ", high), (" step ", step)] {
            self.push(word);
            self.value(*value);
        }
        if !inits.is_empty() {
            self.push(" iter_args(");
            self.bindings(&args[1..], inits);
            self.push(") -> (");
            self.types(types[1..].iter().copied());
            self.push(")");
        }
        self.push(" ");
        if *index != Type::Index {
            self.push(" : ");
            self.ty(index);
            self.push(" ");
        }
        self.region(*region, false, silent && inits.is_empty());
        self.attr_dict(op, &["unsignedCmp"], false);
        true
    }

    /// `cf.br ^bb1(%a : T)` or `cf.cond_br %c, ^bb1(%a : T), ^bb2`
    pub(super) fn branch_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let region = data.block.and_then(|b| self.m.blocks[b].region);
        let Some(blocks) = region.map(|r| &self.m.regions[r].blocks) else { return false };
        let number = |block: BlockId| blocks.iter().position(|b| *b == block);
        let Some(places) = data.successors.iter().map(|b| number(*b)).collect::<Option<Vec<_>>>() else {
            return false;
        };
        let handed: usize = self.m.branches(op).map(|(_, args)| args.len()).sum();
        let conditions = usize::from(data.opcode == Opcode::CondBr);
        if places.len() != 1 + conditions || data.operands.len() != conditions + handed {
            return false;
        }
        self.push(self.m.op_name(op));
        self.push(" ");
        if let (true, Some(condition)) = (conditions == 1, data.operands.first()) {
            self.value(*condition);
            self.push(", ");
        }
        let m = self.m;
        for (n, ((_, args), place)) in m.branches(op).zip(places).enumerate() {
            self.push(if n > 0 { ", " } else { "" });
            self.push(&format!("^bb{place}"));
            if !args.is_empty() {
                self.push("(");
                self.values(args);
                self.push(" : ");
                self.value_types(args);
                self.push(")");
            }
        }
        self.attr_dict(op, &[], false);
        true
    }

    /// `%a = %x, %b = %y`
    pub(super) fn bindings(&mut self, args: &[crate::entity::ValueId], inits: &[crate::entity::ValueId]) {
        for (n, (arg, init)) in args.iter().zip(inits).enumerate() {
            if n > 0 {
                self.push(", ");
            }
            self.value(*arg);
            self.push(" = ");
            self.value(*init);
        }
    }

    pub(super) fn if_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let ([then, other], [condition]) = (&data.regions[..], &data.operands[..]) else { return false };
        let without_else = self.m.regions[*other].blocks.is_empty();
        let (Some(_), Some(silent)) = (self.entry_with(*then, &[]), self.yields(*then)) else { return false };
        let else_silent = match without_else {
            true => Some(false),
            false => self.entry_with(*other, &[]).and_then(|_| self.yields(*other)),
        };
        let Some(else_silent) = else_silent else { return false };
        if *self.m.ty(*condition) != Type::I1 {
            return false;
        }
        let no_results = data.results.is_empty();
        self.push("scf.if ");
        self.value(*condition);
        if !no_results {
            self.push(" -> (");
            self.value_types(&data.results);
            self.push(")");
        }
        self.push(" ");
        self.region(*then, false, silent && no_results);
        if !without_else {
            self.push(" else ");
            self.region(*other, false, else_silent && no_results);
        }
        self.attr_dict(op, &[], false);
        true
    }

    pub(super) fn while_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let m = self.m;
        let [before, after] = data.regions[..] else { return false };
        let inputs: Vec<&Type> = data.operands.iter().map(|v| m.ty(*v)).collect();
        let Some(block) = self.entry_with(before, &inputs) else { return false };
        if m.regions[after].blocks.is_empty() {
            return false;
        }
        self.push("scf.while ");
        if !data.operands.is_empty() {
            self.push("(");
            self.bindings(&m.blocks[block].args, &data.operands);
            self.push(") ");
        }
        self.push(": ");
        self.push("(");
        self.types(inputs);
        self.push(") -> ");
        self.result_types(op);
        self.push(" ");
        self.region(before, false, false);
        self.push(" do ");
        self.region(after, true, false);
        self.attributes_clause(op, &[]);
        true
    }

    pub(super) fn constant_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let (Some(value), [result], [], []) =
            (data.props.get("value"), &data.results[..], &data.operands[..], &data.regions[..])
        else {
            return false;
        };
        let ty = self.m.ty(*result);
        let fits = match value {
            Attr::Bool(_) => *ty == Type::I1,
            _ => value.value_type() == Some(ty),
        };
        if !fits {
            return false;
        }
        self.push("arith.constant");
        self.attr_dict(op, &["value"], false);
        self.push(" ");
        self.attr(value);
        true
    }

    pub(super) fn select_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let ([condition, then, other], [result], []) =
            (&data.operands[..], &data.results[..], &data.regions[..])
        else {
            return false;
        };
        let ty = self.m.ty(*result);
        let choice = self.m.ty(*condition);
        if self.m.ty(*then) != ty || self.m.ty(*other) != ty || !(choice.is_tensor() || *choice == Type::I1) {
            return false;
        }
        self.push("arith.select ");
        self.values(&data.operands);
        self.attr_dict(op, &[], false);
        self.push(" : ");
        if *choice != Type::I1 {
            self.ty(choice);
            self.push(", ");
        }
        self.ty(ty);
        true
    }

    pub(super) fn make_descriptor_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let ([base, lists @ ..], [result], []) = (&data.operands[..], &data.results[..], &data.regions[..])
        else {
            return false;
        };
        if lists.len() % 2 != 0 {
            return false;
        }
        let (shape, strides) = lists.split_at(lists.len() / 2);
        self.push("tt.make_tensor_descriptor ");
        self.value(*base);
        self.push(", [");
        self.values(shape);
        self.push("], [");
        self.values(strides);
        self.push("]");
        self.attr_dict(op, &[], false);
        self.push(" : ");
        for (n, (value, prefix)) in [(base, "!tt.ptr"), (result, "!tt.tensordesc")].into_iter().enumerate() {
            if n > 0 {
                self.push(", ");
            }
            let text = self.m.ty(*value).to_string();
            self.push(text.strip_prefix(prefix).unwrap_or(&text));
        }
        true
    }

    pub(super) fn dot_scaled_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let m = self.m;
        let ([a, b, c, scales @ ..], [result], []) =
            (&data.operands[..], &data.results[..], &data.regions[..])
        else {
            return false;
        };
        let Some(Attr::DenseArray { values, .. }) = data.props.get("operandSegmentSizes") else {
            return false;
        };
        let (a_scale, b_scale) = match (&values[..], scales) {
            ([1, 1, 1, 0, 0], []) => (None, None),
            ([1, 1, 1, 1, 0], [a]) => (Some(a), None),
            ([1, 1, 1, 0, 1], [b]) => (None, Some(b)),
            ([1, 1, 1, 1, 1], [a, b]) => (Some(a), Some(b)),
            _ => return false,
        };
        let word = |name| match data.props.get(name) {
            Some(Attr::Opaque(word)) if SCALE_TYPE.number(word).is_some() => Some(word.as_str()),
            _ => None,
        };
        let (Some(lhs), Some(rhs)) = (word("a_elem_type"), word("b_elem_type")) else { return false };
        if m.ty(*c) != m.ty(*result) {
            return false;
        }
        self.push("tt.dot_scaled ");
        for (operand, scale) in [(a, a_scale), (b, b_scale)] {
            self.value(*operand);
            if let Some(scale) = scale {
                self.push(" scale ");
                self.value(*scale);
            }
            self.push(", ");
        }
        self.value(*c);
        self.push(&format!(" lhs = {lhs} rhs = {rhs}"));
        self.attr_dict(op, &["a_elem_type", "b_elem_type", "operandSegmentSizes"], false);
        self.push(" : ");
        for (operand, scale, end) in [(a, a_scale, " * "), (b, b_scale, " -> ")] {
            self.ty(m.ty(*operand));
            if let Some(scale) = scale {
                self.push(", ");
                self.ty(m.ty(*scale));
            }
            self.push(end);
        }
        self.ty(m.ty(*result));
        true
    }
}
