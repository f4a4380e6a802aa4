//! Operations of other dialects with several regions in a row.

use super::regions::Argument;
use super::{Parse, Parser};
use crate::attr::Attr;
use crate::entity::OpId;
use crate::text::lexer::Kind;
use crate::types::Type;

impl<'a> Parser<'a> {
    /// `ttg.warp_specialize(%a, ..) attributes {..} default {..} partition0(%x: T, ..) num_warps(4) {..} : (T, ..) -> ()`
    ///
    /// In memory: region 0 is the default one, region n + 1 partition n; `partitionNumWarps` holds the numbers.
    pub(super) fn warp_specialize_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        self.expect("(")?;
        let operands = if self.is(")") { Vec::new() } else { self.operand_list()? };
        self.expect(")")?;
        self.set_operands(op, &operands);
        self.attributes_clause(op)?;
        self.expect_word("default")?;
        self.plain_region(op, Vec::new())?;
        let mut warps = Vec::new();
        while self.is_word(&format!("partition{}", warps.len())) {
            self.advance();
            self.expect("(")?;
            let args = self.label_arguments_to_end()?;
            self.expect_word("num_warps")?;
            self.expect("(")?;
            let number = self.expect_kind(Kind::Integer, "a number of warps")?;
            match self.text(number).parse::<i32>() {
                Ok(n) => warps.push(i64::from(n)),
                Err(_) => return Err(self.error(number.start, "the number of warps is out of range")),
            }
            self.expect(")")?;
            self.plain_region(op, args)?;
        }
        self.set_prop(op, "partitionNumWarps", Attr::DenseArray { elem: Type::I32, values: warps });
        self.expect(":")?;
        let at = self.tok;
        let (inputs, results) = self.function_type()?;
        self.check_types(&operands, &inputs, at)?;
        Ok(results)
    }

    /// `stablehlo.while(%x = %a, ..) : T, .. attributes {..} cond {..} do {..}`
    pub(super) fn cond_do_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        let (args, inits) = self.bindings()?;
        self.set_operands(op, &inits);
        let mut types = Vec::new();
        if self.eat(":") {
            loop {
                types.push(self.ty()?);
                if !self.eat(",") {
                    break;
                }
            }
        }
        let at = self.tok;
        self.check_types(&inits, &types, at)?;
        self.attributes_clause(op)?;
        for word in ["cond", "do"] {
            self.expect_word(word)?;
            let args = args.iter().zip(&types).map(|(arg, ty)| Argument { ty: ty.clone(), ..*arg }).collect();
            self.plain_region(op, args)?;
        }
        Ok(types)
    }
}
