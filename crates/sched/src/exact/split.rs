//! Who may issue what, in numbers: slices of operations, and the places they may take (S61-S66).

/// A place that slices may take: a partition that may come to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Places of one class are alike.
    pub class: u32,
    pub warps: u64,
    /// Bytes of registers that operations may hold there for good.
    pub reg_bytes: u64,
}

/// A dependence as it is where its ends are in different places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub src: u32,
    pub dst: u32,
    pub latency: i64,
    pub distance: i64,
}

/// A loop whose operations have yet to be given to partitions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    /// The slice of every operation.
    pub slice_of: Vec<u32>,
    /// The places each slice may take, ascending.
    pub allowed: Vec<Vec<u32>>,
    pub places: Vec<Place>,
    /// Places of a class may be exchanged.
    pub alike: bool,
    /// Cycles for which every operation holds its partition's issue stream.
    pub issue: Vec<i64>,
    /// How long after its start every operation begins to hold it; all 0 where there are none.
    pub offset: Vec<i64>,
    /// Bytes of registers that each slice holds for good.
    pub reg_bytes: Vec<u64>,
    pub crossings: Vec<Crossing>,
    /// What it costs when two slices are in different places, by ascending pairs.
    pub costs: Vec<((u32, u32), i64)>,
    pub most_places: u64,
    pub most_warps: u64,
    /// Slices that are never in one place, ascending.
    pub never: Vec<(u32, u32)>,
    /// Pairs of slices that are together where the other pair is.
    pub alike_pairs: Vec<((u32, u32), (u32, u32))>,
}

/// Whether two slices are in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    Always,
    Never,
    Open,
}

impl Split {
    /// What the places they may take say of two slices.
    pub fn together(&self, a: u32, b: u32) -> Together {
        if a == b {
            return Together::Always;
        }
        let (of_a, of_b) = (&self.allowed[a as usize], &self.allowed[b as usize]);
        let apart = self.never.binary_search(&(a.min(b), a.max(b))).is_ok();
        if apart || !of_a.iter().any(|p| of_b.contains(p)) {
            Together::Never
        } else if of_a.len() == 1 && of_a == of_b {
            Together::Always
        } else {
            Together::Open
        }
    }

    /// Whether replicas are apart, and alike.
    pub fn replicas_agree(&self, place_of: &[u32]) -> bool {
        let together = |&(a, b): &(u32, u32)| place_of[a as usize] == place_of[b as usize];
        !self.never.iter().any(together)
            && self.alike_pairs.iter().all(|(one, other)| together(one) == together(other))
    }

    /// What these places cost in crossings.
    pub fn cost(&self, place_of: &[u32]) -> i64 {
        let apart = |&&((a, b), _): &&((u32, u32), i64)| place_of[a as usize] != place_of[b as usize];
        self.costs.iter().filter(apart).fold(0, |sum, (_, cost)| sum.saturating_add(*cost))
    }
}
