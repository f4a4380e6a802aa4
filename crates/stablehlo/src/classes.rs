//! Classes of parts that share memory.

use hashbrown::HashMap;
use petgraph::unionfind::UnionFind;

use super::program::Part;

/// Parts by number, and which of them share memory.
pub(crate) struct Classes {
    ids: HashMap<Part, usize>,
    /// In the order in which they were met.
    pub(crate) parts: Vec<Part>,
    sets: UnionFind<usize>,
    /// By the number that stands for a class.
    members: Vec<Vec<usize>>,
}

impl Classes {
    pub(crate) fn new() -> Classes {
        Classes { ids: HashMap::new(), parts: Vec::new(), sets: UnionFind::new_empty(), members: Vec::new() }
    }

    /// The number of a part, which begins as a class of its own.
    pub(crate) fn id(&mut self, part: Part) -> usize {
        if let Some(id) = self.ids.get(&part) {
            return *id;
        }
        let id = self.sets.new_set();
        self.ids.insert(part.clone(), id);
        self.parts.push(part);
        self.members.push(vec![id]);
        id
    }

    /// The number of a part that was met before.
    pub(crate) fn known(&self, part: &Part) -> Option<usize> {
        self.ids.get(part).copied()
    }

    /// The number that stands for the class of a part.
    pub(crate) fn find(&self, id: usize) -> usize {
        self.sets.try_find(id).unwrap_or(id)
    }

    pub(crate) fn merge(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b || self.sets.try_union(a, b).is_err() {
            return;
        }
        let (root, other) = if self.find(a) == a { (a, b) } else { (b, a) };
        let moved = self.members.get_mut(other).map(std::mem::take).unwrap_or_default();
        if let Some(list) = self.members.get_mut(root) {
            list.extend(moved);
        }
    }

    /// The parts of a class.
    pub(crate) fn of(&self, id: usize) -> impl Iterator<Item = &Part> {
        let list = self.members.get(self.find(id)).map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(|n| self.parts.get(*n))
    }
}
