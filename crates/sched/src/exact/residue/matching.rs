//! Whether the open operations of a resource of one-cycle uses find free cells: bipartite matchings (Kuhn 1955),
//! repaired from the last one.
//!
//! A cell takes as many operations as it has units free, and all but a few keep their cells from check to check:
//! `petgraph`'s matching, of pairs in a graph and from nothing, would be the wrong one.

use super::domains::Domains;
use crate::model::problem::UnitUse;

/// Where a node must find a place: the operations with exactly one use, of one cycle, on a resource.
pub(super) struct Matching {
    pub resource: usize,
    members: Vec<(u32, i64)>,
    /// The cell each member is matched to, kept from check to check.
    cell: Vec<i64>,
}

/// What is looked at while a matching is repaired.
struct Repair<'a> {
    domains: &'a Domains,
    room: Vec<i64>,
    holders: Vec<Vec<u32>>,
    seen: Vec<u32>,
    work: u64,
}

impl Matching {
    /// Whether all open members find cells beside this load, and the work it took to know.
    pub fn repair(&mut self, domains: &Domains, load: &[i64], count: i64) -> (bool, u64) {
        let cells = load.len();
        let mut repair = Repair {
            domains,
            room: load.iter().map(|l| count - l).collect(),
            holders: vec![Vec::new(); cells],
            seen: vec![u32::MAX; cells],
            work: cells as u64 / 8,
        };
        let mut free = Vec::new();
        for (i, &(node, start)) in self.members.iter().enumerate() {
            if domains.is_fixed(node as usize) {
                continue;
            }
            let cell = self.cell[i];
            let open = cell >= 0 && domains.is_open(node as usize, (cell - start).rem_euclid(domains.ii));
            if open && repair.room[cell as usize] > 0 {
                repair.room[cell as usize] -= 1;
                repair.holders[cell as usize].push(i as u32);
            } else {
                free.push(i as u32);
            }
        }
        let all = free.iter().all(|&i| self.augment(&mut repair, i));
        (all, repair.work)
    }

    /// Finds a cell for a member by breadth-first search over chains of displaced members.
    fn augment(&mut self, repair: &mut Repair<'_>, member: u32) -> bool {
        // (member, the entry it was displaced by, the cell that one takes from it)
        let mut queue: Vec<(u32, usize, i64)> = vec![(member, 0, -1)];
        let mut at = 0;
        while at < queue.len() {
            let (i, _, _) = queue[at];
            let (node, start) = self.members[i as usize];
            for residue in repair.domains.row(node as usize).iter_ones() {
                let cell = (residue as i64 + start).rem_euclid(repair.domains.ii) as usize;
                if repair.seen[cell] == member {
                    continue;
                }
                repair.seen[cell] = member;
                repair.work += 1;
                if repair.room[cell] > 0 {
                    repair.room[cell] -= 1;
                    self.shift_chain(&mut repair.holders, &queue, at, cell);
                    return true;
                }
                queue.extend(repair.holders[cell].iter().map(|&h| (h, at, cell as i64)));
            }
            at += 1;
        }
        false
    }

    /// Moves every member of the chain that ends at `queue[at]` one cell on; that last one takes `cell`.
    fn shift_chain(
        &mut self,
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
            self.cell[i as usize] = cell as i64;
            if left < 0 {
                return;
            }
            cell = left as usize;
            at = by;
        }
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
