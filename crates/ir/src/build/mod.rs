//! Makes kernels from Rust.
//!
//! [`kernel`] gives a [`Builder`] to a closure and returns the verified module. The builder infers types,
//! adds the shape and stride arguments of descriptors as Triton lists them (C10), and shares constants.
//! Wrong types are not refused call by call: [`crate::verify()`] reports all of them at the end.
//!
//! ```
//! use warploom_ir::build::kernel;
//! use warploom_ir::{FloatKind, Type, print};
//!
//! let bf16 = Type::Float(FloatKind::BF16);
//! let module = kernel("matmul", |f| {
//!     let a = f.descriptor("a", &[128, 64], &bf16);
//!     let b = f.descriptor("b", &[256, 64], &bf16);
//!     let c = f.descriptor("c", &[128, 256], &bf16);
//!     let depth = f.argument("K", Type::I32);
//!     let (row, col) = (f.program_offset(0, 128), f.program_offset(1, 256));
//!     let (zero, step, sum) = (f.i32(0), f.i32(64), f.zeros(&[128, 256], &Type::F32));
//!     let [sum] = f.for_loop(zero, depth, step, [sum], |f, k, [sum]| {
//!         let x = f.descriptor_load(a, &[row, k]);
//!         let y = f.descriptor_load(b, &[col, k]);
//!         let y = f.trans(y, &[1, 0]);
//!         [f.dot(x, y, sum)]
//!     });
//!     let sum = f.truncf(sum, &bf16);
//!     f.descriptor_store(c, &[row, col], sum);
//! })?;
//! assert!(print(&module).contains("tt.dot"));
//! # Ok::<(), warploom_ir::Diagnostics>(())
//! ```

mod control;
mod ops;

use std::collections::HashMap;

use crate::attr::{Attr, AttrDict};
use crate::diag::Diagnostics;
use crate::entity::{BlockId, LocId, OpId, ValueId};
use crate::loc::Loc;
use crate::module::Module;
use crate::opcode::Opcode;
use crate::types::{FloatKind, Type};

/// Builds a module with one public function; a `tt.return` is added at the end of the body.
///
/// # Errors
/// What [`crate::verify()`] finds wrong with the result.
pub fn kernel(name: &str, body: impl FnOnce(&mut Builder)) -> Result<Module, Diagnostics> {
    let mut builder = Builder::new(name);
    body(&mut builder);
    builder.finish()
}

/// A function under construction: operations go to the end of the block at hand.
#[derive(Debug)]
pub struct Builder {
    m: Module,
    func: OpId,
    block: BlockId,
    arg_attrs: Vec<AttrDict>,
    /// Constants made so far; they stand at the head of the function.
    constants: HashMap<(String, Type), ValueId>,
    loc: LocId,
}

impl Builder {
    /// An empty public function in an empty module.
    pub fn new(name: &str) -> Builder {
        let mut m = Module::new();
        let loc = m.unknown_loc();
        let func = m.create_op(Opcode::Func, &[], &[], loc);
        let region = m.add_region(func);
        let block = m.add_block(region);
        let body = m.body();
        m.append(body, func);
        let props = &mut m.ops[func].props;
        props.set("sym_visibility", Attr::string("public"));
        props.set("sym_name", Attr::string(name));
        m.ops[func].attrs.set("noinline", Attr::Bool(false));
        Builder { m, func, block, arg_attrs: Vec::new(), constants: HashMap::new(), loc }
    }

    /// The module so far.
    pub fn module(&self) -> &Module {
        &self.m
    }

    /// Operations made from now on come from this place of the kernel's source (line and column from 1).
    pub fn at(&mut self, file: &str, line: u32, column: u32) {
        self.loc = self.m.locs.push(Loc::File { file: file.to_owned(), line, column });
    }

    /// Closes the function and verifies the module.
    ///
    /// # Errors
    /// What [`crate::verify()`] finds wrong.
    pub fn finish(mut self) -> Result<Module, Diagnostics> {
        self.emit(Opcode::Return, &[], &[]);
        let entry = self.entry();
        let inputs = self.m.blocks[entry].args.iter().map(|a| self.m.ty(*a).clone()).collect();
        let props = &mut self.m.ops[self.func].props;
        props.set("function_type", Attr::Type(Type::Function { inputs, results: Vec::new() }));
        if self.arg_attrs.iter().any(|d| !d.is_empty()) {
            let dicts = self.arg_attrs.into_iter().map(Attr::Dict).collect();
            props.set("arg_attrs", Attr::Array(dicts));
        }
        let diags = crate::verify(&self.m);
        if diags.is_empty() { Ok(self.m) } else { Err(diags.into()) }
    }

    fn entry(&self) -> BlockId {
        self.m.entry(self.func, 0).unwrap_or(self.block)
    }

    // ---- arguments ----

    /// One more argument of the function.
    pub fn argument(&mut self, name: &str, ty: Type) -> ValueId {
        self.argument_with(name, ty, AttrDict::new())
    }

    /// A pointer to elements of a type, aligned to 16 bytes.
    pub fn pointer(&mut self, name: &str, pointee: &Type) -> ValueId {
        let attrs = AttrDict::from_iter([("tt.divisibility", Attr::i32(16))]);
        self.argument_with(name, Type::ptr(pointee.clone()), attrs)
    }

    fn argument_with(&mut self, name: &str, ty: Type, attrs: AttrDict) -> ValueId {
        let entry = self.entry();
        let arg = self.m.add_arg(entry, ty, self.loc);
        self.m.values[arg].name = Some(name.to_owned());
        self.arg_attrs.push(attrs);
        arg
    }

    /// A descriptor of blocks of this shape (elements, outermost first). Behind it the function gets the
    /// tensor's shape (`i32` each) and strides (`i64` each), as C10 lists them.
    pub fn descriptor(&mut self, name: &str, block: &[u64], elem: &Type) -> ValueId {
        let desc = self.argument(name, Type::desc(block, elem.clone()));
        for (what, ty) in [("shape", Type::I32), ("stride", Type::I64)] {
            for n in 0..block.len() {
                self.argument(&format!("{name}.{what}.{n}"), ty.clone());
            }
        }
        desc
    }

    // ---- operations ----

    /// An operation at the end of the block at hand, for what has no method of its own. Properties and
    /// regions can be added through [`Builder::module_mut`].
    pub fn emit(&mut self, opcode: Opcode, operands: &[ValueId], results: &[Type]) -> OpId {
        let op = self.m.create_op(opcode, operands, results, self.loc);
        self.m.append(self.block, op);
        op
    }

    /// The module so far, to be changed by hand.
    pub fn module_mut(&mut self) -> &mut Module {
        &mut self.m
    }

    /// The name that a value gets in text.
    pub fn name(&mut self, value: ValueId, name: &str) -> ValueId {
        self.m.values[value].name = Some(name.to_owned());
        value
    }

    fn ty(&self, value: ValueId) -> Type {
        self.m.ty(value).clone()
    }

    /// An operation with one result.
    fn one(&mut self, opcode: Opcode, operands: &[ValueId], ty: Type) -> ValueId {
        let op = self.emit(opcode, operands, &[]);
        self.m.add_result(op, ty)
    }

    fn one_with(
        &mut self,
        opcode: Opcode,
        operands: &[ValueId],
        ty: Type,
        props: &[(&str, Attr)],
    ) -> ValueId {
        let value = self.one(opcode, operands, ty);
        if let Some(op) = self.m.def_op(value) {
            for (name, attr) in props {
                self.m.ops[op].props.set(*name, attr.clone());
            }
        }
        value
    }

    // ---- constants ----

    /// A constant, shared with equal ones and placed at the head of the function.
    pub fn constant(&mut self, name: &str, value: Attr, ty: Type) -> ValueId {
        let key = (format!("{value:?}"), ty.clone());
        if let Some(found) = self.constants.get(&key) {
            return *found;
        }
        let op = self.m.create_op(Opcode::Constant, &[], std::slice::from_ref(&ty), self.loc);
        self.m.ops[op].props.set("value", value);
        let entry = self.entry();
        self.m.insert(entry, self.constants.len(), op);
        let result = self.m.ops[op].results[0];
        self.m.values[result].name = Some(name.to_owned());
        self.constants.insert(key, result);
        result
    }

    /// An `i32`.
    pub fn i32(&mut self, value: i32) -> ValueId {
        self.constant(&format!("c{value}_i32"), Attr::i32(value), Type::I32)
    }

    /// An `i64`.
    pub fn i64(&mut self, value: i64) -> ValueId {
        self.constant(&format!("c{value}_i64"), Attr::i64(value), Type::I64)
    }

    /// A floating-point scalar, rounded to nearest even.
    pub fn float(&mut self, value: f64, kind: FloatKind) -> ValueId {
        let ty = Type::Float(kind);
        self.constant("cst", Attr::Float { bits: kind.encode(value), ty: ty.clone() }, ty)
    }

    /// A tile with the same number everywhere: a float, or an integer where `elem` is one.
    pub fn full(&mut self, shape: &[u64], elem: &Type, value: f64) -> ValueId {
        let number = match elem {
            Type::Float(kind) => Attr::Float { bits: kind.encode(value), ty: elem.clone() },
            _ if *elem == Type::I1 => Attr::Bool(value != 0.0),
            _ => Attr::Int { value: value as i128, ty: elem.clone() },
        };
        let ty = Type::tensor(shape, elem.clone());
        self.constant("cst", Attr::Splat { value: Box::new(number), ty: ty.clone() }, ty)
    }

    /// A tile of zeros.
    pub fn zeros(&mut self, shape: &[u64], elem: &Type) -> ValueId {
        self.full(shape, elem, 0.0)
    }
}
