//! mbarrier words behind the data (B27, B39).

use crate::handshake::Shake;
use crate::lifetime::Lifetimes;
use crate::model::Model;
use crate::output::Handshake;

/// mbarriers of one pipe, as byte offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PipeWords {
    pub full: u64,
    pub empty: Option<u64>,
    pub slots: u64,
}

/// All mbarriers.
#[derive(Clone, Debug)]
pub(crate) struct Mbarriers {
    /// First byte.
    pub offset: u64,
    /// Bytes of all words.
    pub bytes: u64,
    pub of_pipe: Vec<Option<PipeWords>>,
    /// End of shared memory in use.
    pub used: u64,
}

fn slots(model: &Model<'_>, life: &Lifetimes, depth: &[i64], pipe: usize) -> u64 {
    let values = &model.pipes[pipe].values;
    values.iter().map(|&v| depth[life.unit_of[v]].unsigned_abs()).max().unwrap_or(1)
}

/// Arrays (full, and empty for pairs) of a pipe whose handshake is on mbarriers. A pipe of views
/// only has none: its owner's serve.
fn arrays(model: &Model<'_>, life: &Lifetimes, shakes: &[Shake], pipe: usize) -> u64 {
    if model.pipes[pipe].values.iter().all(|&v| life.owner[v] != v) {
        return 0;
    }
    match shakes[pipe].kind {
        Handshake::Pair => 2,
        Handshake::Full => 1,
        Handshake::Group | Handshake::Named | Handshake::Order => 0,
    }
}

/// Counting semaphores that stand for mbarriers on a machine that has them: one for each array of a pipe (B82).
pub(crate) fn semaphores(model: &Model<'_>, life: &Lifetimes, shakes: &[Shake]) -> usize {
    let all = || (0..model.pipes.len()).map(|p| arrays(model, life, shakes, p) as usize);
    if model.limits.machine.is_some() { all().sum() } else { 0 }
}

/// Number of mbarrier words in memory.
pub(crate) fn words(model: &Model<'_>, life: &Lifetimes, shakes: &[Shake], depth: &[i64]) -> u64 {
    if model.limits.machine.is_some() {
        return 0;
    }
    (0..model.pipes.len())
        .map(|p| arrays(model, life, shakes, p).saturating_mul(slots(model, life, depth, p)))
        .fold(0, u64::saturating_add)
}

/// Pipes in ascending id.
pub(crate) fn by_id(model: &Model<'_>) -> Vec<usize> {
    let mut pipes: Vec<usize> = (0..model.pipes.len()).collect();
    pipes.sort_unstable_by_key(|&p| model.pipes[p].id);
    pipes
}

/// Lays the words behind `data_end`, pipes in ascending id, `full` then `empty`.
pub(crate) fn layout(
    model: &Model<'_>,
    life: &Lifetimes,
    shakes: &[Shake],
    depth: &[i64],
    data_end: u64,
) -> Mbarriers {
    let word = model.limits.mbarrier_bytes.max(1);
    let bytes = words(model, life, shakes, depth).saturating_mul(word);
    let mut offset = data_end.checked_next_multiple_of(word).unwrap_or(u64::MAX);
    if bytes > 0 {
        for &(at, size, _) in &model.reserved_smem {
            if offset < at.saturating_add(size) && at < offset.saturating_add(bytes) {
                offset = (at + size).checked_next_multiple_of(word).unwrap_or(u64::MAX);
            }
        }
    }
    let mut at = offset;
    let mut of_pipe = vec![None; model.pipes.len()];
    let counting = model.limits.machine.is_some();
    if counting {
        at = 0;
    }
    for p in by_id(model) {
        let arrays = arrays(model, life, shakes, p);
        if arrays == 0 {
            continue;
        }
        let slots = slots(model, life, depth, p);
        let one = if counting { 1 } else { slots.saturating_mul(word) };
        let full = at;
        at = at.saturating_add(one.saturating_mul(arrays));
        of_pipe[p] = Some(PipeWords { full, empty: (arrays == 2).then(|| full.saturating_add(one)), slots });
    }
    let used = if bytes > 0 { offset.saturating_add(bytes) } else { data_end };
    Mbarriers { offset, bytes, of_pipe, used }
}
