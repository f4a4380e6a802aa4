//! One method for each operation that kernels use.

use super::Builder;
use crate::attr::Attr;
use crate::entity::ValueId;
use crate::opcode::Opcode;
use crate::types::{Shape, Type};

macro_rules! elementwise {
    (unary: $($(#[$doc:meta])* $name:ident = $opcode:ident;)*) => {
        $($(#[$doc])* pub fn $name(&mut self, x: ValueId) -> ValueId {
            self.like_first(Opcode::$opcode, &[x])
        })*
    };
    (binary: $($(#[$doc:meta])* $name:ident = $opcode:ident;)*) => {
        $($(#[$doc])* pub fn $name(&mut self, x: ValueId, y: ValueId) -> ValueId {
            self.like_first(Opcode::$opcode, &[x, y])
        })*
    };
    (cast: $($(#[$doc:meta])* $name:ident = $opcode:ident;)*) => {
        $($(#[$doc])* pub fn $name(&mut self, x: ValueId, elem: &Type) -> ValueId {
            let ty = self.ty(x).with_elem(elem.clone());
            self.one(Opcode::$opcode, &[x], ty)
        })*
    };
}

impl Builder {
    fn like_first(&mut self, opcode: Opcode, operands: &[ValueId]) -> ValueId {
        let ty = operands.first().map_or(Type::None, |x| self.ty(*x));
        self.one(opcode, operands, ty)
    }

    elementwise! { binary:
        /// `arith.addi`
        addi = AddI;
        /// `arith.subi`
        subi = SubI;
        /// `arith.muli`
        muli = MulI;
        /// `arith.divsi`
        divsi = DivSI;
        /// `arith.remsi`
        remsi = RemSI;
        /// `arith.minsi`
        minsi = MinSI;
        /// `arith.maxsi`
        maxsi = MaxSI;
        /// `arith.andi`
        andi = AndI;
        /// `arith.ori`
        ori = OrI;
        /// `arith.xori`
        xori = XOrI;
        /// `arith.addf`
        addf = AddF;
        /// `arith.subf`
        subf = SubF;
        /// `arith.mulf`
        mulf = MulF;
        /// `arith.divf`
        divf = DivF;
        /// `arith.maxnumf`: a NaN operand is dropped
        maxnumf = MaxNumF;
        /// `arith.minnumf`: a NaN operand is dropped
        minnumf = MinNumF;
    }

    elementwise! { unary:
        /// `arith.negf`
        negf = NegF;
        /// `math.exp`
        exp = Exp;
        /// `math.exp2`
        exp2 = Exp2;
        /// `math.log`
        log = Log;
        /// `math.log2`
        log2 = Log2;
        /// `math.sqrt`
        sqrt = Sqrt;
        /// `math.rsqrt`
        rsqrt = Rsqrt;
        /// `math.erf`
        erf = Erf;
        /// `math.absf`
        absf = AbsF;
    }

    elementwise! { cast:
        /// `arith.truncf` to elements of a narrower float type
        truncf = TruncF;
        /// `arith.extf` to elements of a wider float type
        extf = ExtF;
        /// `arith.sitofp`
        sitofp = SIToFP;
        /// `arith.fptosi`
        fptosi = FPToSI;
        /// `arith.extsi`
        extsi = ExtSI;
        /// `arith.trunci`
        trunci = TruncI;
    }

    /// `arith.cmpi`: `predicate` is one of `eq ne slt sle sgt sge ult ule ugt uge`.
    pub fn cmpi(&mut self, predicate: &str, x: ValueId, y: ValueId) -> ValueId {
        self.compare(Opcode::CmpI, predicate, x, y)
    }

    /// `arith.cmpf`: `predicate` is one of `oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno`.
    pub fn cmpf(&mut self, predicate: &str, x: ValueId, y: ValueId) -> ValueId {
        self.compare(Opcode::CmpF, predicate, x, y)
    }

    fn compare(&mut self, opcode: Opcode, predicate: &str, x: ValueId, y: ValueId) -> ValueId {
        let ty = self.ty(x).with_elem(Type::I1);
        self.one_with(opcode, &[x, y], ty, &[("predicate", Attr::Opaque(predicate.to_owned()))])
    }

    /// `arith.select`
    pub fn select(&mut self, condition: ValueId, then: ValueId, other: ValueId) -> ValueId {
        let ty = self.ty(then);
        self.one(Opcode::Select, &[condition, then, other], ty)
    }

    // ---- the grid ----

    fn axis(number: usize) -> Attr {
        Attr::Opaque(["x", "y", "z"].get(number).unwrap_or(&"?").to_string())
    }

    /// `tt.get_program_id` along axis 0, 1 or 2.
    pub fn program_id(&mut self, axis: usize) -> ValueId {
        self.one_with(Opcode::GetProgramId, &[], Type::I32, &[("axis", Self::axis(axis))])
    }

    /// `tt.get_num_programs` along axis 0, 1 or 2.
    pub fn num_programs(&mut self, axis: usize) -> ValueId {
        self.one_with(Opcode::GetNumPrograms, &[], Type::I32, &[("axis", Self::axis(axis))])
    }

    /// Where this program's tile begins: its number along an axis times the extent of the tile.
    pub fn program_offset(&mut self, axis: usize, extent: i32) -> ValueId {
        let program = self.program_id(axis);
        let extent = self.i32(extent);
        self.muli(program, extent)
    }

    // ---- shapes ----

    /// `tt.make_range`: the numbers `start .. end` as `i32`.
    pub fn make_range(&mut self, start: i32, end: i32) -> ValueId {
        let extent = u64::try_from(i64::from(end) - i64::from(start)).unwrap_or(0);
        let props = [("end", Attr::i32(end)), ("start", Attr::i32(start))];
        self.one_with(Opcode::MakeRange, &[], Type::tensor(&[extent], Type::I32), &props)
    }

    /// `tt.splat` of a scalar to a tile of this shape.
    pub fn splat(&mut self, x: ValueId, shape: &[u64]) -> ValueId {
        let ty = Type::tensor(shape, self.ty(x));
        self.one(Opcode::Splat, &[x], ty)
    }

    /// `tt.broadcast` of extents 1 to this shape.
    pub fn broadcast(&mut self, x: ValueId, shape: &[u64]) -> ValueId {
        let ty = Type::tensor(shape, self.ty(x).elem().clone());
        self.one(Opcode::Broadcast, &[x], ty)
    }

    /// `tt.expand_dims`: a new extent 1 before dimension `axis`.
    pub fn expand_dims(&mut self, x: ValueId, axis: usize) -> ValueId {
        let old = self.ty(x);
        let mut shape = Shape::from_slice(old.shape());
        shape.insert(axis.min(shape.len()), 1);
        let ty = Type::tensor(&shape, old.elem().clone());
        let number = i32::try_from(axis).unwrap_or(i32::MAX);
        self.one_with(Opcode::ExpandDims, &[x], ty, &[("axis", Attr::i32(number))])
    }

    /// `tt.reshape`, row-major.
    pub fn reshape(&mut self, x: ValueId, shape: &[u64]) -> ValueId {
        let ty = Type::tensor(shape, self.ty(x).elem().clone());
        self.one(Opcode::Reshape, &[x], ty)
    }

    /// `tt.trans`: dimension n of the result is dimension `order[n]` of the operand.
    pub fn trans(&mut self, x: ValueId, order: &[u32]) -> ValueId {
        let old = self.ty(x);
        let shape: Shape = order.iter().map(|n| old.shape().get(*n as usize).copied().unwrap_or(0)).collect();
        let ty = Type::tensor(&shape, old.elem().clone());
        let values = order.iter().map(|n| i64::from(*n)).collect();
        let order = Attr::DenseArray { elem: Type::I32, values };
        self.one_with(Opcode::Trans, &[x], ty, &[("order", order)])
    }

    // ---- memory ----

    /// `tt.descriptor_load` of the block at these indices (elements), in the shape of the block.
    pub fn descriptor_load(&mut self, desc: ValueId, indices: &[ValueId]) -> ValueId {
        let ty = self.ty(desc);
        // Descriptors may name a sign that tiles do not carry (C4).
        let elem = match ty.elem() {
            Type::Int(bits, _) => Type::int(*bits),
            other => other.clone(),
        };
        let operands: Vec<ValueId> = [desc].into_iter().chain(indices.iter().copied()).collect();
        self.one(Opcode::DescriptorLoad, &operands, Type::tensor(ty.shape(), elem))
    }

    /// `tt.descriptor_store` of a tile at these indices (elements).
    pub fn descriptor_store(&mut self, desc: ValueId, indices: &[ValueId], tile: ValueId) {
        let operands: Vec<ValueId> = [desc, tile].into_iter().chain(indices.iter().copied()).collect();
        self.emit(Opcode::DescriptorStore, &operands, &[]);
    }

    /// `tt.addptr`: a pointer or tile of pointers moved by elements.
    pub fn addptr(&mut self, pointer: ValueId, offset: ValueId) -> ValueId {
        self.like_first(Opcode::AddPtr, &[pointer, offset])
    }

    /// `tt.load` through a pointer or tile of pointers, where `mask` is true if there is one.
    pub fn load(&mut self, pointer: ValueId, mask: Option<ValueId>, other: Option<ValueId>) -> ValueId {
        let ty = self.ty(pointer);
        let ty = match ty.elem() {
            Type::Ptr { pointee, .. } => ty.with_elem((**pointee).clone()),
            _ => Type::None,
        };
        let operands: Vec<ValueId> = [Some(pointer), mask, other].into_iter().flatten().collect();
        self.one(Opcode::Load, &operands, ty)
    }

    /// `tt.store` through a pointer or tile of pointers, where `mask` is true if there is one.
    pub fn store(&mut self, pointer: ValueId, value: ValueId, mask: Option<ValueId>) {
        let operands: Vec<ValueId> = [Some(pointer), Some(value), mask].into_iter().flatten().collect();
        self.emit(Opcode::Store, &operands, &[]);
    }

    // ---- products ----

    /// `tt.dot`: `sum + x * y`, f32 inputs in tf32.
    pub fn dot(&mut self, x: ValueId, y: ValueId, sum: ValueId) -> ValueId {
        let ty = self.ty(sum);
        let precision = Attr::Opaque("tf32".to_owned());
        self.one_with(Opcode::Dot, &[x, y, sum], ty, &[("inputPrecision", precision)])
    }
}
