//! Operations in either form, regions and blocks.

use super::{MAX_DEPTH, Printer, names};
use crate::attr::Attr;
use crate::entity::{BlockId, OpId, RegionId, ValueId};
use crate::module::Operation;
use crate::opcode::Opcode;
use crate::text::format::{Format, enumeration, format};
use crate::types::Type;

impl<'m> Printer<'m> {
    pub(super) fn op_data(&self, op: OpId) -> &'m Operation {
        &self.m.ops[op]
    }

    /// An operation with its results and location, without the line end.
    pub(super) fn op(&mut self, op: OpId) {
        self.result_names(op);
        let known = match self.format_of(op) {
            Format::Items(items, infer) => self.items(op, items, infer),
            Format::Generic => self.kept_op(op),
            Format::Module => self.module_op(op),
            Format::Func => self.func_op(op),
            Format::For => self.for_op(op),
            Format::If => self.if_op(op),
            Format::While => self.while_op(op),
            Format::Branch => self.branch_op(op),
            Format::Constant => self.constant_op(op),
            Format::Select => self.select_op(op),
            Format::MakeDescriptor => self.make_descriptor_op(op),
            Format::DotScaled => self.dot_scaled_op(op),
            Format::WarpSpecialize => self.warp_specialize_op(op),
            Format::CondDo => self.cond_do_op(op),
        };
        if !known {
            self.generic(op);
        }
        self.optional_loc(self.op_data(op).loc);
    }

    fn format_of(&self, op: OpId) -> Format {
        match (self.op_data(op).opcode, self.dialect) {
            (Opcode::Other(name), Some(dialect)) => {
                (dialect.format)(&self.m.names[name]).unwrap_or(Format::Generic)
            }
            (known, _) => format(known),
        }
    }

    /// `%a, %b:2 = `
    fn result_names(&mut self, op: OpId) {
        let groups = names::groups(self.m, op);
        for (n, (first, count)) in groups.iter().enumerate() {
            if n > 0 {
                self.push(", ");
            }
            let value = self.op_data(op).results[*first];
            let name = self.names[value].clone();
            match count {
                1 => self.push(&name),
                _ => self.push(&format!("{}:{count}", name.split('#').next().unwrap_or(""))),
            }
        }
        if !groups.is_empty() {
            self.push(" = ");
        }
    }

    pub(super) fn value(&mut self, value: ValueId) {
        self.out.push_str(&self.names[value]);
    }

    pub(super) fn values(&mut self, values: &[ValueId]) {
        for (n, value) in values.iter().enumerate() {
            if n > 0 {
                self.push(", ");
            }
            self.value(*value);
        }
    }

    pub(super) fn types<'t>(&mut self, types: impl IntoIterator<Item = &'t Type>) {
        for (n, ty) in types.into_iter().enumerate() {
            if n > 0 {
                self.push(", ");
            }
            self.ty(ty);
        }
    }

    pub(super) fn value_types(&mut self, values: &[ValueId]) {
        let m = self.m;
        self.types(values.iter().map(|v| m.ty(*v)));
    }

    /// `(A, B) -> C`
    pub(super) fn signature(&mut self, op: OpId) {
        let data = self.op_data(op);
        self.push("(");
        self.value_types(&data.operands);
        self.push(") -> ");
        self.result_types(op);
    }

    /// `C` or `(C, D)`
    pub(super) fn result_types(&mut self, op: OpId) {
        let results = &self.op_data(op).results;
        match results[..] {
            [one] if !matches!(self.m.ty(one), Type::Function { .. }) => self.value_types(results),
            _ => {
                self.push("(");
                self.value_types(results);
                self.push(")");
            }
        }
    }

    /// `"name"(operands) <{properties}> ({regions}) {attributes} : (types) -> types`
    fn generic(&mut self, op: OpId) {
        let data = self.op_data(op);
        self.string(self.m.op_name(op));
        self.push("(");
        self.values(&data.operands);
        self.push(")");
        if !data.props.is_empty() {
            let numbered: Vec<(&str, Attr)> =
                data.props.iter().map(|(name, attr)| (name, numbered(data.opcode, name, attr))).collect();
            self.push(" <");
            self.dict(numbered.iter().map(|(name, attr)| (*name, attr)));
            self.push(">");
        }
        if !data.regions.is_empty() {
            self.push(" (");
            for (n, region) in data.regions.iter().enumerate() {
                if n > 0 {
                    self.push(", ");
                }
                self.region(*region, true, false);
            }
            self.push(")");
        }
        if !data.attrs.is_empty() {
            self.push(" ");
            self.dict(data.attrs.iter());
        }
        self.push(" : ");
        self.signature(op);
    }

    /// `{..}` over several lines. `labelled` writes the label and arguments of the entry block;
    /// `no_end` leaves the last operation out.
    pub(super) fn region(&mut self, region: RegionId, labelled: bool, no_end: bool) {
        self.push("{");
        if self.indent >= MAX_DEPTH {
            self.push(" // nested too deep\n}");
            return;
        }
        let blocks = &self.m.regions[region].blocks;
        for (n, block) in blocks.iter().enumerate() {
            let data = &self.m.blocks[*block];
            if n > 0 || (labelled && (!data.args.is_empty() || data.ops.is_empty())) {
                self.newline();
                self.label(*block, n);
            }
            self.indent += 1;
            let cut = usize::from(no_end && n + 1 == blocks.len());
            for op in &data.ops[..data.ops.len().saturating_sub(cut)] {
                self.newline();
                self.op(*op);
            }
            self.indent -= 1;
        }
        self.newline();
        self.push("}");
    }

    /// `^bb0(%a: T loc(..)):`
    fn label(&mut self, block: BlockId, number: usize) {
        self.push(&format!("^bb{number}"));
        let args = &self.m.blocks[block].args;
        if !args.is_empty() {
            self.push("(");
            for (n, arg) in args.iter().enumerate() {
                if n > 0 {
                    self.push(", ");
                }
                self.argument(*arg);
                self.optional_loc(self.m.values[*arg].loc);
            }
            self.push(")");
        }
        self.push(":");
    }

    /// `%a: T`
    pub(super) fn argument(&mut self, arg: ValueId) {
        self.value(arg);
        self.push(": ");
        self.ty(self.m.ty(arg));
    }
}

/// A property as the generic form writes it: keywords as numbers.
fn numbered(opcode: Opcode, name: &str, attr: &Attr) -> Attr {
    if let (Some(words), Attr::Opaque(word)) = (enumeration(opcode, name), attr)
        && let Some(value) = words.number(word)
    {
        return Attr::Int { value, ty: Type::int(words.bits) };
    }
    attr.clone()
}
