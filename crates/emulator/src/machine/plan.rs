//! What to look at, in terms of a kernel and a memory (E104).

use super::global::Store;
use crate::code::Code;
use crate::error::EmulatorRefusal;
use crate::look::{Break, Look, Watch};
use std::ops::Range;

/// What memory is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    Global,
    /// Of each CTA.
    Shared,
    /// Columns of tensor memory.
    Tensor,
}

/// What to look at, in terms of this kernel and this memory.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Instructions to stop at, in order, and the only visit that counts.
    pub breaks: Vec<(u32, Option<u32>)>,
    pub watches: Vec<(Watched, Range<u64>)>,
    /// All registers, also at errors.
    pub state: bool,
    /// Sights of a cluster.
    pub most: usize,
}

impl Plan {
    /// Finds places and buffers.
    pub(crate) fn of(look: &Look, code: &Code, store: &Store, race: bool) -> Result<Plan, EmulatorRefusal> {
        if !race && !look.watches.is_empty() {
            let (message, remedy) = ("watches without the happens-before analysis", "leave it on");
            return Err(EmulatorRefusal::one("L01", 0, message, remedy));
        }
        let mut breaks = Vec::new();
        for b in &look.breaks {
            breaks.extend(places(b, code)?.into_iter().map(|pc| (pc, b.visit)));
        }
        breaks.sort_unstable();
        breaks.dedup();
        let watches = look.watches.iter().map(|w| memory(w, store)).collect::<Result<_, _>>()?;
        let most = if look.most == 0 { Look::MOST } else { look.most };
        Ok(Plan { breaks, watches, state: look.state, most })
    }

    /// Whether there are breaks.
    pub(crate) fn stops(&self) -> bool {
        !self.breaks.is_empty()
    }

    /// Whether some memory of this kind is watched.
    pub(crate) fn watches(&self, what: Watched) -> bool {
        self.watches.iter().any(|(w, _)| *w == what)
    }
}

/// The instructions of a break: all of a line of the PTX, the first of each stretch of a line of the source.
fn places(b: &Break, code: &Code) -> Result<Vec<u32>, EmulatorRefusal> {
    let loc = |i: usize| code.insts.get(i).and_then(|i| code.place(i.loc));
    let at = |i: usize| match &b.file {
        None => code.insts.get(i).is_some_and(|i| i.line == b.line),
        Some(file) => loc(i).is_some_and(|(f, line, _)| f == file && *line == b.line),
    };
    let first = |i: &usize| at(*i) && (b.file.is_none() || i.checked_sub(1).is_none_or(|before| !at(before)));
    let found: Vec<u32> = (0..code.insts.len()).filter(first).map(|i| i as u32).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut lines: Vec<u32> = match &b.file {
        None => code.insts.iter().map(|i| i.line).filter(|l| *l > 0).collect(),
        Some(file) => code.locs.iter().filter(|l| l.0 == *file).map(|l| l.1).collect(),
    };
    lines.sort_unstable();
    lines.dedup();
    let next = lines.iter().min_by_key(|l| l.abs_diff(b.line));
    let of = b.file.as_deref().unwrap_or("the PTX");
    let message = format!("no instruction of the kernel stands in line {} of {of}", b.line);
    let remedy =
        next.map_or("name a file that the PTX names in .file".into(), |l| format!("line {l} has one"));
    Err(EmulatorRefusal::one("L01", 0, message, remedy))
}

/// What a watch means; a range of a buffer as addresses.
fn memory(w: &Watch, store: &Store) -> Result<(Watched, Range<u64>), EmulatorRefusal> {
    match w.name.as_str() {
        "shared" => return Ok((Watched::Shared, w.range.clone().unwrap_or(0..u64::MAX))),
        "tmem" => return Ok((Watched::Tensor, w.range.clone().unwrap_or(0..u64::MAX))),
        _ => {}
    }
    let Some(buffer) = store.buffers.iter().find(|b| b.name == w.name) else {
        let known: Vec<&str> = store.buffers.iter().map(|b| b.name.as_str()).collect();
        let remedy = format!("there are shared, tmem, {}", known.join(", "));
        return Err(EmulatorRefusal::one("L01", 0, format!("no buffer '{}' to watch", w.name), remedy));
    };
    let all = 0..buffer.data.len() as u64;
    let range = w.range.clone().unwrap_or_else(|| all.clone());
    if range.end > all.end {
        let message = format!("bytes {}..{} of '{}' to watch", range.start, range.end, w.name);
        return Err(EmulatorRefusal::one("L01", 0, message, format!("it has {} bytes", all.end)));
    }
    Ok((Watched::Global, buffer.base + range.start..buffer.base + range.end))
}
