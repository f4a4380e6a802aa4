//! Descriptors in one partition: their loads and stores become masked accesses through pointers (C15, C17).
//!
//! A descriptor made in the kernel is pointer, extents and strides anyway. One that is an argument becomes the
//! arguments that Triton passes where a kernel's launch record has no tensor maps: pointer, extents and strides as
//! `i64`, two flags; the extents and strides behind it stay where they are. Elements outside the tensor are not
//! written, and read as zero; as NaN where their descriptor says so, which for an argument is a flag of the launch.
//! Copies of pipelined loads leave zeros and all bits: where an argument that a loop reads asks for NaN, or any asks for
//! f32 rounded to tf32 on the way, the kernel ends at once with an error (`trap`).

pub(crate) mod carried;
mod place;
mod tensor;

use std::collections::{BTreeMap, HashMap};

use warploom_chips::{Feature, Target};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, AttrDict, BlockId, FloatKind, Module, OpId, Opcode, Type, ValueDef, ValueId};

use crate::emit::Emit;
use crate::nest::loops_around;
use crate::normalize::descriptors::carried::{is_carried, remake};
use crate::normalize::descriptors::place::{place, place_rows};
use crate::normalize::descriptors::tensor::{Outside, Tensor};
use crate::place::{refuse, remark};
use crate::walk::{Users, preorder};

/// What is said of a parameter that must be false: the kernel ends with `trap` where it is not.
const UNSET: &str = "warploom.unset";

/// Whether an operation makes a descriptor in the kernel.
fn makes(module: &Module, op: OpId) -> bool {
    module.ops[op].opcode == Opcode::MakeTensorDescriptor
}

/// Rewrites the descriptors of a kernel; tells so where the chip could take tensor maps, for the launch differs then.
///
/// # Errors
/// What has no meaning through pointers.
pub(crate) fn lower(
    module: &mut Module,
    func: OpId,
    target: &Target,
) -> Result<Option<Diagnostic>, Vec<Diagnostic>> {
    let mut tensors = BTreeMap::new();
    arguments(module, func, &mut tensors);
    remake_arguments(module, func, &tensors)?;
    if tensors.is_empty() && !preorder(module, func).into_iter().any(|op| makes(module, op)) {
        return Ok(None);
    }
    let told = (!tensors.is_empty() && target.has(Feature::TmaLoad)).then(|| {
        let text = "one partition runs this kernel, and moves its tiles by masked accesses, not by TMA";
        remark(module, func, Code::Desc, text)
            .rule("C17")
            .note(
                "launch",
                "no tensor maps (tensordesc_meta is empty): for each descriptor pointer, i64 extents, i64 strides, two flags",
            )
            .note("supported", "padding by zero, by NaN outside loops, f32 as they are: the kernel traps where a flag asks for more")
    });
    let blocks: Vec<BlockId> = preorder(module, func)
        .into_iter()
        .flat_map(|op| module.ops[op].regions.clone())
        .flat_map(|region| module.regions[region].blocks.clone())
        .collect();
    let (mut errors, mut replaced) = (Vec::new(), HashMap::new());
    for block in blocks {
        for op in std::mem::take(&mut module.blocks[block].ops) {
            let of = module.ops[op].operands.first().and_then(|v| tensors.get(v)).cloned();
            let loc = module.ops[op].loc;
            if makes(module, op) {
                let made = make(&mut Emit { out: module, block, loc }, op);
                if let (Some(made), Some(result)) = (made, module.result(op)) {
                    tensors.insert(result, made);
                }
                module.ops[op].block = None;
                continue;
            }
            match of {
                None => module.append(block, op),
                Some(tensor) => {
                    if let Err(error) = access(module, block, op, &tensor, &mut replaced) {
                        errors.push(*error);
                    }
                }
            }
        }
    }
    for op in preorder(module, func) {
        for operand in &mut module.ops[op].operands {
            *operand = *replaced.get(operand).unwrap_or(operand);
        }
    }
    crate::place::file_order(&mut errors);
    if errors.is_empty() { Ok(told) } else { Err(errors) }
}

/// Replaces the descriptor arguments of a function.
fn arguments(module: &mut Module, func: OpId, tensors: &mut BTreeMap<ValueId, Tensor>) {
    let Some(body) = module.entry(func, 0) else { return };
    let old = module.blocks[body].args.clone();
    if !old.iter().any(|&arg| module.ty(arg).is_desc()) {
        return;
    }
    let attrs = module.attr(func, "arg_attrs").and_then(Attr::as_array).unwrap_or_default().to_vec();
    let users = Users::new(module);
    let mut kept = Vec::new();
    for (index, &arg) in old.iter().enumerate() {
        let Type::TensorDesc { shape, elem } = module.ty(arg).clone() else {
            kept.push((arg, attrs.get(index).cloned().unwrap_or_else(|| Attr::Dict(AttrDict::default()))));
            continue;
        };
        let pads =
            matches!(*elem, Type::Float(FloatKind::F16 | FloatKind::BF16 | FloatKind::F32 | FloatKind::F64));
        let chosen = pads && users.of(arg).iter().all(|&user| is_straight(module, user));
        let loc = module.values[arg].loc;
        let divides = |by: u64| {
            let divisor = Attr::i32(i32::try_from(by).unwrap_or(1));
            Attr::Dict(AttrDict::from_iter([("tt.divisibility", divisor)]))
        };
        let plain = || Attr::Dict(AttrDict::default());
        // What TMA asks of a tensor holds without it too: 16-byte rows (C15).
        let unit = 128 / u64::from(elem.elem_bits().unwrap_or(8)).max(1);
        let pointee = match *elem {
            Type::Int(bits, _) => Type::int(bits),
            other => other,
        };
        let mut add = |ty: Type, attr: Attr, kept: &mut Vec<(ValueId, Attr)>| {
            let value = module.add_arg(body, ty, loc);
            kept.push((value, attr));
            value
        };
        let base = add(Type::ptr(pointee), divides(16), &mut kept);
        let extents = shape.iter().map(|_| add(Type::I64, plain(), &mut kept)).collect();
        let rank = shape.len();
        let strides = (0..rank)
            .map(|d| add(Type::I64, if d + 1 < rank { divides(unit) } else { plain() }, &mut kept))
            .collect();
        let unset = || Attr::Dict(AttrDict::from_iter([(UNSET, Attr::Bool(true))]));
        let nan = add(Type::I1, if chosen { plain() } else { unset() }, &mut kept);
        let _tf32 = add(Type::I1, unset(), &mut kept);
        let outside = if chosen { Outside::Flag(nan) } else { Outside::Zero };
        tensors.insert(arg, Tensor { base, shape: extents, strides, outside });
    }
    let inputs = kept.iter().map(|&(arg, _)| module.ty(arg).clone()).collect();
    for (index, &(arg, _)) in (0u32..).zip(&kept) {
        module.values[arg].def = ValueDef::Argument { block: body, index };
    }
    module.blocks[body].args = kept.iter().map(|&(arg, _)| arg).collect();
    let props = &mut module.ops[func].props;
    if let Some(Attr::Type(Type::Function { results, .. })) = props.get("function_type").cloned() {
        props.set("function_type", Attr::Type(Type::Function { inputs, results }));
    }
    props.set("arg_attrs", Attr::Array(kept.into_iter().map(|(_, attr)| attr).collect()));
}

/// Whether what outside reads as may be chosen at the launch: for accesses that no loop could pipeline.
fn is_straight(module: &Module, user: OpId) -> bool {
    match module.ops[user].opcode {
        Opcode::DescriptorLoad | Opcode::DescriptorGather => loops_around(module, user) == 0,
        Opcode::DescriptorStore | Opcode::DescriptorScatter | Opcode::DescriptorReduce => true,
        _ => false,
    }
}

/// Makes arguments that control flow hands on in the kernel, and again behind it.
///
/// # Errors
/// Those of [`remake`].
fn remake_arguments(
    module: &mut Module,
    func: OpId,
    tensors: &BTreeMap<ValueId, Tensor>,
) -> Result<(), Vec<Diagnostic>> {
    let carried: Vec<_> = tensors.iter().filter(|(arg, _)| is_carried(module, func, **arg)).collect();
    let (Some(block), false) = (module.entry(func, 0), carried.is_empty()) else { return Ok(()) };
    let loc = module.ops[func].loc;
    let behind = std::mem::take(&mut module.blocks[block].ops);
    let mut made = Vec::new();
    for (&arg, tensor) in carried {
        let parts: Vec<ValueId> =
            [tensor.base].iter().chain(&tensor.shape).chain(&tensor.strides).copied().collect();
        let ty = module.ty(arg).clone();
        made.push((arg, Emit { out: module, block, loc }.value(Opcode::MakeTensorDescriptor, &parts, &ty)));
    }
    module.blocks[block].ops.extend(behind);
    for (arg, descriptor) in made {
        module.replace_all_uses(arg, descriptor);
    }
    remake(module, func, &Type::I64)
}

/// The parts of a descriptor that is made in the kernel.
fn make(emit: &mut Emit<'_>, op: OpId) -> Option<Tensor> {
    let result = emit.out.result(op)?;
    let (rank, bits) = (emit.out.ty(result).shape().len(), emit.out.ty(result).elem_bits()?);
    let (&base, lists) = emit.out.ops[op].operands.split_first()?;
    let (shape, strides) = lists.split_at_checked(rank)?;
    let (shape, strides) = (shape.to_vec(), strides.to_vec());
    let outside = if emit.out.pads_with_nan(op) { Outside::Nan } else { Outside::Zero };
    let shape = shape.into_iter().map(|extent| emit.wide(extent)).collect();
    let unit = emit.scalar(i64::from(128 / bits.max(1)).max(1), &Type::I64);
    let mut rows = Vec::new();
    for (d, &stride) in strides.iter().enumerate() {
        let stride = emit.wide(stride);
        if d + 1 == rank {
            rows.push(stride);
            continue;
        }
        // Rows start at multiples of 16 bytes (C15); said in a way that addresses show it.
        let units = emit.same(Opcode::DivSI, stride, unit);
        rows.push(emit.same(Opcode::MulI, units, unit));
    }
    // And so does the tensor.
    let zero = emit.scalar(0, &Type::I64);
    let base = emit.same(Opcode::AddPtr, base, zero);
    let known = emit.out.def_op(base)?;
    emit.out.ops[known].attrs.set("tt.divisibility", Attr::i32(16));
    Some(Tensor { base, shape, strides: rows, outside })
}

/// One operation on a descriptor, through pointers. What a load makes is another value from here on.
fn access(
    module: &mut Module,
    block: BlockId,
    op: OpId,
    tensor: &Tensor,
    replaced: &mut HashMap<ValueId, ValueId>,
) -> Result<(), Box<Diagnostic>> {
    let data = module.ops[op].clone();
    let descriptor = data.operands.first().map(|&d| module.ty(d).clone()).unwrap_or(Type::None);
    let rest = data.operands.iter().skip(1).copied();
    let (tiles, starts): (Vec<_>, Vec<_>) = rest.partition(|&v| module.ty(v).is_tensor());
    let broken = |module: &Module| {
        let text = format!("{} with other operands than its descriptor has dimensions", module.op_name(op));
        Box::new(refuse(module, op, Code::Verify, text).rule("C17"))
    };
    let gathers = matches!(data.opcode, Opcode::DescriptorGather | Opcode::DescriptorScatter);
    let rows = tiles.iter().copied().find(|&v| gathers && module.ty(v).shape().len() == 1);
    let tile = tiles.iter().copied().find(|&v| Some(v) != rows);
    if starts.len() + usize::from(gathers) != tensor.shape.len() {
        return Err(broken(module));
    }
    let combine = match data.opcode {
        Opcode::DescriptorReduce => {
            let found = combination(module, op, descriptor.elem());
            Some(found.ok_or_else(|| {
                let text = format!("{} of this kind and type has no atomic operation", module.op_name(op));
                Box::new(refuse(module, op, Code::Op, text).rule("C17"))
            })?)
        }
        _ => None,
    };
    let loc = data.loc;
    let mut emit = Emit { out: module, block, loc };
    let at = match rows {
        Some(rows) => place_rows(&mut emit, tensor, descriptor.shape(), rows, starts.first().copied()),
        None => place(&mut emit, tensor, descriptor.shape(), &starts),
    };
    let Some(at) = at else { return Err(broken(module)) };
    let made = match (data.opcode, tile) {
        (Opcode::DescriptorLoad | Opcode::DescriptorGather, _) => {
            let Some(&result) = data.results.first() else { return Err(broken(module)) };
            let wanted = emit.out.ty(result).clone();
            let elem = match emit.out.ty(at.pointers).elem() {
                Type::Ptr { pointee, .. } => (**pointee).clone(),
                other => other.clone(),
            };
            let other = filler(&mut emit, &at.shape, &elem, tensor.outside);
            let operands = [at.pointers, at.mask, other];
            let loaded = emit.value(Opcode::Load, &operands, &Type::tensor(&at.shape, elem));
            let value = match wanted.shape() == at.shape {
                true => loaded,
                false => emit.value(Opcode::Reshape, &[loaded], &wanted),
            };
            let load = emit.out.def_op(loaded);
            replaced.insert(result, value);
            load
        }
        (opcode, Some(tile)) => {
            let ty = Type::tensor(&at.shape, emit.out.ty(tile).elem().clone());
            let tile = match emit.out.ty(tile).shape() == at.shape {
                true => tile,
                false => emit.value(Opcode::Reshape, &[tile], &ty),
            };
            let operands = [at.pointers, tile, at.mask];
            match (opcode, combine) {
                (Opcode::DescriptorReduce, Some(name)) => {
                    let word = |text: &str| Attr::Opaque(text.to_owned());
                    let props =
                        [("atomic_rmw_op", word(name)), ("sem", word("relaxed")), ("scope", word("gpu"))];
                    Some(emit.op(Opcode::AtomicRmw, &operands, &[ty], &props))
                }
                _ => Some(emit.op(Opcode::Store, &operands, &[], &[])),
            }
        }
        _ => return Err(broken(module)),
    };
    module.ops[op].block = None;
    if let Some(made) = made {
        module.ops[made].span = data.span;
        module.ops[made].attrs = data.attrs;
    }
    Ok(())
}

/// What stands outside the tensor.
fn filler(emit: &mut Emit<'_>, shape: &[u64], elem: &Type, outside: Outside) -> ValueId {
    let ty = Type::tensor(shape, elem.clone());
    let value = |nan: bool| match elem {
        Type::Float(kind) => Attr::Float { bits: if nan { quiet_nan(*kind) } else { 0 }, ty: elem.clone() },
        _ => Attr::Int { value: 0, ty: elem.clone() },
    };
    let mut constant = |value: Attr, ty: &Type| {
        let op = emit.op(Opcode::Constant, &[], std::slice::from_ref(ty), &[("value", value)]);
        emit.out.ops[op].results[0]
    };
    match outside {
        Outside::Flag(flag) => {
            let (nan, zero) = (constant(value(true), elem), constant(value(false), elem));
            let chosen = emit.value(Opcode::Select, &[flag, nan, zero], elem);
            emit.value(Opcode::Splat, &[chosen], &ty)
        }
        Outside::Zero | Outside::Nan => {
            let value = Box::new(value(matches!(outside, Outside::Nan)));
            constant(Attr::Splat { value, ty: ty.clone() }, &ty)
        }
    }
}

/// The NaN that TMA fills with.
fn quiet_nan(kind: FloatKind) -> u64 {
    match kind {
        FloatKind::BF16 => 0x7FC0,
        FloatKind::F16 => 0x7E00,
        FloatKind::F32 => 0x7FC0_0000,
        FloatKind::F64 => 0x7FF8_0000_0000_0000,
        _ => 0x7F,
    }
}

/// The atomic operation of a `tt.descriptor_reduce`.
fn combination(module: &Module, op: OpId, elem: &Type) -> Option<&'static str> {
    let kind = module.attr(op, "kind")?;
    let names = ["", "add", "min", "max", "inc", "dec", "and", "or", "xor"];
    let name = match kind.as_i64().and_then(|n| usize::try_from(n).ok()) {
        Some(number) => *names.get(number)?,
        None => kind.as_str()?,
    };
    let unsigned = matches!(elem, Type::Int(_, warploom_ir::Signedness::Unsigned));
    match (name, elem) {
        ("add", Type::Float(_)) => Some("fadd"),
        ("add", _) => Some("add"),
        ("min", Type::Float(FloatKind::F16 | FloatKind::BF16)) => Some("min"),
        ("max", Type::Float(FloatKind::F16 | FloatKind::BF16)) => Some("max"),
        ("min", Type::Int(..)) => Some(if unsigned { "umin" } else { "min" }),
        ("max", Type::Int(..)) => Some(if unsigned { "umax" } else { "max" }),
        ("and", Type::Int(..)) => Some("and"),
        ("or", Type::Int(..)) => Some("or"),
        ("xor", Type::Int(..)) => Some("xor"),
        _ => None,
    }
}
