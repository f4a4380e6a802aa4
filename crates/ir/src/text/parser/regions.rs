//! Regions, blocks and their arguments.

use super::{MAX_REGIONS, Parse, Parser};
use crate::entity::{BlockId, LocId, OpId, RegionId};
use crate::module::ValueDef;
use crate::text::lexer::Kind;
use crate::types::Type;

/// A block argument as written: name with its percent sign, type, location.
#[derive(Clone)]
pub(super) struct Argument<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) at: usize,
    pub(super) ty: Type,
    pub(super) loc: LocId,
}

impl<'a> Parser<'a> {
    /// Opens a region of an operation; `read` gets it behind the `{` and reads to the `}`.
    pub(super) fn region(
        &mut self,
        op: OpId,
        read: impl FnOnce(&mut Self, RegionId) -> Parse<()>,
    ) -> Parse<()> {
        let open = self.expect("{")?;
        if self.regions >= MAX_REGIONS {
            let failed = self.error(open.start, format!("regions nested more than {MAX_REGIONS} deep"));
            self.fatal = true;
            return Err(failed);
        }
        let region = self.m.add_region(op);
        self.regions += 1;
        let done = read(self, region);
        self.regions -= 1;
        done?;
        self.expect("}")?;
        Ok(())
    }

    /// A region of the generic form: any blocks, or none.
    pub(super) fn generic_region(&mut self, op: OpId) -> Parse<()> {
        let isolated = self.m.is_isolated(op);
        self.region(op, |p, region| {
            if isolated {
                p.names.push_isolated();
            } else {
                p.names.push_region();
            }
            let done = p.blocks(region, None);
            if isolated {
                p.pop_isolated();
            } else {
                p.names.pop_region();
            }
            done
        })
    }

    /// A region with one block, whose arguments stand in the header.
    pub(super) fn plain_region(&mut self, op: OpId, args: Vec<Argument<'a>>) -> Parse<()> {
        self.region(op, |p, region| {
            p.names.push_region();
            let done = p.blocks(region, Some(args));
            p.names.pop_region();
            done
        })
    }

    /// The blocks of a region up to its `}`. `entry` holds the arguments of a first block without label.
    pub(super) fn blocks(&mut self, region: RegionId, entry: Option<Vec<Argument<'a>>>) -> Parse<()> {
        let mut labels: Vec<&str> = Vec::new();
        let first = self.labels.len();
        let labelled = self.tok.kind == Kind::Caret;
        if entry.is_some() || (!labelled && !self.is("}")) {
            labels.push("");
            let block = self.m.add_block(region);
            self.arguments(block, entry.unwrap_or_default())?;
            self.block_body(block)?;
        }
        while self.tok.kind == Kind::Caret {
            let token = self.advance();
            let label = self.text(token);
            if labels.contains(&label) || labels.len() >= 4096 {
                return Err(self.error(token.start, format!("block `{label}` stands twice in a region")));
            }
            labels.push(label);
            let block = self.m.add_block(region);
            let args = self.label_arguments()?;
            self.expect(":")?;
            self.arguments(block, args)?;
            self.block_body(block)?;
        }
        self.find_labels(region, first, &labels)?;
        self.number_labels(region, &labels)
    }

    /// `(%a: T loc(..), ..)` behind a label.
    fn label_arguments(&mut self) -> Parse<Vec<Argument<'a>>> {
        match self.eat("(") {
            true => self.label_arguments_to_end(),
            false => Ok(Vec::new()),
        }
    }

    /// The same behind the opening bracket.
    pub(super) fn label_arguments_to_end(&mut self) -> Parse<Vec<Argument<'a>>> {
        let mut args = Vec::new();
        if self.eat(")") {
            return Ok(args);
        }
        loop {
            let token = self.expect_kind(Kind::Percent, "an argument")?;
            self.expect(":")?;
            let ty = self.ty()?;
            let loc = self.optional_loc()?;
            args.push(Argument { name: Some(self.text(token)), at: token.start, ty, loc });
            if !self.eat(",") {
                self.expect(")")?;
                return Ok(args);
            }
        }
    }

    /// Gives a block its arguments and binds their names.
    pub(super) fn arguments(&mut self, block: BlockId, args: Vec<Argument<'a>>) -> Parse<()> {
        for (index, arg) in (0u32..).zip(args) {
            let def = ValueDef::Argument { block, index };
            match arg.name {
                Some(name) => {
                    let values = self.define(name, arg.at, &[arg.ty], arg.loc, |_| def)?;
                    self.m.blocks[block].args.extend(values);
                }
                None => {
                    self.m.add_arg(block, arg.ty, arg.loc);
                }
            }
        }
        Ok(())
    }

    /// The operations of a block, to its end; broken ones are skipped.
    fn block_body(&mut self, block: BlockId) -> Parse<()> {
        loop {
            match self.tok.kind {
                Kind::Punct("}") | Kind::Caret => return Ok(()),
                Kind::Eof => return Err(self.unexpected("`}`")),
                _ if self.fatal => return Err(super::Failed),
                _ => {
                    let start = self.tok.start;
                    if self.operation(block).is_err() {
                        self.recover(start);
                    }
                }
            }
        }
    }
}
