//! Operations whose format is a list of items.

use smallvec::SmallVec;

use super::names::Use;
use super::regions::Argument;
use super::{Parse, Parser};
use crate::attr::Attr;
use crate::entity::OpId;
use crate::text::format::{Infer, Item};
use crate::text::keywords::Keywords;
use crate::text::lexer::Kind;
use crate::types::Type;

/// Operands while the items are read: those with a number of their own, then the others.
#[derive(Default)]
struct Operands {
    fixed: SmallVec<[Option<Use>; 4]>,
    rest: Vec<Use>,
    /// The types that the text gives to operands, by number.
    types: SmallVec<[Type; 4]>,
}

impl Operands {
    fn put(&mut self, index: usize, operand: Use) {
        if self.fixed.len() <= index {
            self.fixed.resize(index + 1, None);
        }
        if let Some(slot) = self.fixed.get_mut(index) {
            *slot = Some(operand);
        }
    }

    fn get(&self, index: usize) -> Option<Use> {
        match self.fixed.get(index) {
            Some(slot) => *slot,
            None => self.rest.get(index - self.fixed.len()).copied(),
        }
    }

    fn all(&self) -> Vec<Use> {
        self.fixed.iter().flatten().chain(&self.rest).copied().collect()
    }
}

/// What may stand in `overflow<..>` and `fastmath<..>`.
const FLAGS: [&str; 11] =
    ["none", "nsw", "nuw", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast"];

impl<'a> Parser<'a> {
    /// Reads the items behind the name of an operation; the types of its results.
    pub(super) fn items(&mut self, op: OpId, items: &'static [Item], infer: Infer) -> Parse<Vec<Type>> {
        let mut operands = Operands::default();
        let mut results = Vec::new();
        for item in items {
            self.item(op, *item, &mut operands, &mut results)?;
        }
        self.set_operands(op, &operands.all());
        let types = operands.types;
        if let Infer::Spelt | Infer::Times(_) = infer {
            if let (Infer::Times(n), [one]) = (infer, results.as_slice()) {
                return Ok(vec![one.clone(); n]);
            }
            return Ok(results);
        }
        Ok(inferred(infer, &types))
    }

    fn item(&mut self, op: OpId, item: Item, operands: &mut Operands, results: &mut Vec<Type>) -> Parse<()> {
        match item {
            Item::Operand(n) => {
                let operand = self.operand()?;
                operands.put(n, operand);
            }
            Item::Rest(_) => {
                if self.tok.kind == Kind::Percent {
                    operands.rest = self.operand_list()?;
                }
            }
            Item::Optional(n) => {
                while operands.rest.len() < n && self.eat(",") {
                    operands.rest.push(self.operand()?);
                }
            }
            Item::MaybeOperand(word, _) => {
                if self.eat_word(word) {
                    operands.rest.push(self.operand()?);
                }
            }
            Item::TypedRest(_) => {
                if self.tok.kind == Kind::Percent {
                    operands.rest = self.operand_list()?;
                    self.expect(":")?;
                    self.types_of(&operands.rest)?;
                }
            }
            Item::ColonTypedRest => {
                if self.eat(":") {
                    operands.rest = self.operand_list()?;
                    self.expect(":")?;
                    self.types_of(&operands.rest)?;
                }
            }
            Item::Mark(mark) => {
                self.expect(mark)?;
            }
            Item::Word(word) => {
                self.expect_word(word)?;
            }
            Item::Keyword(name, words) => self.keyword(op, name, words)?,
            Item::MaybeKeyword(name, words) => {
                if self.tok.kind == Kind::Word && words.number(self.text(self.tok)).is_some() {
                    self.keyword(op, name, words)?;
                }
            }
            Item::Named(name, words) => {
                self.expect(",")?;
                self.named(op, name, words)?;
            }
            Item::MaybeNamed(name, words) => {
                if self.eat(",") {
                    self.named(op, name, words)?;
                }
            }
            Item::Flag(word, name) => {
                if self.eat_word(word) {
                    self.set_prop(op, name, Attr::Unit);
                }
            }
            Item::Flags(word, name) => {
                if self.is_word(word) {
                    self.advance();
                    let at = self.tok.start;
                    let flags = self.angle_text()?;
                    if let Some(odd) = flags.split(',').find(|f| !FLAGS.contains(&f.trim())) {
                        return Err(self.error(at, format!("`{}` is no flag of `{word}`", odd.trim())));
                    }
                    self.set_prop(op, name, Attr::Opaque(format!("#arith.{word}<{flags}>")));
                }
            }
            Item::Text(name) => {
                let token = self.expect_kind(Kind::String, "a string")?;
                let text = self.string_value(token)?;
                self.set_prop(op, name, Attr::String(text));
            }
            Item::Symbol(name) => {
                let symbol = self.symbol_name()?;
                self.set_prop(op, name, Attr::symbol(symbol));
            }
            Item::Name => {
                let symbol = self.symbol_name()?;
                self.set_prop(op, "sym_name", Attr::String(symbol));
            }
            Item::Alternatives(name) => {
                let first = self.expect_kind(Kind::Word, "a keyword")?;
                let mut text = self.text(first).to_owned();
                while self.eat("|") {
                    let next = self.expect_kind(Kind::Word, "a keyword")?;
                    text.push('|');
                    text.push_str(self.text(next));
                }
                self.set_prop(op, name, Attr::Opaque(text));
            }
            Item::CacheWords => self.cache_words(op)?,
            Item::Params(names) => self.params(op, names)?,
            Item::Index(n) => {
                let closed = self.eat("[");
                if !closed {
                    self.expect(",")?;
                }
                let operand = self.operand()?;
                operands.put(n, operand);
                if closed {
                    self.expect("]")?;
                }
            }
            Item::Offsets(name) => self.offsets(op, name)?,
            Item::Dict | Item::EarlyDict => {
                let at = self.tok.start;
                let dict = self.optional_dict()?;
                self.place_attrs(op, dict, at)?;
            }
            Item::DictAlways => {
                let at = self.tok.start;
                let dict = self.dict()?;
                self.place_attrs(op, dict, at)?;
            }
            Item::Region => self.plain_region(op, Vec::<Argument<'a>>::new())?,
            Item::Type(n) => {
                let ty = self.ty()?;
                if let Some(operand) = operands.get(n) {
                    self.check_type(operand, &ty);
                }
                if operands.types.len() == n {
                    operands.types.push(ty);
                }
            }
            Item::SameType => {
                let ty = self.ty()?;
                for operand in operands.all() {
                    self.check_type(operand, &ty);
                    operands.types.push(ty.clone());
                }
            }
            Item::Types => operands.types = self.types_of(&operands.all())?,
            Item::Results => {
                results.push(self.ty()?);
                while self.eat(",") {
                    results.push(self.ty()?);
                }
            }
            Item::Signature => {
                let at = self.tok;
                let (inputs, outputs) = self.function_type()?;
                self.check_types(&operands.all(), &inputs, at)?;
                *results = outputs;
            }
        }
        Ok(())
    }

    /// `T, U`: the types of these operands.
    fn types_of(&mut self, operands: &[Use]) -> Parse<SmallVec<[Type; 4]>> {
        let mut types = SmallVec::new();
        for (n, operand) in operands.iter().enumerate() {
            if n > 0 {
                self.expect(",")?;
            }
            let ty = self.ty()?;
            self.check_type(*operand, &ty);
            types.push(ty);
        }
        Ok(types)
    }

    pub(super) fn set_prop(&mut self, op: OpId, name: &str, attr: Attr) {
        self.m.ops[op].props.set(name, attr);
    }

    /// `name = value, name = value`, in any order.
    fn params(&mut self, op: OpId, names: &[&str]) -> Parse<()> {
        while self.tok.kind == Kind::Word {
            let token = self.tok;
            let name = self.text(token);
            if !names.contains(&name) {
                return Err(self.unexpected(&format!("one of {}", names.join(", "))));
            }
            self.advance();
            self.expect("=")?;
            let value = match self.tok.kind {
                // What has no type is followed by the colon of the operation's own.
                Kind::Integer | Kind::Punct("-") => {
                    let negative = self.eat("-");
                    let number = self.expect_kind(Kind::Integer, "a number")?;
                    self.number(negative, number, &Type::I64)?
                }
                _ => self.attr()?,
            };
            if self.m.ops[op].props.set(name, value).is_some() {
                return Err(self.error(token.start, format!("`{name}` is given twice")));
            }
            if !self.eat(",") {
                break;
            }
        }
        Ok(())
    }

    /// `[0, 16]`
    fn offsets(&mut self, op: OpId, name: &str) -> Parse<()> {
        self.expect("[")?;
        let mut values = Vec::new();
        while !self.eat("]") {
            let negative = self.eat("-");
            let number = self.expect_kind(Kind::Integer, "a number")?;
            match self.number(negative, number, &Type::I32)?.as_i64() {
                Some(value) => values.push(value),
                None => return Err(self.error(number.start, "the offset is out of range")),
            }
            if !self.is("]") {
                self.expect(",")?;
            }
        }
        self.set_prop(op, name, Attr::DenseArray { elem: Type::I32, values });
        Ok(())
    }

    fn named(&mut self, op: OpId, name: &str, words: &Keywords) -> Parse<()> {
        self.expect_word(name)?;
        self.expect("=")?;
        self.keyword(op, name, words)
    }

    pub(super) fn keyword(&mut self, op: OpId, name: &str, words: &Keywords) -> Parse<()> {
        let token = self.tok;
        let word = self.text(token);
        if token.kind != Kind::Word || words.number(word).is_none() {
            return Err(self.unexpected(&format!("one of {}", words.list())));
        }
        self.advance();
        self.set_prop(op, name, Attr::Opaque(word.to_owned()));
        Ok(())
    }
}

/// The result types that the text leaves out, from the operand types.
pub(crate) fn inferred(infer: Infer, operands: &[Type]) -> Vec<Type> {
    let first = operands.first();
    match infer {
        Infer::Spelt | Infer::Times(_) => Vec::new(),
        Infer::Like(n) => operands.get(n).cloned().into_iter().collect(),
        Infer::Truth => first.map(|ty| ty.with_elem(Type::I1)).into_iter().collect(),
        Infer::Pointee => first.map(pointee).into_iter().collect(),
        Infer::Element => first.map(|ty| ty.elem().clone()).into_iter().collect(),
        Infer::Each => operands.to_vec(),
        Infer::I32(n) => vec![Type::I32; n],
    }
}

/// What a pointer, or each pointer of a tile, points to.
fn pointee(ty: &Type) -> Type {
    match ty.elem() {
        Type::Ptr { pointee, .. } => ty.with_elem((**pointee).clone()),
        _ => Type::None,
    }
}
