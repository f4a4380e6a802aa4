//! What Triton 3.5 to 3.8 spelt differently, read as what 3.9 writes.

use super::{Parse, Parser};
use crate::attr::Attr;
use crate::entity::OpId;
use crate::opcode::Opcode;

/// Cache modifiers by the numbers of the generic form, from 1 on.
const MODIFIERS: [&str; 7] = ["none", "ca", "cg", "wb", "cs", "wt", "cv"];

/// Eviction policies, likewise.
const EVICTIONS: [&str; 3] = ["evict_normal", "evict_first", "evict_last"];

/// How the parts of a cache policy were called: in the custom form, among the properties, and within the policy.
const PARTS: [(&str, &str, &str, &[&str]); 2] = [
    ("cacheModifier", "cache", "cache_modifier", &MODIFIERS),
    ("evictionPolicy", "evict", "eviction_policy", &EVICTIONS),
];

impl Parser<'_> {
    /// `cacheModifier = cg evictionPolicy = evict_first`, in either order.
    pub(super) fn cache_words(&mut self, op: OpId) -> Parse<()> {
        while let Some((word, property, _, known)) = PARTS.iter().find(|(word, ..)| self.is_word(word)) {
            let at = self.tok.start;
            self.advance();
            self.expect("=")?;
            let value = self.text(self.tok);
            if !known.contains(&value) {
                return Err(self.unexpected(&format!("one of {}", known.join(", "))));
            }
            let value = Attr::Opaque(value.to_owned());
            self.advance();
            if self.m.ops[op].props.set(*property, value).is_some() {
                return Err(self.error(at, format!("`{word}` is given twice")));
            }
        }
        Ok(())
    }

    /// Turns the parts of a cache policy into one, and leaves out checks of no dimension with what they would read. Parts that
    /// nobody knows, or that stand beside a whole one, stay for the verifier to refuse.
    pub(super) fn renew(&mut self, op: OpId) {
        let data = &mut self.m.ops[op];
        if !matches!(data.opcode, Opcode::Load | Opcode::Store | Opcode::DescriptorLoad)
            || data.props.contains("cachePolicy")
        {
            return;
        }
        let mut said = false;
        let parts = PARTS.map(|(_, property, field, known)| {
            let word = match data.props.get(property) {
                Some(Attr::Opaque(word)) => known.iter().find(|known| *known == word),
                Some(Attr::Int { value, .. }) => {
                    usize::try_from(value - 1).ok().and_then(|index| known.get(index))
                }
                _ => None,
            };
            if let Some(word) = word {
                data.props.remove(property);
                said |= *word != known[0];
            }
            format!("{field} = {}", word.unwrap_or(&known[0]))
        });
        if said {
            let policy = format!("#tt.cache_policy<{}>", parts.join(", "));
            data.props.set("cachePolicy", Attr::Opaque(policy));
        }
        let unchecked = match data.props.get("boundaryCheck") {
            Some(Attr::DenseArray { values, .. }) => values.is_empty(),
            None => true,
            _ => false,
        };
        if unchecked && data.opcode != Opcode::DescriptorLoad {
            data.props.remove("boundaryCheck");
            data.props.remove("padding");
        }
    }
}
