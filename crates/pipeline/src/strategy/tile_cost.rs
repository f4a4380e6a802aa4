//! What a tile of a loop over tiles costs (Q50).

/// What a tile of a loop over tiles costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TileCost {
    /// Cycles of a trip of each loop that multiplies, together.
    pub ii: i64,
    /// Cycles of everything else that a computing partition does for the tile.
    pub beside: i64,
    /// Whether two partitions take turns.
    pub turns: bool,
}

impl TileCost {
    /// Cycles of a tile with so many trips of each loop.
    pub fn of(self, trips: i64) -> i64 {
        let products = self.ii.saturating_mul(trips);
        let alone = products.saturating_add(self.beside);
        if self.turns { products.max(alone / 2 + alone % 2) } else { alone }
    }

    /// The cost of n trips, as text.
    pub fn text(self) -> String {
        let TileCost { ii, beside, turns } = self;
        match turns {
            false => format!("a tile of n trips {ii} n + {beside}"),
            true => format!("a tile of n trips max({ii} n, ({ii} n + {beside}) / 2)"),
        }
    }
}
