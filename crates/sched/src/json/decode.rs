//! Text from the bytes of a file, plain or gzipped, up to a limit.

use crate::model::read_error::{ReadError, ReadErrorKind};
use std::io::Read;

/// The most bytes of text that [`decode_text`] gives: 256 MiB.
pub const MOST_TEXT: u64 = 256 << 20;

/// The text of a file: unpacked when `bytes` start with gzip's magic number, and UTF-8.
///
/// # Errors
/// As [`decode_text_within`], with [`MOST_TEXT`] as the limit.
pub fn decode_text(bytes: &[u8]) -> Result<String, ReadError> {
    decode_text_within(bytes, MOST_TEXT)
}

/// As [`decode_text`], with a limit on the bytes of the text. A few kilobytes of gzip may stand for gigabytes: no more
/// than the limit is ever unpacked.
///
/// # Errors
/// [`ReadError`] of kind [`TooLarge`](ReadErrorKind::TooLarge) for a longer text, [`Archive`](ReadErrorKind::Archive)
/// for a damaged archive, [`Encoding`](ReadErrorKind::Encoding) at the first byte that is not UTF-8.
pub fn decode_text_within(bytes: &[u8], limit: u64) -> Result<String, ReadError> {
    let too_large =
        || ReadError::whole(ReadErrorKind::TooLarge { limit }, format!("more than {limit} bytes of text"));
    let text = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut unpacked = Vec::new();
        let mut reader = flate2::read::MultiGzDecoder::new(bytes).take(limit.saturating_add(1));
        reader
            .read_to_end(&mut unpacked)
            .map_err(|e| ReadError::whole(ReadErrorKind::Archive, format!("damaged gzip archive: {e}")))?;
        unpacked
    } else if bytes.len() as u64 > limit {
        return Err(too_large());
    } else {
        bytes.to_vec()
    };
    if text.len() as u64 > limit {
        return Err(too_large());
    }
    String::from_utf8(text).map_err(|e| {
        let good = e.as_bytes().get(..e.utf8_error().valid_up_to()).unwrap_or_default();
        ReadError {
            kind: ReadErrorKind::Encoding,
            line: 1 + good.iter().filter(|&&b| b == b'\n').count(),
            column: 1 + good.iter().rev().take_while(|&&b| b != b'\n').count(),
            path: ".".to_owned(),
            message: "not UTF-8 text".to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).and_then(|()| encoder.finish()).unwrap_or_default()
    }

    fn kind(bytes: &[u8], limit: u64) -> Option<ReadErrorKind> {
        decode_text_within(bytes, limit).err().map(|e| e.kind)
    }

    #[test]
    fn no_more_is_unpacked_than_the_limit() {
        let spaces = vec![b' '; 1 << 24];
        let archive = packed(&spaces);
        assert!(archive.len() < 1 << 17);
        assert_eq!(kind(&archive, 1000), Some(ReadErrorKind::TooLarge { limit: 1000 }));
        assert_eq!(kind(&spaces, 1000), Some(ReadErrorKind::TooLarge { limit: 1000 }));
        assert_eq!(decode_text(&archive).map(|t| t.len()), Ok(1 << 24));
        // Two archives one after the other are one text, and one limit holds for both.
        let twice = [packed(b"ab"), packed(b"cd")].concat();
        assert_eq!(decode_text_within(&twice, 4).as_deref(), Ok("abcd"));
        assert_eq!(kind(&twice, 3), Some(ReadErrorKind::TooLarge { limit: 3 }));
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_place() {
        assert_eq!(kind(&packed(b"{}")[..12], 99), Some(ReadErrorKind::Archive));
        let error = decode_text(b"{}\n{\xff}").err();
        assert_eq!(error.map(|e| (e.kind, e.line, e.column)), Some((ReadErrorKind::Encoding, 2, 2)));
    }
}
