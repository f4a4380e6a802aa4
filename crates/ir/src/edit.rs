//! Changing a module, and asking for constants: what passes need.

use std::collections::{HashMap, VecDeque};

use crate::attr::Attr;
use crate::entity::{BlockId, OpId, RegionId, ValueId};
use crate::module::Module;
use crate::opcode::Opcode;
use crate::types::{FloatKind, Type};
use crate::walk;

impl Module {
    /// Makes every operand of the module that reads `old` read `new`. Detached operations are left alone.
    pub fn replace_all_uses(&mut self, old: ValueId, new: ValueId) {
        self.replace_uses_below(self.root, old, new);
    }

    /// The same for one operation and everything below it.
    pub fn replace_uses_below(&mut self, op: OpId, old: ValueId, new: ValueId) {
        let ops: Vec<OpId> = walk::ops(self, op).collect();
        for op in ops {
            for operand in &mut self.ops[op].operands {
                if *operand == old {
                    *operand = new;
                }
            }
        }
    }

    /// Takes an operation out for good. Its results must have no uses left; the records stay in the arenas,
    /// unreachable.
    pub fn erase(&mut self, op: OpId) {
        self.detach(op);
    }

    /// Whether a load may find something else each time, and must not be moved, repeated or left out.
    pub fn is_volatile(&self, op: OpId) -> bool {
        matches!(self.attr(op, "isVolatile"), Some(Attr::Bool(true)))
    }

    /// Whether a value is the constant zero, or a tile of it however it is looked at.
    pub fn is_zero(&self, mut value: ValueId) -> bool {
        use Opcode::{Broadcast, ExpandDims, Reshape, Splat, Trans};
        let none = |attr: &Attr| matches!(attr, Attr::Float { bits: 0, .. } | Attr::Int { value: 0, .. });
        while let Some(op) = self.def_op(value) {
            let data = &self.ops[op];
            value = match (data.opcode, data.operands.first()) {
                (Broadcast | ExpandDims | Reshape | Splat | Trans, Some(&shown)) => shown,
                _ => {
                    return match self.attr(op, "value") {
                        Some(Attr::Splat { value, .. }) => none(value),
                        Some(attr) => none(attr),
                        None => false,
                    };
                }
            };
        }
        false
    }

    /// Whether loads by the descriptor that an operation makes find NaN outside the tensor; integers have none, and are
    /// zero there whatever it says.
    pub fn pads_with_nan(&self, op: OpId) -> bool {
        let asked =
            self.attr(op, "padding").is_some_and(|p| p.as_i64() == Some(2) || p.as_str() == Some("nan"));
        asked && self.result(op).is_some_and(|v| matches!(self.ty(v).elem(), Type::Float(_)))
    }

    /// Whether any operation of the module reads the value.
    pub fn is_used(&self, value: ValueId) -> bool {
        walk::uses(self, value).next().is_some()
    }

    /// Copies an operation with everything below it to the end of a block.
    ///
    /// Operands are looked up in `map`; values that are not in it are used as they are. The copies of all
    /// results and block arguments are added to `map`.
    pub fn clone_op(&mut self, op: OpId, block: BlockId, map: &mut HashMap<ValueId, ValueId>) -> OpId {
        let root = self.clone_shallow(op, map);
        self.append(block, root);
        let mut copies = vec![root];
        let mut blocks: HashMap<BlockId, BlockId> = HashMap::new();
        let mut work: VecDeque<(RegionId, OpId)> = self.ops[op].regions.iter().map(|r| (*r, root)).collect();
        while let Some((region, owner)) = work.pop_front() {
            let target = self.add_region(owner);
            for block in self.regions[region].blocks.clone() {
                let copy = self.add_block(target);
                blocks.insert(block, copy);
                for arg in self.blocks[block].args.clone() {
                    let value = self.values[arg].clone();
                    let new = self.add_arg(copy, value.ty, value.loc);
                    self.values[new].name = value.name;
                    map.insert(arg, new);
                }
                for inner in self.blocks[block].ops.clone() {
                    let new = self.clone_shallow(inner, map);
                    self.append(copy, new);
                    copies.push(new);
                    work.extend(self.ops[inner].regions.iter().map(|r| (*r, new)));
                }
            }
        }
        for copy in copies {
            for successor in &mut self.ops[copy].successors {
                if let Some(new) = blocks.get(successor) {
                    *successor = *new;
                }
            }
            for operand in &mut self.ops[copy].operands {
                if let Some(new) = map.get(operand) {
                    *operand = *new;
                }
            }
        }
        root
    }

    /// A detached copy without regions that still reads the operands of the original.
    fn clone_shallow(&mut self, op: OpId, map: &mut HashMap<ValueId, ValueId>) -> OpId {
        let mut data = self.ops[op].clone();
        let results = std::mem::take(&mut data.results);
        data.regions.clear();
        data.block = None;
        let copy = self.ops.push(data);
        for result in results {
            let new = self.add_result(copy, self.values[result].ty.clone());
            self.values[new].name = self.values[result].name.clone();
            map.insert(result, new);
        }
        copy
    }

    /// The constant behind a value: of an `arith.constant`, also through operations that only repeat or
    /// reshape it.
    fn constant(&self, value: ValueId) -> Option<&Attr> {
        let mut value = value;
        // Each step goes to an operand; a chain that long is no kernel's, and may be a circle.
        for _ in 0..64 {
            let op = self.def_op(value)?;
            let data = &self.ops[op];
            match data.opcode {
                Opcode::Constant => {
                    return match data.props.get("value")? {
                        Attr::Splat { value, .. } => Some(value),
                        other => Some(other),
                    };
                }
                Opcode::Splat
                | Opcode::Broadcast
                | Opcode::ExpandDims
                | Opcode::Reshape
                | Opcode::Trans
                | Opcode::Unsplat => value = *data.operands.first()?,
                _ => return None,
            }
        }
        None
    }

    /// The integer that a scalar always has, or that every element of a tile has.
    pub fn const_int(&self, value: ValueId) -> Option<i128> {
        match self.constant(value)? {
            Attr::Int { value, .. } => Some(*value),
            Attr::Bool(value) => Some(i128::from(*value)),
            _ => None,
        }
    }

    /// The same for floating-point values.
    pub fn const_float(&self, value: ValueId) -> Option<f64> {
        let (kind, bits) = self.const_bits(value)?;
        Some(kind.decode(bits))
    }

    /// The format and bit pattern of a floating-point constant, which tell NaNs and zeros apart.
    pub fn const_bits(&self, value: ValueId) -> Option<(FloatKind, u64)> {
        match self.constant(value)? {
            Attr::Float { bits, ty: Type::Float(kind) } => Some((*kind, *bits)),
            _ => None,
        }
    }

    /// Whether a value is a constant whose every element is zero (`+0.0` for floats).
    pub fn is_const_zero(&self, value: ValueId) -> bool {
        self.const_int(value) == Some(0) || self.const_bits(value).is_some_and(|(_, bits)| bits == 0)
    }
}
