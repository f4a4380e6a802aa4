//! Index functions (C8): tiles that are computed from ranges and scalars where they are needed, never stored.

use warploom_ir::{Module, OpId, Opcode, SecondaryMap, Type, ValueDef, ValueId};

use crate::classes::is_scalar_type;
use crate::sets::IdSet;
use crate::walk::{Users, preorder};

/// Which values are index functions, and which operations only make addresses. Found for all values at once, each from
/// those it is made of, or goes into: a kernel may be one chain of any length.
pub(super) struct Indices<'a> {
    module: &'a Module,
    /// Values that something loaded or computed from floats goes into.
    loaded: IdSet<ValueId>,
    /// Values that end in more than addresses and masks.
    data: IdSet<ValueId>,
    /// Values that differ from trip to trip of the loop.
    varying: IdSet<ValueId>,
    /// Elements of the widest tile that a row of indices is spread over.
    spread: SecondaryMap<ValueId, u64>,
}

impl<'a> Indices<'a> {
    pub fn new(module: &'a Module, scf_for: OpId, users: &Users) -> Indices<'a> {
        let mut indices = Indices {
            module,
            loaded: IdSet::default(),
            data: IdSet::default(),
            varying: IdSet::default(),
            spread: SecondaryMap::new(),
        };
        let order = preorder(module, module.root);
        for &op in &order {
            if !indices.made_of_indices(op) {
                for &value in &module.ops[op].results {
                    indices.loaded.insert(value);
                }
            }
        }
        // Values are read behind where they are made.
        for &op in order.iter().rev() {
            for &value in &module.ops[op].results {
                if !indices.goes_into_addresses(users, value) {
                    indices.data.insert(value);
                }
                indices.spread[value] = indices.spread_by(users, value);
            }
        }
        indices.vary(scf_for);
        indices
    }

    /// Whether a value differs from trip to trip: what does not is made before the loop.
    pub fn varies(&self, value: ValueId) -> bool {
        self.varying.contains(value)
    }

    /// Elements of the widest tile that a row of indices is spread over, where more than addresses and masks are made of it.
    pub fn spread(&self, value: ValueId) -> Option<u64> {
        self.data.contains(value).then(|| self.spread[value])
    }

    /// Values of a loop that follow from what it counts, carries, or does to memory.
    fn vary(&mut self, scf_for: OpId) {
        let module = self.module;
        for op in preorder(module, scf_for) {
            let data = &module.ops[op];
            let reads = op != scf_for && data.operands.iter().any(|&v| self.varying.contains(v));
            if reads || op == scf_for || !data.regions.is_empty() || data.opcode == Opcode::Load {
                let blocks = data.regions.iter().flat_map(|&r| &module.regions[r].blocks);
                let args = blocks.flat_map(|&b| module.blocks[b].args.iter());
                data.results.iter().chain(args).for_each(|&value| {
                    self.varying.insert(value);
                });
            }
        }
    }

    /// Elements of a value or, if it is a row, of what its users spread it over. Of a column, a lane has few.
    fn spread_by(&self, users: &Users, value: ValueId) -> u64 {
        let ty = |v: ValueId| self.module.ty(v);
        let column = ty(value).shape().last() == Some(&1);
        let of = |&user: &OpId| {
            let data = &self.module.ops[user];
            let result = data.results.first().copied().filter(|&v| !column && ty(v).is_tensor());
            let alike = |v: &ValueId| {
                data.opcode == Opcode::ExpandDims || ty(*v).shape().len() == ty(value).shape().len()
            };
            result.filter(alike).map(|v| self.spread[v])
        };
        users.of(value).iter().filter_map(of).max().unwrap_or(0).max(ty(value).elements().unwrap_or(1))
    }

    /// Whether an operation takes no time of its own: a row of indices, or a tile that only addresses and masks are
    /// made of.
    pub fn is_address(&self, op: OpId) -> bool {
        let module = self.module;
        let results = &module.ops[op].results;
        let whole =
            |v: ValueId| matches!(module.ty(v).elem(), Type::Int(..) | Type::Index | Type::Ptr { .. });
        if results.is_empty() || !results.iter().all(|&v| whole(v)) {
            return false;
        }
        let operands = &module.ops[op].operands;
        if !operands.iter().all(|&v| whole(v) && self.follows_indices(v)) {
            return false;
        }
        let row = |v: ValueId| module.ty(v).shape().iter().filter(|&&e| e != 1).count() < 2;
        results.iter().all(|&v| row(v) || self.only_addresses(v))
    }

    /// Whether a value is made of ranges and scalars alone.
    fn follows_indices(&self, value: ValueId) -> bool {
        if is_scalar_type(self.module.ty(value)) {
            return true;
        }
        match self.module.values[value].def {
            ValueDef::Result { .. } => !self.loaded.contains(value),
            // A pointer tile goes round a loop as an address.
            ValueDef::Argument { .. } => {
                matches!(self.module.ty(value).elem(), Type::Ptr { .. } | Type::Int(..))
            }
        }
    }

    /// The same for what an operation makes, when that is known of its operands.
    fn made_of_indices(&self, op: OpId) -> bool {
        match self.module.ops[op].opcode {
            Opcode::Load | Opcode::DescriptorLoad | Opcode::Gather | Opcode::Reduce | Opcode::Scan => false,
            Opcode::For | Opcode::If | Opcode::While => true,
            _ => self.module.ops[op].operands.iter().all(|&v| self.follows_indices(v)),
        }
    }

    /// Whether a value ends in addresses and masks of loads and stores only.
    fn only_addresses(&self, value: ValueId) -> bool {
        !self.data.contains(value)
    }

    /// The same, when it is known of what its users make.
    fn goes_into_addresses(&self, users: &Users, value: ValueId) -> bool {
        users.of(value).iter().all(|&user| {
            let data = &self.module.ops[user];
            let at = |index: usize| data.operands.get(index) == Some(&value);
            match data.opcode {
                Opcode::Load if at(0) || at(1) => true,
                Opcode::Store | Opcode::AtomicRmw if at(0) || at(2) => true,
                Opcode::Yield => true,
                Opcode::Load | Opcode::Store | Opcode::AtomicRmw | Opcode::Select => false,
                _ => data.results.iter().all(|&v| self.only_addresses(v)),
            }
        })
    }
}
