//! Regions and blocks.

use super::pieces::typed_defs;
use super::{MAX_REGIONS, Parser, Scope, is_close, is_open, syntax};
use crate::error::Result;
use crate::text::lexer::{Kind, Token};
use crate::text::tree::{Block, BlockId, OpId, Piece, Region, RegionId, ValueId};

impl<'a> Parser<'a> {
    /// Whether a `{` opens a region and no dictionary of attributes.
    pub(super) fn opens_region(&self, open: &[&str], out: &[Piece], name: &str, quoted: bool) -> bool {
        // `<{..}>` holds properties; regions stand outside of brackets, or in `({..}, {..})`.
        if !(open.is_empty() || open == ["("]) {
            return false;
        }
        let (first, second) = (self.ahead(1), self.ahead(2));
        let last = out.last().map_or("", Piece::text);
        // Modules and functions say `attributes` before theirs, but where the operation is between quotes.
        let has_body = name == "module" || name.ends_with("func") || name == "builtin.module";
        if has_body && !quoted && open.is_empty() {
            return last != "attributes";
        }
        match first.kind {
            Kind::Punct if first.text == "}" => {
                matches!(last, "default" | "do" | "cond" | "else") || open == ["("]
            }
            Kind::String => second.text == "(",
            Kind::Label | Kind::Value => true,
            Kind::Word => match second.text {
                "=" | "," => false,
                "}" => ["return", "yield", "terminator"].iter().any(|e| first.text.ends_with(e)),
                _ => true,
            },
            _ => false,
        }
    }

    pub(super) fn region(
        &mut self,
        op: OpId,
        args: Vec<(Token<'a>, ValueId)>,
        isolated: bool,
    ) -> Result<RegionId> {
        let brace = self.expect("{")?;
        self.depth += 1;
        if self.depth > MAX_REGIONS {
            return Err(syntax(format!("regions are nested more than {MAX_REGIONS} deep"), brace.pos));
        }
        let id = self.tree.regions.len();
        self.tree.regions.push(Region { blocks: Vec::new(), parent: Some(op) });
        self.scopes.push(Scope { isolated, ..Scope::default() });
        let mut block = self.block(id);
        for (token, value) in args {
            self.define(token.text, vec![value], token.pos)?;
            if let Some(b) = self.tree.blocks.get_mut(block) {
                b.args.push(value);
            }
        }
        loop {
            let token = self.peek();
            if token.kind == Kind::End {
                return Err(syntax("expected '}'", token.pos).related("to close this", brace.pos));
            }
            if token.text == "}" && token.kind == Kind::Punct {
                break;
            }
            if token.kind == Kind::Label {
                let fresh =
                    self.tree.blocks.get(block).is_some_and(|b| b.ops.is_empty() && b.header.is_empty());
                if !fresh {
                    block = self.block(id);
                }
                self.header(block)?;
                continue;
            }
            let op = self.op(Some(block))?;
            if let Some(b) = self.tree.blocks.get_mut(block) {
                b.ops.push(op);
            }
        }
        self.next();
        self.pop_scope()?;
        self.depth -= 1;
        Ok(id)
    }

    pub(super) fn block(&mut self, region: RegionId) -> BlockId {
        let id = self.tree.blocks.len();
        self.tree.blocks.push(Block { region, ..Block::default() });
        if let Some(r) = self.tree.regions.get_mut(region) {
            r.blocks.push(id);
        }
        id
    }

    /// `^bb0(%a: T, %b: U):`
    pub(super) fn header(&mut self, block: BlockId) -> Result<()> {
        let label = self.next();
        let mut pieces = vec![Piece::Text(self.word(label.text), false)];
        let mut args = Vec::new();
        let mut open = 0usize;
        loop {
            let token = self.next();
            match token.kind {
                Kind::End => return Err(syntax("expected ':' behind a block label", label.pos)),
                Kind::Value if open == 1 && self.peek().text == ":" => {
                    let value = self.new_value(token.text, None, None);
                    let defined = self.define(token.text, vec![value], token.pos)?;
                    let value = defined.first().copied().unwrap_or(value);
                    args.push(value);
                    pieces.push(Piece::Def(value, token.space));
                    continue;
                }
                Kind::Punct if token.text == ":" && open == 0 => {
                    pieces.push(Piece::Text(":".into(), false));
                    break;
                }
                Kind::Punct if is_open(token.text) => open += 1,
                Kind::Punct if is_close(token.text) => open = open.saturating_sub(1),
                _ => {}
            }
            pieces.push(Piece::Text(self.word(token.text), token.space));
        }
        typed_defs(&mut self.tree, &pieces);
        if let Some(b) = self.tree.blocks.get_mut(block) {
            b.header = pieces;
            b.args.extend(args);
        }
        Ok(())
    }
}
