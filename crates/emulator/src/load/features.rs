//! Instructions that belong to some chips alone: text for another one is refused, as `ptxas` refuses it.

use crate::error::RefusalReason;
use warploom_chips::{Feature, Target};
use warploom_ptx::Instruction;

/// Families of instructions, by the beginning of their names, and who has them.
const FAMILIES: [(&str, Feature, &str); 3] = [
    ("wgmma.", Feature::Wgmma, "sm_90a has wgmma"),
    ("tcgen05.", Feature::Tcgen05, "sm_100a, sm_103a and sm_110a have tcgen05"),
    ("setmaxnreg.", Feature::SetMaxNReg, "sm_90a and later chips of the suffix `a` have setmaxnreg"),
];

/// Why a chip has no such instruction.
pub(super) fn lacking(chip: &Target, instruction: &Instruction<'_>) -> Option<RefusalReason> {
    let (name, _, remedy) = FAMILIES
        .into_iter()
        .find(|(name, feature, _)| instruction.opcode.starts_with(name) && !chip.has(*feature))?;
    let text = format!("{} has no {}", chip.name(), name.trim_end_matches('.'));
    Some(RefusalReason::new("X01", instruction.line.0, text, remedy))
}
