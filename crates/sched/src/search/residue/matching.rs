//! Whether the open operations of a resource of one-cycle uses find free cells: bipartite matchings (Kuhn 1955).

use super::{OPEN, Residues};
use crate::problem::UnitUse;

/// Where a node must find a place: the operations with exactly one use, of one cycle, on a resource.
pub(super) struct Matching {
    resource: usize,
    members: Vec<(u32, i64)>,
    /// The cell each member is matched to, kept from check to check.
    cell: Vec<i64>,
}

impl Residues {
    /// Whether the open operations of every resource of one-cycle uses find free cells: bipartite matchings
    /// (Kuhn 1955), repaired from the last one.
    pub(super) fn matchings_hold(&mut self) -> bool {
        let mut matchings = std::mem::take(&mut self.matchings);
        let hold = matchings.iter_mut().all(|matching| self.repair(matching));
        self.matchings = matchings;
        hold
    }

    fn repair(&mut self, matching: &mut Matching) -> bool {
        let r = matching.resource;
        let mut room: Vec<i64> = self.load[r].iter().map(|l| self.count[r] - l).collect();
        let mut holders: Vec<Vec<u32>> = vec![Vec::new(); room.len()];
        let mut free = Vec::new();
        for i in 0..matching.members.len() {
            let (node, start) = matching.members[i];
            if self.fixed[node as usize] != OPEN {
                continue;
            }
            let cell = matching.cell[i];
            let open = cell >= 0 && self.is_open(node as usize, (cell - start).rem_euclid(self.ii));
            if open && room[cell as usize] > 0 {
                room[cell as usize] -= 1;
                holders[cell as usize].push(i as u32);
            } else {
                free.push(i as u32);
            }
        }
        self.work += room.len() as u64 / 8;
        let mut seen = vec![u32::MAX; room.len()];
        free.iter().all(|&i| self.augment(matching, &mut room, &mut holders, &mut seen, i))
    }

    /// Finds a cell for a member by breadth-first search over chains of displaced members.
    fn augment(
        &mut self,
        matching: &mut Matching,
        room: &mut [i64],
        holders: &mut [Vec<u32>],
        seen: &mut [u32],
        member: u32,
    ) -> bool {
        // (member, the entry it was displaced by, the cell that one takes from it)
        let mut queue: Vec<(u32, usize, i64)> = vec![(member, 0, -1)];
        let mut at = 0;
        while at < queue.len() {
            let (i, _, _) = queue[at];
            let (node, start) = matching.members[i as usize];
            for residue in 0..self.ii {
                if !self.is_open(node as usize, residue) {
                    continue;
                }
                let cell = (residue + start).rem_euclid(self.ii) as usize;
                if seen[cell] == member {
                    continue;
                }
                seen[cell] = member;
                self.work += 1;
                if room[cell] > 0 {
                    room[cell] -= 1;
                    shift_chain(matching, holders, &queue, at, cell);
                    return true;
                }
                queue.extend(holders[cell].iter().map(|&h| (h, at, cell as i64)));
            }
            at += 1;
        }
        false
    }
}

/// Moves every member of the chain that ends at `queue[at]` one cell on; that last one takes `cell`.
fn shift_chain(
    matching: &mut Matching,
    holders: &mut [Vec<u32>],
    queue: &[(u32, usize, i64)],
    mut at: usize,
    mut cell: usize,
) {
    loop {
        let (i, by, left) = queue[at];
        if left >= 0 {
            holders[left as usize].retain(|&h| h != i);
        }
        holders[cell].push(i);
        matching.cell[i as usize] = cell as i64;
        if left < 0 {
            return;
        }
        cell = left as usize;
        at = by;
    }
}

pub(super) fn matchings(users: &[Vec<(u32, UnitUse)>], wanted: &[u32]) -> Vec<Matching> {
    let mut found = Vec::new();
    for (resource, users) in users.iter().enumerate() {
        let once = |node: u32| users.iter().filter(|(other, _)| *other == node).count() == 1;
        let members: Vec<(u32, i64)> = users
            .iter()
            .filter(|(node, u)| u.duration == 1 && wanted.contains(node) && once(*node))
            .map(|(node, u)| (*node, u.start))
            .collect();
        if members.len() > 1 {
            let cell = vec![-1; members.len()];
            found.push(Matching { resource, members, cell });
        }
    }
    found
}
