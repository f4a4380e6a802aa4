//! The machine: the environment of one program, its limits, and the dispatch of operations.

use std::rc::Rc;

use cranelift_entity::SecondaryMap;

use super::args::{self, Arg};
use super::context::Context;
use super::data::Data;
use super::descriptor::Descriptor;
use super::elementwise;
use super::entry::find_entry;
use super::error::{Fault, FaultPlace, InterpError};
use super::memory::Memory;
use super::options::InterpOptions;
use super::value::Value;
use super::{attrs, inline_asm};
use crate::attr::Attr;
use crate::entity::{BlockId, OpId, ValueId};
use crate::module::Module;
use crate::opcode::Opcode;
use crate::types::Type;

/// Regions and calls may nest this deep.
pub(super) const MAX_DEPTH: usize = 100;

/// The state of an interpretation.
pub struct Interpreter<'a> {
    pub(super) module: &'a Module,
    pub(super) options: &'a InterpOptions,
    pub(super) memory: &'a mut Memory,
    grid: [u32; 3],
    program: [u32; 3],
    values: SecondaryMap<ValueId, Option<Value>>,
    /// Bytes of `values`.
    bytes: u64,
    work: u64,
    depth: usize,
    /// Functions being run, outermost first.
    pub(super) calls: Vec<OpId>,
    /// The innermost operation being run; after a fault, the one at fault.
    current: Option<OpId>,
}

/// How a block was left.
pub(super) struct Exit {
    /// Its terminator; a block without one counts as left by an empty `scf.yield`.
    pub opcode: Opcode,
    /// The terminator's operands.
    pub values: Vec<Value>,
    /// Where a branch goes on.
    pub next: Option<BlockId>,
}

impl<'a> Interpreter<'a> {
    /// Runs a kernel: every program of the grid to its end, one after the other, `x` fastest.
    ///
    /// `args` is the full list of arguments; [`bind_args`](super::bind_args) makes it from what a user passes.
    /// Without `entry` the first public function runs. On an error, `memory` holds what was written until then.
    ///
    /// # Errors
    /// See [`Fault`].
    pub fn run(
        module: &Module,
        entry: Option<&str>,
        grid: [u32; 3],
        args: &[Arg],
        memory: &mut Memory,
        options: &InterpOptions,
    ) -> Result<(), InterpError> {
        let (function, body) = find_entry(module, entry)?;
        let params = &module.blocks[body].args;
        if params.len() != args.len() {
            return Err(Fault::ArgumentCount { expected: params.len(), found: args.len() }.into());
        }
        let bind = |(index, (&param, arg))| args::value(memory, index, module.ty(param), arg);
        let values = params.iter().zip(args).enumerate().map(bind).collect::<Result<Vec<_>, _>>()?;
        let mut machine = Interpreter {
            module,
            options,
            memory,
            grid,
            program: [0; 3],
            values: SecondaryMap::new(),
            bytes: 0,
            work: 0,
            depth: 0,
            calls: Vec::new(),
            current: None,
        };
        for z in 0..grid[2] {
            for y in 0..grid[1] {
                for x in 0..grid[0] {
                    machine.program = [x, y, z];
                    machine.program(function, body, &values).map_err(|fault| machine.error(fault))?;
                }
            }
        }
        Ok(())
    }

    fn program(&mut self, function: OpId, body: BlockId, args: &[Value]) -> Result<(), Fault> {
        self.values.clear();
        self.bytes = 0;
        self.depth = 0;
        self.calls = vec![function];
        self.current = None;
        self.spend(1)?;
        self.body(body, args.to_vec()).map(|_| ())
    }

    fn error(&self, fault: Fault) -> InterpError {
        let place = |op| FaultPlace {
            op,
            op_name: self.module.op_name(op).to_owned(),
            offset: self.module.ops[op].span,
            program: self.program,
        };
        InterpError { fault, place: self.current.map(place).map(Box::new) }
    }

    /// Counts element operations.
    pub(super) fn spend(&mut self, work: u64) -> Result<(), Fault> {
        self.work = self.work.saturating_add(work);
        match self.work > self.options.max_work {
            true => Err(Fault::WorkLimit(self.options.max_work)),
            false => Ok(()),
        }
    }

    /// Runs a block with these arguments.
    pub(super) fn block(&mut self, block: BlockId, args: Vec<Value>) -> Result<Exit, Fault> {
        let module = self.module;
        let block = &module.blocks[block];
        if block.args.len() != args.len() {
            let counts = format!("{} values for the {} arguments of a block", args.len(), block.args.len());
            return Err(Fault::Malformed(counts));
        }
        if self.depth >= MAX_DEPTH {
            return Err(Fault::DepthLimit(MAX_DEPTH));
        }
        self.depth += 1;
        for (&arg, value) in block.args.iter().zip(args) {
            self.set(arg, value)?;
        }
        for &op in &block.ops {
            self.current = Some(op);
            let opcode = module.ops[op].opcode;
            if opcode.is_terminator() {
                let (next, handed) = self.leaving(op)?;
                let values = handed.iter().map(|&v| self.get(v)).collect::<Result<_, _>>()?;
                self.depth -= 1;
                return Ok(Exit { opcode, values, next });
            }
            self.op(op)?;
        }
        self.depth -= 1;
        Ok(Exit { opcode: Opcode::Yield, values: Vec::new(), next: None })
    }

    /// Runs one operation and sets its results.
    fn op(&mut self, op: OpId) -> Result<(), Fault> {
        let module = self.module;
        let operation = &module.ops[op];
        self.reserve(&operation.results)?;
        let touched = operation.operands.iter().chain(&operation.results);
        let elements = touched.map(|&v| module.ty(v).elements().unwrap_or(0)).fold(1, u64::saturating_add);
        self.spend(elements)?;
        if elementwise::is_elementwise(operation.opcode) {
            let count = self.count(operation.results.first().copied())?;
            let operands = self.tiles(&operation.operands)?;
            let operands: Vec<&Data> = operands.iter().map(Rc::as_ref).collect();
            let data = match operation.opcode {
                Opcode::ElementwiseInlineAsm => inline_asm::eval(self.context(), op, &operands, count)?,
                _ => vec![elementwise::eval(self.context(), op, &operands, count)?],
            };
            return self.finish(op, data.into_iter().map(Value::from).collect());
        }
        let results = match operation.opcode {
            Opcode::For => self.for_loop(op)?,
            Opcode::If => self.if_else(op)?,
            Opcode::While => self.while_loop(op)?,
            Opcode::Call => self.call(op)?,
            Opcode::GetProgramId => self.grid_value(op, self.program)?,
            Opcode::GetNumPrograms => self.grid_value(op, self.grid)?,
            Opcode::Dot | Opcode::DotFma => self.dot(op)?,
            Opcode::DotScaled => self.dot_scaled(op)?,
            Opcode::DotBlockScaled => self.dot_block_scaled(op)?,
            Opcode::Reduce => self.reduce(op)?,
            Opcode::Scan => self.scan(op)?,
            Opcode::AddPtr => self.add_ptr(op)?,
            Opcode::Load => self.load(op)?,
            Opcode::Store => self.store(op)?,
            Opcode::AtomicRmw => self.atomic_rmw(op)?,
            Opcode::AtomicCas => self.atomic_cas(op)?,
            Opcode::AtomicLoad => self.load(op)?,
            Opcode::AtomicStore => self.store(op)?,
            Opcode::AtomicPoll => self.atomic_poll(op)?,
            Opcode::MapElementwise => self.map_elementwise(op)?,
            Opcode::MakeTensorDescriptor => self.make_descriptor(op)?,
            Opcode::DescriptorLoad => self.descriptor_load(op)?,
            Opcode::DescriptorStore => self.descriptor_store(op)?,
            Opcode::DescriptorReduce => self.descriptor_reduce(op)?,
            Opcode::DescriptorGather => self.descriptor_gather(op)?,
            Opcode::DescriptorScatter => self.descriptor_scatter(op)?,
            Opcode::Poison => self.poison(op)?,
            Opcode::Assume => self.assume(op)?,
            Opcode::Assert => self.assert(op)?,
            // One program of one grid at a time: nothing to wait for, and nowhere to print to.
            Opcode::TtgBarrier | Opcode::GridWait | Opcode::GridLaunch | Opcode::Print => Vec::new(),
            _ => self.rearrange(op)?,
        };
        // Regions leave their last operation behind.
        self.current = Some(op);
        self.finish(op, results)
    }

    fn finish(&mut self, op: OpId, values: Vec<Value>) -> Result<(), Fault> {
        let module = self.module;
        let results = &module.ops[op].results;
        if results.len() != values.len() {
            return Err(Fault::Malformed(format!("{} values for {} results", values.len(), results.len())));
        }
        results.iter().zip(values).try_for_each(|(&result, value)| self.set(result, value))
    }

    pub(super) fn context(&self) -> Context<'a> {
        Context { module: self.module, options: self.options }
    }

    /// Makes sure that the results of an operation fit the limit before they are computed.
    fn reserve(&self, results: &[ValueId]) -> Result<(), Fault> {
        let limit = self.options.max_tile_bytes;
        let bytes = results
            .iter()
            .try_fold(self.bytes, |sum, &v| self.module.ty(v).elements()?.checked_mul(8)?.checked_add(sum));
        match bytes {
            Some(bytes) if bytes <= limit => Ok(()),
            _ => Err(Fault::TileLimit(limit)),
        }
    }

    /// Sets a value, which must be what its type says.
    pub(super) fn set(&mut self, id: ValueId, value: Value) -> Result<(), Fault> {
        let ty = self.module.ty(id);
        let fits = match (&value, ty) {
            (Value::Tile(data), _) if !ty.is_desc() => {
                data.holds(ty.elem()) && Some(data.len() as u64) == ty.elements()
            }
            (Value::Desc(d), Type::TensorDesc { shape, elem }) => {
                d.elem == **elem && d.shape.len() == shape.len()
            }
            _ => false,
        };
        if !fits {
            return Err(Fault::Malformed(format!("a value that is not of its type {ty}")));
        }
        let old = self.values[id].as_ref().map_or(0, Value::elements);
        self.bytes = (self.bytes - 8 * old).saturating_add(8 * value.elements());
        self.values[id] = Some(value);
        match self.bytes > self.options.max_tile_bytes {
            true => Err(Fault::TileLimit(self.options.max_tile_bytes)),
            false => Ok(()),
        }
    }

    /// A value that was set before.
    pub(super) fn get(&self, id: ValueId) -> Result<Value, Fault> {
        let value = self.values.get(id).and_then(Clone::clone);
        value.ok_or_else(|| Fault::Malformed(format!("{id:?} is used before it is defined")))
    }

    /// A tile or scalar.
    pub(super) fn tile(&self, id: ValueId) -> Result<Rc<Data>, Fault> {
        match self.get(id)? {
            Value::Tile(data) => Ok(data),
            Value::Desc(_) => Err(Fault::Malformed("a descriptor where a tile is needed".into())),
        }
    }

    pub(super) fn tiles(&self, ids: &[ValueId]) -> Result<Vec<Rc<Data>>, Fault> {
        ids.iter().map(|&id| self.tile(id)).collect()
    }

    /// A descriptor.
    pub(super) fn descriptor(&self, id: ValueId) -> Result<Rc<Descriptor>, Fault> {
        match self.get(id)? {
            Value::Desc(descriptor) => Ok(descriptor),
            Value::Tile(_) => Err(Fault::Malformed("a tile where a descriptor is needed".into())),
        }
    }

    /// The operand at a position.
    pub(super) fn operand(&self, op: OpId, index: usize) -> Result<ValueId, Fault> {
        let operand = self.module.ops[op].operands.get(index).copied();
        operand.ok_or_else(|| Fault::Malformed(format!("{} lacks operand {index}", self.module.op_name(op))))
    }

    /// The type of the result at a position.
    pub(super) fn result_type(&self, op: OpId, index: usize) -> Result<&'a Type, Fault> {
        let module = self.module;
        let result = module.ops[op].results.get(index);
        let ty = result.map(|&v| module.ty(v));
        ty.ok_or_else(|| Fault::Malformed(format!("{} lacks result {index}", self.module.op_name(op))))
    }

    /// Elements of the value, which may be none.
    fn count(&self, value: Option<ValueId>) -> Result<usize, Fault> {
        let elements = value.and_then(|v| self.module.ty(v).elements()).unwrap_or(0);
        usize::try_from(elements).map_err(|_| Fault::TileLimit(self.options.max_tile_bytes))
    }

    /// `tt.get_program_id` and `tt.get_num_programs`.
    fn grid_value(&self, op: OpId, of: [u32; 3]) -> Result<Vec<Value>, Fault> {
        let axis = attrs::required(self.module, op, "axis", &["x", "y", "z"])?;
        let value = of.get(axis).copied().unwrap_or(0);
        Ok(vec![Data::Int(vec![u64::from(value)]).into()])
    }

    /// `ub.poison`: any value will do; here it is zero.
    fn poison(&self, op: OpId) -> Result<Vec<Value>, Fault> {
        let ty = self.result_type(op, 0)?;
        let count = self.count(self.module.ops[op].results.first().copied())?;
        match ty.elem() {
            _ if ty.is_desc() => Err(Fault::Unsupported(format!("poison of type {ty}"))),
            Type::Float(_) => Ok(vec![Data::Float(vec![0.0; count]).into()]),
            _ => Ok(vec![Data::Int(vec![0; count]).into()]),
        }
    }

    fn assume(&self, op: OpId) -> Result<Vec<Value>, Fault> {
        let condition = self.tile(self.operand(op, 0)?)?;
        match condition.ints()?.contains(&0) {
            true => Err(Fault::Assumption),
            false => Ok(Vec::new()),
        }
    }

    fn assert(&self, op: OpId) -> Result<Vec<Value>, Fault> {
        let condition = self.tile(self.operand(op, 0)?)?;
        self.claimed(op, Some(&*condition))?;
        Ok(Vec::new())
    }

    /// Fails with the message of a `tt.assert` where one of its truths does not hold.
    pub(super) fn claimed(&self, op: OpId, truths: Option<&Data>) -> Result<(), Fault> {
        let message = self.module.attr(op, "message").and_then(Attr::as_str).unwrap_or("");
        match truths.map(Data::ints).transpose()?.is_none_or(|all| !all.contains(&0)) {
            true => Ok(()),
            false => Err(Fault::Assertion(message.to_owned())),
        }
    }
}
