//! Sets of operations and values, a bit for each number: what is alive, what is needed.

use std::marker::PhantomData;

use bitvec::vec::BitVec;
use warploom_ir::EntityRef;

/// A set of entities of one arena.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct IdSet<K> {
    bits: BitVec,
    of: PhantomData<K>,
}

impl<K> Default for IdSet<K> {
    fn default() -> IdSet<K> {
        IdSet { bits: BitVec::new(), of: PhantomData }
    }
}

impl<K: EntityRef> IdSet<K> {
    /// Adds an entity; whether it is new.
    pub fn insert(&mut self, key: K) -> bool {
        let at = key.index();
        if self.bits.len() <= at {
            self.bits.resize(at + 1, false);
        }
        !self.bits.replace(at, true)
    }

    /// Whether an entity is among them.
    pub fn contains(&self, key: K) -> bool {
        self.bits.get(key.index()).is_some_and(|bit| *bit)
    }
}

#[cfg(test)]
mod tests {
    use warploom_ir::ValueId;

    use super::*;

    #[test]
    fn what_is_added_is_there_and_nothing_else() {
        let mut set = IdSet::default();
        let value = |at: usize| ValueId::new(at);
        assert!(set.insert(value(70)) && !set.insert(value(70)) && set.insert(value(3)));
        assert!(set.contains(value(70)) && set.contains(value(3)));
        assert!(!set.contains(value(4)) && !set.contains(value(71)) && !set.contains(value(1000)));
    }
}
