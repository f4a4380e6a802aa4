//! Descriptors against the tiles copied through them (C12-C15, T11).

use warploom_ir::{Attr, AttrDict, Opcode, Type};

use super::model::{MAP, MAP_BYTES, Model};
use super::report::{Report, Rule};
use super::rings::Payload;

/// One record of `warploom.descriptors`.
struct Record {
    swizzle: u64,
    element_bytes: u64,
    extents: Vec<u64>,
}

/// Checks every record, those of maps that the program makes included, and every copy against its record.
pub(super) fn check(model: &Model<'_>, report: &mut Report) {
    let module = model.module;
    let args = &module.blocks[model.body].args;
    let descriptors: Vec<_> = args.iter().copied().filter(|&a| module.ty(a).is_desc()).collect();
    let empty = Vec::new();
    let items = match module.attr(model.func, "warploom.descriptors") {
        Some(Attr::Array(items)) => items,
        _ => &empty,
    };
    if items.len() != descriptors.len() {
        let text = format!("{} records for {} descriptor arguments", items.len(), descriptors.len());
        report.add(Rule::Boxes, "warploom.descriptors", text);
        return;
    }
    let mut records = Vec::new();
    for (at, (item, &arg)) in items.iter().zip(&descriptors).enumerate() {
        let record = match item {
            Attr::Dict(dict) => read(dict),
            _ => None,
        };
        let Some(record) = record else {
            report.add(Rule::Boxes, format!("descriptor {at}"), "the record is incomplete");
            return;
        };
        check_record(&format!("descriptor {at}"), &record, module.ty(arg), report);
        records.push((arg, record));
    }
    for (partition, op) in model.maps() {
        let place = partition.map_or("a tensor map".to_owned(), |p| model.place(p, op));
        let (Some(Attr::Dict(dict)), Some(result)) = (module.attr(op, MAP), module.result(op)) else {
            report.add(Rule::Boxes, place, "makes a tensor map that nobody says anything about");
            return;
        };
        let Some(record) = read(dict) else {
            report.add(Rule::Boxes, place, "the record is incomplete");
            return;
        };
        check_record(&place, &record, module.ty(result), report);
        let fits = |at: u64| at.is_multiple_of(MAP_BYTES) && at.saturating_add(MAP_BYTES) <= model.shared;
        if !model.staging(op).is_some_and(fits) {
            let text = format!("needs {MAP_BYTES} of {} B, at a multiple of as many", model.shared);
            report.add(Rule::Shared, place, text);
        }
        records.push((result, record));
    }
    for (partition, placed) in
        model.partitions.iter().enumerate().flat_map(|(i, a)| a.ops.iter().map(move |p| (i, p)))
    {
        let op = placed.op;
        if !matches!(module.ops[op].opcode, Opcode::TmaLoad | Opcode::TmaStore) {
            continue;
        }
        let at = model.place(partition, op);
        let used = model.operand(op, 1);
        let record = records.iter().find(|(descriptor, _)| Some(*descriptor) == used);
        let payload = model.number(op, "payload").and_then(|p| usize::try_from(p).ok());
        let payload = payload.and_then(|p| model.rings.get(model.ring(op)?)?.payloads.get(p));
        let (Some((descriptor, record)), Some(payload)) = (record, payload) else {
            report.add(Rule::Boxes, at, "names no descriptor or no payload");
            continue;
        };
        check_copy(&at, record, module.ty(*descriptor), payload, report);
        if module.ops[op].operands.len() != 2 + record.extents.len() {
            report.add(Rule::Boxes, at, format!("needs {} coordinates", record.extents.len()));
        }
    }
}

fn read(dict: &AttrDict) -> Option<Record> {
    let number = |name: &str| dict.get(name).and_then(Attr::as_i64).and_then(|v| u64::try_from(v).ok());
    let extents = match dict.get("block_size")? {
        Attr::DenseArray { values, .. } => {
            values.iter().map(|&v| u64::try_from(v).ok()).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let swizzle = match number("swizzle")? {
        0 => 0,
        code @ 1..=3 => 16 << code,
        _ => return None,
    };
    number("elem_type")?;
    Some(Record { swizzle, element_bytes: number("elem_size")?, extents })
}

/// A box of 1 to 256 per dimension that divides the block, its inner row one span of the swizzle, or a multiple of
/// 16 bytes.
fn check_record(at: &str, record: &Record, ty: &Type, report: &mut Report) {
    let block = ty.shape();
    if record.extents.len() != block.len() || !(1..=5).contains(&block.len()) {
        report.add(Rule::Boxes, at, format!("a box of rank {} for {ty}", record.extents.len()));
        return;
    }
    for (&extent, &whole) in record.extents.iter().zip(block) {
        if !(1..=256).contains(&extent) || whole % extent != 0 {
            report.add(Rule::Boxes, at, format!("box extent {extent} for {whole} elements of {ty}"));
        }
    }
    if ty.elem_bits().map(u64::from) != Some(record.element_bytes * 8) {
        report.add(Rule::Boxes, at, format!("elem_size {} for {ty}", record.element_bytes));
    }
    let inner = record.extents.last().map_or(0, |e| e * record.element_bytes);
    let legal =
        if record.swizzle == 0 { inner > 0 && inner.is_multiple_of(16) } else { inner == record.swizzle };
    if !legal {
        let text = format!("box rows of {inner} B under a swizzle of {} B", record.swizzle);
        report.add(Rule::Boxes, at, text);
    }
}

/// The tile of the payload is the descriptor's block, in the descriptor's swizzle.
fn check_copy(at: &str, record: &Record, descriptor: &Type, payload: &Payload, report: &mut Report) {
    let squeezed = |shape: &[u64]| shape.iter().copied().filter(|&e| e != 1).collect::<Vec<_>>();
    let same = squeezed(descriptor.shape()) == squeezed(payload.tile.shape())
        && descriptor.elem_bits() == payload.tile.elem_bits();
    if !same {
        report.add(Rule::Boxes, at, format!("copies {descriptor} into {}", payload.tile));
    }
    if record.swizzle != payload.swizzle {
        let text =
            format!("the descriptor swizzles by {} B, the slot by {} B", record.swizzle, payload.swizzle);
        report.add(Rule::Boxes, at, text);
    }
}
