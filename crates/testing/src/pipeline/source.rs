//! Bytes as the text of a kernel, for fuzz targets.

use super::kernel::Kernel;
use crate::ir::{Choices, damaged};

/// Bytes that choose damage.
const DAMAGE: usize = 16;

/// The text that bytes stand for: a generated kernel; where the first byte is odd one damaged as
/// the next sixteen say; behind `\xff` the bytes themselves.
pub fn text(bytes: &[u8]) -> String {
    match bytes {
        [0xff, text @ ..] => String::from_utf8_lossy(text).into_owned(),
        [how, rest @ ..] if how % 2 == 1 => {
            let (damage, kernel) = rest.split_at(rest.len().min(DAMAGE));
            damaged(&Kernel::from_bytes(kernel).text(), &mut Choices::new(damage))
        }
        _ => Kernel::from_bytes(bytes.get(1..).unwrap_or_default()).text(),
    }
}
