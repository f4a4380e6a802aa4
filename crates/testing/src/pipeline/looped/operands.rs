//! Tiles that come in every way there is: by descriptors of any rank, by pointers, looked up, turned, joined, converted, computed.

use super::maker::{Maker, Place, tile};

/// Bytes of an element.
fn bytes(elem: &str) -> usize {
    match elem {
        "f32" | "i32" => 4,
        "f16" | "bf16" => 2,
        _ => 1,
    }
}

impl Maker<'_, '_> {
    /// A tile of a type in the loop, or in front of it.
    pub fn operand(&mut self, place: Place, elem: &str, rows: usize, cols: usize, deep: usize) -> String {
        let narrow = cols * bytes(elem) < 16;
        if self.piped && place == Place::Loop {
            return self.copied(place, elem, rows, cols);
        }
        match self.choices.below(if deep > 2 { 3 } else { 18 }) {
            _ if narrow => self.pointed(place, elem, rows, cols),
            0 | 1 => self.copied(place, elem, rows, cols),
            2 => self.copied_of_three(place, elem, rows, cols),
            3 if rows * bytes(elem) >= 16 => {
                let turned = self.operand(place, elem, cols, rows, deep + 1);
                let from = tile(elem, &[cols, rows]);
                let to = tile(elem, &[rows, cols]);
                self.put(place, format!("tt.trans {turned} {{order = array<i32: 1, 0>}} : {from} -> {to}"))
            }
            4..=6 => self.pointed(place, elem, rows, cols),
            7 => self.looked_up(place, elem, rows, cols),
            8 => self.joined(place, elem, rows, cols, deep),
            9 | 10 => self.converted(place, elem, rows, cols, deep),
            11..=13 if bytes(elem) > 1 && elem != "i32" => self.computed(place, elem, rows, cols, deep),
            14 if place == Place::Loop => self.operand(Place::Front, elem, rows, cols, deep + 1),
            15 if place == Place::Loop => self.fetched(elem, rows, cols, deep),
            16 | 17 if place == Place::Loop && self.tiles == 1 => self.advanced(elem, rows, cols),
            _ => self.copied(place, elem, rows, cols),
        }
    }

    /// Which trip a place is in, and how many there are.
    pub fn trip(&self, place: Place) -> (&'static str, usize) {
        match place {
            Place::Loop => ("%i", self.trips * self.tiles),
            Place::Front => ("%c0", 1),
            Place::Behind => ("%t", self.tiles),
        }
    }

    /// The trip times a number.
    pub fn at(&mut self, place: Place, by: usize) -> String {
        let (trip, _) = self.trip(place);
        let by = self.constant(by, "i32");
        self.put(place, format!("arith.muli {trip}, {by} : i32"))
    }

    /// By a descriptor of two dimensions: trips go along columns, or along rows.
    fn copied(&mut self, place: Place, elem: &str, rows: usize, cols: usize) -> String {
        let (_, trips) = self.trip(place);
        let block = format!("!tt.tensordesc<{rows}x{cols}x{elem}> -> {}", tile(elem, &[rows, cols]));
        // Now and then less memory than the tiles cover: what is outside reads as zero.
        let less = if self.choices.once_in(4) { 8 } else { 0 };
        if self.choices.once_in(2) {
            let of = self.descriptor(elem, &[rows - less.min(rows / 2), cols * trips], &[rows, cols]);
            let at = self.at(place, cols);
            return self.put(place, format!("tt.descriptor_load {of}[%c0, {at}] : {block}"));
        }
        let of = self.descriptor(elem, &[rows * trips - less.min(rows / 2), cols], &[rows, cols]);
        let at = self.at(place, rows);
        self.put(place, format!("tt.descriptor_load {of}[{at}, %c0] : {block}"))
    }

    /// By a descriptor of three dimensions, whose block has one, two or more along the first.
    fn copied_of_three(&mut self, place: Place, elem: &str, rows: usize, cols: usize) -> String {
        let (trip, trips) = self.trip(place);
        let first = [1, 2, 4, rows][self.choices.below(4)].min(rows);
        let block = [first, rows / first, cols];
        let three =
            format!("!tt.tensordesc<{}x{}x{cols}x{elem}> -> {}", block[0], block[1], tile(elem, &block));
        let loaded = if first == 1 && self.choices.once_in(2) {
            let of = self.descriptor(elem, &[trips, rows, cols], &block);
            self.put(place, format!("tt.descriptor_load {of}[{trip}, %c0, %c0] : {three}"))
        } else {
            let of = self.descriptor(elem, &[block[0], block[1], cols * trips], &block);
            let at = self.at(place, cols);
            self.put(place, format!("tt.descriptor_load {of}[%c0, %c0, {at}] : {three}"))
        };
        // Rows in their order, or those of the first dimension beside each other.
        let (from, to) = (tile(elem, &block), tile(elem, &[rows, cols]));
        if self.choices.once_in(3) {
            let turned = tile(elem, &[block[1], block[0], cols]);
            let swapped = self.put(
                place,
                format!("tt.trans {loaded} {{order = array<i32: 1, 0, 2>}} : {from} -> {turned}"),
            );
            return self.put(place, format!("tt.reshape {swapped} : {turned} -> {to}"));
        }
        self.put(place, format!("tt.reshape {loaded} : {from} -> {to}"))
    }

    /// Numbers from 0 along one dimension, as a tile of two.
    pub fn along(&mut self, dim: usize, rows: usize, cols: usize) -> String {
        let length = [rows, cols][dim];
        let (line, own) = (tile("i32", &[length]), tile("i32", &[rows, cols]));
        let numbers = self
            .put(Place::Front, format!("tt.make_range {{end = {length} : i32, start = 0 : i32}} : {line}"));
        self.spread(Place::Front, &numbers, "i32", dim, rows, cols, &own)
    }

    /// A vector along one dimension, repeated along the other.
    #[expect(clippy::too_many_arguments, reason = "a vector, its type, and where it goes")]
    pub fn spread(
        &mut self,
        place: Place,
        vector: &str,
        elem: &str,
        dim: usize,
        rows: usize,
        cols: usize,
        own: &str,
    ) -> String {
        let length = [rows, cols][dim];
        let thin = tile(elem, &[if dim == 0 { rows } else { 1 }, if dim == 0 { 1 } else { cols }]);
        let axis = 1 - dim;
        let line = tile(elem, &[length]);
        let thin_one =
            self.put(place, format!("tt.expand_dims {vector} {{axis = {axis} : i32}} : {line} -> {thin}"));
        if thin == *own {
            return thin_one;
        }
        self.put(place, format!("tt.broadcast {thin_one} : {thin} -> {own}"))
    }

    /// By pointers: rows or columns next to each other in memory, with a mask or without.
    fn pointed(&mut self, place: Place, elem: &str, rows: usize, cols: usize) -> String {
        let (_, trips) = self.trip(place);
        let (r, c) = (self.along(0, rows, cols), self.along(1, rows, cols));
        let ints = tile("i32", &[rows, cols]);
        let (stride_r, stride_c, step) = match self.choices.below(3) {
            0 => (cols * trips, 1, cols),
            1 => (cols, 1, rows * cols),
            _ => (1, rows * trips, rows),
        };
        let base = self.buffer(elem, rows * cols * trips);
        let own = tile(&format!("!tt.ptr<{elem}>"), &[rows, cols]);
        let by = self.constant(stride_r, &ints);
        let r_places = self.put(Place::Front, format!("arith.muli {r}, {by} : {ints}"));
        let by = self.constant(stride_c, &ints);
        let c_places = self.put(Place::Front, format!("arith.muli {c}, {by} : {ints}"));
        let places = self.put(Place::Front, format!("arith.addi {r_places}, {c_places} : {ints}"));
        let at = self.at(place, step);
        let ats = self.put(place, format!("tt.splat {at} : i32 -> {ints}"));
        let places = self.put(place, format!("arith.addi {places}, {ats} : {ints}"));
        let bases = self.put(Place::Front, format!("tt.splat {base} : !tt.ptr<{elem}> -> {own}"));
        let pointers = self.put(place, format!("tt.addptr {bases}, {places} : {own}, {ints}"));
        let mask = match self.choices.below(3) {
            0 => {
                let limit = self.constant(rows - rows / 4, &ints);
                self.put(Place::Front, format!("arith.cmpi slt, {r}, {limit} : {ints}"))
            }
            1 => {
                // Columns up to a limit that some trip reaches.
                let limit = (cols * trips) - cols / 2;
                let (wide, limit) = (self.at(place, cols), self.constant(limit, &ints));
                let wide = self.put(place, format!("tt.splat {wide} : i32 -> {ints}"));
                let number = self.put(place, format!("arith.addi {c}, {wide} : {ints}"));
                self.put(place, format!("arith.cmpi slt, {number}, {limit} : {ints}"))
            }
            _ => return self.put(place, format!("tt.load {pointers} : {own}")),
        };
        let zero = if elem.starts_with('i') { "0" } else { "0.0" };
        let other = self.constant(zero, &tile(elem, &[rows, cols]));
        self.put(place, format!("tt.load {pointers}, {mask}, {other} : {own}"))
    }

    /// What the trip before fetched.
    fn fetched(&mut self, elem: &str, rows: usize, cols: usize, deep: usize) -> String {
        let ty = tile(elem, &[rows, cols]);
        let first = self.operand(Place::Front, elem, rows, cols, deep + 1);
        let next = self.operand(Place::Loop, elem, rows, cols, deep + 1);
        let inside = self.fresh();
        self.carried.push([inside.clone(), first, next, ty]);
        inside
    }

    /// By pointers that the loop advances.
    fn advanced(&mut self, elem: &str, rows: usize, cols: usize) -> String {
        let (_, trips) = self.trip(Place::Loop);
        let own = tile(&format!("!tt.ptr<{elem}>"), &[rows, cols]);
        let ints = tile("i32", &[rows, cols]);
        let (r, c) = (self.along(0, rows, cols), self.along(1, rows, cols));
        let down = self.choices.once_in(2);
        let (stride, step) = if down { (cols, rows * cols) } else { (cols * trips, cols) };
        let stride = self.constant(stride, &ints);
        let places = self.put(Place::Front, format!("arith.muli {r}, {stride} : {ints}"));
        let places = self.put(Place::Front, format!("arith.addi {places}, {c} : {ints}"));
        let base = self.buffer(elem, rows * cols * trips);
        let bases = self.put(Place::Front, format!("tt.splat {base} : !tt.ptr<{elem}> -> {own}"));
        let first = self.put(Place::Front, format!("tt.addptr {bases}, {places} : {own}, {ints}"));
        let inside = self.fresh();
        let loaded = self.put(Place::Loop, format!("tt.load {inside} : {own}"));
        let by = self.constant(step, &ints);
        let next = self.put(Place::Loop, format!("tt.addptr {inside}, {by} : {own}, {ints}"));
        self.carried.push([inside, first, next, own]);
        loaded
    }

    /// Rows that a table names.
    fn looked_up(&mut self, place: Place, elem: &str, rows: usize, cols: usize) -> String {
        let table: Vec<i64> = (0..rows).map(|at| ((at * 5 + 3) % rows) as i64).collect();
        let line = tile("i32", &[rows]);
        let indices = self.table(table);
        let (pointers, ints) = (tile("!tt.ptr<i32>", &[rows]), tile("i32", &[rows, cols]));
        let numbers =
            self.put(Place::Front, format!("tt.make_range {{end = {rows} : i32, start = 0 : i32}} : {line}"));
        let bases = self.put(Place::Front, format!("tt.splat {indices} : !tt.ptr<i32> -> {pointers}"));
        let at = self.put(Place::Front, format!("tt.addptr {bases}, {numbers} : {pointers}, {line}"));
        let indices = self.put(place, format!("tt.load {at} : {pointers}"));
        let indices = self.spread(place, &indices, "i32", 0, rows, cols, &ints);
        let (_, trips) = self.trip(place);
        let stride = self.constant(cols * trips, &ints);
        let from = self.put(place, format!("arith.muli {indices}, {stride} : {ints}"));
        let c = self.along(1, rows, cols);
        let from = self.put(place, format!("arith.addi {from}, {c} : {ints}"));
        let at = self.at(place, cols);
        let at = self.put(place, format!("tt.splat {at} : i32 -> {ints}"));
        let from = self.put(place, format!("arith.addi {from}, {at} : {ints}"));
        let own = tile(&format!("!tt.ptr<{elem}>"), &[rows, cols]);
        let base = self.buffer(elem, rows * cols * trips);
        let bases = self.put(Place::Front, format!("tt.splat {base} : !tt.ptr<{elem}> -> {own}"));
        let pointers = self.put(place, format!("tt.addptr {bases}, {from} : {own}, {ints}"));
        self.put(place, format!("tt.load {pointers} : {own}"))
    }

    /// Two halves, element beside element or row behind row.
    fn joined(&mut self, place: Place, elem: &str, rows: usize, cols: usize, deep: usize) -> String {
        let to = tile(elem, &[rows, cols]);
        if self.choices.once_in(3) && rows > 1 {
            let (x, y) = (
                self.operand(place, elem, rows / 2, cols, deep + 1),
                self.operand(place, elem, rows / 2, cols, deep + 1),
            );
            let half = tile(elem, &[rows / 2, cols]);
            let both = tile(elem, &[rows / 2, cols, 2]);
            let turned = tile(elem, &[2, rows / 2, cols]);
            let pair = self.put(place, format!("tt.join {x}, {y} : {half} -> {both}"));
            let order = "{order = array<i32: 2, 0, 1>}";
            let pair = self.put(place, format!("tt.trans {pair} {order} : {both} -> {turned}"));
            return self.put(place, format!("tt.reshape {pair} : {turned} -> {to}"));
        }
        let (x, y) = (
            self.operand(place, elem, rows, cols / 2, deep + 1),
            self.operand(place, elem, rows, cols / 2, deep + 1),
        );
        let half = tile(elem, &[rows, cols / 2]);
        let both = tile(elem, &[rows, cols / 2, 2]);
        let pair = self.put(place, format!("tt.join {x}, {y} : {half} -> {both}"));
        self.put(place, format!("tt.reshape {pair} : {both} -> {to}"))
    }

    /// From another type.
    fn converted(&mut self, place: Place, elem: &str, rows: usize, cols: usize, deep: usize) -> String {
        let to = tile(elem, &[rows, cols]);
        let types: &[(&str, &str)] = match elem {
            "f16" => &[
                ("i8", "arith.sitofp"),
                ("f8E4M3FN", "tt.fp_to_fp"),
                ("f32", "arith.truncf"),
                ("i8", "arith.uitofp"),
            ],
            "bf16" => &[("i8", "arith.sitofp"), ("f8E5M2", "tt.fp_to_fp"), ("f32", "arith.truncf")],
            "f32" => &[("f16", "arith.extf"), ("bf16", "arith.extf"), ("i8", "arith.sitofp")],
            "f8E4M3FN" | "f8E5M2" => &[("f16", "round"), ("f32", "round")],
            _ => return self.copied(place, elem, rows, cols),
        };
        let &(from, op) = self.choices.pick(types).unwrap_or(&types[0]);
        let x = self.operand(place, from, rows, cols, deep + 1);
        let own = tile(from, &[rows, cols]);
        match op {
            "round" => self.put(place, format!("tt.fp_to_fp {x}, rounding = rtne : {own} -> {to}")),
            "tt.fp_to_fp" => self.put(place, format!("tt.fp_to_fp {x} : {own} -> {to}")),
            op => self.put(place, format!("{op} {x} : {own} to {to}")),
        }
    }

    /// From one or two tiles, or a tile and a vector.
    fn computed(&mut self, place: Place, elem: &str, rows: usize, cols: usize, deep: usize) -> String {
        let own = tile(elem, &[rows, cols]);
        let x = self.operand(place, elem, rows, cols, deep + 1);
        match self.choices.below(5) {
            0 => {
                let by = self.constant("2.0", &own);
                self.put(place, format!("arith.mulf {x}, {by} : {own}"))
            }
            1 => {
                let y = self.operand(place, elem, rows, cols, deep + 1);
                self.put(place, format!("arith.addf {x}, {y} : {own}"))
            }
            2 => {
                let zero = self.constant("0.0", &own);
                self.put(place, format!("arith.maxnumf {x}, {zero} : {own}"))
            }
            3 => {
                let dim = self.choices.below(2);
                let vector = self.vector(place, elem, [rows, cols][dim]);
                let vector = self.spread(place, &vector, elem, dim, rows, cols, &own);
                self.put(place, format!("arith.mulf {x}, {vector} : {own}"))
            }
            _ => {
                let ints = tile("i32", &[rows, cols]);
                let (r, c) = (self.along(0, rows, cols), self.along(1, rows, cols));
                let below = self.put(place, format!("arith.cmpi sge, {r}, {c} : {ints}"));
                let zero = self.constant("0.0", &own);
                let bools = tile("i1", &[rows, cols]);
                self.put(place, format!("arith.select {below}, {x}, {zero} : {bools}, {own}"))
            }
        }
    }

    /// A vector by pointers, another in every trip.
    pub fn vector(&mut self, place: Place, elem: &str, length: usize) -> String {
        let (_, trips) = self.trip(place);
        let base = self.buffer(elem, length * trips);
        let (line, own) = (tile("i32", &[length]), tile(&format!("!tt.ptr<{elem}>"), &[length]));
        let numbers = self
            .put(Place::Front, format!("tt.make_range {{end = {length} : i32, start = 0 : i32}} : {line}"));
        let at = self.at(place, length);
        let from = self.put(place, format!("tt.addptr {base}, {at} : !tt.ptr<{elem}>, i32"));
        let bases = self.put(place, format!("tt.splat {from} : !tt.ptr<{elem}> -> {own}"));
        let pointers = self.put(place, format!("tt.addptr {bases}, {numbers} : {own}, {line}"));
        self.put(place, format!("tt.load {pointers} : {own}"))
    }
}
