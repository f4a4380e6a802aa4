//! Operations whose format is a list of items.

use super::Printer;
use crate::attr::{Attr, AttrDict};
use crate::entity::{OpId, ValueId};
use crate::module::Operation;
use crate::text::format::{Infer, Item};
use crate::text::keywords::Keywords;
use crate::text::parser::inferred;
use crate::types::Type;

/// How many operands a list of items takes: those with a number, and at most how many more.
fn arity(items: &[Item]) -> (usize, usize) {
    let mut fixed = 0;
    let mut more = 0;
    for item in items {
        match item {
            Item::Operand(n) | Item::Index(n) => fixed = fixed.max(n + 1),
            Item::Rest(_) | Item::TypedRest(_) | Item::ColonTypedRest => more = usize::MAX,
            Item::Optional(n) => more = *n,
            Item::MaybeOperand(..) => more = 1,
            _ => {}
        }
    }
    (fixed, more)
}

/// The properties that an item writes.
fn properties(item: &Item) -> &[&'static str] {
    match item {
        Item::Params(names) => names,
        _ => property(item).map_or(&[], std::slice::from_ref),
    }
}

/// The property that an item writes.
fn property(item: &Item) -> Option<&&'static str> {
    match item {
        Item::Keyword(name, _)
        | Item::Named(name, _)
        | Item::MaybeNamed(name, _)
        | Item::MaybeKeyword(name, _)
        | Item::Flag(_, name)
        | Item::Flags(_, name)
        | Item::Text(name)
        | Item::Symbol(name)
        | Item::Offsets(name)
        | Item::Alternatives(name) => Some(name),
        Item::Name => Some(&"sym_name"),
        _ => None,
    }
}

fn keyword<'a>(props: &'a AttrDict, name: &str, words: &Keywords) -> Option<&'a str> {
    match props.get(name) {
        Some(Attr::Opaque(word)) if words.number(word).is_some() => Some(word),
        _ => None,
    }
}

/// The text between the angle brackets of `#arith.word<..>`.
fn flags<'a>(attr: &'a Attr, word: &str) -> Option<&'a str> {
    match attr {
        Attr::Opaque(text) => {
            text.strip_prefix("#arith.")?.strip_prefix(word)?.strip_prefix('<')?.strip_suffix('>')
        }
        _ => None,
    }
}

impl<'m> Printer<'m> {
    /// Writes an operation item by item; false, with nothing written, when it does not fit.
    pub(super) fn items(&mut self, op: OpId, items: &[Item], infer: Infer) -> bool {
        let data = self.op_data(op);
        if !self.fits(data, items, infer) {
            return false;
        }
        self.push(self.m.op_name(op));
        let (fixed, _) = arity(items);
        // No blank stands behind the name before `: ` only; within brackets there is none either.
        let mut glued = false;
        for item in items {
            glued = self.item(op, item, fixed, items, glued);
        }
        true
    }

    fn fits(&self, data: &Operation, items: &[Item], infer: Infer) -> bool {
        let (fixed, more) = arity(items);
        let types: Vec<Type> = data.operands.iter().map(|v| self.m.ty(*v).clone()).collect();
        let results: Vec<&Type> = data.results.iter().map(|v| self.m.ty(*v)).collect();
        let has = |wanted: fn(&Item) -> bool| items.iter().any(wanted);
        let operands = types.len() >= fixed && types.len() - fixed <= more;
        let spelt = match infer {
            Infer::Spelt if has(|i| matches!(i, Item::Results)) => !results.is_empty(),
            Infer::Spelt if has(|i| matches!(i, Item::Signature)) => true,
            Infer::Spelt => results.is_empty(),
            Infer::Times(n) => results.len() == n && results.windows(2).all(|w| w[0] == w[1]),
            _ => inferred(infer, &types).iter().eq(results.iter().copied()),
        };
        let same = !has(|i| matches!(i, Item::SameType))
            || (!types.is_empty() && types.windows(2).all(|w| w[0] == w[1]));
        let some = !has(|i| matches!(i, Item::Types)) || !types.is_empty();
        let regions = items.iter().filter(|i| matches!(i, Item::Region)).count();
        operands
            && spelt
            && same
            && some
            && regions == data.regions.len()
            && data.regions.iter().all(|r| self.is_plain(*r))
            && items.iter().all(|item| self.prop_fits(data, item))
    }

    /// One block without arguments.
    fn is_plain(&self, region: crate::entity::RegionId) -> bool {
        match self.m.regions[region].blocks[..] {
            [block] => self.m.blocks[block].args.is_empty(),
            _ => false,
        }
    }

    fn prop_fits(&self, data: &Operation, item: &Item) -> bool {
        let prop = property(item).and_then(|name| data.props.get(name));
        match item {
            Item::Keyword(name, words) | Item::Named(name, words) => {
                keyword(&data.props, name, words).is_some()
            }
            Item::MaybeNamed(name, words) | Item::MaybeKeyword(name, words) => {
                prop.is_none() || keyword(&data.props, name, words).is_some()
            }
            Item::Flag(..) => matches!(prop, None | Some(Attr::Unit)),
            Item::Flags(word, _) => prop.is_none_or(|attr| flags(attr, word).is_some()),
            Item::Text(_) | Item::Name => matches!(prop, Some(Attr::String(_))),
            Item::Symbol(_) => matches!(prop, Some(Attr::Symbol(path)) if path.len() == 1),
            Item::Offsets(_) => matches!(prop, Some(Attr::DenseArray { elem, .. }) if *elem == Type::I32),
            Item::Alternatives(_) => match prop {
                Some(Attr::Opaque(text)) => text.split('|').all(|word| {
                    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
                }),
                _ => false,
            },
            _ => true,
        }
    }

    /// A blank, unless the item before ended with an opening bracket.
    fn gap(&mut self, glued: bool) {
        if !glued {
            self.push(" ");
        }
    }

    /// Writes one item; whether the next one follows without a blank.
    fn item(&mut self, op: OpId, item: &Item, fixed: usize, items: &[Item], glued: bool) -> bool {
        let data = self.op_data(op);
        let rest = |from: usize| data.operands.get(from.min(data.operands.len())..).unwrap_or(&[]);
        match item {
            Item::Operand(n) => {
                self.gap(glued);
                self.values(&data.operands[*n..=*n]);
            }
            Item::Rest(from) => {
                if !rest(*from).is_empty() {
                    self.gap(glued);
                    self.values(rest(*from));
                }
            }
            Item::Optional(_) => {
                for value in rest(fixed) {
                    self.push(", ");
                    self.value(*value);
                }
            }
            Item::MaybeOperand(word, _) => {
                for value in rest(fixed) {
                    self.push(" ");
                    self.push(word);
                    self.push(" ");
                    self.value(*value);
                }
            }
            Item::TypedRest(from) => self.typed_rest(rest(*from)),
            Item::ColonTypedRest => {
                if !data.operands.is_empty() {
                    self.push(" :");
                    self.typed_rest(&data.operands);
                }
            }
            Item::Mark(mark) => {
                match *mark {
                    "[" | "(" => self.push(mark),
                    "," | "]" | ")" => self.push(mark),
                    _ => {
                        self.push(" ");
                        self.push(mark);
                    }
                }
                return matches!(*mark, "[" | "(");
            }
            Item::Word(word) => {
                self.push(" ");
                self.push(word);
            }
            Item::Keyword(name, words) | Item::MaybeKeyword(name, words) => {
                if let Some(word) = keyword(&data.props, name, words) {
                    self.gap(glued);
                    self.push(word);
                }
            }
            Item::Named(name, words) | Item::MaybeNamed(name, words) => {
                if let Some(word) = keyword(&data.props, name, words) {
                    self.push(&format!(", {name} = {word}"));
                }
            }
            Item::Flag(word, name) => {
                if data.props.contains(name) {
                    self.push(" ");
                    self.push(word);
                }
            }
            Item::Flags(word, name) => {
                if let Some(text) = data.props.get(name).and_then(|attr| flags(attr, word)) {
                    self.push(&format!(" {word}<{text}>"));
                }
            }
            Item::Text(name) => {
                self.gap(glued);
                self.string(data.props.get(name).and_then(Attr::as_str).unwrap_or(""));
            }
            Item::Symbol(name) => {
                self.gap(glued);
                self.symbol(data.props.get(name).and_then(Attr::as_symbol).unwrap_or(""));
            }
            Item::Name => {
                self.gap(glued);
                self.symbol(data.props.get("sym_name").and_then(Attr::as_str).unwrap_or(""));
            }
            Item::Alternatives(name) => {
                self.gap(glued);
                self.push(data.props.get(name).and_then(Attr::as_str).unwrap_or(""));
            }
            Item::Dict | Item::DictAlways => {
                let used: Vec<&str> = items.iter().flat_map(properties).copied().collect();
                self.attr_dict(op, &used, matches!(item, Item::DictAlways));
            }
            Item::Region => {
                for region in &data.regions {
                    self.push(" ");
                    self.region(*region, false, false);
                }
            }
            Item::Type(n) => {
                self.gap(glued);
                self.value_types(&data.operands[*n..=*n]);
            }
            Item::SameType => {
                self.gap(glued);
                self.value_types(&data.operands[..1]);
            }
            Item::Types => {
                self.gap(glued);
                self.value_types(&data.operands);
            }
            Item::Results => {
                self.gap(glued);
                // Equal results that are spelt once.
                let spelt_once = matches!(
                    crate::text::format::format(data.opcode),
                    crate::text::format::Format::Items(_, Infer::Times(_))
                );
                let count = if spelt_once { 1 } else { data.results.len() };
                self.value_types(&data.results[..count]);
            }
            Item::Params(names) => {
                let given = names.iter().filter_map(|name| Some((name, data.props.get(name)?)));
                for (n, (name, attr)) in given.enumerate() {
                    self.push(if n > 0 { ", " } else { " " });
                    self.push(name);
                    self.push(" = ");
                    self.plain_attr(attr);
                }
            }
            Item::Index(n) => {
                self.push("[");
                self.values(&data.operands[*n..=*n]);
                self.push("]");
            }
            Item::Offsets(name) => {
                if let Some(Attr::DenseArray { values, .. }) = data.props.get(name) {
                    let values: Vec<String> = values.iter().map(i64::to_string).collect();
                    self.push(&format!("[{}]", values.join(", ")));
                }
            }
            Item::EarlyDict | Item::CacheWords => {}
            Item::Signature => {
                self.gap(glued);
                self.signature(op);
            }
        }
        false
    }

    /// ` %a, %b : T, U`, or nothing.
    fn typed_rest(&mut self, values: &[ValueId]) {
        if !values.is_empty() {
            self.push(" ");
            self.values(values);
            self.push(" : ");
            self.value_types(values);
        }
    }

    /// ` {..}` with the properties not written elsewhere and the hints. Names come in the order of each
    /// list; operations of Triton merge the two lists by name, for that is how MLIR sorts them.
    pub(super) fn attr_dict(&mut self, op: OpId, used: &[&str], always: bool) {
        let data = self.op_data(op);
        let merged = !self.m.op_name(op).starts_with("warploom.");
        let mut props = data.props.iter().filter(|(name, _)| !used.contains(name)).peekable();
        let mut attrs = data.attrs.iter().peekable();
        let mut entries: Vec<(&str, &Attr)> = Vec::new();
        loop {
            let from_attrs = match (props.peek(), attrs.peek()) {
                (None, None) => break,
                (None, Some(_)) => true,
                (Some(_), None) => false,
                (Some((p, _)), Some((a, _))) => merged && a < p,
            };
            entries.extend(if from_attrs { attrs.next() } else { props.next() });
        }
        if always || !entries.is_empty() {
            self.push(" ");
            self.dict(entries.into_iter());
        }
    }
}
