//! Branches and the end of a thread.

use super::Res;
use super::context::Context;
use super::mods::Mods;
use crate::isa::op::Op;
use crate::isa::types::Ty;
use crate::ptx::raw::Raw;

/// `bra`, `brx.idx`, `ret`, `exit`, `trap`.
pub(crate) fn branch<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Raw<'a>]) -> Res<Op> {
    m.ignore(&["uni"]);
    match m.base {
        "bra" => Ok(Op::Bra { target: cx.label(cx.arg(args, 0)?)? }),
        "brx" => {
            m.flag("idx");
            let index = cx.src(cx.arg(args, 0)?, Ty::U32)?;
            Ok(Op::BrxIdx { index, targets: cx.targets(cx.arg(args, 1)?)?.into() })
        }
        "ret" | "exit" => Ok(Op::Exit),
        "call" => Err(m.unknown("calls are not supported")),
        _ => Ok(Op::Trap),
    }
}
