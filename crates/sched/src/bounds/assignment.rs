//! The assignment problem: rows to columns, each once, at the least cost.

/// A row or column that none is assigned to.
const NONE: usize = usize::MAX;

/// The least sum of costs of `n` rows, each with a column of its own (Kuhn 1955), by shortest augmenting paths after
/// Jonker and Volgenant (1987): rows whose cheapest column is free take it at once, so only the others cost `n * n`.
pub(crate) fn least_assignment(n: usize, cost: impl Fn(usize, usize) -> i64) -> i64 {
    let costs: Vec<i64> =
        (0..n).flat_map(|row| (0..n).map(move |column| (row, column))).map(|(r, c)| cost(r, c)).collect();
    let mut search = Assignment { n, costs, row_of: vec![NONE; n], price: vec![0; n] };
    let left: Vec<usize> = (0..n).filter(|&row| !search.takes_cheapest(row)).collect();
    left.into_iter().for_each(|row| search.augment(row));
    search.row_of.iter().enumerate().map(|(column, &row)| search.costs[row * n + column]).sum()
}

struct Assignment {
    n: usize,
    costs: Vec<i64>,
    /// The row that has each column.
    row_of: Vec<usize>,
    /// What a column costs less than its cost, so that each row has a column that is cheapest for it.
    price: Vec<i64>,
}

impl Assignment {
    /// Gives the row a column that is cheapest for it, where one is free. All prices are 0 still.
    fn takes_cheapest(&mut self, row: usize) -> bool {
        let of_row = &self.costs[row * self.n..][..self.n];
        let least = of_row.iter().min();
        let free = (0..self.n).find(|&c| self.row_of[c] == NONE && Some(&of_row[c]) == least);
        if let Some(column) = free {
            self.row_of[column] = row;
        }
        free.is_some()
    }

    /// Gives the row a column along the shortest path over columns that others have, which move on.
    fn augment(&mut self, row: usize) {
        let n = self.n;
        let mut far: Vec<i64> = (0..n).map(|c| self.reduced(row, c)).collect();
        let mut before = vec![row; n];
        let mut done = vec![false; n];
        let last = loop {
            let nearest = (0..n).filter(|&c| !done[c]).min_by_key(|&c| far[c]);
            let Some(column) = nearest else { return };
            done[column] = true;
            let owner = self.row_of[column];
            if owner == NONE {
                break column;
            }
            // The owner moves on from a column that was cheapest for it.
            let base = far[column] - self.reduced(owner, column);
            for c in (0..n).filter(|&c| !done[c]) {
                let reach = base + self.reduced(owner, c);
                if reach < far[c] {
                    (far[c], before[c]) = (reach, owner);
                }
            }
        };
        for c in (0..n).filter(|&c| done[c]) {
            self.price[c] += far[c] - far[last];
        }
        let mut column = last;
        loop {
            let taker = before[column];
            let given_up = self.row_of.iter().position(|&r| r == taker);
            self.row_of[column] = taker;
            match given_up {
                Some(other) => column = other,
                None => break,
            }
        }
    }

    fn reduced(&self, row: usize, column: usize) -> i64 {
        self.costs[row * self.n + column] - self.price[column]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least over all permutations.
    fn tried(n: usize, row: usize, taken: &mut Vec<bool>, cost: &dyn Fn(usize, usize) -> i64) -> i64 {
        if row == n {
            return 0;
        }
        let mut least = i64::MAX / 2;
        for column in 0..n {
            if !std::mem::replace(&mut taken[column], true) {
                least = least.min(cost(row, column) + tried(n, row + 1, taken, cost));
                taken[column] = false;
            }
        }
        least
    }

    #[test]
    fn no_permutation_costs_less() {
        let mut state = 1u64;
        for round in 0..400 {
            let n = round % 6 + 1;
            let costs: Vec<i64> = (0..n * n)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 60) as i64
                })
                .collect();
            let cost = |row: usize, column: usize| costs[row * n + column];
            assert_eq!(least_assignment(n, cost), tried(n, 0, &mut vec![false; n], &cost), "{costs:?}");
        }
    }
}
