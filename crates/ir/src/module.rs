//! A module as plain data: arenas of operations, blocks, regions and values.

use cranelift_entity::PrimaryMap;
use smallvec::SmallVec;

use crate::attr::{Attr, AttrDict};
use crate::entity::{BlockId, LocId, NameId, OpId, RegionId, ValueId};
use crate::loc::Loc;
use crate::opcode::Opcode;
use crate::types::Type;

/// Where a value comes from. Exhaustive: MLIR has these two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// Result number `index` of an operation.
    Result {
        /// The operation.
        op: OpId,
        /// Which of its results, from 0.
        index: u32,
    },
    /// Argument number `index` of a block.
    Argument {
        /// The block.
        block: BlockId,
        /// Which of its arguments, from 0.
        index: u32,
    },
}

/// An SSA value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its type.
    pub ty: Type,
    /// Where it comes from.
    pub def: ValueDef,
    /// Its name in the text without `%`, unless that was a number.
    pub name: Option<String>,
    /// Location of a block argument; results share the operation's.
    pub loc: LocId,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What it does.
    pub opcode: Opcode,
    /// Values read.
    pub operands: SmallVec<[ValueId; 4]>,
    /// Values made.
    pub results: SmallVec<[ValueId; 2]>,
    /// Attributes that belong to the meaning of the operation (`value`, `axis`, `order`, ..): what MLIR
    /// prints in `<{}>` in generic form.
    pub props: AttrDict,
    /// Hints: any other attributes, printed in `{}`.
    pub attrs: AttrDict,
    /// Nested regions.
    pub regions: SmallVec<[RegionId; 2]>,
    /// Blocks of its region where a branch goes on. The last operands are the values of their arguments, one block
    /// after the other.
    pub successors: SmallVec<[BlockId; 2]>,
    /// Where it comes from in the kernel's own source.
    pub loc: LocId,
    /// Byte offset in the text that was read, for diagnostics.
    pub span: Option<u32>,
    /// The block it stands in; `None` while detached and for the module itself.
    pub block: Option<BlockId>,
}

/// A list of operations with arguments.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Arguments.
    pub args: SmallVec<[ValueId; 4]>,
    /// Operations in order.
    pub ops: Vec<OpId>,
    /// The region it stands in.
    pub region: Option<RegionId>,
}

/// A list of blocks owned by an operation.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Blocks in order; the first is the entry.
    pub blocks: Vec<BlockId>,
    /// The operation that owns it.
    pub parent: Option<OpId>,
}

/// A module: what one file holds. Plain data; [`crate::verify`] says whether it makes sense.
#[derive(Clone, Debug)]
pub struct Module {
    /// Operations.
    pub ops: PrimaryMap<OpId, Operation>,
    /// Blocks.
    pub blocks: PrimaryMap<BlockId, Block>,
    /// Regions.
    pub regions: PrimaryMap<RegionId, Region>,
    /// Values.
    pub values: PrimaryMap<ValueId, Value>,
    /// Locations; number 0 is `Loc::Unknown`.
    pub locs: PrimaryMap<LocId, Loc>,
    /// Names of operations outside the known dialects.
    pub names: PrimaryMap<NameId, String>,
    /// Attribute aliases (`#name = attr`) in the order of the text.
    pub attr_aliases: Vec<(String, Attr)>,
    /// Location aliases (`#loc3 = loc(..)`) in the order of the text.
    pub loc_aliases: Vec<(String, LocId)>,
    /// How many of the location aliases stand before the module in the text; the others follow it.
    pub leading_loc_aliases: usize,
    /// The `builtin.module` operation.
    pub root: OpId,
}

impl Default for Module {
    fn default() -> Module {
        Module::new()
    }
}

impl Module {
    /// An empty module.
    pub fn new() -> Module {
        let mut locs = PrimaryMap::new();
        let unknown = locs.push(Loc::Unknown);
        let mut ops = PrimaryMap::new();
        let root = ops.push(Operation {
            opcode: Opcode::Module,
            operands: SmallVec::new(),
            results: SmallVec::new(),
            props: AttrDict::new(),
            attrs: AttrDict::new(),
            regions: SmallVec::new(),
            successors: SmallVec::new(),
            loc: unknown,
            span: None,
            block: None,
        });
        let mut module = Module {
            ops,
            blocks: PrimaryMap::new(),
            regions: PrimaryMap::new(),
            values: PrimaryMap::new(),
            locs,
            names: PrimaryMap::new(),
            attr_aliases: Vec::new(),
            loc_aliases: Vec::new(),
            leading_loc_aliases: 0,
            root,
        };
        let region = module.add_region(root);
        module.add_block(region);
        module
    }

    /// The location of things without one.
    pub fn unknown_loc(&self) -> LocId {
        LocId::from_u32(0)
    }

    /// The block that holds the module's functions.
    pub fn body(&self) -> BlockId {
        let region = self.ops[self.root].regions[0];
        self.regions[region].blocks[0]
    }

    /// The functions, in order.
    pub fn functions(&self) -> impl Iterator<Item = OpId> + '_ {
        self.blocks[self.body()].ops.iter().copied().filter(|&op| self.ops[op].opcode == Opcode::Func)
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<OpId> {
        self.functions().find(|&f| self.symbol_name(f) == Some(name))
    }

    /// The `sym_name` of a function, pipeline or partition.
    pub fn symbol_name(&self, op: OpId) -> Option<&str> {
        self.ops[op].props.get("sym_name").and_then(Attr::as_str)
    }

    /// The name of an operation as written in text.
    pub fn op_name(&self, op: OpId) -> &str {
        match self.ops[op].opcode {
            Opcode::Other(name) => &self.names[name],
            known => known.name().unwrap_or("?"),
        }
    }

    /// A detached operation without results; give it a place with [`Module::append`] or
    /// [`Module::insert`].
    pub fn create_op(
        &mut self,
        opcode: Opcode,
        operands: &[ValueId],
        result_types: &[Type],
        loc: LocId,
    ) -> OpId {
        let op = self.ops.push(Operation {
            opcode,
            operands: SmallVec::from_slice(operands),
            results: SmallVec::new(),
            props: AttrDict::new(),
            attrs: AttrDict::new(),
            regions: SmallVec::new(),
            successors: SmallVec::new(),
            loc,
            span: None,
            block: None,
        });
        for ty in result_types {
            self.add_result(op, ty.clone());
        }
        op
    }

    /// Adds one more result.
    pub fn add_result(&mut self, op: OpId, ty: Type) -> ValueId {
        let index = self.ops[op].results.len() as u32;
        let loc = self.ops[op].loc;
        let value = self.values.push(Value { ty, def: ValueDef::Result { op, index }, name: None, loc });
        self.ops[op].results.push(value);
        value
    }

    /// Adds an empty region to an operation.
    pub fn add_region(&mut self, op: OpId) -> RegionId {
        let region = self.regions.push(Region { blocks: Vec::new(), parent: Some(op) });
        self.ops[op].regions.push(region);
        region
    }

    /// Adds an empty block to the end of a region.
    pub fn add_block(&mut self, region: RegionId) -> BlockId {
        let block = self.blocks.push(Block { args: SmallVec::new(), ops: Vec::new(), region: Some(region) });
        self.regions[region].blocks.push(block);
        block
    }

    /// Adds an argument to a block.
    pub fn add_arg(&mut self, block: BlockId, ty: Type, loc: LocId) -> ValueId {
        let index = self.blocks[block].args.len() as u32;
        let value = self.values.push(Value { ty, def: ValueDef::Argument { block, index }, name: None, loc });
        self.blocks[block].args.push(value);
        value
    }

    /// Puts a detached operation at the end of a block.
    pub fn append(&mut self, block: BlockId, op: OpId) {
        self.ops[op].block = Some(block);
        self.blocks[block].ops.push(op);
    }

    /// Puts a detached operation at position `at` of a block (at the end if that is beyond it).
    pub fn insert(&mut self, block: BlockId, at: usize, op: OpId) {
        self.ops[op].block = Some(block);
        let ops = &mut self.blocks[block].ops;
        ops.insert(at.min(ops.len()), op);
    }

    /// Takes an operation out of its block; it stays in the arena, detached.
    pub fn detach(&mut self, op: OpId) {
        if let Some(block) = self.ops[op].block.take() {
            self.blocks[block].ops.retain(|&o| o != op);
        }
    }

    /// The operation that owns the block an operation stands in.
    pub fn parent(&self, op: OpId) -> Option<OpId> {
        let block = self.ops[op].block?;
        self.regions[self.blocks[block].region?].parent
    }

    /// Whether the regions of an operation see no value from around it: of modules and functions of any dialect.
    pub fn is_isolated(&self, op: OpId) -> bool {
        match self.ops[op].opcode {
            Opcode::Func | Opcode::Module => true,
            Opcode::Other(name) => {
                let name = &self.names[name];
                name == "func" || name.ends_with(".func")
            }
            _ => false,
        }
    }

    /// The first block of region number `index` of an operation.
    pub fn entry(&self, op: OpId, index: usize) -> Option<BlockId> {
        let region = *self.ops[op].regions.get(index)?;
        self.regions[region].blocks.first().copied()
    }

    /// The last operation of a block.
    pub fn terminator(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block].ops.last().copied()
    }

    /// Where a branch goes on, with the values that it hands to the arguments of each block; a block that has none
    /// to be handed, for want of operands, gets what is there.
    pub fn branches(&self, op: OpId) -> impl Iterator<Item = (BlockId, &[ValueId])> + '_ {
        let data = &self.ops[op];
        let handed = data.successors.iter().map(|&b| self.blocks[b].args.len()).sum();
        let mut rest = &data.operands[data.operands.len().saturating_sub(handed)..];
        data.successors.iter().map(move |&block| {
            let (args, others) = rest.split_at(self.blocks[block].args.len().min(rest.len()));
            rest = others;
            (block, args)
        })
    }

    /// Type of a value.
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.values[value].ty
    }

    /// The operation that makes a value; `None` for block arguments.
    pub fn def_op(&self, value: ValueId) -> Option<OpId> {
        match self.values[value].def {
            ValueDef::Result { op, .. } => Some(op),
            ValueDef::Argument { .. } => None,
        }
    }

    /// The only result of an operation that has exactly one.
    pub fn result(&self, op: OpId) -> Option<ValueId> {
        match self.ops[op].results.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// An attribute of an operation: of its meaning first, then among the hints.
    pub fn attr(&self, op: OpId, name: &str) -> Option<&Attr> {
        let op = &self.ops[op];
        op.props.get(name).or_else(|| op.attrs.get(name))
    }

    /// A location through its aliases; `Loc::Unknown` where an alias leads nowhere or in a circle.
    pub fn resolve_loc(&self, mut loc: LocId) -> &Loc {
        for _ in 0..64 {
            match &self.locs[loc] {
                Loc::Alias(name) => match self.loc_aliases.iter().find(|(n, _)| n == name) {
                    Some((_, target)) => loc = *target,
                    None => break,
                },
                found => return found,
            }
        }
        &self.locs[self.unknown_loc()]
    }
}
