//! The tensor maps that a program makes itself (C16).

use hashbrown::HashMap;
use warploom_chips::{Feature, Target};
use warploom_ir::diag::Code;
use warploom_ir::{Attr, Module, OpId, Opcode, ValueId, walk};

use super::types::{MAP_BYTES, MadeMap, Program};
use crate::descriptor::descriptor;
use crate::error::{Result, locate, refuse};

impl<'m> Program<'m> {
    /// The maps that the function makes, in the order of the text.
    pub(super) fn read_maps(&self, module: &'m Module, target: &Target) -> Result<HashMap<ValueId, MadeMap>> {
        let mut maps = HashMap::new();
        let makes = |op: &OpId| module.ops[*op].opcode == Opcode::MakeTensorDescriptor;
        for op in walk::ops(module, self.func).filter(makes) {
            let made = self.read_map(module, op, target, maps.len() as u64);
            let (value, made) = made.map_err(|refusal| locate(module, op, refusal))?;
            maps.insert(value, made);
        }
        Ok(maps)
    }

    fn read_map(&self, module: &Module, op: OpId, target: &Target, slot: u64) -> Result<(ValueId, MadeMap)> {
        let broken = |text: &str| refuse(Code::Verify, text).rule("C16");
        if !target.has(Feature::TensormapReplace) {
            let text = format!("{} has no tensormap.replace", target.name());
            return Err(refuse(Code::Target, text)
                .rule("C16")
                .note("instead", "descriptors made by the host")
                .into());
        }
        let result = module.result(op).ok_or_else(|| broken("a tensor map without a result"))?;
        let Some(Attr::Dict(dict)) = module.attr(op, "warploom.tensor_map") else {
            let text = "a descriptor made in a program needs warploom.tensor_map, what copies by it are like";
            return Err(broken(text).into());
        };
        let staging = dict.get("staging").and_then(Attr::as_i64).and_then(|at| u64::try_from(at).ok());
        let staging =
            staging.ok_or_else(|| broken("warploom.tensor_map needs staging, an offset in shared memory"))?;
        if staging % MAP_BYTES != 0 || staging.checked_add(MAP_BYTES).is_none_or(|end| end > self.shared) {
            let text = format!("a tensor map is made at byte {staging} of {}", self.shared);
            return Err(broken(&text).note("needs", "128 bytes at a multiple of 128").into());
        }
        let (record, nan) = (descriptor(dict, module.ty(result))?, module.pads_with_nan(op));
        if nan && record.elem_size == 1 {
            return Err(broken("the copy engine has no NaN of 8 bits")
                .note("instead", "padding by zero")
                .into());
        }
        Ok((result, MadeMap { record, slot, staging, nan }))
    }

    /// Bytes of scratch memory of one CTA.
    pub fn global_scratch(&self) -> u64 {
        self.maps.len() as u64 * MAP_BYTES
    }
}
