//! The comments, strings and function names of Rust text, by a lexer that knows no more.

/// What of a Rust text may cite a rule.
pub enum Piece<'a> {
    /// The inside of a comment or a string, and the line it begins on.
    Prose(&'a str, usize),
    /// The name of a function.
    Name(&'a str, usize),
}

/// Comments, strings and function names of Rust text.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let bytes = text.as_bytes();
    let (mut at, mut line, mut out) = (0, 1, Vec::new());
    while at < bytes.len() {
        let rest = &text[at..];
        let prose = end_of_comment(rest).or_else(|| end_of_string(rest));
        if let Some(end) = prose {
            let piece = &rest[..end];
            out.push(Piece::Prose(piece, line));
            line += piece.matches('\n').count();
            at += end;
        } else if let Some(end) = end_of_char(rest) {
            at += end;
        } else {
            let word = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            if &rest[..word] == "fn"
                && let Some(name) = rest[word..].strip_prefix(' ')
            {
                let end = name.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
                out.push(Piece::Name(&name[..end], line));
            }
            let step = word.max(rest.chars().next().map_or(1, char::len_utf8));
            line += usize::from(rest.starts_with('\n'));
            at += step;
        }
    }
    out
}

fn end_of_comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if !rest.starts_with("/*") {
        return None;
    }
    let (mut depth, mut at) = (0usize, 0);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    Some(rest.len())
}

/// The end of a string, raw or plain, that begins here.
fn end_of_string(rest: &str) -> Option<usize> {
    let raw = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'));
    if let Some(after) = raw {
        let hashes = after.bytes().take_while(|b| *b == b'#').count();
        if after.as_bytes().get(hashes) == Some(&b'"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let open = rest.len() - after.len() + hashes + 1;
            return Some(rest[open..].find(&close).map_or(rest.len(), |end| open + end + close.len()));
        }
    }
    if !rest.starts_with('"') {
        return None;
    }
    let mut escaped = false;
    for (at, b) in rest.bytes().enumerate().skip(1) {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    Some(rest.len())
}

/// The end of a character literal; a lifetime is none.
fn end_of_char(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let mut chars = inner.char_indices();
    let (_, first) = chars.next()?;
    if first == '\\' {
        // Behind the backslash stands at least one more byte before the quote.
        return inner.get(2..)?.find('\'').map(|end| end + 4);
    }
    let (at, second) = chars.next()?;
    (second == '\'').then_some(at + 2)
}
