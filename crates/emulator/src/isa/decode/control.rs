//! Branches, calls, and the end of a thread.

use super::context::{Context, Res};
use super::mods::Mods;
use crate::isa::op::{Call, Callee, Op};
use crate::isa::types::Ty;
use warploom_ptx::Operand;

/// `bra`, `brx.idx`, `ret`, `exit`, `trap`, calls and the stack.
pub(crate) fn branch<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    m.ignore(&["uni"]);
    match m.base {
        "bra" => Ok(Op::Bra { target: cx.label(cx.arg(args, 0)?)? }),
        "brx" => {
            m.flag("idx");
            let index = cx.src(cx.arg(args, 0)?, Ty::U32)?;
            Ok(Op::BrxIdx { index, targets: cx.targets(cx.arg(args, 1)?)?.into() })
        }
        "ret" if cx.function => Ok(Op::Ret),
        "ret" | "exit" => Ok(Op::Exit),
        "call" => call(cx, m, args),
        "alloca" | "stacksave" | "stackrestore" => stack(cx, m, args),
        _ => Ok(Op::Trap),
    }
}

/// Functions of CUDA's device runtime that say 0, and do nothing: grids run in the order of their launches whatever their
/// streams are.
const SUCCEEDS: [&str; 9] = [
    "StreamCreateWithFlags",
    "StreamDestroy",
    "StreamWaitEvent",
    "EventCreateWithFlags",
    "EventRecord",
    "EventDestroy",
    "GetLastError",
    "PeekAtLastError",
    "GraphSetConditional",
];

/// `alloca.u64 d, bytes, align`, and the two that keep and restore where the stack ends.
fn stack<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let ty = m.ty()?;
    if m.base == "stackrestore" {
        return Ok(Op::StackRestore { a: cx.src(cx.arg(args, 0)?, ty)? });
    }
    let d = cx.dst(cx.arg(args, 0)?)?;
    if m.base == "stacksave" {
        return Ok(Op::StackSave { d });
    }
    let align = match args.get(2) {
        None => 8,
        Some(Operand::Int(n)) if n.is_power_of_two() && *n <= 1 << 16 => *n as u32,
        Some(_) => return Err(cx.fail("an alignment that is a power of two is expected")),
    };
    Ok(Op::Alloca { d, bytes: cx.src(cx.arg(args, 1)?, ty)?, align })
}

/// `call (results), function, (arguments), prototype`. What is passed stands in .param variables.
fn call<'a>(cx: &mut Context<'_, 'a>, m: &Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let list = |raw: Option<&Operand<'a>>| match raw {
        Some(Operand::Group(list)) => list.iter().map(|one| cx.frame(one)).collect::<Res<Vec<u32>>>(),
        _ => Ok(Vec::new()),
    };
    let at = usize::from(matches!(args.first(), Some(Operand::Group(_))));
    let (results, arguments) = (list(args.first())?, list(args.get(at + 1))?);
    let Operand::Name(name) = cx.arg(args, at)? else { return Err(cx.fail("a function is expected")) };
    let callee = match *name {
        "vprintf" => Callee::Print,
        "__assertfail" => Callee::Fail,
        "malloc" => Callee::Allocate,
        "free" | "__cudaCDP2Free" | "cudaFree" => Callee::Release,
        "__cudaCDP2Malloc" | "cudaMalloc" => Callee::AllocateTo,
        "__cudaCDP2GetParameterBufferV2" | "cudaGetParameterBufferV2" => Callee::ChildBuffer,
        "__cudaCDP2LaunchDeviceV2" | "cudaLaunchDeviceV2" => Callee::ChildLaunch,
        name if SUCCEEDS.contains(&name.trim_start_matches("__cudaCDP2").trim_start_matches("cuda")) => {
            Callee::Success
        }
        name => match cx.together.functions.get(name) {
            Some(number) => Callee::Function(*number),
            None if name.starts_with('%') => Callee::Through(cx.src(cx.arg(args, at)?, Ty::U64)?),
            None => return Err(m.unknown(&format!("'{name}' has no body in this module"))),
        },
    };
    Ok(Op::Call(Box::new(Call { callee, arguments, results })))
}
