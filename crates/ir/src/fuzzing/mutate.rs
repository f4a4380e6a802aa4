//! Damaged text: tokens deleted, doubled, swapped, replaced, and the whole cut off.

use super::Random;

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

/// The text with a few random changes.
pub fn mutate(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    for _ in 0..random.below(4) + usize::from(!random.once_in(8)) {
        let (at, other) = (random.below(tokens.len()), random.below(tokens.len()));
        if tokens.is_empty() {
            break;
        }
        match random.below(7) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at]),
            2 => tokens.swap(at, other),
            3 => tokens[at] = tokens[other],
            4 => tokens[at] = random.pick(&STRANGERS).unwrap_or(&"?"),
            5 => tokens.insert(at, random.pick(&STRANGERS).unwrap_or(&"?")),
            _ if random.once_in(4) => tokens.truncate(at),
            _ => {
                // A stretch of tokens is lost.
                let end = (at + random.below(20)).min(tokens.len());
                tokens.drain(at..end);
            }
        }
    }
    tokens.concat()
}
