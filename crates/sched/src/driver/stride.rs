//! How many IIs to refute with one proof.

use crate::exact::span::Span;

/// What a proof for several IIs may cost beyond a multiple of the last one for a single II, in search nodes.
const LEAST_NODES: u64 = 50;
const NODES_FACTOR: u64 = 4;

/// Doubles while such proofs succeed; where one fails, its last II is approached by halves.
pub(crate) struct Stride {
    width: i64,
    failed: i64,
    nodes: u64,
}

impl Default for Stride {
    fn default() -> Self {
        Stride { width: 1, failed: i64::MAX, nodes: 0 }
    }
}

impl Stride {
    /// More than one II.
    pub fn wide(&self) -> bool {
        self.width > 1
    }

    /// What a proof may cost.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The IIs from `low` on, none above `most`, and none so much larger that nothing would follow for all.
    pub fn span(&self, low: i64, most: i64) -> Span {
        let high = low.saturating_add(self.width - 1).min(low.saturating_mul(2)).min(most);
        let high = if self.failed > low { high.min(low + (self.failed - low) / 2) } else { high };
        Span { low, high: high.max(low) }
    }

    /// After a proof of one II, which took so many search nodes.
    pub fn widen(&mut self, nodes: u64) {
        self.width = self.width.saturating_mul(2);
        self.nodes = LEAST_NODES + NODES_FACTOR * nodes;
    }

    /// After an attempt at a proof of several.
    pub fn adapt(&mut self, span: Span, refuted: bool) {
        if refuted {
            self.width = self.width.saturating_mul(2);
        } else {
            self.failed = span.high;
            self.width = (span.high - span.low) / 4 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stride;

    #[test]
    fn every_ii_is_asked_about_once_and_in_order() {
        // Proofs work below 1,700, and for at most 300 at once.
        let (mut stride, mut ii, mut attempts) = (Stride::default(), 1_000, 0);
        while ii < 1_700 {
            attempts += 1;
            if !stride.wide() {
                stride.widen(1);
                ii += 1;
                continue;
            }
            let span = stride.span(ii, i64::MAX);
            assert!(span.low == ii && span.high >= ii && span.high <= 2 * ii);
            let refuted = span.high < 1_700 && span.high - span.low < 300;
            stride.adapt(span, refuted);
            if refuted {
                ii = span.high + 1;
            }
        }
        assert!(attempts < 60, "{attempts} attempts for 700 IIs");
    }
}
