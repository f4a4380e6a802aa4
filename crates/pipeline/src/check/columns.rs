//! Tiles in tensor memory (E44, C66).

use warploom_ir::Type;

/// Columns of tensor memory that a tile takes: its rows in blocks of 128 or 64, side by side (C66); a table of scales four
/// for each 512 bytes (C69).
pub(super) fn columns(tile: &Type, block: u64) -> Option<u64> {
    let (&[rows, cols], Some(bits)) = (tile.shape(), tile.elem_bits()) else { return None };
    // Scales: 16 bytes in each of 32 lanes, in every quarter of them.
    if cols == 16 && bits == 8 && rows > 0 && rows.is_multiple_of(32) {
        return Some(rows / 32 * 4);
    }
    // 64 rows take 16 of each 32 lanes (E44).
    let covered =
        rows > 0 && rows.is_multiple_of(block) && (block == 128 || (block == 64 && matches!(bits, 16 | 32)));
    let legal = covered && cols > 0 && (cols * u64::from(bits)).is_multiple_of(32);
    legal.then(|| rows / block * cols * u64::from(bits) / 32)
}
