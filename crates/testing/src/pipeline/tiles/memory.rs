//! Loads, stores, what is stored and loaded again, atomic updates.

use super::maker::{INPUT, Maker};
use super::values::{Elem, Value, ty};

impl Maker<'_, '_> {
    /// The number of each element of a tile, row by row, or with its dimensions turned.
    fn places(&mut self, shape: &[u64], turned: bool) -> String {
        let mut strides = vec![1; shape.len()];
        let mut order: Vec<usize> = (0..shape.len()).rev().collect();
        if turned {
            order.reverse();
        }
        let mut stride = 1;
        for d in order {
            strides[d] = stride;
            stride *= shape[d];
        }
        let own = ty("i32", shape);
        let mut sum: Option<String> = None;
        for (d, &length) in shape.iter().enumerate() {
            let line = ty("i32", &[length]);
            let mut part =
                self.put(format!("tt.make_range {{end = {length} : i32, start = 0 : i32}} : {line}"));
            if shape.len() > 1 {
                let thin: Vec<u64> = (0..shape.len()).map(|e| if e == d { length } else { 1 }).collect();
                part = self.put(format!("tt.reshape {part} : {line} -> {}", ty("i32", &thin)));
                if thin != shape {
                    part = self.put(format!("tt.broadcast {part} : {} -> {own}", ty("i32", &thin)));
                }
            }
            if strides[d] > 1 {
                let by = self.constant(strides[d] as i64, Elem::I32, shape);
                part = self.put(format!("arith.muli {part}, {by} : {own}"));
            }
            sum = Some(match sum {
                None => part,
                Some(sum) => self.put(format!("arith.addi {sum}, {part} : {own}")),
            });
        }
        sum.unwrap_or_default()
    }

    /// Pointers from a base, at places.
    fn pointers(&mut self, base: &str, elem: Elem, shape: &[u64], places: &str) -> String {
        let pointer = format!("!tt.ptr<{}>", elem.name());
        let own = ty(&pointer, shape);
        let bases = self.put(format!("tt.splat {base} : {pointer} -> {own}"));
        self.put(format!("tt.addptr {bases}, {places} : {own}, {}", ty("i32", shape)))
    }

    /// A tile of what lies behind the pointer to a type, from some place on.
    pub fn loaded(&mut self, kind: usize, shape: &[u64]) -> Value {
        let elem = Elem::INTS[kind];
        let (elements, turned) = (shape.iter().product::<u64>(), self.choices.once_in(3));
        let most = INPUT as u64 - elements;
        let from = (self.choices.below(256) as u64 * 8).min(most);
        let offset = self.constant(from as i64, Elem::I32, &[]);
        let base = self.put(format!("tt.addptr %in{kind}, {offset} : !tt.ptr<{}>, i32", elem.name()));
        let places = self.places(shape, turned);
        let at = self.pointers(&base, elem, shape, &places);
        let of = ty(&format!("!tt.ptr<{}>", elem.name()), shape);
        let mask = self.pick(|v| v.elem == Elem::I1 && v.shape == shape);
        match mask {
            Some(mask) => {
                let other = self.pick(|v| v.elem == elem && v.shape == shape);
                let other = match other {
                    Some(other) => other.name,
                    None => self.constant(5, elem, shape),
                };
                self.value(format!("tt.load {at}, {}, {other} : {of}", mask.name), elem, shape, u64::MAX)
            }
            None => self.value(format!("tt.load {at} : {of}"), elem, shape, u64::MAX),
        }
    }

    /// A load of any shape, or of one number.
    pub fn load(&mut self) {
        let kind = self.choices.below(4);
        if self.choices.once_in(6) {
            let elem = Elem::INTS[kind];
            let at = self.put(format!("tt.addptr %in{kind}, %few : !tt.ptr<{}>, i32", elem.name()));
            self.value(format!("tt.load {at} : !tt.ptr<{}>", elem.name()), elem, &[], u64::MAX);
            return;
        }
        let shape = match self.pick(|v| !v.shape.is_empty()) {
            Some(known) if self.choices.once_in(2) => known.shape,
            _ => self.shape(),
        };
        self.loaded(kind, &shape);
    }

    /// A value as a tile of integers.
    fn integral(&mut self, value: &Value) -> Value {
        let mut value = value.clone();
        let to = match value.elem {
            Elem::I1 => Some(("extui", Elem::I8)),
            Elem::F64 => Some(("fptosi", Elem::I64)),
            elem if elem.float() => Some(("fptosi", Elem::I32)),
            _ => None,
        };
        if let Some((op, elem)) = to {
            let types = format!("{} to {}", value.ty(), ty(elem.name(), &value.shape));
            value.name = self.put(format!("arith.{op} {} : {types}", value.name));
            value.elem = elem;
        }
        if value.shape.is_empty() {
            value.name = self.put(format!(
                "tt.splat {} : {} -> {}",
                value.name,
                value.ty(),
                ty(value.elem.name(), &[4])
            ));
            value.shape = vec![4];
        }
        value
    }

    /// Room for a tile behind the pointer to results of its type: the number of the type, and the base.
    fn room(&mut self, value: &Value) -> (usize, String) {
        let kind = Elem::INTS.iter().position(|&e| e == value.elem).unwrap_or(0);
        let offset = self.constant(self.written[kind] as i64, Elem::I32, &[]);
        // Some tiles begin where none of their vectors would be aligned.
        let pad = if self.choices.once_in(8) { 3 } else { 0 };
        self.written[kind] += value.elements() + pad;
        let elem = value.elem.name();
        (kind, self.put(format!("tt.addptr %to{kind}, {offset} : !tt.ptr<{elem}>, i32")))
    }

    /// Stores a value where nothing else is.
    pub fn store(&mut self, value: &Value) {
        let value = self.integral(value);
        let (_, base) = self.room(&value);
        let turned = self.choices.once_in(4);
        let places = self.places(&value.shape, turned);
        let at = self.pointers(&base, value.elem, &value.shape, &places);
        let of = ty(&format!("!tt.ptr<{}>", value.elem.name()), &value.shape);
        match self.pick(|v| v.elem == Elem::I1 && v.shape == value.shape) {
            Some(mask) => self.name(&format!("tt.store {at}, {}, {} : {of}", value.name, mask.name)),
            None => self.name(&format!("tt.store {at}, {} : {of}", value.name)),
        }
    }

    /// A tile stored, and loaded again by other threads.
    pub fn again(&mut self) {
        let Some(value) = self.pick(|_| true) else { return };
        let value = self.integral(&value);
        let (_, base) = self.room(&value);
        let of = ty(&format!("!tt.ptr<{}>", value.elem.name()), &value.shape);
        let places = self.places(&value.shape, false);
        let at = self.pointers(&base, value.elem, &value.shape, &places);
        self.name(&format!("tt.store {at}, {} : {of}", value.name));
        let turned = self.places(&value.shape, true);
        let flip = self.choices.below(value.elements() as usize) as i64;
        let flip = self.constant(flip, Elem::I32, &value.shape);
        let other = self.put(format!("arith.xori {turned}, {flip} : {}", ty("i32", &value.shape)));
        let from = self.pointers(&base, value.elem, &value.shape, &other);
        self.value(format!("tt.load {from} : {of}"), value.elem, &value.shape, u64::MAX);
    }

    /// Atomic updates: each of its own element with what was there, or of few elements without.
    pub fn atomic(&mut self) {
        let Some(value) = self.pick(|v| matches!(v.elem, Elem::I32 | Elem::I64) && !v.shape.is_empty())
        else {
            return;
        };
        let (_, base) = self.room(&value);
        let op = *self.choices.pick(&["add", "max", "xor", "umax", "or"]).unwrap_or(&"add");
        let mut places = self.places(&value.shape, false);
        let own = self.choices.once_in(2);
        if !own {
            let few = self.constant((value.elements() as i64 - 1).min(3), Elem::I32, &value.shape);
            places = self.put(format!("arith.andi {places}, {few} : {}", ty("i32", &value.shape)));
        }
        let at = self.pointers(&base, value.elem, &value.shape, &places);
        let of = ty(&format!("!tt.ptr<{}>", value.elem.name()), &value.shape);
        let types = format!("({of}, {}) -> {}", value.ty(), value.ty());
        let what = format!("tt.atomic_rmw {op}, relaxed, gpu, {at}, {} : {types}", value.name);
        match own {
            true => drop(self.value(what, value.elem, &value.shape, u64::MAX)),
            false => drop(self.put(what)),
        }
    }
}
