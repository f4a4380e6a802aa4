//! Operands, attributes and types of the operations that have a meaning here, from custom or generic form.

use super::parse::{join, type_len, typed_defs};
use super::tree::{Form, Op, OpId, Piece, Tree};
use crate::error::{AliasError, Result};

/// Operations that are read into a [`Form`] and printed from it (A16).
pub(crate) const KNOWN: [&str; 15] = [
    "tlx.storage_alias_spec",
    "tlx.shared_buffer_def",
    "tlx.storage_alias_local_alloc",
    "tlx.shared_buffer_local_alloc",
    "tlx.reuse_group",
    "tlx.set_buffer_overlap",
    "tlx.local_alias",
    "ttg.local_alloc",
    "ttng.tmem_alloc",
    "ttg.memdesc_index",
    "ttg.memdesc_reinterpret",
    "ttg.memdesc_subslice",
    "ttg.memdesc_trans",
    "ttng.tmem_subslice",
    "warploom.view",
];

/// Reads the forms of all known operations and the types of the values they make.
///
/// # Errors
/// A16 for assembly that is not that of the operation.
pub(crate) fn read_forms(tree: &mut Tree) -> Result<()> {
    for id in tree.walk() {
        let Some(op) = tree.ops.get(id) else { continue };
        let known = KNOWN.contains(&op.name.as_str());
        let results = op.results.clone();
        if known {
            let mut form = match op.quoted {
                true => generic(op)?,
                false => custom(op)?,
            };
            // The first name of the type (A3).
            for ty in form.ins.iter_mut().chain(&mut form.outs) {
                if ty.contains("!tlx.shared_buffer_def<") {
                    *ty = ty.replace("!tlx.shared_buffer_def<", "!tlx.storage_alias_spec<");
                }
            }
            if form.outs.len() != results.len() {
                let message = format!(
                    "operation defines {} results but was provided {} to bind",
                    form.outs.len(),
                    results.len()
                );
                return Err(AliasError::new("A16", message).at(op.pos));
            }
            for (value, ty) in results.iter().zip(&form.outs) {
                if let Some(v) = tree.values.get_mut(*value) {
                    v.ty = Some(ty.clone());
                }
            }
            operand_types(tree, id, &form)?;
            if let Some(op) = tree.ops.get_mut(id) {
                (op.form, op.body) = (Some(form), Vec::new());
            }
            continue;
        }
        // Operations without operands, results and types have nothing to read.
        if results.is_empty() && op.body.len() < 2 {
            continue;
        }
        let body = op.body.clone();
        typed_defs(tree, &body);
        let name = tree.ops.get(id).map_or_else(String::new, |o| o.name.clone());
        match name.as_str() {
            "ttg.warp_specialize" | "scf.for" | "scf.yield" => retype(tree, id, &name),
            _ => {
                for (value, ty) in results.iter().zip(last_types(&body)) {
                    if let Some(v) = tree.values.get_mut(*value) {
                        v.ty = Some(ty);
                    }
                }
            }
        }
    }
    Ok(())
}

/// The operands of a known operation have the types it says.
fn operand_types(tree: &Tree, id: OpId, form: &Form) -> Result<()> {
    let Some(op) = tree.ops.get(id) else { return Ok(()) };
    if form.ins.len() > form.operands.len() {
        let message = format!("{} operands, {} types", form.operands.len(), form.ins.len());
        return Err(AliasError::new("A16", message).at(op.pos));
    }
    for (value, ty) in form.operands.iter().zip(&form.ins) {
        let Some(v) = tree.values.get(*value) else { continue };
        if let Some(known) = &v.ty
            && !same_type(tree, known, ty)
        {
            let message = format!(
                "use of value '%{}' expects different type than prior uses: '{ty}' vs '{known}'",
                v.name
            );
            return Err(AliasError::new("A16", message).at(op.pos));
        }
    }
    Ok(())
}

/// Whether two types are the same but for aliases and white space.
fn same_type(tree: &Tree, a: &str, b: &str) -> bool {
    a == b || expanded(tree, a) == expanded(tree, b)
}

fn expanded(tree: &Tree, ty: &str) -> String {
    let mut out = String::new();
    let mut rest = ty;
    while let Some(at) = rest.find(['#', '!']) {
        let (head, tail) = rest.split_at(at);
        out.extend(head.chars().filter(|c| !c.is_whitespace()));
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
        let end = tail.get(1..).and_then(|t| t.find(|c| !word(c))).map_or(tail.len(), |n| n + 1);
        let (name, after) = tail.split_at(end);
        out.extend(tree.resolve(name).chars().filter(|c| !c.is_whitespace()));
        rest = after;
    }
    out.extend(rest.chars().filter(|c| !c.is_whitespace()));
    out
}

/// The types that the assembly ends with: those of the results.
pub(crate) fn last_types(body: &[Piece]) -> Vec<String> {
    let mut open = 0usize;
    let mut from = None;
    for (n, piece) in body.iter().enumerate().rev() {
        match piece.text() {
            ")" | "]" | "}" | ">" => open += 1,
            "(" | "[" | "{" | "<" => open = open.saturating_sub(1),
            ":" | "->" if open == 0 => {
                from = Some(n + 1);
                break;
            }
            _ => {}
        }
    }
    let rest = from.and_then(|n| body.get(n..)).unwrap_or(&[]);
    let mut at = usize::from(rest.first().map(Piece::text) == Some("("));
    let mut out = Vec::new();
    loop {
        let tail = rest.get(at..).unwrap_or(&[]);
        let len = type_len(tail);
        let ty = join(tail.get(..len).unwrap_or(&[]));
        if ty.is_empty() {
            return out;
        }
        out.push(ty);
        at += len;
        if rest.get(at).map(Piece::text) != Some(",") {
            return out;
        }
        at += 1;
    }
}

/// A cursor over pieces.
struct Cursor<'p> {
    pieces: &'p [Piece],
    at: usize,
    op: &'p Op,
}

impl<'p> Cursor<'p> {
    fn text(&self) -> &'p str {
        self.pieces.get(self.at).map_or("", Piece::text)
    }

    fn ahead(&self) -> &'p str {
        self.pieces.get(self.at + 1).map_or("", Piece::text)
    }

    fn error(&self, message: impl Into<String>) -> AliasError {
        AliasError::new("A16", format!("'{}' op {}", self.op.name, message.into())).at(self.op.pos)
    }

    /// Pieces up to a stop at depth 0, as text.
    fn until(&mut self, stops: &[&str]) -> String {
        let from = self.at;
        let mut open = 0usize;
        while let Some(piece) = self.pieces.get(self.at) {
            match piece.text() {
                t if open == 0 && stops.contains(&t) => break,
                "(" | "[" | "{" | "<" => open += 1,
                ")" | "]" | "}" | ">" if open == 0 => break,
                ")" | "]" | "}" | ">" => open -= 1,
                _ => {}
            }
            self.at += 1;
        }
        join(self.pieces.get(from..self.at).unwrap_or(&[]))
    }

    /// `{a = 1, b}`, the cursor on the opening bracket.
    fn dict(&mut self, form: &mut Form) -> Result<()> {
        self.at += 1;
        while self.text() != "}" {
            if self.at >= self.pieces.len() {
                return Err(self.error("has a dictionary without end"));
            }
            let name = self.text().trim_matches('"').to_owned();
            self.at += 1;
            let mut value = String::new();
            if self.text() == "=" {
                self.at += 1;
                value = self.until(&[",", "}"]);
            }
            if name.is_empty() || form.attr(&name).is_some() {
                return Err(self.error(format!("has attribute '{name}' twice or without a name")));
            }
            form.attrs.push((name, value));
            if self.text() == "," {
                self.at += 1;
            }
        }
        self.at += 1;
        Ok(())
    }

    /// `(T, U)` or `T`.
    fn types(&mut self) -> Result<Vec<String>> {
        let mut out = Vec::new();
        if self.text() == "(" {
            self.at += 1;
            while self.text() != ")" {
                out.push(self.one_type()?);
                if self.text() == "," {
                    self.at += 1;
                } else if self.text() != ")" {
                    return Err(self.error("has a broken list of types"));
                }
            }
            self.at += 1;
            return Ok(out);
        }
        loop {
            out.push(self.one_type()?);
            if self.text() != "," {
                return Ok(out);
            }
            self.at += 1;
        }
    }

    fn one_type(&mut self) -> Result<String> {
        let rest = self.pieces.get(self.at..).unwrap_or(&[]);
        let len = type_len(rest);
        let ty = join(rest.get(..len).unwrap_or(&[]));
        self.at += len;
        match ty.is_empty() {
            true => Err(self.error("lacks a type")),
            false => Ok(ty),
        }
    }

    /// `: ins -> outs {..}`, or `: outs` alone.
    fn signature(&mut self, form: &mut Form) -> Result<()> {
        if self.text() != ":" {
            return Err(self.error("lacks its types"));
        }
        self.at += 1;
        let first = self.types()?;
        if self.text() == "->" {
            self.at += 1;
            form.ins = first;
            form.outs = self.types()?;
        } else {
            form.outs = first;
        }
        if self.text() == "{" {
            self.dict(form)?;
        }
        match self.at < self.pieces.len() {
            true => Err(self.error(format!("has unexpected '{}'", self.text()))),
            false => Ok(()),
        }
    }
}

/// Custom assembly: operands and bracketed lists, `name = value`, a dictionary, types.
fn custom(op: &Op) -> Result<Form> {
    let mut c = Cursor { pieces: &op.body, at: 0, op };
    let mut form = Form::default();
    while c.at < c.pieces.len() && c.text() != ":" {
        match c.pieces.get(c.at) {
            Some(Piece::Use(value, _)) => {
                form.operands.push(*value);
                c.at += 1;
            }
            Some(Piece::Text(..)) => match c.text() {
                "{" => c.dict(&mut form)?,
                "[" if !matches!(c.pieces.get(c.at + 1), Some(Piece::Use(..))) => {
                    c.at += 1;
                    let list = c.until(&["]"]);
                    form.attrs.push(("offsets".to_owned(), format!("[{list}]")));
                    c.at += 1;
                }
                "(" | ")" | "[" | "]" | "," => c.at += 1,
                word if c.ahead() == "=" => {
                    let name = word.to_owned();
                    c.at += 2;
                    let value = c.until(&[",", ":", "{"]);
                    // `base = 64, strides = [1, 2] radices = ..` has no need of commas either.
                    form.attrs.push((name, value));
                }
                other => return Err(c.error(format!("has unexpected '{other}'"))),
            },
            _ => return Err(c.error("has an unexpected region or argument")),
        }
    }
    c.signature(&mut form)?;
    Ok(form)
}

/// `"op"(%a) <{..}> {..} : (T) -> R`
fn generic(op: &Op) -> Result<Form> {
    let mut c = Cursor { pieces: &op.body, at: 0, op };
    let mut form = Form::default();
    if c.text() != "(" {
        return Err(c.error("lacks its operands"));
    }
    c.at += 1;
    while c.text() != ")" {
        match c.pieces.get(c.at) {
            Some(Piece::Use(value, _)) => form.operands.push(*value),
            Some(Piece::Text(text, _)) if text.as_ref() == "," => {}
            _ => return Err(c.error("has a broken list of operands")),
        }
        c.at += 1;
    }
    c.at += 1;
    if c.text() == "<" && c.ahead() == "{" {
        c.at += 1;
        c.dict(&mut form)?;
        if c.text() != ">" {
            return Err(c.error("has properties without end"));
        }
        c.at += 1;
    }
    // Regions stand in brackets of their own.
    while c.text() == "(" {
        while c.at < c.pieces.len() && c.text() != ")" {
            c.at += 1;
        }
        c.at += 1;
    }
    if c.text() == "{" {
        c.dict(&mut form)?;
    }
    c.signature(&mut form)?;
    // What custom assembly writes as words and plain numbers.
    for (name, value) in &mut form.attrs {
        let inner = |v: &str| v.split_once('<').map(|(_, t)| t.trim_end_matches('>').to_owned());
        match name.as_str() {
            "storage" | "group_kind" if value.starts_with('#') => {
                *value = inner(value).unwrap_or_default();
            }
            "buffer_size_bytes" | "group_size" => {
                *value = value.split(':').next().unwrap_or("").trim().to_owned();
            }
            _ => {}
        }
        if name == "buffer_size_bytes" {
            *name = "size".to_owned();
        }
    }
    Ok(form)
}

/// Types in operations that carry buffers through become those of their values, so that they follow changes.
fn retype(tree: &mut Tree, id: OpId, name: &str) {
    let Some(op) = tree.ops.get(id) else { return };
    if op.quoted {
        return;
    }
    let body = op.body.clone();
    let results = op.results.clone();
    let uses: Vec<_> =
        body.iter().filter_map(|p| if let Piece::Use(v, _) = p { Some(*v) } else { None }).collect();
    let defs: Vec<_> =
        body.iter().filter_map(|p| if let Piece::Def(v, _) = p { Some(*v) } else { None }).collect();
    let mut out: Vec<Piece> = Vec::with_capacity(body.len());
    let mut at = 0;
    let mut open = 0usize;
    while let Some(piece) = body.get(at) {
        match piece {
            Piece::Def(value, _) if body.get(at + 1).map(Piece::text) == Some(":") => {
                out.extend([piece.clone(), Piece::Text(":".into(), false), Piece::TypeOf(*value, true)]);
                at += 2;
                at += type_len(body.get(at..).unwrap_or(&[]));
                continue;
            }
            Piece::Text(text, _) => match text.as_ref() {
                "(" | "[" | "{" | "<" => open += 1,
                ")" | "]" | "}" | ">" => open = open.saturating_sub(1),
                ":" if open == 0 && name != "scf.for" => {
                    at = typed(tree, &body, at, &uses, &mut out);
                    continue;
                }
                "->" if open == 0 && name == "scf.for" => {
                    at = typed(tree, &body, at, &results, &mut out);
                    for (arg, result) in defs.iter().skip(1).zip(&results) {
                        let ty = tree.values.get(*result).and_then(|v| v.ty.clone());
                        if let Some(v) = tree.values.get_mut(*arg) {
                            v.ty = ty;
                        }
                    }
                    continue;
                }
                _ => {}
            },
            _ => {}
        }
        out.push(piece.clone());
        at += 1;
    }
    if let Some(op) = tree.ops.get_mut(id) {
        op.body = out;
    }
}

/// Replaces the list of types behind the mark at `at` by the types of values.
fn typed(tree: &mut Tree, body: &[Piece], at: usize, values: &[usize], out: &mut Vec<Piece>) -> usize {
    let mut at = at;
    out.extend(body.get(at).cloned());
    at += 1;
    let parens = body.get(at).map(Piece::text) == Some("(");
    if parens {
        out.extend(body.get(at).cloned());
        at += 1;
    }
    let mut n = 0;
    loop {
        let rest = body.get(at..).unwrap_or(&[]);
        let len = type_len(rest);
        if len == 0 {
            break;
        }
        let ty = join(rest.get(..len).unwrap_or(&[]));
        match values.get(n) {
            Some(value) => {
                if let Some(v) = tree.values.get_mut(*value)
                    && v.ty.is_none()
                {
                    v.ty = Some(ty);
                }
                out.push(Piece::TypeOf(*value, n > 0 || !parens));
            }
            None => out.push(Piece::Text(ty.into(), n > 0 || !parens)),
        }
        at += len;
        n += 1;
        if body.get(at).map(Piece::text) != Some(",") {
            break;
        }
        out.push(Piece::Text(",".into(), false));
        at += 1;
    }
    if parens {
        out.extend(body.get(at).cloned());
        at += 1;
    }
    at
}

/// Reads the forms of StableHLO operations in generic form, keeping their pieces for printing; short forms of
/// calls, tuples and elements too (A56).
///
/// # Errors
/// A16 for assembly that is not that of the operation.
pub(crate) fn read_generic(tree: &mut Tree) -> Result<()> {
    for id in tree.walk() {
        typed_block_args(tree, id);
        let Some(op) = tree.ops.get(id).filter(|op| op.name.starts_with("stablehlo.")) else { continue };
        let form = match (op.quoted, op.name.as_str()) {
            (true, _) => generic(op)?,
            (
                false,
                "stablehlo.custom_call"
                | "stablehlo.tuple"
                | "stablehlo.get_tuple_element"
                | "stablehlo.return",
            ) => short(op)?,
            (false, "stablehlo.while") => short_while(op)?,
            _ => continue,
        };
        let results = op.results.clone();
        for (value, ty) in results.iter().zip(&form.outs) {
            if let Some(v) = tree.values.get_mut(*value) {
                v.ty = Some(ty.clone());
            }
        }
        if let Some(op) = tree.ops.get_mut(id) {
            op.form = Some(form);
        }
    }
    Ok(())
}

fn typed_block_args(tree: &mut Tree, id: OpId) {
    let body = tree.ops.get(id).map_or_else(Vec::new, |o| o.body.clone());
    typed_defs(tree, &body);
}

/// `@f(%a) {..} : (T) -> U`, `%a, %b : tuple<..>`, `%t[1] : (tuple<..>) -> U`, `%a : T`.
fn short(op: &Op) -> Result<Form> {
    let mut c = Cursor { pieces: &op.body, at: 0, op };
    let mut form = Form::default();
    while c.at < c.pieces.len() && c.text() != ":" {
        match c.pieces.get(c.at) {
            Some(Piece::Use(value, _)) => {
                form.operands.push(*value);
                c.at += 1;
            }
            _ if c.text() == "{" => c.dict(&mut form)?,
            _ if c.text() == "[" => {
                c.at += 1;
                let index = c.until(&["]"]);
                form.attrs.push(("index".to_owned(), index));
                c.at += 1;
            }
            _ => {
                if let Some(target) = c.text().strip_prefix('@') {
                    form.attrs.push(("call_target_name".to_owned(), target.to_owned()));
                }
                c.at += 1;
            }
        }
    }
    if c.at >= c.pieces.len() {
        return Ok(form);
    }
    c.signature(&mut form)?;
    if op.name == "stablehlo.return" {
        form.ins = std::mem::take(&mut form.outs);
    }
    Ok(form)
}

/// `(%iterArg = %x, ..) : types attributes {..} cond {..} do {..}`.
fn short_while(op: &Op) -> Result<Form> {
    let mut c = Cursor { pieces: &op.body, at: 0, op };
    let mut form = Form::default();
    while c.at < c.pieces.len() && c.text() != ":" {
        if let Some(Piece::Use(value, _)) = c.pieces.get(c.at) {
            form.operands.push(*value);
        }
        c.at += 1;
    }
    c.at += 1;
    let types = c.until(&["attributes", "cond"]);
    let types = super::types::split(&types, ',').into_iter().filter(|t| !t.is_empty());
    form.ins = types.map(str::to_owned).collect();
    form.outs = form.ins.clone();
    if c.text() == "attributes" {
        c.at += 1;
        if c.text() != "{" {
            return Err(c.error("lacks its attributes"));
        }
        c.dict(&mut form)?;
    }
    Ok(form)
}
