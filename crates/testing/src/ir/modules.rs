//! Valid modules: typed operations on values at hand, nested loops and conditions, operations
//! outside the known dialects with any attributes.

use warploom_ir::{Attr, BlockId, FloatKind, Loc, Module, OpId, Opcode, Shape, Type, ValueId};

use super::attrs::{any_attr, any_dict, any_loc, any_type, number, tile};
use super::choices::Choices;

/// The valid module that these choices make.
pub fn module_of(choices: &mut Choices<'_>) -> Module {
    let mut m = Module::new();
    m.attr_aliases.push(("alias".to_owned(), any_attr(choices, 2)));
    for name in ["here", "there"] {
        let loc = m.locs.push(Loc::File { file: name.to_owned(), line: 1, column: 2 });
        m.loc_aliases.push((name.to_owned(), loc));
    }
    m.leading_loc_aliases = choices.below(3);
    m.ops[m.root].attrs = any_dict(choices, 2);
    let mut maker = Maker { m, choices, values: Vec::new(), block: None, budget: 0 };
    for n in 0..1 + maker.choices.below(3) {
        maker.function(&format!("f{n}"));
    }
    maker.m
}

pub(super) struct Maker<'r, 't> {
    pub(super) m: Module,
    pub(super) choices: &'r mut Choices<'t>,
    /// Values that may be used here.
    pub(super) values: Vec<ValueId>,
    block: Option<BlockId>,
    /// Operations still to make.
    budget: usize,
}

impl Maker<'_, '_> {
    fn function(&mut self, name: &str) {
        let args: Vec<Type> = (0..self.choices.below(6)).map(|_| self.argument_type()).collect();
        let loc = any_loc(&mut self.m, self.choices, 2);
        let func = self.m.create_op(Opcode::Func, &[], &[], loc);
        let body = self.m.body();
        self.m.append(body, func);
        let attrs = args.iter().map(|_| Attr::Dict(any_dict(self.choices, 1))).collect::<Vec<_>>();
        let inputs = args.clone();
        let props = &mut self.m.ops[func].props;
        props.set("sym_name", Attr::string(name));
        props.set("function_type", Attr::Type(Type::Function { inputs, results: Vec::new() }));
        // A list of empty dictionaries is written as none.
        if attrs.iter().any(|a| *a != Attr::Dict(Default::default())) {
            props.set("arg_attrs", Attr::Array(attrs));
        }
        self.m.ops[func].attrs = any_dict(self.choices, 2);
        self.values.clear();
        self.budget = 40;
        self.region(func, &args, |maker| maker.operations());
        let block = self.m.entry(func, 0);
        self.block = block;
        self.op(Opcode::Return, &[], &[]);
    }

    fn argument_type(&mut self) -> Type {
        match self.choices.below(6) {
            0 => Type::I32,
            1 => Type::F32,
            2 => Type::ptr(Type::F32),
            3 => Type::desc(&[16, 32], Type::Float(FloatKind::F16)),
            4 => Type::tensor(&[4, 8], Type::ptr(Type::I32)),
            _ => any_type(self.choices, 2),
        }
    }

    /// A region of an operation with one block, filled by `fill`; values made inside are gone after it.
    pub(super) fn region(&mut self, op: OpId, args: &[Type], fill: impl FnOnce(&mut Self)) {
        let region = self.m.add_region(op);
        let block = self.m.add_block(region);
        let known = self.values.len();
        for ty in args {
            // Custom forms write no location of these arguments.
            let arg = self.m.add_arg(block, ty.clone(), self.m.unknown_loc());
            self.name(arg);
            self.values.push(arg);
        }
        let outer = self.block.replace(block);
        fill(self);
        self.block = outer;
        self.values.truncate(known);
    }

    fn name(&mut self, value: ValueId) {
        let names = ["a", "acc", "x.y", "c0-1", "arg0", "q$"];
        if self.choices.once_in(2) {
            self.m.values[value].name = self.choices.pick(&names).map(|n| n.to_string());
        }
    }

    pub(super) fn op(&mut self, opcode: Opcode, operands: &[ValueId], results: &[Type]) -> OpId {
        let loc = any_loc(&mut self.m, self.choices, 2);
        let op = self.m.create_op(opcode, operands, results, loc);
        if let Some(block) = self.block {
            self.m.append(block, op);
        }
        for value in self.m.ops[op].results.clone() {
            self.name(value);
            self.values.push(value);
        }
        if self.choices.once_in(4) {
            self.m.ops[op].attrs = any_dict(self.choices, 2);
        }
        op
    }

    fn op_with(&mut self, opcode: Opcode, operands: &[ValueId], results: &[Type], props: &[(&str, Attr)]) {
        let op = self.op(opcode, operands, results);
        for (name, attr) in props {
            self.m.ops[op].props.set(*name, attr.clone());
        }
    }

    pub(super) fn operations(&mut self) {
        while self.budget > 0 {
            self.budget -= 1;
            self.any();
            if self.choices.once_in(12) {
                break;
            }
        }
    }

    pub(super) fn pick(&mut self, fits: impl Fn(&Type) -> bool) -> Option<ValueId> {
        let found: Vec<ValueId> = self.values.iter().copied().filter(|v| fits(self.m.ty(*v))).collect();
        self.choices.pick(&found).copied()
    }

    fn any(&mut self) {
        match self.choices.below(16) {
            0 => self.constant(),
            1 => self.loop_(),
            2 => self.condition(),
            3 => self.while_loop(),
            4 => self.unknown(),
            5 => {
                let axis = Attr::Opaque(self.choices.pick(&["x", "y", "z"]).unwrap_or(&"x").to_string());
                self.op_with(Opcode::GetProgramId, &[], &[Type::I32], &[("axis", axis)]);
            }
            6..=8 => self.arithmetic(),
            9..=11 => self.shape(),
            12 => self.memory(),
            13 => self.reduce(),
            14 => self.call(),
            _ => self.dot(),
        }
    }

    fn constant(&mut self) {
        let elem = super::attrs::scalar(self.choices);
        let (value, ty) = if self.choices.once_in(2) {
            let shape: Shape = (0..1 + self.choices.below(3)).map(|_| 1 << self.choices.below(4)).collect();
            let ty = Type::tensor(&shape, elem);
            (tile(self.choices, &ty), ty)
        } else {
            (number(self.choices, &elem), elem)
        };
        self.op_with(Opcode::Constant, &[], &[ty], &[("value", value)]);
    }

    fn arithmetic(&mut self) {
        use Opcode as O;
        let Some(x) = self.pick(|t| !t.is_desc() && matches!(t.elem(), Type::Int(..) | Type::Float(_)))
        else {
            return;
        };
        let ty = self.m.ty(x).clone();
        let y = self.pick(|t| *t == ty).unwrap_or(x);
        let float = matches!(ty.elem(), Type::Float(_));
        let truth = ty.with_elem(Type::I1);
        let word = |word: &str| Attr::Opaque(word.to_owned());
        match (float, self.choices.below(6)) {
            (false, 0 | 1) => {
                let ops =
                    [O::AddI, O::SubI, O::MulI, O::DivSI, O::RemUI, O::AndI, O::ShLI, O::MinSI, O::MaxUI];
                let flags = word("#arith.overflow<nsw, nuw>");
                let opcode = *self.choices.pick(&ops).unwrap_or(&O::AddI);
                match opcode == O::AddI && self.choices.once_in(2) {
                    true => self.op_with(opcode, &[x, y], &[ty], &[("overflowFlags", flags)]),
                    false => self.op_with(opcode, &[x, y], &[ty], &[]),
                }
            }
            (true, 0 | 1) => {
                let ops = [O::AddF, O::SubF, O::MulF, O::DivF, O::MaxNumF, O::MaximumF, O::PreciseDivF];
                let opcode = *self.choices.pick(&ops).unwrap_or(&O::AddF);
                self.op(opcode, &[x, y], &[ty]);
            }
            (false, 2) => self.op_with(O::CmpI, &[x, y], &[truth], &[("predicate", word("slt"))]),
            (true, 2) => self.op_with(O::CmpF, &[x, y], &[truth], &[("predicate", word("une"))]),
            (_, 3) => {
                let choice = self.pick(|t| *t == Type::I1 || *t == truth);
                if let Some(choice) = choice {
                    self.op(O::Select, &[choice, x, y], &[ty]);
                }
            }
            (false, 4) => {
                self.op(O::SIToFP, &[x], &[ty.with_elem(Type::F32)]);
            }
            (true, 4) => {
                let opcode = *self.choices.pick(&[O::Exp, O::Sqrt, O::NegF, O::AbsF]).unwrap_or(&O::Exp);
                self.op_with(opcode, &[x], &[ty], &[("fastmath", word("#arith.fastmath<contract>"))]);
            }
            (true, _) if ty.elem_bits() > Some(16) => {
                let to = ty.with_elem(Type::Float(FloatKind::BF16));
                self.op_with(O::TruncF, &[x], &[to], &[("roundingmode", word("downward"))]);
            }
            (false, _) if ty.elem_bits() < Some(64) => {
                self.op(O::ExtSI, &[x], &[ty.with_elem(Type::I64)]);
            }
            _ => {}
        }
    }

    fn shape(&mut self) {
        use Opcode as O;
        let axis = |n: usize| [("axis", Attr::i32(n as i32))];
        let Some(x) = self.pick(|t| t.is_tensor() || matches!(t, Type::Int(..) | Type::Float(_))) else {
            return;
        };
        let ty = self.m.ty(x).clone();
        let mut shape = Shape::from_slice(ty.shape());
        if !ty.is_tensor() {
            self.op(O::Splat, &[x], &[Type::tensor(&[4, 8], ty)]);
            return;
        }
        let elem = ty.elem().clone();
        match self.choices.below(6) {
            0 if shape.len() < 5 => {
                let at = self.choices.below(shape.len() + 1);
                shape.insert(at, 1);
                self.op_with(O::ExpandDims, &[x], &[Type::tensor(&shape, elem)], &axis(at));
            }
            1 => {
                let grown: Shape = shape.iter().map(|d| if *d == 1 { 2 } else { *d }).collect();
                self.op(O::Broadcast, &[x], &[Type::tensor(&grown, elem)]);
            }
            2 => {
                let flat = Type::tensor(&[ty.elements().unwrap_or(1)], elem);
                self.op_with(O::Reshape, &[x], &[flat], &[("allow_reorder", Attr::Unit)]);
            }
            3 => {
                let order: Vec<i64> = (0..shape.len() as i64).rev().collect();
                shape.reverse();
                let order = Attr::DenseArray { elem: Type::I32, values: order };
                self.op_with(O::Trans, &[x], &[Type::tensor(&shape, elem)], &[("order", order)]);
            }
            4 if shape.last() == Some(&2) && shape.len() > 1 => {
                shape.pop();
                let half = Type::tensor(&shape, elem);
                self.op(O::Split, &[x], &[half.clone(), half]);
            }
            _ if shape.len() < 5 && ty.elements() < Some(4096) => {
                shape.push(2);
                self.op(O::Join, &[x, x], &[Type::tensor(&shape, elem)]);
            }
            _ => {}
        }
    }

    fn memory(&mut self) {
        use Opcode as O;
        if let (Some(desc), Some(at)) = (self.pick(Type::is_desc), self.pick(|t| *t == Type::I32))
            && self.choices.once_in(2)
        {
            let ty = self.m.ty(desc).clone();
            let indices = vec![at; ty.shape().len()];
            if !matches!(ty.elem(), Type::Int(..) | Type::Float(_)) {
                return;
            }
            let tile = Type::tensor(ty.shape(), ty.elem().clone());
            self.op(O::DescriptorLoad, &[&[desc], indices.as_slice()].concat(), std::slice::from_ref(&tile));
            if let Some(value) = self.pick(|t| *t == tile) {
                self.op(O::DescriptorStore, &[&[desc, value], indices.as_slice()].concat(), &[]);
            }
            return;
        }
        let pointee = |t: &Type| match t.elem() {
            Type::Ptr { pointee, .. } if !t.is_desc() => Some(t.with_elem((**pointee).clone())),
            _ => None,
        };
        // A tile of what is itself a tile, or of nothing, is no type.
        let plain = |t: &Type| matches!(pointee(t), Some(v) if matches!(v.elem(), Type::Int(..) | Type::Float(_)) && !v.is_desc());
        let Some(pointer) = self.pick(|t| plain(t)) else { return };
        let ty = self.m.ty(pointer).clone();
        let Some(value) = pointee(&ty) else { return };
        if ty.is_tensor() == value.is_tensor() {
            let mask = self.pick(|t| *t == value.with_elem(Type::I1));
            let operands: Vec<ValueId> = [Some(pointer), mask].into_iter().flatten().collect();
            self.op(O::Load, &operands, std::slice::from_ref(&value));
            if let Some(stored) = self.pick(|t| *t == value) {
                let operands: Vec<ValueId> =
                    [Some(pointer), Some(stored), mask].into_iter().flatten().collect();
                self.op(O::Store, &operands, &[]);
            }
        }
    }

    fn call(&mut self) {
        let Some(callee) = self.m.functions().next() else { return };
        let Some(Attr::Type(Type::Function { inputs, .. })) = self.m.ops[callee].props.get("function_type")
        else {
            return;
        };
        let inputs = inputs.clone();
        let mut operands = Vec::new();
        for ty in &inputs {
            match self.pick(|t| t == ty) {
                Some(value) => operands.push(value),
                None => return,
            }
        }
        self.op_with(Opcode::Call, &operands, &[], &[("callee", Attr::symbol("f0"))]);
    }

    fn dot(&mut self) {
        let square = |t: &Type| matches!(t.shape(), [a, b] if a == b) && t.is_tensor();
        let Some(x) = self.pick(|t| square(t) && matches!(t.elem(), Type::Float(_))) else { return };
        let ty = self.m.ty(x).clone();
        let props =
            [("inputPrecision", Attr::Opaque("tf32".to_owned())), ("maxNumImpreciseAcc", Attr::i32(64))];
        self.op_with(Opcode::Dot, &[x, x, x], &[ty], &props);
    }
}
