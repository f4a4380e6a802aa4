//! Modules and functions.

use super::Printer;
use crate::attr::{Attr, AttrDict};
use crate::entity::{OpId, RegionId};
use crate::types::Type;

impl<'m> Printer<'m> {
    pub(super) fn module_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let [region] = data.regions[..] else { return false };
        if !data.operands.is_empty() || !data.results.is_empty() || self.entry_with(region, &[]).is_none() {
            return false;
        }
        self.push("module");
        if let Some(name) = data.props.get("sym_name").and_then(Attr::as_str) {
            self.push(" ");
            self.symbol(name);
        }
        self.attributes_clause(op, &["sym_name"]);
        self.push(" ");
        self.region(region, false, false);
        true
    }

    pub(super) fn func_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let [region] = data.regions[..] else { return false };
        let Some(Attr::Type(Type::Function { inputs, results })) = data.props.get("function_type") else {
            return false;
        };
        let Some(Attr::String(name)) = data.props.get("sym_name") else { return false };
        let visibility = match data.props.get("sym_visibility") {
            None => None,
            Some(Attr::String(word)) if matches!(word.as_str(), "public" | "private" | "nested") => {
                Some(word)
            }
            Some(_) => return false,
        };
        let body = !self.m.regions[region].blocks.is_empty();
        let types: Vec<&Type> = inputs.iter().collect();
        let (Some(arg_attrs), Some(res_attrs)) = (
            dicts(data.props.get("arg_attrs"), inputs.len()),
            dicts(data.props.get("res_attrs"), results.len()),
        ) else {
            return false;
        };
        if !data.operands.is_empty()
            || !data.results.is_empty()
            || (body && self.entry_with(region, &types).is_none())
        {
            return false;
        }
        self.push(self.m.op_name(op));
        self.push(" ");
        if let Some(word) = visibility {
            self.push(word);
            self.push(" ");
        }
        self.symbol(name);
        self.func_arguments(region, inputs, &arg_attrs);
        self.func_results(results, &res_attrs);
        self.attributes_clause(
            op,
            &["sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs"],
        );
        if body {
            self.push(" ");
            self.region(region, false, false);
        }
        true
    }

    fn func_arguments(&mut self, region: RegionId, types: &[Type], attrs: &[Option<&AttrDict>]) {
        let block = self.m.regions[region].blocks.first();
        let args = block.map(|b| &self.m.blocks[*b].args);
        self.push("(");
        for (n, ty) in types.iter().enumerate() {
            if n > 0 {
                self.push(", ");
            }
            let arg = args.and_then(|args| args.get(n));
            match arg {
                Some(arg) => self.argument(*arg),
                None => self.ty(ty),
            }
            self.dict_behind(attrs.get(n).copied().flatten());
            if let Some(arg) = arg {
                self.optional_loc(self.m.values[*arg].loc);
            }
        }
        self.push(")");
    }

    fn dict_behind(&mut self, dict: Option<&AttrDict>) {
        if let Some(dict) = dict.filter(|d| !d.is_empty()) {
            self.push(" ");
            self.dict(dict.iter());
        }
    }

    fn func_results(&mut self, types: &[Type], attrs: &[Option<&AttrDict>]) {
        if types.is_empty() {
            return;
        }
        self.push(" -> ");
        let plain = attrs.iter().flatten().all(|d| d.is_empty());
        if let [one] = types
            && plain
            && !matches!(one, Type::Function { .. })
        {
            return self.ty(one);
        }
        self.push("(");
        for (n, ty) in types.iter().enumerate() {
            if n > 0 {
                self.push(", ");
            }
            self.ty(ty);
            self.dict_behind(attrs.get(n).copied().flatten());
        }
        self.push(")");
    }
}

/// The dictionaries of arguments or results: none at all, or one for each. `None` for anything else.
fn dicts(attr: Option<&Attr>, count: usize) -> Option<Vec<Option<&AttrDict>>> {
    match attr {
        None => Some(vec![None; count]),
        Some(Attr::Array(items)) if items.len() == count => items
            .iter()
            .map(|item| match item {
                Attr::Dict(dict) => Some(Some(dict)),
                _ => None,
            })
            .collect(),
        Some(_) => None,
    }
}
