//! Products in the loop, what is done with them there and behind it.

use super::maker::{Maker, Place, tile};

impl Maker<'_, '_> {
    /// A product that adds up over the trips, alone, or made of another one.
    pub fn product(&mut self) {
        let elems = ["f16", "bf16", "f16", "f8E4M3FN", "i8", "f32", "f8E5M2"];
        let elem = elems[self.choices.below(if self.piped { 3 } else { 7 })];
        let sum = if elem == "i8" { "i32" } else { "f32" };
        let m = match self.piped {
            true => self.rows,
            false => [64, 32, 128, 16, 64][self.choices.below(5)],
        };
        let n = [64, 32, 128, 16, 8, 256][self.choices.below(6)].min(8192 / m);
        let k = [64, 32, 128][self.choices.below(3)];
        let k = if self.piped { k.max(64) } else { k };
        let ty = tile(sum, &[m, n]);
        let zero = self.constant(if sum == "i32" { "0" } else { "0.0" }, &ty);
        // A later loop goes on with what an earlier one gave.
        let earlier = self.earlier.iter().rev().find(|(_, known)| *known == ty);
        let start = earlier.map_or_else(|| zero.clone(), |(name, _)| name.clone());
        let acc = self.fresh();
        let floats = matches!(elem, "f16" | "bf16");
        let a = if floats && !self.piped && self.choices.once_in(4) {
            self.chained(elem, m, k)
        } else {
            self.operand(Place::Loop, elem, m, k, 0)
        };
        // Columns of B are too few in memory for partitions of their own below 64.
        let b = match self.piped && (n < 64 || self.choices.once_in(2)) {
            true => {
                let turned = self.operand(Place::Loop, elem, n, k, 0);
                let (from, to) = (tile(elem, &[n, k]), tile(elem, &[k, n]));
                let order = "{order = array<i32: 1, 0>}";
                self.put(Place::Loop, format!("tt.trans {turned} {order} : {from} -> {to}"))
            }
            false => self.operand(Place::Loop, elem, k, n, 0),
        };
        // Partitions of their own read nothing by pointers in the loop.
        let what = match self.piped {
            true => [0, 1, 2, 5][self.choices.below(4)],
            false => self.choices.below(6),
        };
        let onto = match what {
            0..=2 => acc.clone(),
            3 if sum == "f32" => {
                // Sums shrink in front of the product, by a number for each row.
                let by = self.vector(Place::Loop, "f32", m);
                let by = self.spread(Place::Loop, &by, "f32", 0, m, n, &ty);
                self.put(Place::Loop, format!("arith.mulf {acc}, {by} : {ty}"))
            }
            _ => zero.clone(),
        };
        let precision = if elem == "f32" { ", inputPrecision = tf32" } else { "" };
        let types = format!("{} * {} -> {ty}", tile(elem, &[m, k]), tile(elem, &[k, n]));
        let dot = format!("tt.dot {a}, {b}, {onto}{precision} : {types}");
        let made = if !self.piped && self.choices.once_in(8) {
            self.now_and_then(&dot, &onto, &ty)
        } else {
            self.put(Place::Loop, dot)
        };
        let next = match (what, sum) {
            (0..=2, _) | (3, "f32") => made.clone(),
            (4, "f32") => {
                let scale = self.vector(Place::Loop, "f32", n);
                let scale = self.spread(Place::Loop, &scale, "f32", 1, m, n, &ty);
                let scaled = self.put(Place::Loop, format!("arith.mulf {made}, {scale} : {ty}"));
                self.put(Place::Loop, format!("arith.addf {acc}, {scaled} : {ty}"))
            }
            (_, "f32") => {
                self.largest(&made, m, n);
                self.put(Place::Loop, format!("arith.maxnumf {acc}, {made} : {ty}"))
            }
            _ => self.put(Place::Loop, format!("arith.addi {acc}, {made} : {ty}")),
        };
        if sum == "f32" && !self.piped && self.choices.once_in(6) {
            self.stored(Place::Loop, &made, "f32", m, n);
        }
        self.carried.push([acc, start, next, ty]);
    }

    /// A product in some trips, in the others what it would have added to.
    fn now_and_then(&mut self, dot: &str, otherwise: &str, ty: &str) -> String {
        let odd = self.put(Place::Loop, "arith.andi %i, %c1 : i32");
        let odd = self.put(Place::Loop, format!("arith.cmpi eq, {odd}, %c1 : i32"));
        let (name, made) = (self.fresh(), self.fresh());
        self.line(Place::Loop, format!("{name} = scf.if {odd} -> ({ty}) {{"));
        self.line(Place::Loop, format!("  {made} = {dot}"));
        self.line(Place::Loop, format!("  scf.yield {made} : {ty}"));
        self.line(Place::Loop, format!("}} else {{\n      scf.yield {otherwise} : {ty}\n    }}"));
        name
    }

    /// An operand that is the product of two others, rounded.
    fn chained(&mut self, elem: &str, m: usize, n: usize) -> String {
        let k = [32, 64][self.choices.below(2)];
        let (a, b) = (self.operand(Place::Loop, elem, m, k, 0), self.operand(Place::Loop, elem, k, n, 0));
        let ty = tile("f32", &[m, n]);
        let zero = self.constant("0.0", &ty);
        let types = format!("{} * {} -> {ty}", tile(elem, &[m, k]), tile(elem, &[k, n]));
        let mut made = self.put(Place::Loop, format!("tt.dot {a}, {b}, {zero} : {types}"));
        if self.choices.once_in(2) {
            self.largest(&made, m, n);
        }
        if self.choices.once_in(3) {
            let by = self.vector(Place::Loop, "f32", m);
            let by = self.spread(Place::Loop, &by, "f32", 0, m, n, &ty);
            made = self.put(Place::Loop, format!("arith.subf {made}, {by} : {ty}"));
            if self.choices.once_in(2) {
                let least = self.constant("4.0", &ty);
                made = self.put(Place::Loop, format!("arith.minnumf {made}, {least} : {ty}"));
                made = self.put(Place::Loop, format!("math.exp2 {made} : {ty}"));
            }
        }
        self.put(Place::Loop, format!("arith.truncf {made} : {ty} to {}", tile(elem, &[m, n])))
    }

    /// The largest of each row so far, carried.
    fn largest(&mut self, made: &str, m: usize, n: usize) {
        let line = tile("f32", &[m]);
        let start = self.constant("-64.0", &line);
        let inside = self.fresh();
        let most = self.reduced(Place::Loop, made, m, n, 1);
        let next = self.put(Place::Loop, format!("arith.maxnumf {inside}, {most} : {line}"));
        self.carried.push([inside, start, next, line]);
    }

    /// The largest along a dimension.
    pub fn reduced(&mut self, place: Place, x: &str, m: usize, n: usize, axis: usize) -> String {
        let types = format!("({}) -> {}", tile("f32", &[m, n]), tile("f32", &[[n, m][axis]]));
        self.largest_of(place, "reduce", &format!("({x}) <{{axis = {axis} : i32}}>"), &types)
    }

    /// A reduction or a scan by the larger of two.
    pub fn largest_of(&mut self, place: Place, operation: &str, what: &str, types: &str) -> String {
        let (name, x, y, z) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        self.line(place, format!("{name} = \"tt.{operation}\"{what} ({{"));
        self.line(place, format!("^bb0({x}: f32, {y}: f32):"));
        self.line(place, format!("  {z} = arith.maxnumf {x}, {y} : f32"));
        self.line(place, format!("  tt.{operation}.return {z} : f32"));
        self.line(place, format!("}}) : {types}"));
        name
    }

    /// What is done with what the loop gave.
    pub fn epilogue(&mut self, value: &str, ty: &str) {
        let inner = ty.trim_start_matches("tensor<").trim_end_matches('>');
        let parts: Vec<&str> = inner.split('x').collect();
        let extents: Vec<usize> = parts.iter().filter_map(|p| p.parse().ok()).collect();
        let elem = if inner.ends_with("i32") { "i32" } else { "f32" };
        let &[m, n] = &extents[..] else {
            let own =
                self.spread(Place::Behind, value, elem, 0, extents[0], 16, &tile(elem, &[extents[0], 16]));
            return self.stored(Place::Behind, &own, elem, extents[0], 16);
        };
        let (mut value, mut elem) = (value.to_owned(), elem.to_owned());
        let own = |elem: &str| tile(elem, &[m, n]);
        if elem == "f32" {
            match self.choices.below(5) {
                0 => {
                    let bias = self.vector(Place::Behind, "f32", n);
                    let bias = self.spread(Place::Behind, &bias, "f32", 1, m, n, &own("f32"));
                    value = self.put(Place::Behind, format!("arith.addf {value}, {bias} : {}", own("f32")));
                }
                1 => {
                    let more = self.operand(Place::Behind, "f32", m, n, 2);
                    value = self.put(Place::Behind, format!("arith.addf {value}, {more} : {}", own("f32")));
                }
                2 => {
                    let most = self.reduced(Place::Behind, &value, m, n, 1);
                    let most = self.spread(Place::Behind, &most, "f32", 0, m, n, &own("f32"));
                    value = self.put(Place::Behind, format!("arith.subf {value}, {most} : {}", own("f32")));
                }
                _ => {}
            }
            if self.choices.once_in(2) {
                let to = ["f16", "bf16"][self.choices.below(2)];
                value =
                    self.put(Place::Behind, format!("arith.truncf {value} : {} to {}", own("f32"), own(to)));
                elem = to.to_owned();
            }
        }
        if self.choices.once_in(4) {
            let to = tile(&elem, &[n, m]);
            let order = "{order = array<i32: 1, 0>}";
            let turned =
                self.put(Place::Behind, format!("tt.trans {value} {order} : {} -> {to}", own(&elem)));
            return self.stored(Place::Behind, &turned, &elem, n, m);
        }
        self.stored(Place::Behind, &value, &elem, m, n);
    }

    /// Stores a tile, another in every trip.
    pub fn stored(&mut self, place: Place, value: &str, elem: &str, rows: usize, cols: usize) {
        let (_, trips) = self.trip(place);
        let at = self.at(place, rows);
        let own = tile(elem, &[rows, cols]);
        let wide = cols >= 8;
        match self.choices.below(if self.persistent { 1 } else { 3 }) {
            0 if wide => {
                let of = self.descriptor(elem, &[rows * trips, cols], &[rows, cols]);
                let types = format!("!tt.tensordesc<{rows}x{cols}x{elem}>, {own}");
                self.line(place, format!("tt.descriptor_store {of}[{at}, %c0], {value} : {types}"));
            }
            1 if wide && rows > 1 => {
                let block = [2, rows / 2, cols];
                let of = self.descriptor(elem, &[2, rows / 2 * trips, cols], &block);
                let three = tile(elem, &block);
                let at = self.at(place, rows / 2);
                let value = self.put(place, format!("tt.reshape {value} : {own} -> {three}"));
                let types = format!("!tt.tensordesc<2x{}x{cols}x{elem}>, {three}", rows / 2);
                self.line(place, format!("tt.descriptor_store {of}[%c0, {at}, %c0], {value} : {types}"));
            }
            _ => {
                let ints = tile("i32", &[rows, cols]);
                let (r, c) = (self.along(0, rows, cols), self.along(1, rows, cols));
                let ats = self.put(place, format!("tt.splat {at} : i32 -> {ints}"));
                let r = self.put(place, format!("arith.addi {r}, {ats} : {ints}"));
                let stride = self.constant(cols, &ints);
                let r = self.put(place, format!("arith.muli {r}, {stride} : {ints}"));
                let places = self.put(place, format!("arith.addi {r}, {c} : {ints}"));
                let base = self.buffer(elem, rows * cols * trips);
                let pointers = tile(&format!("!tt.ptr<{elem}>"), &[rows, cols]);
                let bases = self.put(place, format!("tt.splat {base} : !tt.ptr<{elem}> -> {pointers}"));
                let to = self.put(place, format!("tt.addptr {bases}, {places} : {pointers}, {ints}"));
                self.line(place, format!("tt.store {to}, {value} : {pointers}"));
            }
        }
    }
}
