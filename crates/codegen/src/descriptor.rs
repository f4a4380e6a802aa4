//! Descriptor records: what `warploom.descriptors` says of each tensor map, checked (C12..C15).

use warploom_ir::diag::Code;
use warploom_ir::{Attr, AttrDict, Type};

use crate::error::{Result, refuse};
use crate::layout::{Swizzle, TileLayout};
use crate::metadata::TensorDescriptor;

/// Layout of a tile under a swizzle; refuses tiles without bytes.
pub(crate) fn tile_layout(tile: &Type, swizzle: Swizzle) -> Result<TileLayout> {
    let bits = tile.elem_bits().filter(|bits| bits % 8 == 0);
    match (tile.shape(), bits, tile.bytes()) {
        ([outer @ .., inner], Some(bits), Some(1..=0x10_0000)) => {
            TileLayout::new(outer.iter().product(), *inner, u64::from(bits / 8), swizzle)
        }
        _ => Err(refuse(Code::Type, format!("{tile} cannot lie in shared memory")).rule("C4").into()),
    }
}

/// One record of C12, checked against the type it describes (C13..C15).
pub(crate) fn descriptor(dict: &AttrDict, ty: &Type) -> Result<TensorDescriptor> {
    let bad = |text: String| refuse(Code::Desc, text).rule("C13");
    let int = |name: &str| -> Result<u32> {
        let value = dict.get(name).and_then(Attr::as_i64).and_then(|v| u32::try_from(v).ok());
        value.ok_or_else(|| bad(format!("a descriptor record needs {name}")).into())
    };
    let flag = |name: &str| matches!(dict.get(name), Some(Attr::Bool(true)));
    let block_size = match dict.get("block_size") {
        Some(Attr::DenseArray { values, .. }) => Some(values.clone()),
        Some(Attr::Array(items)) => items.iter().map(Attr::as_i64).collect(),
        _ => None,
    };
    let block_size: Option<Vec<u32>> =
        block_size.and_then(|b| b.into_iter().map(|v| u32::try_from(v).ok()).collect());
    let block_size = block_size.ok_or_else(|| bad("a descriptor record needs block_size".to_owned()))?;
    let record = TensorDescriptor {
        swizzle: int("swizzle")?,
        elem_size: int("elem_size")?,
        elem_type: int("elem_type")?,
        block_size,
        fp4_padded: flag("fp4_padded"),
        is_im2col: flag("is_im2col"),
    };
    if record.fp4_padded || record.is_im2col {
        return Err(bad("padded 4-bit and im2col descriptors are not supported".to_owned()).into());
    }
    let swizzle = [0, 32, 64, 128].get(record.swizzle as usize).and_then(|&s| Swizzle::from_bytes(s));
    let swizzle = swizzle.ok_or_else(|| bad(format!("swizzle code {}", record.swizzle)))?;
    let layout = tile_layout(ty, swizzle)?;
    let fits = record.block_size.len() == ty.shape().len()
        && record
            .block_size
            .iter()
            .zip(ty.shape())
            .all(|(&b, &n)| (1..=256).contains(&b) && n % u64::from(b) == 0);
    let inner = record.block_size.last().map(|&b| u64::from(b) * layout.elem);
    if !fits || inner != Some(layout.panel) || u64::from(record.elem_size) != layout.elem {
        let text = format!("a box of {:?} elements of {} B for {ty}", record.block_size, record.elem_size);
        let needs = format!("extents of 1..256 that divide the block, and {} B innermost", layout.panel);
        return Err(bad(text).note("needs", needs).into());
    }
    Ok(record)
}
