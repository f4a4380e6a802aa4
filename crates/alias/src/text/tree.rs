//! A part of a file as a tree of operations. Assembly that has no meaning here is kept piece by piece.

use std::rc::Rc;

use crate::error::Pos;

/// An operation, by number.
pub(crate) type OpId = usize;
/// A block, by number.
pub(crate) type BlockId = usize;
/// A region, by number.
pub(crate) type RegionId = usize;
/// A value, by number.
pub(crate) type ValueId = usize;

/// A piece of an operation's assembly; the flag says that a space stands before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// A token; equal ones of a part share their text.
    Text(Rc<str>, bool),
    /// A value read.
    Use(ValueId, bool),
    /// A block argument where it gets its name.
    Def(ValueId, bool),
    /// The type of a value.
    TypeOf(ValueId, bool),
    /// A region.
    Region(RegionId),
}

impl Piece {
    /// The text of a token piece.
    pub(crate) fn text(&self) -> &str {
        match self {
            Piece::Text(text, _) => text,
            _ => "",
        }
    }
}

/// A value.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// Its name in the source, without `%`.
    pub(crate) name: String,
    pub(crate) ty: Option<String>,
    /// The operation it is a result of.
    pub(crate) def: Option<OpId>,
    /// Which result of a pack `%x:2`, and how many the pack has.
    pub(crate) pack: Option<(u32, u32)>,
}

/// Operands, attributes and types of an operation whose format is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    pub(crate) operands: Vec<ValueId>,
    pub(crate) attrs: Vec<(String, String)>,
    pub(crate) ins: Vec<String>,
    pub(crate) outs: Vec<String>,
}

impl Form {
    /// The text of an attribute.
    pub(crate) fn attr(&self, name: &str) -> Option<&str> {
        self.attrs.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Sets an attribute, in place if it is there.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        match self.attrs.iter_mut().find(|(n, _)| n == name) {
            Some((_, v)) => *v = value,
            None => self.attrs.push((name.to_owned(), value)),
        }
    }
}

/// An operation.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) name: String,
    pub(crate) quoted: bool,
    pub(crate) pos: Pos,
    /// From its first token to the first one behind it.
    pub(crate) span: (Pos, Pos),
    pub(crate) results: Vec<ValueId>,
    pub(crate) body: Vec<Piece>,
    /// `loc(..)` at the end.
    pub(crate) loc: Option<String>,
    /// Read from `body` for known operations, which are printed from it.
    pub(crate) form: Option<Form>,
    pub(crate) block: Option<BlockId>,
}

/// A block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    /// `^bb0(%x: T):`, if it has a label.
    pub(crate) header: Vec<Piece>,
    pub(crate) args: Vec<ValueId>,
    pub(crate) ops: Vec<OpId>,
    pub(crate) region: RegionId,
}

/// A region.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region {
    pub(crate) blocks: Vec<BlockId>,
    pub(crate) parent: Option<OpId>,
}

/// One part of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) ops: Vec<Op>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) regions: Vec<Region>,
    pub(crate) values: Vec<Value>,
    /// `#name = ..` and `!name = ..`, and whether they stand before the operations.
    pub(crate) aliases: Vec<(String, String, bool)>,
    /// Operations at the top.
    pub(crate) top: Vec<OpId>,
}

impl Tree {
    /// Everything in the order of the text, each operation before its regions.
    pub(crate) fn walk(&self) -> Vec<OpId> {
        let mut out = Vec::with_capacity(self.ops.len());
        let mut stack: Vec<OpId> = self.top.iter().rev().copied().collect();
        while let Some(op) = stack.pop() {
            out.push(op);
            let regions = self.regions_of(op);
            for region in regions.into_iter().rev() {
                let blocks = self.regions.get(region).map_or(&[][..], |r| r.blocks.as_slice());
                for block in blocks.iter().rev() {
                    let ops = self.blocks.get(*block).map_or(&[][..], |b| b.ops.as_slice());
                    stack.extend(ops.iter().rev());
                }
            }
        }
        out
    }

    /// The regions of an operation.
    pub(crate) fn regions_of(&self, op: OpId) -> Vec<RegionId> {
        let body = self.ops.get(op).map_or(&[][..], |o| o.body.as_slice());
        body.iter().filter_map(|p| if let Piece::Region(r) = p { Some(*r) } else { None }).collect()
    }

    /// Values read by an operation, its regions excluded, in the order of the text.
    pub(crate) fn operands(&self, op: OpId) -> Vec<ValueId> {
        let Some(op) = self.ops.get(op) else { return Vec::new() };
        match &op.form {
            Some(form) => form.operands.clone(),
            None => op
                .body
                .iter()
                .filter_map(|p| if let Piece::Use(v, _) = p { Some(*v) } else { None })
                .collect(),
        }
    }

    /// The operation around an operation.
    pub(crate) fn parent(&self, op: OpId) -> Option<OpId> {
        let block = self.ops.get(op)?.block?;
        self.regions.get(self.blocks.get(block)?.region)?.parent
    }

    /// The type of a value, aliases as written.
    pub(crate) fn ty(&self, value: ValueId) -> Option<&str> {
        self.values.get(value)?.ty.as_deref()
    }

    /// What an alias stands for.
    pub(crate) fn alias(&self, name: &str) -> Option<&str> {
        self.aliases.iter().find(|(n, ..)| n == name).map(|(_, body, _)| body.as_str())
    }

    /// An attribute or type with a leading alias replaced.
    pub(crate) fn resolve<'t>(&'t self, mut text: &'t str) -> &'t str {
        // Aliases of aliases are short; a cycle ends.
        for _ in 0..16 {
            match self.alias(text) {
                Some(body) => text = body,
                None => break,
            }
        }
        text
    }
}
