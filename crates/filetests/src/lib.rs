#![doc = include_str!("../README.md")]
//!
//! # A file
//!
//! holds cases, divided by lines `// -----`. What a case expects stands in comments, which the command never sees: their
//! lines are empty, so that places stay what they are.
//!
//! | comment | what it says |
//! |---|---|
//! | `// run: NAME ARG ..` | the command, or several in lines of their own, all of which answer as expected; a case without one takes those of the first case |
//! | `// source: PATH` | the text is that of a file of the repository; taken over by cases without a text |
//! | ``// replace: `A` -> `B` `` | every A of the text becomes B (`\n` is a line's end); there must be one |
//! | `CODE // error: WORDS [TAG, TAG]` | an error on this line whose message holds these words and which has these tags |
//! | `// error @below: WORDS` | the same for the next line; also `@above`, `@none` without a place, ``@`PART` `` for the first line that holds a part |
//! | `// note: WORDS` | the diagnostic in front has a note with these words |
//! | `// fact: NAME = VALUE` | a number or word; also `<=`, `>=` |
//! | `// check: WORDS` | the output has a line with these words behind the one found before; `...` stands for anything |
//! | `// check-next: WORDS` | the next line has them |
//! | `// check-not: WORDS` | no line between the two checks around has them |
//! | `// clean` | nothing but this: no error, no warning |
//! | `// =====` | what follows, up to the next case, is the output, whole |
//!
//! `warning` and `remark` are written as `error` is. An error or warning that is not expected fails; remarks may go
//! unmentioned. A case that expects nothing fails: `--update` gives it its output.

mod answer;
mod case;
mod check;
mod expectation;
mod output;
mod suite;
mod update;

pub use answer::{Answer, Diagnostic, Severity};
pub use case::{Case, Run};
pub use suite::Suite;
