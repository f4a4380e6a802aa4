//! Operations of one element each.

use super::maker::Maker;
use super::values::{Elem, Value, ty};

impl Maker<'_, '_> {
    pub fn integers(&mut self) {
        let Some(x) = self.pick(|v| !v.elem.float()) else { return };
        let y = self.peer(&x);
        let (own, a, b) = (x.ty(), &x.name, &y.name);
        let made = |m: &mut Self, what: String, most: u64| m.value(what, x.elem, &x.shape, most);
        if x.elem == Elem::I1 {
            let op = *self.choices.pick(&["andi", "ori", "xori"]).unwrap_or(&"andi");
            made(self, format!("arith.{op} {a}, {b} : {own}"), 1);
            return;
        }
        match self.choices.below(8) {
            0..=3 => {
                let ops = [
                    "addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui",
                    "muli", "addi",
                ];
                let op = *self.choices.pick(&ops).unwrap_or(&"addi");
                made(self, format!("arith.{op} {a}, {b} : {own}"), u64::MAX);
            }
            4 => {
                let width = self.constant(x.elem.bits() as i64 - 1, x.elem, &x.shape);
                let by = self.put(format!("arith.andi {b}, {width} : {own}"));
                let op = *self.choices.pick(&["shli", "shrsi", "shrui"]).unwrap_or(&"shli");
                made(self, format!("arith.{op} {a}, {by} : {own}"), u64::MAX);
            }
            5 => {
                // A positive divisor: no trap, no overflow.
                let (low, one) = (self.constant(63, x.elem, &x.shape), self.constant(1, x.elem, &x.shape));
                let low = self.put(format!("arith.andi {b}, {low} : {own}"));
                let by = self.put(format!("arith.ori {low}, {one} : {own}"));
                let op = *self.choices.pick(&["divsi", "remsi", "divui", "remui"]).unwrap_or(&"divsi");
                made(self, format!("arith.{op} {a}, {by} : {own}"), u64::MAX);
            }
            6 if matches!(x.elem, Elem::I32 | Elem::I64) => {
                made(self, format!("tt.mulhiui {a}, {b} : {own}"), u64::MAX);
            }
            6 => {
                made(self, format!("math.absi {a} : {own}"), u64::MAX);
            }
            _ => {
                let mask = self.constant(15, x.elem, &x.shape);
                made(self, format!("arith.andi {a}, {mask} : {own}"), 15);
            }
        }
    }

    /// A number of floating point, small enough to be exact.
    pub fn small_float(&mut self) -> Option<Value> {
        if let Some(value) = self.pick(|v| v.elem.float())
            && !self.choices.once_in(4)
        {
            return Some(value);
        }
        let x = self.pick(|v| v.elem.int())?;
        let (eight, mask) = (self.constant(8, x.elem, &x.shape), self.constant(15, x.elem, &x.shape));
        let low = self.put(format!("arith.andi {}, {mask} : {}", x.name, x.ty()));
        let near = self.put(format!("arith.subi {low}, {eight} : {}", x.ty()));
        let elem = *self.choices.pick(&Elem::FLOATS).unwrap_or(&Elem::F32);
        let what = format!("arith.sitofp {near} : {} to {}", x.ty(), ty(elem.name(), &x.shape));
        Some(self.value(what, elem, &x.shape, 8))
    }

    pub fn floats(&mut self) {
        let Some(x) = self.small_float() else { return };
        let (y, z) = (self.peer(&x), self.peer(&x));
        let (own, a, b) = (x.ty(), &x.name, &y.name);
        let (sum, product) = (x.most.saturating_add(y.most), x.most.saturating_mul(y.most));
        let larger = x.most.max(y.most);
        let (what, most) = match self.choices.below(11) {
            0 => (format!("arith.addf {a}, {b} : {own}"), sum),
            1 => (format!("arith.subf {a}, {b} : {own}"), sum),
            2 => (format!("arith.mulf {a}, {b} : {own}"), product),
            3 => (format!("arith.negf {a} : {own}"), x.most),
            4 => (format!("math.absf {a} : {own}"), x.most),
            5 => (format!("arith.maxnumf {a}, {b} : {own}"), larger),
            6 => (format!("arith.minimumf {a}, {b} : {own}"), larger),
            7 => (format!("arith.maximumf {a}, {b} : {own}"), larger),
            8 => (format!("math.fma {a}, {b}, {} : {own}", z.name), product.saturating_add(z.most)),
            9 if matches!(x.elem, Elem::F32 | Elem::F64) => (format!("math.floor {a} : {own}"), x.most),
            _ => (format!("arith.minnumf {a}, {b} : {own}"), larger),
        };
        if most <= x.elem.exact() {
            self.value(what, x.elem, &x.shape, most);
        }
    }

    pub fn compared(&mut self) {
        let Some(x) = self.pick(|v| v.elem != Elem::I1) else { return };
        let y = self.peer(&x);
        let kinds = match x.elem.float() {
            true => ["olt", "oge", "une", "ueq", "ogt", "ole", "oeq", "uge"],
            false => ["slt", "sge", "ne", "ult", "eq", "ugt", "sle", "uge"],
        };
        let (op, kind) =
            (if x.elem.float() { "cmpf" } else { "cmpi" }, *self.choices.pick(&kinds).unwrap_or(&"eq"));
        self.value(format!("arith.{op} {kind}, {}, {} : {}", x.name, y.name, x.ty()), Elem::I1, &x.shape, 1);
    }

    pub fn chosen(&mut self) {
        let Some(x) = self.pick(|_| true) else { return };
        let y = self.peer(&x);
        let Some(by) = self.pick(|v| v.elem == Elem::I1 && (v.shape == x.shape || v.shape.is_empty())) else {
            return self.compared();
        };
        let types = if by.shape == x.shape { format!("{}, {}", by.ty(), x.ty()) } else { x.ty() };
        let types = if x.shape.is_empty() { x.ty() } else { types };
        let what = format!("arith.select {}, {}, {} : {types}", by.name, x.name, y.name);
        self.value(what, x.elem, &x.shape, x.most.max(y.most));
    }

    pub fn converted(&mut self) {
        let Some(x) = self.pick(|_| true) else { return };
        let all = [
            Elem::I32,
            Elem::I8,
            Elem::I16,
            Elem::I64,
            Elem::F32,
            Elem::F16,
            Elem::BF16,
            Elem::F64,
            Elem::I1,
        ];
        let to = *self.choices.pick(&all).unwrap_or(&Elem::I32);
        let unsigned = self.choices.once_in(3);
        let op = match (x.elem.float(), to.float()) {
            (false, false) if to.bits() < x.elem.bits() => "trunci",
            (false, false) if to.bits() > x.elem.bits() && unsigned => "extui",
            (false, false) if to.bits() > x.elem.bits() => "extsi",
            (true, true) if to.bits() < x.elem.bits() && x.most <= to.exact() => "truncf",
            (true, true) if to.bits() > x.elem.bits() => "extf",
            // Truth is 1 or, with a sign, -1.
            (false, true) if x.elem == Elem::I1 && unsigned => "uitofp",
            (false, true) if x.most <= to.exact().min(1 << (x.elem.bits() - 1)) => "sitofp",
            (true, false) if to.int() && x.most < 1 << (to.bits() - 1) => "fptosi",
            _ => return,
        };
        let most = match op {
            _ if to == Elem::I1 => 1,
            "trunci" if x.most >= 1 << (to.bits() - 1) => u64::MAX,
            "extui" if x.elem != Elem::I1 => u64::MAX,
            _ => x.most,
        };
        let what = format!("arith.{op} {} : {} to {}", x.name, x.ty(), ty(to.name(), &x.shape));
        self.value(what, to, &x.shape, most);
    }
}
