//! Where in a JSON text a path leads, so that what is said of `nodes[3].latency` shows its line.

use std::iter::from_fn;

use serde::de::IgnoredAny;
use warploom_ir::diag::TextPlace;

/// The byte offset of a fault in a JSON text: where its syntax breaks, or else what a path leads to.
pub fn fault(text: &str, path: &str) -> usize {
    match serde_json::from_str::<IgnoredAny>(text) {
        Err(e) if e.is_eof() => text.trim_end().len(),
        Err(e) => TextPlace::offset_of(text, e.line(), e.column()),
        Ok(_) => follow(text, path),
    }
}

/// The byte offset of the value that a path such as `nodes[3].latency` or `values[id=7].shape` leads to, or of the last
/// one on the way that is there: a field that is missing is missing there. The text is JSON.
pub fn follow(text: &str, path: &str) -> usize {
    let (mut at, mut rest) = (filled(text.as_bytes(), 0), path);
    while let Some(next) = step(text, at, rest) {
        (at, rest) = next;
    }
    at
}

/// The value that the first step of a path leads to, and the rest of the path.
fn step<'p>(text: &str, at: usize, path: &'p str) -> Option<(usize, &'p str)> {
    let path = path.strip_prefix('.').unwrap_or(path);
    if let Some((index, rest)) = path.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        let mut items = items(text.as_bytes(), at, b'[');
        let item = match index.strip_prefix("id=") {
            Some(id) => items.find(|&item| has_id(text, item, id)),
            None => items.nth(index.parse().ok()?),
        };
        return Some((item?, rest));
    }
    // A name may hold dots and brackets itself, so the path is not cut at them.
    members(text, at).find_map(|(name, value)| {
        let rest = path.strip_prefix(name.as_str()).filter(|_| !name.is_empty())?;
        (rest.is_empty() || rest.starts_with(['.', '['])).then_some((value, rest))
    })
}

fn has_id(text: &str, at: usize, id: &str) -> bool {
    let value = members(text, at).find(|(name, _)| name == "id").map(|(_, value)| value);
    let written = value.and_then(|value| text.get(value..end(text.as_bytes(), value)));
    written.is_some_and(|written| written.trim_end() == id)
}

/// The names of an object, each with the place of its value.
fn members(text: &str, at: usize) -> impl Iterator<Item = (String, usize)> {
    items(text.as_bytes(), at, b'{').filter_map(move |item| {
        let bytes = text.as_bytes();
        let name = behind_string(bytes, item);
        let colon = filled(bytes, name);
        Some((serde_json::from_str(text.get(item..name)?).ok()?, filled(bytes, colon + 1)))
    })
}

/// Where the items of the list or object begin that opens here.
fn items(bytes: &[u8], at: usize, open: u8) -> impl Iterator<Item = usize> {
    let mut before = None;
    // Only as far as is asked for: the last item of a file may be most of it.
    from_fn(move || {
        let item = match before {
            None if bytes.get(at) == Some(&open) => filled(bytes, at + 1),
            None => return None,
            Some(before) => {
                let end = end(bytes, before);
                (bytes.get(end) == Some(&b',')).then(|| filled(bytes, end + 1))?
            }
        };
        before = Some(item);
        (!matches!(bytes.get(item), None | Some(b']' | b'}'))).then_some(item)
    })
}

/// The comma or bracket behind an item.
fn end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = behind_string(bytes, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' | b',' if depth == 0 => break,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Behind the quote that ends the string that begins here.
fn behind_string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The first byte from here on that is no white space.
fn filled(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#" {
  "a.b": 1, "a": {"d": [10, {"c": "x,]}\"", "id": 7 }, [ ]]},
  "n[0]": true, "list": [{"id": 3}, {"id": 33, "q": [1, 2.5]}], "": 5
}"#;

    /// What stands at the place, cut at 8 bytes.
    fn found(path: &str) -> &str {
        TEXT[follow(TEXT, path)..].get(..8).unwrap_or("")
    }

    #[test]
    fn paths_lead_to_values() {
        for (path, wanted) in [
            ("a.b", "1, \"a\": "),
            ("a", "{\"d\": [1"),
            ("a.d[1]", "{\"c\": \"x"),
            ("a.d[1].id", "7 }, [ ]"),
            ("a.d[2]", "[ ]]},\n "),
            ("n[0]", "true, \"l"),
            ("list[1].q[1]", "2.5]}], "),
            ("list[id=33].q", "[1, 2.5]"),
            ("list[id=3]", "{\"id\": 3"),
        ] {
            assert_eq!(found(path), wanted, "{path}");
        }
    }

    #[test]
    fn what_is_missing_is_missing_in_what_holds_it() {
        let root = TEXT.find('{').unwrap();
        for path in [".", "", "problem", "nodes[3].latency", "[0]", "[", "..", "[id=", "list[x]"] {
            let wanted = if path.starts_with("list") { TEXT.find("[{").unwrap() } else { root };
            assert_eq!(follow(TEXT, path), wanted, "{path}");
        }
        assert_eq!(found("list[0].name"), "{\"id\": 3");
        assert_eq!(found("list[7]"), "[{\"id\": ");
        assert_eq!(found("list[id=8].q"), "[{\"id\": ");
    }

    #[test]
    fn broken_syntax_comes_first() {
        assert_eq!(fault("", "a"), 0);
        assert_eq!(fault("{\"a\": [1,\n2,,]}", "a"), 12);
        assert_eq!(fault("{\"a\": 1}", "a"), 6);
        assert_eq!(fault("{} x", "."), 3);
        assert_eq!(fault("{\"a\": [1,\n", "a"), 9);
    }

    /// No text makes it run forever, panic or leave the text.
    #[test]
    fn texts_that_are_no_json_end_too() {
        for text in
            [TEXT, "{\"a\\", "{\"a\":\"\\\"", "[[[", "{\"a\"", "{,}", "]", "\"", "{\"a\":{\"a\":{\"a\""]
        {
            for cut in (0..=text.len()).filter(|&cut| text.is_char_boundary(cut)) {
                for path in ["a.d[1].c", "list[1].q[1]", "list[id=33]", "a.a.a.a", "[0][0][0]"] {
                    assert!(follow(&text[..cut], path) <= cut + 1, "{path} in {}", &text[..cut]);
                    assert!(fault(&text[..cut], path) <= cut, "{path} in {}", &text[..cut]);
                }
            }
        }
    }
}
