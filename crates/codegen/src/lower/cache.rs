//! What authors say of caches at a load or store, as PTX names it (G22).

use warploom_ir::diag::Code;
use warploom_ir::{Attr, OpId};

use super::Lower;
use crate::error::{Result, refuse};

/// Modifiers of loads and of stores.
const LOADS: [(&str, &str); 4] = [("ca", ".ca"), ("cg", ".cg"), ("cs", ".cs"), ("cv", ".cv")];
const STORES: [(&str, &str); 4] = [("wb", ".wb"), ("cg", ".cg"), ("cs", ".cs"), ("wt", ".wt")];

impl Lower<'_, '_> {
    /// What stands behind `ld.global`. Copies to shared memory bypass the first cache, of which policies speak.
    pub(super) fn cache_of_load(&self, op: OpId) -> Result<&'static str> {
        self.cache(op, &LOADS)
    }

    /// What stands behind `st.global`.
    pub(super) fn cache_of_store(&self, op: OpId) -> Result<&'static str> {
        self.cache(op, &STORES)
    }

    /// The modifier, or the eviction policy where there is none: PTX takes one of both.
    fn cache(&self, op: OpId, known: &[(&str, &'static str)]) -> Result<&'static str> {
        let text = match self.module.attr(op, "cachePolicy") {
            Some(Attr::Opaque(text)) => text.as_str(),
            Some(Attr::Alias(name)) => {
                let named = self.module.attr_aliases.iter().find(|(alias, _)| alias == name);
                match named {
                    Some((_, Attr::Opaque(text))) => text.as_str(),
                    _ => {
                        return Err(refuse(Code::Op, format!("unknown cache policy #{name}"))
                            .rule("G22")
                            .into());
                    }
                }
            }
            _ => return Ok(""),
        };
        let field = |name: &str| {
            let fields = text.split_once('<')?.1.trim_end_matches('>').split(',');
            let mut pairs = fields.filter_map(|field| field.split_once('='));
            pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
        };
        let unknown =
            |what: &str| refuse(Code::Op, format!("no cache policy `{what}` at this access")).rule("G22");
        match (field("cache_modifier"), field("eviction_policy")) {
            (None | Some("none"), None | Some("evict_normal")) => Ok(""),
            (None | Some("none"), Some("evict_first")) => Ok(".L1::evict_first"),
            (None | Some("none"), Some("evict_last")) => Ok(".L1::evict_last"),
            (None | Some("none"), Some(other)) => Err(unknown(other).into()),
            (Some(name), _) => {
                let modifier = known.iter().find(|(known, _)| *known == name);
                modifier.map(|(_, text)| *text).ok_or_else(|| unknown(name).into())
            }
        }
    }
}
