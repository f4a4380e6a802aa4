//! Kernels made through the module's own functions, so that these tests need no parser.

use warploom_ir::interp::{Arg, Fault, InterpOptions, Interpreter, Memory, Tensor};
use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueId};

/// A module under construction, with a place to append to.
pub struct Kernel {
    pub module: Module,
    pub block: BlockId,
}

impl Kernel {
    /// A public function with these parameters.
    pub fn new(name: &str, params: &[Type]) -> Kernel {
        let mut kernel = Kernel { module: Module::new(), block: BlockId::from_u32(0) };
        kernel.function(name, params);
        kernel
    }

    /// Another function; what follows goes into it.
    pub fn function(&mut self, name: &str, params: &[Type]) -> OpId {
        let loc = self.module.unknown_loc();
        let m = &mut self.module;
        let func = m.create_op(Opcode::Func, &[], &[], loc);
        m.ops[func].props.set("sym_name", Attr::string(name));
        let region = m.add_region(func);
        self.block = m.add_block(region);
        for ty in params {
            m.add_arg(self.block, ty.clone(), loc);
        }
        let body = m.body();
        m.append(body, func);
        func
    }

    /// Parameter number `index` of the current block.
    pub fn arg(&self, index: usize) -> ValueId {
        self.module.blocks[self.block].args[index]
    }

    /// Appends an operation.
    pub fn op(
        &mut self,
        opcode: Opcode,
        operands: &[ValueId],
        results: &[Type],
        props: &[(&str, Attr)],
    ) -> OpId {
        let loc = self.module.unknown_loc();
        let op = self.module.create_op(opcode, operands, results, loc);
        for (name, attr) in props {
            self.module.ops[op].props.set(*name, attr.clone());
        }
        self.module.append(self.block, op);
        op
    }

    /// Appends an operation with one result.
    pub fn value(&mut self, opcode: Opcode, operands: &[ValueId], ty: Type) -> ValueId {
        self.with(opcode, operands, ty, &[])
    }

    /// Appends an operation with one result and properties.
    pub fn with(
        &mut self,
        opcode: Opcode,
        operands: &[ValueId],
        ty: Type,
        props: &[(&str, Attr)],
    ) -> ValueId {
        let op = self.op(opcode, operands, &[ty], props);
        self.module.result(op).unwrap()
    }

    /// An integer constant.
    pub fn int(&mut self, value: i64, ty: Type) -> ValueId {
        let attr = Attr::Int { value: value.into(), ty: ty.clone() };
        self.with(Opcode::Constant, &[], ty, &[("value", attr)])
    }

    /// A tile of one value.
    pub fn full(&mut self, value: Attr, ty: Type) -> ValueId {
        let attr = Attr::Splat { value: Box::new(value), ty: ty.clone() };
        self.with(Opcode::Constant, &[], ty, &[("value", attr)])
    }

    /// A tile of zeros of `f32`.
    pub fn zeros(&mut self, shape: &[u64]) -> ValueId {
        self.full(Attr::Float { bits: 0, ty: Type::F32 }, Type::tensor(shape, Type::F32))
    }

    /// The addresses `base + 0, base + 1, ..` as a tile of pointers.
    pub fn addresses(&mut self, base: ValueId, count: u64) -> ValueId {
        let ptr = Type::tensor(&[count], self.module.ty(base).clone());
        let range = [("start", Attr::i32(0)), ("end", Attr::i32(count as i32))];
        let range = self.with(Opcode::MakeRange, &[], Type::tensor(&[count], Type::I32), &range);
        let bases = self.value(Opcode::Splat, &[base], ptr.clone());
        self.value(Opcode::AddPtr, &[bases, range], ptr)
    }

    /// Appends an operation whose region `fill` writes; `args` are the arguments of the region's block.
    pub fn region(&mut self, op: OpId, args: &[Type], fill: impl FnOnce(&mut Kernel, &[ValueId])) {
        let loc = self.module.unknown_loc();
        let region = self.module.add_region(op);
        let block = self.module.add_block(region);
        let values: Vec<ValueId> =
            args.iter().map(|ty| self.module.add_arg(block, ty.clone(), loc)).collect();
        let outside = std::mem::replace(&mut self.block, block);
        fill(self, &values);
        self.block = outside;
    }

    /// Ends the current block.
    pub fn end(&mut self, opcode: Opcode, values: &[ValueId]) {
        self.op(opcode, values, &[], &[]);
    }

    /// Runs the first public function as one program.
    pub fn run(&self, args: &[Arg], memory: &mut Memory, options: &InterpOptions) -> Result<(), Fault> {
        Interpreter::run(&self.module, None, [1, 1, 1], args, memory, options).map_err(|e| e.fault)
    }
}

/// `bits` as a keyword of a custom assembly.
pub fn word(text: &str) -> Attr {
    Attr::Opaque(text.to_owned())
}

/// A row-major tensor of random values.
pub fn random(elem: Type, shape: &[u64], seed: u64) -> Tensor {
    let mut tensor = Tensor::zeros(elem, shape).unwrap();
    tensor.fill_random(seed, -1.0, 1.0);
    tensor
}

/// A row-major tensor of these values.
pub fn tensor(elem: Type, values: &[f64]) -> Tensor {
    let mut tensor = Tensor::zeros(elem, &[values.len() as u64]).unwrap();
    tensor.fill(|i| values[i]);
    tensor
}

/// Runs a kernel that loads `inputs` through pointers, computes tiles from them with `body`, and stores those
/// as `outputs`; returns the outputs.
pub fn apply(
    inputs: &[&Tensor],
    outputs: &[(Type, &[u64])],
    options: &InterpOptions,
    body: impl FnOnce(&mut Kernel, &[ValueId]) -> Vec<ValueId>,
) -> Result<Vec<Tensor>, Fault> {
    let blank: Vec<Tensor> =
        outputs.iter().map(|(ty, shape)| Tensor::zeros(ty.clone(), shape).unwrap()).collect();
    let all: Vec<&Tensor> = inputs.iter().copied().chain(&blank).collect();
    let params: Vec<Type> = all.iter().map(|t| Type::ptr(t.elem().clone())).collect();
    let mut k = Kernel::new("apply", &params);
    let reshape = |k: &mut Kernel, v: ValueId, shape: &[u64]| {
        let ty = k.module.ty(v).elem().clone();
        k.value(Opcode::Reshape, &[v], Type::tensor(shape, ty))
    };
    let mut tiles = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        let base = k.arg(index);
        let at = k.addresses(base, input.len() as u64);
        let flat = k.value(Opcode::Load, &[at], Type::tensor(&[input.len() as u64], input.elem().clone()));
        tiles.push(reshape(&mut k, flat, input.shape()));
    }
    let results = body(&mut k, &tiles);
    for (index, (result, output)) in results.into_iter().zip(&blank).enumerate() {
        let base = k.arg(inputs.len() + index);
        let count = output.len() as u64;
        let at = k.addresses(base, count);
        let flat = reshape(&mut k, result, &[count]);
        k.op(Opcode::Store, &[at, flat], &[], &[]);
    }
    k.end(Opcode::Return, &[]);
    let mut memory = Memory::new();
    let ids: Vec<_> = all.iter().map(|t| memory.upload(t)).collect();
    let args: Vec<Arg> = ids.iter().map(|&id| Arg::ptr(id)).collect();
    k.run(&args, &mut memory, options)?;
    Ok(ids[inputs.len()..].iter().zip(&blank).map(|(&id, t)| memory.download(id, t).unwrap()).collect())
}

/// One element-wise operation on vectors.
pub fn elementwise(
    opcode: Opcode,
    inputs: &[&Tensor],
    out: Type,
    props: &[(&str, Attr)],
) -> Result<Vec<f64>, Fault> {
    let shape = inputs[0].shape().to_vec();
    let outputs = [(out.clone(), &shape[..])];
    let results = apply(inputs, &outputs, &InterpOptions::default(), |k, tiles| {
        vec![k.with(opcode, tiles, Type::tensor(&shape, out), props)]
    })?;
    Ok(results[0].to_f64())
}
