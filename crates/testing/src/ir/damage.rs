//! Damaged text: tokens deleted, doubled, swapped, replaced, and the whole cut off.

use super::choices::Choices;

/// Tokens that go in where one is replaced.
const STRANGERS: [&str; 28] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ",",
    ":",
    "=",
    "->",
    "%0",
    "%a",
    "#loc",
    "@f",
    "^bb0",
    "i32",
    "f32",
    "tensor<4xf32>",
    "dense<1>",
    "loc(unknown)",
    "0x7F",
    "-",
    "\"",
    "1.0",
    "99999999999999999999",
    "é",
];

/// Cuts text into words, numbers, names and single marks; blanks stay with what follows.
fn tokens(text: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '%' | '#' | '@');
    let mut out = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let joined = before.is_some_and(|b: char| b.is_whitespace() || (word(b) && word(c)));
        if !joined && at > start {
            out.extend(text.get(start..at));
            start = at;
        }
        before = Some(c);
    }
    out.extend(text.get(start..));
    out
}

/// The first token from `from` on that is of the kind of the one at `at`: a value, a number, a word, a mark. What takes
/// its place reads mostly, and means something else.
fn alike(tokens: &[&str], at: usize, from: usize) -> usize {
    let kind = |token: &str| {
        let token = token.trim_start();
        let digits = token.trim_start_matches('%');
        (
            token.starts_with('%'),
            token.starts_with(char::is_alphabetic),
            digits.starts_with(|c: char| c.is_ascii_digit()),
        )
    };
    let around = (from..tokens.len()).chain(0..from);
    around.into_iter().find(|&i| i != at && kind(tokens[i]) == kind(tokens[at])).unwrap_or(from)
}

/// The text with a few changes.
pub fn damaged(text: &str, choices: &mut Choices<'_>) -> String {
    let mut tokens = tokens(text);
    for _ in 0..choices.below(4) + usize::from(!choices.once_in(8)) {
        let (at, other) = (choices.below(tokens.len()), choices.below(tokens.len()));
        if tokens.is_empty() {
            break;
        }
        match choices.below(7) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at]),
            2 => {
                let like = alike(&tokens, at, other);
                tokens.swap(at, like);
            }
            3 => tokens[at] = tokens[alike(&tokens, at, other)],
            4 => tokens[at] = choices.pick(&STRANGERS).unwrap_or(&"?"),
            5 => tokens.insert(at, choices.pick(&STRANGERS).unwrap_or(&"?")),
            _ if choices.once_in(4) => tokens.truncate(at),
            _ => {
                // A stretch of tokens is lost.
                let end = (at + choices.below(20)).min(tokens.len());
                tokens.drain(at..end);
            }
        }
    }
    tokens.concat()
}
