//! Operations that move elements, fold them, and multiply matrices.

use super::maker::{LARGEST, Maker};
use super::values::{Elem, Value, ty};

impl Maker<'_, '_> {
    fn tile(&mut self) -> Option<Value> {
        self.pick(|v| !v.shape.is_empty())
    }

    pub fn rearranged(&mut self) {
        let Some(x) = self.pick(|_| true) else { return };
        let (name, own, elements) = (&x.name, x.ty(), x.elements());
        let mut shape = x.shape.clone();
        let to = |shape: &[u64]| ty(x.elem.name(), shape);
        if shape.is_empty() {
            let shape = self.shape();
            self.value(format!("tt.splat {name} : {own} -> {}", to(&shape)), x.elem, &shape, x.most);
            return;
        }
        match self.choices.below(9) {
            0 => {
                let at = self.choices.below(shape.len() + 1);
                shape.insert(at, 1);
                let what = format!("tt.expand_dims {name} {{axis = {at} : i32}} : {own} -> {}", to(&shape));
                self.value(what, x.elem, &shape, x.most);
            }
            1 => {
                let grown: Vec<u64> = shape.iter().map(|&n| if n == 1 { 4 } else { n }).collect();
                if grown != shape && grown.iter().product::<u64>() <= LARGEST {
                    let what = format!("tt.broadcast {name} : {own} -> {}", to(&grown));
                    self.value(what, x.elem, &grown, x.most);
                }
            }
            2 | 3 => {
                let mut bits = elements.trailing_zeros() as usize;
                let mut new = Vec::new();
                for _ in 0..self.choices.below(4) {
                    let one = self.choices.below(bits + 1);
                    new.push(1 << one);
                    bits -= one;
                }
                new.push(1 << bits);
                self.value(format!("tt.reshape {name} : {own} -> {}", to(&new)), x.elem, &new, x.most);
            }
            4 if shape.len() > 1 => {
                let mut order: Vec<usize> = (0..shape.len()).collect();
                let turn = 1 + self.choices.below(shape.len() - 1);
                order.rotate_left(turn);
                if self.choices.once_in(2) {
                    order.swap(0, 1);
                }
                let new: Vec<u64> = order.iter().map(|&d| shape[d]).collect();
                let list: Vec<String> = order.iter().map(usize::to_string).collect();
                let what = format!(
                    "tt.trans {name} {{order = array<i32: {}>}} : {own} -> {}",
                    list.join(", "),
                    to(&new)
                );
                self.value(what, x.elem, &new, x.most);
            }
            5 if elements < LARGEST => {
                let y = self.peer(&x);
                shape.push(2);
                let what = format!("tt.join {name}, {} : {own} -> {}", y.name, to(&shape));
                self.value(what, x.elem, &shape, x.most.max(y.most));
            }
            6 if elements < LARGEST && shape.len() == 1 => {
                let y = self.peer(&x);
                let new = [2 * elements];
                let what = format!("tt.cat {name}, {} : {own} -> {}", y.name, to(&new));
                self.value(what, x.elem, &new, x.most.max(y.most));
            }
            7 if elements == 1 => {
                self.value(format!("tt.unsplat {name} : {own}"), x.elem, &[], x.most);
            }
            _ if shape.len() > 1 && shape.last() == Some(&2) => {
                shape.pop();
                let (left, right) = (self.fresh(), self.fresh());
                self.name(&format!("{left}, {right} = tt.split {name} : {own} -> {}", to(&shape)));
                for name in [left, right] {
                    self.values.push(Value { name, shape: shape.clone(), ..x.clone() });
                }
            }
            _ => {}
        }
    }

    /// The body of a reduction or a scan of one tile, and the bound of its result.
    fn clause(&mut self, x: &Value, length: u64) -> Option<(String, u64)> {
        let ops: &[&str] = match x.elem {
            Elem::I1 => &["andi", "ori", "xori"],
            _ if x.elem.float() && x.most.saturating_mul(length) <= x.elem.exact() => {
                &["addf", "maxnumf", "minimumf"]
            }
            _ if x.elem.float() => &["maxnumf", "minimumf", "maximumf"],
            _ => &["addi", "maxsi", "xori", "muli", "minui"],
        };
        let op = *self.choices.pick(ops)?;
        let most = match (x.elem.float(), op) {
            (true, "addf") => x.most * length,
            (true, _) => x.most,
            _ if x.elem == Elem::I1 => 1,
            _ => u64::MAX,
        };
        Some((format!("arith.{op} %a, %b : {}", x.elem.name()), most))
    }

    pub fn reduced(&mut self) {
        let Some(x) = self.tile() else { return };
        let axis = self.choices.below(x.shape.len());
        let mut shape = x.shape.clone();
        let length = shape.remove(axis);
        if x.elem.int() && self.choices.once_in(3) {
            return self.place_of_largest(&x, axis, &shape);
        }
        let Some((clause, most)) = self.clause(&x, length) else { return };
        let elem = x.elem.name();
        let what = format!(
            "\"tt.reduce\"({}) <{{axis = {axis} : i32}}> ({{\n    ^bb0(%a: {elem}, %b: {elem}):\n      %c = {clause}\n      \
             tt.reduce.return %c : {elem}\n    }}) : ({}) -> {}",
            x.name,
            x.ty(),
            ty(elem, &shape)
        );
        self.value(what, x.elem, &shape, most);
    }

    /// The largest element and where it stands first.
    fn place_of_largest(&mut self, x: &Value, axis: usize, shape: &[u64]) {
        let (length, elem) = (x.shape[axis], x.elem.name());
        let line = ty("i32", &[length]);
        let mut place = self.put(format!("tt.make_range {{end = {length} : i32, start = 0 : i32}} : {line}"));
        let ones: Vec<u64> = (0..x.shape.len()).map(|d| if d == axis { length } else { 1 }).collect();
        if ones.len() > 1 {
            place = self.put(format!("tt.reshape {place} : {line} -> {}", ty("i32", &ones)));
            if ones != x.shape {
                let (from, to) = (ty("i32", &ones), ty("i32", &x.shape));
                place = self.put(format!("tt.broadcast {place} : {from} -> {to}"));
            }
        }
        let (left, tiles) = (self.fresh(), ty("i32", &x.shape));
        self.name(&format!(
            "{left}:2 = \"tt.reduce\"({}, {place}) <{{axis = {axis} : i32}}> ({{\n    ^bb0(%a: {elem}, %i: i32, %b: {elem}, \
             %j: i32):\n      %eq = arith.cmpi eq, %a, %b : {elem}\n      %lt = arith.cmpi slt, %i, %j : i32\n      %tie = \
             arith.andi %eq, %lt : i1\n      %gt = arith.cmpi sgt, %a, %b : {elem}\n      %left = arith.ori %gt, %tie : \
             i1\n      %c = arith.select %left, %a, %b : {elem}\n      %k = arith.select %left, %i, %j : i32\n      \
             tt.reduce.return %c, %k : {elem}, i32\n    }}) : ({}, {tiles}) -> ({}, {})",
            x.name,
            x.ty(),
            ty(elem, shape),
            ty("i32", shape)
        ));
        let (shape, name) = (shape.to_vec(), left.clone());
        self.values.push(Value { name: name + "#0", elem: x.elem, shape: shape.clone(), most: x.most });
        self.values.push(Value { name: left + "#1", elem: Elem::I32, shape, most: length });
    }

    pub fn scanned(&mut self) {
        let Some(x) = self.tile() else { return };
        let axis = self.choices.below(x.shape.len());
        let Some((clause, most)) = self.clause(&x, x.shape[axis]) else { return };
        let (reverse, elem, own) = (self.choices.once_in(2), x.elem.name(), x.ty());
        let flags = format!("<{{axis = {axis} : i32, reverse = {reverse}}}>");
        let y = self.peer(&x);
        if x.elem.int() && self.choices.once_in(3) {
            // x' = y x + ..: associative, and no two may change places.
            let both = self.fresh();
            self.name(&format!(
                "{both}:2 = \"tt.scan\"({}, {}) {flags} ({{\n    ^bb0(%a: {elem}, %i: {elem}, %b: {elem}, %j: {elem}):\n      \
                 %c = arith.muli %a, %b : {elem}\n      %s = arith.muli %b, %i : {elem}\n      %k = arith.addi %s, %j : \
                 {elem}\n      tt.scan.return %c, %k : {elem}, {elem}\n    }}) : ({own}, {own}) -> ({own}, {own})",
                x.name, y.name
            ));
            for n in 0..2 {
                let name = format!("{both}#{n}");
                self.values.push(Value { name, elem: x.elem, shape: x.shape.clone(), most: u64::MAX });
            }
            return;
        }
        let what = format!(
            "\"tt.scan\"({}) {flags} ({{\n    ^bb0(%a: {elem}, %b: {elem}):\n      %c = {clause}\n      tt.scan.return %c : \
             {elem}\n    }}) : ({own}) -> {own}",
            x.name
        );
        self.value(what, x.elem, &x.shape, most);
    }

    pub fn gathered(&mut self) {
        let Some(x) = self.tile() else { return };
        let axis = self.choices.below(x.shape.len());
        let length = x.shape[axis];
        let Some(at) = self.pick(|v| v.elem == Elem::I32 && !v.shape.is_empty() && v.shape == x.shape) else {
            return self.counted();
        };
        let mask = self.constant(length as i64 - 1, Elem::I32, &at.shape);
        let at_ty = at.ty();
        let place = self.put(format!("arith.andi {}, {mask} : {at_ty}", at.name));
        let own = x.ty();
        let what =
            format!("tt.gather {}[{place}] {{axis = {axis} : i32}} : ({own}, {at_ty}) -> {own}", x.name);
        self.value(what, x.elem, &x.shape, x.most);
    }

    fn counted(&mut self) {
        let Some(x) = self.pick(|v| v.elem == Elem::I32 && v.shape.len() == 1) else { return };
        let bins = 1 << (1 + self.choices.below(6));
        let mask = self.constant(bins - 1, Elem::I32, &x.shape);
        let low = self.put(format!("arith.andi {}, {mask} : {}", x.name, x.ty()));
        let to = [bins as u64];
        let some = self.pick(|v| v.elem == Elem::I1 && v.shape == x.shape);
        let what = match some {
            Some(some) => format!("tt.histogram {low}, {} : {} -> {}", some.name, x.ty(), ty("i32", &to)),
            None => format!("tt.histogram {low} : {} -> {}", x.ty(), ty("i32", &to)),
        };
        self.value(what, Elem::I32, &to, x.elements());
    }

    /// A product of matrices of small numbers.
    pub fn product(&mut self) {
        let sides = [16, 32, 64];
        let [m, n, k] = [0; 3].map(|_| *self.choices.pick(&sides).unwrap_or(&16));
        let (elem, into) = *self
            .choices
            .pick(&[("f16", Elem::F32), ("bf16", Elem::F32), ("i8", Elem::I32), ("f32", Elem::F32)])
            .unwrap_or(&("f16", Elem::F32));
        let (a, b) = (self.matrix(elem, [m, k]), self.matrix(elem, [k, n]));
        let shape = [m, n];
        let most = 64 * k;
        let before = self.pick(|v| v.elem == into && v.shape == shape && (!into.float() || v.most < 1 << 20));
        let (before, sum) = match before {
            Some(v) => (v.name, if into.float() { v.most + most } else { u64::MAX }),
            None => (self.constant(0, into, &shape), most),
        };
        let types = format!("{} * {} -> {}", ty(elem, &[m, k]), ty(elem, &[k, n]), ty(into.name(), &shape));
        self.value(format!("tt.dot {a}, {b}, {before}, inputPrecision = tf32 : {types}"), into, &shape, sum);
    }

    /// A matrix of numbers between -8 and 7: loaded, or what is at hand.
    fn matrix(&mut self, elem: &str, shape: [u64; 2]) -> String {
        let known = self.pick(|v| v.elem.name() == elem && v.shape == shape && v.most <= 8);
        if let (Some(known), true) = (known, self.choices.once_in(2)) {
            return known.name;
        }
        let bytes = self.loaded(1, &shape).name;
        let own = ty("i8", &shape);
        let (mask, eight) = (self.constant(15, Elem::I8, &shape), self.constant(8, Elem::I8, &shape));
        let low = self.put(format!("arith.andi {bytes}, {mask} : {own}"));
        let near = self.put(format!("arith.subi {low}, {eight} : {own}"));
        match elem {
            "i8" => near,
            _ => self.put(format!("arith.sitofp {near} : {own} to {}", ty(elem, &shape))),
        }
    }
}
