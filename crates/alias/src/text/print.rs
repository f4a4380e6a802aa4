//! Printing a tree the way MLIR does: values renumbered, one operation a line (A20).

use std::fmt::Write;

use hashbrown::HashMap;

use super::tree::{Form, Op, OpId, Piece, RegionId, Tree, ValueId};

/// Whether values get MLIR's numbers or keep their own names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    Numbered,
    Kept,
}

struct Printer<'t> {
    tree: &'t Tree,
    names: HashMap<ValueId, String>,
    used: HashMap<String, u32>,
    out: String,
    locs: bool,
}

/// The counters of a region: values, arguments, conflicts.
#[derive(Clone, Copy, Default)]
struct Counters {
    value: u32,
    arg: u32,
    conflict: u32,
}

/// A block to number: its arguments, whether it is the first of its region, its operations.
type Numbered = (Vec<ValueId>, bool, Vec<OpId>);

/// Blocks of a region to number in order, the counters, names that are free again.
type Batch = (Vec<Numbered>, Counters, Vec<String>);

/// The text of a part, with a line end.
pub(crate) fn print(tree: &Tree, names: Names) -> String {
    let mut p =
        Printer { tree, names: HashMap::new(), used: HashMap::new(), out: String::new(), locs: false };
    p.locs = tree.aliases.iter().any(|(n, ..)| n.starts_with("#loc"));
    match names {
        Names::Numbered => p.number(&tree.top, Counters::default()),
        Names::Kept => {
            let name = |v: &super::tree::Value| match v.pack {
                Some((n, _)) => format!("{}#{n}", v.name),
                None => v.name.clone(),
            };
            p.names = tree.values.iter().enumerate().map(|(n, v)| (n, name(v))).collect();
        }
    }
    for (name, body, _) in tree.aliases.iter().filter(|(_, _, before)| *before) {
        // Writing to a string cannot fail.
        let _ = writeln!(p.out, "{name} = {body}");
    }
    let wrapped = !matches!(tree.top.as_slice(), [one] if is_module(tree, *one));
    if wrapped {
        p.out.push_str("module {\n");
    }
    for op in &tree.top {
        p.op(*op, usize::from(wrapped));
    }
    if wrapped {
        p.out.push_str("}\n");
    }
    for (name, body, _) in tree.aliases.iter().filter(|(_, _, before)| !*before) {
        let _ = writeln!(p.out, "{name} = {body}");
    }
    p.out
}

fn is_module(tree: &Tree, op: OpId) -> bool {
    tree.ops.get(op).is_some_and(|o| o.name == "module" || o.name == "builtin.module")
}

/// The integer of an `arith.constant`, and its type.
pub(crate) fn constant(op: &Op) -> Option<(i64, String)> {
    if op.name != "arith.constant" {
        return None;
    }
    if let Some(form) = &op.form {
        return form.attr("value")?.parse().ok().zip(form.outs.first().cloned());
    }
    let texts: Vec<&str> = op.body.iter().map(Piece::text).collect();
    let (sign, digits, ty) = match texts.as_slice() {
        ["-", n, ":", ty] => (-1, *n, *ty),
        [n, ":", ty] => (1, *n, *ty),
        ["true"] => (1, "1", "i1"),
        ["false"] => (1, "0", "i1"),
        _ => {
            let at = texts.iter().position(|t| *t == "value")?;
            match texts.get(at + 1..at + 5)? {
                ["=", n, ":", ty] => (1, *n, *ty),
                _ => return None,
            }
        }
    };
    digits.parse::<i64>().ok().map(|n| (sign * n, ty.to_owned()))
}

impl Printer<'_> {
    /// Numbers the values of a list of operations, then those of their regions, which go on counting.
    fn number(&mut self, ops: &[OpId], start: Counters) {
        let mut work: Vec<Batch> = vec![(vec![(Vec::new(), true, ops.to_vec())], start, Vec::new())];
        // Regions are taken up in order; the names of a finished subtree are free again.
        while let Some((blocks, mut c, free)) = work.pop() {
            for name in free {
                self.used.remove(&name);
            }
            let mut taken = Vec::new();
            let mut inner = Vec::new();
            for (args, entry, ops) in blocks {
                for arg in
                    args.into_iter().filter(|v| !entry || !self.names.contains_key(v)).collect::<Vec<_>>()
                {
                    let name = if entry {
                        let name = self.unique(format!("arg{}", c.arg), &mut c, &mut taken);
                        c.arg += 1;
                        name
                    } else {
                        c.value += 1;
                        (c.value - 1).to_string()
                    };
                    self.names.insert(arg, name);
                }
                for op in ops {
                    self.results(op, &mut c, &mut taken);
                    inner.extend(self.tree.regions_of(op));
                }
            }
            if !taken.is_empty() {
                work.push((Vec::new(), c, taken));
            }
            for region in inner.into_iter().rev() {
                let blocks = self.tree.regions.get(region).map_or(&[][..], |r| r.blocks.as_slice());
                let all = blocks.iter().filter_map(|b| self.tree.blocks.get(*b)).enumerate();
                work.push((
                    all.map(|(n, b)| (b.args.clone(), n == 0, b.ops.clone())).collect(),
                    c,
                    Vec::new(),
                ));
            }
        }
    }

    fn unique(&mut self, name: String, c: &mut Counters, taken: &mut Vec<String>) -> String {
        let mut out = name.clone();
        while self.used.contains_key(&out) {
            out = format!("{name}_{}", c.conflict);
            c.conflict += 1;
        }
        self.used.insert(out.clone(), 0);
        taken.push(out.clone());
        out
    }

    fn results(&mut self, id: OpId, c: &mut Counters, taken: &mut Vec<String>) {
        let Some(op) = self.tree.ops.get(id) else { return };
        let hints: Option<Vec<String>> = match op.name.as_str() {
            "arith.constant" => Some(vec![match constant(op) {
                Some((n, ty)) if ty == "i1" => if n == 0 { "false" } else { "true" }.to_owned(),
                Some((n, ty)) if ty == "index" => format!("c{n}"),
                Some((n, ty)) => format!("c{n}_{ty}"),
                None => "cst".to_owned(),
            }]),
            "ttng.tmem_alloc" => Some(vec!["result".to_owned(), "token".to_owned()]),
            _ => None,
        };
        let mut pack: Option<String> = None;
        for (n, value) in op.results.iter().enumerate() {
            let (which, of) = self.tree.values.get(*value).and_then(|v| v.pack).unwrap_or((0, 1));
            if which > 0 {
                if let Some(name) = pack.clone() {
                    self.names.insert(*value, format!("{name}#{which}"));
                }
                continue;
            }
            let name = match hints.as_ref().and_then(|h| h.get(n)) {
                Some(hint) => self.unique(hint.clone(), c, taken),
                None => {
                    c.value += 1;
                    (c.value - 1).to_string()
                }
            };
            self.names.insert(*value, if of > 1 { format!("{name}#0") } else { name.clone() });
            pack = Some(name);
        }
    }

    fn value(&mut self, value: ValueId) {
        // What no region takes in, an argument of a function without a body, keeps its name.
        let own = self.tree.values.get(value).map_or("?", |v| v.name.as_str());
        let name = self.names.get(&value).map_or(own, String::as_str);
        self.out.push('%');
        self.out.push_str(name);
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.out.push_str("  ");
        }
    }

    fn op(&mut self, id: OpId, depth: usize) {
        let tree = self.tree;
        let Some(op) = tree.ops.get(id) else { return };
        self.indent(depth);
        let mut first = true;
        for value in &op.results {
            let (which, of) = tree.values.get(*value).and_then(|v| v.pack).unwrap_or((0, 1));
            if which > 0 {
                continue;
            }
            if !first {
                self.out.push_str(", ");
            }
            first = false;
            let name = self.names.get(value).map_or("?", String::as_str);
            let name = name.split('#').next().unwrap_or(name);
            self.out.push('%');
            self.out.push_str(name);
            if of > 1 {
                let _ = write!(self.out, ":{of}");
            }
        }
        if !first {
            self.out.push_str(" = ");
        }
        match &op.form {
            Some(form) => self.form(op, form),
            None => {
                let quote = if op.quoted { "\"" } else { "" };
                let _ = write!(self.out, "{quote}{}{quote}", op.name);
                self.pieces(&op.body, depth, op.name == "ttg.warp_specialize");
            }
        }
        if let Some(loc) = op.loc.as_ref().filter(|_| self.locs) {
            let _ = write!(self.out, " {loc}");
        }
        self.out.push('\n');
    }

    fn pieces(&mut self, pieces: &[Piece], depth: usize, clauses: bool) {
        let mut open = 0usize;
        for piece in pieces {
            let space = match piece {
                Piece::Text(_, s) | Piece::Use(_, s) | Piece::Def(_, s) | Piece::TypeOf(_, s) => *s,
                Piece::Region(_) => !self.out.ends_with('('),
            };
            let clause = clauses && open == 0 && starts_clause(piece.text());
            if clause {
                self.out.push('\n');
                self.indent(depth);
            } else if space {
                self.out.push(' ');
            }
            match piece {
                Piece::Text(text, _) => {
                    match text.as_ref() {
                        "(" | "[" | "{" => open += 1,
                        ")" | "]" | "}" => open = open.saturating_sub(1),
                        _ => {}
                    }
                    self.out.push_str(text);
                }
                Piece::Use(value, _) | Piece::Def(value, _) => self.value(*value),
                Piece::TypeOf(value, _) => {
                    let ty = self.tree.ty(*value).unwrap_or("?").to_owned();
                    self.out.push_str(&ty);
                }
                Piece::Region(region) => self.region(*region, depth),
            }
        }
    }

    fn region(&mut self, region: RegionId, depth: usize) {
        let tree = self.tree;
        self.out.push_str("{\n");
        let blocks = tree.regions.get(region).map_or(&[][..], |r| r.blocks.as_slice());
        for block in blocks.iter().filter_map(|b| tree.blocks.get(*b)) {
            if !block.header.is_empty() {
                self.indent(depth);
                self.pieces(&block.header, depth, false);
                self.out.push('\n');
            }
            for op in &block.ops {
                self.op(*op, depth + 1);
            }
        }
        self.indent(depth);
        self.out.push('}');
    }

    fn values(&mut self, values: &[ValueId]) {
        for (n, value) in values.iter().enumerate() {
            if n > 0 {
                self.out.push_str(", ");
            }
            self.value(*value);
        }
    }

    /// The assembly of A16.
    fn form(&mut self, op: &Op, form: &Form) {
        let (name, known) = match op.name.as_str() {
            "tlx.shared_buffer_def" => ("tlx.storage_alias_spec", ["storage", "size"].as_slice()),
            "tlx.storage_alias_spec" => ("tlx.storage_alias_spec", ["storage", "size"].as_slice()),
            "tlx.shared_buffer_local_alloc" => ("tlx.storage_alias_local_alloc", [].as_slice()),
            "tlx.reuse_group" => ("tlx.reuse_group", ["group_kind", "group_size"].as_slice()),
            "ttg.memdesc_subslice" => ("ttg.memdesc_subslice", ["offsets"].as_slice()),
            "warploom.view" => ("warploom.view", ["base", "strides", "radices"].as_slice()),
            "arith.constant" => ("arith.constant", ["value"].as_slice()),
            other => (other, [].as_slice()),
        };
        self.out.push_str(name);
        match name {
            "tlx.storage_alias_spec" => {
                let _ = write!(self.out, " storage = {}", form.attr("storage").unwrap_or("?"));
                if let Some(size) = form.attr("size") {
                    let _ = write!(self.out, ", size = {size}");
                }
            }
            "tlx.reuse_group" => {
                self.out.push('(');
                self.values(&form.operands);
                let _ = write!(self.out, ") group_kind = {}", form.attr("group_kind").unwrap_or("?"));
                if let Some(size) = form.attr("group_size").filter(|s| *s != "1") {
                    let _ = write!(self.out, ", group_size = {size}");
                }
            }
            "tlx.set_buffer_overlap" => {
                self.out.push('(');
                self.values(&form.operands);
                let _ = write!(self.out, ") : ({}) -> ()", types(&form.ins));
                self.dict(form, known);
                return;
            }
            "ttg.memdesc_index" => {
                let (buffer, index) = form.operands.split_at(1.min(form.operands.len()));
                self.out.push(' ');
                self.values(buffer);
                self.out.push('[');
                self.values(index);
                self.out.push(']');
            }
            "ttg.memdesc_subslice" => {
                self.out.push(' ');
                self.values(&form.operands);
                self.out.push_str(form.attr("offsets").unwrap_or(""));
            }
            "warploom.view" => {
                self.out.push(' ');
                self.values(&form.operands);
                for (n, key) in known.iter().enumerate() {
                    if let Some(value) = form.attr(key) {
                        let _ = write!(self.out, "{}{key} = {value}", if n > 0 { ", " } else { " " });
                    }
                }
            }
            "arith.constant" => {
                self.dict(form, known);
                let ty = form.outs.first().map_or("?", String::as_str);
                let _ = write!(self.out, " {} : {ty}", form.attr("value").unwrap_or("0"));
                return;
            }
            _ if !form.operands.is_empty() => {
                self.out.push(' ');
                self.values(&form.operands);
            }
            _ => {}
        }
        self.dict(form, known);
        self.out.push_str(" : ");
        match name {
            "tlx.storage_alias_spec" => self.out.push_str(&types(&form.outs)),
            "arith.muli" | "arith.addi" | "arith.divsi" | "arith.remsi" => {
                self.out.push_str(&types(&form.outs))
            }
            "tlx.reuse_group" | "ttg.local_alloc" | "ttng.tmem_alloc" => {
                let _ = match form.outs.as_slice() {
                    [one] => write!(self.out, "({}) -> {one}", types(&form.ins)),
                    more => write!(self.out, "({}) -> ({})", types(&form.ins), types(more)),
                };
            }
            _ => {
                let _ = write!(self.out, "{} -> {}", types(&form.ins), types(&form.outs));
            }
        }
    }

    fn dict(&mut self, form: &Form, known: &[&str]) {
        let mut first = true;
        for (name, value) in form.attrs.iter().filter(|(n, _)| !known.contains(&n.as_str())) {
            self.out.push_str(if first { " {" } else { ", " });
            first = false;
            let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$'));
            let _ = if plain { write!(self.out, "{name}") } else { write!(self.out, "\"{name}\"") };
            if !value.is_empty() {
                let _ = write!(self.out, " = {value}");
            }
        }
        if !first {
            self.out.push('}');
        }
    }
}

/// Clauses of `ttg.warp_specialize` that begin a line of their own.
fn starts_clause(text: &str) -> bool {
    text == "default"
        || text
            .strip_prefix("partition")
            .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()) && !n.is_empty())
}

fn types(types: &[String]) -> String {
    types.join(", ")
}
