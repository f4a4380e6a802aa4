//! How many logical groups a tree has, and what becomes of leaves that need fewer (A28, A41).

use crate::error::{AliasError, AliasNote, Result};
use crate::model::{AliasModule, Counts};
use crate::place::Tree;

/// The number of groups; may wrap leaves in implied groups.
pub(crate) fn groups_of(
    m: &AliasModule,
    counts: Counts,
    tree: &mut Tree,
    notes: &mut Vec<AliasNote>,
) -> Result<u64> {
    let overflow = || AliasError::overflow("a tree of group sizes");
    let mut needs = Vec::with_capacity(tree.leaves.len());
    for leaf in &tree.leaves {
        let per_group = tree.indices(leaf).filter(|p| *p > 0).ok_or_else(overflow)?;
        if counts != Counts::Prefix && leaf.count % per_group != 0 {
            let name = m.leaf(leaf.leaf).shown();
            let message =
                format!("{name} has {} buffers, no multiple of its group_size {per_group}", leaf.count);
            return Err(AliasError::new("A41", message)
                .at(m.leaf(leaf.leaf).at())
                .help("change its count, or use warploom.counts = \"prefix\""));
        }
        needs.push(leaf.count.div_ceil(per_group));
    }
    let most = needs.iter().copied().max().unwrap_or(1);
    match counts {
        Counts::Prefix => {
            for (need, leaf) in needs.iter().zip(&tree.leaves) {
                if *need < most {
                    notes.push(short(m, tree, leaf.leaf, *need, most, &needs));
                }
            }
            Ok(most)
        }
        Counts::Equal => match needs.iter().position(|n| *n != most) {
            None => Ok(most),
            Some(at) => {
                let leaf = tree.leaves.get(at).map(|l| m.leaf(l.leaf));
                let need = needs.get(at).copied().unwrap_or(0);
                let name = leaf.map_or_else(String::new, crate::model::Leaf::shown);
                Err(AliasError::new("A41", format!("{name} fills {need} of {most} groups"))
                    .at(leaf.and_then(crate::model::Leaf::at))
                    .help("make the counts equal, or use warploom.counts = \"prefix\" or \"gcd\""))
            }
        },
        Counts::Gcd => {
            let groups = needs.iter().copied().fold(0, gcd).max(1);
            for (at, need) in needs.iter().enumerate() {
                if need / groups > 1 {
                    tree.wrap(at, need / groups);
                }
            }
            Ok(groups)
        }
    }
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A28's warning, with the group size around a peer that would pair all buffers.
fn short(
    m: &AliasModule,
    tree: &Tree,
    leaf: crate::LeafId,
    need: u64,
    most: u64,
    needs: &[u64],
) -> AliasNote {
    let l = m.leaf(leaf);
    let note = AliasError::warning("A28", format!("{} fills {need} of {most} groups", l.shown())).at(l.at());
    let peer = needs.iter().position(|n| *n == most).and_then(|at| tree.leaves.get(at));
    match peer {
        Some(peer) if most.is_multiple_of(need) => note.help(format!(
            "group_size = {} around {} would pair all buffers",
            most / need,
            m.leaf(peer.leaf).shown()
        )),
        _ => note.help("warploom.counts = \"gcd\" on the spec pairs unequal counts"),
    }
}
