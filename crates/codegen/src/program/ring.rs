//! Rings of a program: who hands what to whom, and where slots and their barriers lie (C20, C22, C24).

use warploom_ir::diag::Code;
use warploom_ir::{Attr, Module, OpId, Type};

use super::attributes::{count, integers};
use super::types::{Columns, HALF_ROWS, Handshake, Payload, Program, Ring};
use crate::descriptor::tile_layout;
use crate::error::{Result, locate, refuse};
use crate::layout::{Swizzle, TileLayout};

/// Byte offset of a group of `depth` barriers; -1 says there are none.
fn barriers_at(module: &Module, op: OpId, name: &str, depth: u64, shared: u64) -> Result<Option<u64>> {
    let offset = match module.attr(op, name).and_then(Attr::as_i64) {
        None | Some(-1) => return Ok(None),
        Some(offset) => u64::try_from(offset).ok(),
    };
    match offset {
        Some(at) if at % 8 == 0 && at.checked_add(8 * depth).is_some_and(|end| end <= shared) => Ok(Some(at)),
        _ => {
            let text =
                format!("{name} barriers must be 8-byte aligned and inside the {shared} B of shared memory");
            Err(locate(module, op, refuse(Code::Verify, text).rule("C20").into()))
        }
    }
}

impl Program<'_> {
    pub(super) fn read_ring(&self, module: &Module, op: OpId) -> Result<Ring> {
        let depth = count(module, op, "depth")?;
        if depth == 0 || depth > 1 << 16 {
            return Err(refuse(Code::Verify, format!("a ring of {depth} slots")).rule("C22").into());
        }
        let payloads = self.read_payloads(module, op, depth)?;
        let full = barriers_at(module, op, "full", depth, self.shared)?;
        let empty = barriers_at(module, op, "empty", depth, self.shared)?;
        let arrivals = |barrier: Option<u64>, name| -> Result<u64> {
            match barrier {
                None => Ok(0),
                Some(_) => match count(module, op, name)? {
                    n @ 1..=0xf_ffff => Ok(n),
                    n => Err(refuse(Code::Verify, format!("{name} = {n} arrivals")).rule("T8").into()),
                },
            }
        };
        let (arrive_full, arrive_empty) = (arrivals(full, "arrive_full")?, arrivals(empty, "arrive_empty")?);
        let name = module.attr(op, "handshake").and_then(Attr::as_str);
        let Some(handshake) = name.and_then(Handshake::named) else {
            let text = format!("handshake {} is not supported", name.unwrap_or("(missing)"));
            let known = "tma_to_wgmma, tma_to_generic, tma_to_mma, mma_to_generic, generic_to_mma, cp_async, cp_async_to_mma, none";
            return Err(refuse(Code::Op, text).rule("C24").note("instead", known).into());
        };
        let tensor = payloads.iter().any(|p| p.columns.is_some());
        if tensor != handshake.orders_tensor_memory() {
            let text = format!("handshake {} for this space", name.unwrap_or(""));
            return Err(refuse(Code::Verify, text).rule("C24").into());
        }
        Ok(Ring { depth, payloads, full, empty, arrive_full, arrive_empty, handshake, straight: true })
    }

    /// What a slot holds, in shared or in tensor memory.
    fn read_payloads(&self, module: &Module, op: OpId, depth: u64) -> Result<Vec<Payload>> {
        let tiles = module.attr(op, "tile").and_then(Attr::as_array).unwrap_or(&[]);
        let tensor = match module.attr(op, "space").map(Attr::as_str) {
            None => false,
            Some(Some("tmem")) => true,
            Some(_) => return Err(refuse(Code::Verify, "space is \"tmem\" or absent").rule("C35").into()),
        };
        let fields: &[&str] = if tensor { &["column", "columns"] } else { &["swizzle", "offset", "stride"] };
        let lists = fields.iter().map(|name| integers(module, op, name)).collect::<Result<Vec<_>>>()?;
        if lists.iter().any(|list| list.len() != tiles.len()) {
            let text = format!("tile, {} have one entry per payload", fields.join(", "));
            return Err(refuse(Code::Verify, text).rule("C35").into());
        }
        let block = match module.attr(op, "rows") {
            None => None,
            Some(_) => Some(count(module, op, "rows")?),
        };
        let mut payloads = Vec::new();
        for (i, tile) in tiles.iter().enumerate() {
            let Attr::Type(tile) = tile else {
                return Err(refuse(Code::Verify, "tile is an array of types").rule("C35").into());
            };
            payloads.push(match lists.as_slice() {
                [first, stride] => self.tensor_payload(tile, (first[i], stride[i]), block, depth)?,
                [swizzle, offset, stride] => self.payload(tile, swizzle[i], offset[i], stride[i], depth)?,
                _ => return Err(refuse(Code::Verify, "a payload needs a place").rule("C35").into()),
            });
        }
        Ok(payloads)
    }

    /// A tile in tensor memory: 32 bits of each row in a column, blocks of 128 or of 64 rows side by side.
    fn tensor_payload(
        &self,
        tile: &Type,
        (first, stride): (i64, i64),
        block: Option<u64>,
        depth: u64,
    ) -> Result<Payload> {
        let [rows, cols] = tile.shape() else {
            return Err(refuse(Code::Shape, format!("{tile} in tensor memory")).rule("C66").into());
        };
        if let Some(width) = table_columns(tile) {
            let (first, stride) = (u64::try_from(first), u64::try_from(stride));
            let (Ok(first), Ok(stride)) = (first, stride) else {
                return Err(refuse(Code::Verify, "scales before column 0").rule("C35").into());
            };
            let have = self.tmem.map_or(0, |tmem| tmem.columns);
            let end =
                stride.checked_mul(depth - 1).and_then(|last| last.checked_add(first.checked_add(width)?));
            if (depth > 1 && stride < width) || end.is_none_or(|end| end > have) {
                let text = format!("{depth} tables of {width} columns at {first} + {stride} k do not fit");
                let found = format!("{have} columns of tensor memory");
                return Err(refuse(Code::Capacity, text).rule("T14").note("found", found).into());
            }
            let layout =
                TileLayout { rows: *rows, cols: *cols, elem: 1, swizzle: Swizzle::None, panel: *cols };
            // Every quarter of the lanes has all rows.
            let columns = Some(Columns { first, stride, width, rows: *rows });
            return Ok(Payload { tile: tile.clone(), layout, offset: 0, stride: 0, columns });
        }
        let elem = match tile.elem_bits() {
            Some(bits @ (8 | 16 | 32)) => u64::from(bits / 8),
            _ => 0,
        };
        let width = cols * elem / 4;
        // What products read comes 8 columns at a time; accumulators have N in steps of 16.
        let step = if elem == 4 { 16 } else { 8 };
        // 64 rows take half of the lanes; how wgmma's lanes hold them, no store covers bytes.
        let block = block.unwrap_or(if *rows == HALF_ROWS { HALF_ROWS } else { 128 });
        let legal = rows.is_multiple_of(128) && block == 128
            || rows.is_multiple_of(HALF_ROWS) && block == HALF_ROWS && elem > 1;
        if !legal || *rows == 0 || width == 0 || width % step != 0 || cols * elem % 4 != 0 {
            let text = format!("{tile} in tensor memory");
            let needs = "elements of 8, 16 or 32 bits, rows in steps of 128 (or 64 of 16 or 32 bits), of 32 B each (32-bit elements: 64 B)";
            return Err(refuse(Code::Shape, text).rule("C63").note("needs", needs).into());
        }
        let whole = rows / block * width;
        let columns = match (u64::try_from(first), u64::try_from(stride)) {
            (Ok(first), Ok(stride)) => Columns { first, stride, width, rows: block },
            _ => {
                return Err(refuse(Code::Verify, format!("column {first}, {stride} a slot"))
                    .rule("C35")
                    .into());
            }
        };
        let have = self.tmem.map_or(0, |tmem| tmem.columns);
        let end =
            columns.stride.checked_mul(depth - 1).and_then(|last| last.checked_add(columns.first + whole));
        if (depth > 1 && columns.stride < whole) || end.is_none_or(|end| end > have) {
            let text = format!("{depth} slots of {whole} columns at {first} + {stride} k do not fit");
            let found = format!("{have} columns of tensor memory");
            return Err(refuse(Code::Capacity, text).rule("T14").note("found", found).into());
        }
        let (rows, cols, panel) = (*rows, *cols, cols * elem);
        let layout = TileLayout { rows, cols, elem, swizzle: Swizzle::None, panel };
        Ok(Payload { tile: tile.clone(), layout, offset: 0, stride: 0, columns: Some(columns) })
    }

    fn payload(&self, tile: &Type, swizzle: i64, offset: i64, stride: i64, depth: u64) -> Result<Payload> {
        let bad = |text: String| refuse(Code::Verify, text).rule("C15");
        let swizzle = Swizzle::from_bytes(swizzle).ok_or_else(|| bad(format!("swizzle {swizzle}")))?;
        let layout = tile_layout(tile, swizzle)?;
        let (offset, stride) = match (u64::try_from(offset), u64::try_from(stride)) {
            (Ok(offset), Ok(stride)) => (offset, stride),
            _ => return Err(bad(format!("offset {offset}, stride {stride}")).into()),
        };
        let align = swizzle.align();
        if offset % align != 0 || (depth > 1 && stride % align != 0) {
            let text = format!(
                "slots at {offset} + {stride} k; under this swizzle they must be {align}-byte aligned"
            );
            return Err(bad(text).into());
        }
        let end = stride
            .checked_mul(depth - 1)
            .and_then(|last| last.checked_add(offset)?.checked_add(layout.bytes()));
        if (depth > 1 && stride < layout.bytes()) || end.is_none_or(|end| end > self.shared) {
            let text = format!("{depth} slots of {} B at {offset} + {stride} k do not fit", layout.bytes());
            return Err(bad(text).note("found", format!("{} B of shared memory", self.shared)).into());
        }
        Ok(Payload { tile: tile.clone(), layout, offset, stride, columns: None })
    }
}

/// Columns that a table of scales takes in tensor memory: 16 bytes in each of 32 lanes for 128 rows and four blocks (C69).
fn table_columns(tile: &Type) -> Option<u64> {
    match tile.shape() {
        &[lines, 16] if tile.elem_bits() == Some(8) && lines > 0 && lines % 32 == 0 => Some(lines / 32 * 4),
        _ => None,
    }
}
