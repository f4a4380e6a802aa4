//! What is done with results behind a loop whose tiles come by descriptors: elements that move, memory that is read before
//! it is written, counters.

use super::maker::{Maker, Place, tile};

/// Where all of it stands.
const HERE: Place = Place::Behind;

impl Maker<'_, '_> {
    /// Two things done with a result, or with what the first made of it, then a store.
    pub fn behind(&mut self, value: &str, ty: &str) {
        let inner = ty.trim_start_matches("tensor<").trim_end_matches('>');
        let extents: Vec<usize> = inner.split('x').filter_map(|part| part.parse().ok()).collect();
        let &[m, n] = &extents[..] else { return self.epilogue(value, ty) };
        if !inner.ends_with("f32") {
            return self.epilogue(value, ty);
        }
        let mut value = value.to_owned();
        for _ in 0..1 + self.choices.below(2) {
            value = match self.choices.below(10) {
                0 if n >= 16 => return self.halves(&value, m, n),
                1 if n >= 16 => return self.pairs(&value, m, n),
                2 => {
                    let axis = self.choices.below(2);
                    let most = self.reduced(HERE, &value, m, n, axis);
                    let most = self.spread(HERE, &most, "f32", 1 - axis, m, n, ty);
                    self.put(HERE, format!("arith.subf {value}, {most} : {ty}"))
                }
                3 => self.running(&value, m, n),
                4 => {
                    let wide = tile("f32", &[m / 2, 2 * n]);
                    let wide = self.put(HERE, format!("tt.reshape {value} : {ty} -> {wide}"));
                    return self.stored(HERE, &wide, "f32", m / 2, 2 * n);
                }
                5 => self.swapped(&value, m, n),
                6 => self.looked_into(&value, m, n),
                7 => self.counted(&value, m, n),
                8 => {
                    let wide = tile("f32", &[m, n, 2]);
                    let pair = self.put(HERE, format!("tt.join {value}, {value} : {ty} -> {wide}"));
                    let long = tile("f32", &[m, 2 * n]);
                    let long = self.put(HERE, format!("tt.reshape {pair} : {wide} -> {long}"));
                    return self.stored(HERE, &long, "f32", m, 2 * n);
                }
                _ => return self.epilogue(&value, ty),
            };
        }
        self.stored(HERE, &value, "f32", m, n);
    }

    /// The columns of the left and of the right half.
    fn halves(&mut self, value: &str, m: usize, n: usize) {
        let (own, blocks) = (tile("f32", &[m, n]), tile("f32", &[m, 2, n / 2]));
        let turned = tile("f32", &[m, n / 2, 2]);
        let cut = self.put(HERE, format!("tt.reshape {value} : {own} -> {blocks}"));
        let order = "{order = array<i32: 0, 2, 1>}";
        let cut = self.put(HERE, format!("tt.trans {cut} {order} : {blocks} -> {turned}"));
        self.split(&cut, &turned, m, n);
    }

    /// Even and odd columns.
    fn pairs(&mut self, value: &str, m: usize, n: usize) {
        let (own, pairs) = (tile("f32", &[m, n]), tile("f32", &[m, n / 2, 2]));
        let cut = self.put(HERE, format!("tt.reshape {value} : {own} -> {pairs}"));
        self.split(&cut, &pairs, m, n);
    }

    fn split(&mut self, cut: &str, ty: &str, m: usize, n: usize) {
        let (half, name) = (tile("f32", &[m, n / 2]), self.fresh());
        self.line(HERE, format!("{name}:2 = tt.split {cut} : {ty} -> {half}"));
        let narrow = tile("f16", &[m, n / 2]);
        let left = self.put(HERE, format!("arith.truncf {name}#0 : {half} to {narrow}"));
        self.stored(HERE, &left, "f16", m, n / 2);
        self.stored(HERE, &format!("{name}#1"), "f32", m, n / 2);
    }

    /// The largest so far along a dimension.
    fn running(&mut self, value: &str, m: usize, n: usize) -> String {
        let (own, axis) = (tile("f32", &[m, n]), self.choices.below(2));
        let what = format!("({value}) <{{axis = {axis} : i32, reverse = false}}>");
        self.largest_of(HERE, "scan", &what, &format!("({own}) -> {own}"))
    }

    /// What lies where the value is stored.
    fn swapped(&mut self, value: &str, m: usize, n: usize) -> String {
        let (_, trips) = self.trip(HERE);
        let (own, ints) = (tile("f32", &[m, n]), tile("i32", &[m, n]));
        let (r, c) = (self.along(0, m, n), self.along(1, m, n));
        let stride = self.constant(n, &ints);
        let places = self.put(Place::Front, format!("arith.muli {r}, {stride} : {ints}"));
        let places = self.put(Place::Front, format!("arith.addi {places}, {c} : {ints}"));
        // The same place in every turn, or another one.
        let at = if self.choices.once_in(2) { "%c0".to_owned() } else { self.at(HERE, m * n) };
        let base = self.buffer("f32", m * n * trips);
        let from = self.put(HERE, format!("tt.addptr {base}, {at} : !tt.ptr<f32>, i32"));
        let pointers = tile("!tt.ptr<f32>", &[m, n]);
        let bases = self.put(HERE, format!("tt.splat {from} : !tt.ptr<f32> -> {pointers}"));
        let to = self.put(HERE, format!("tt.addptr {bases}, {places} : {pointers}, {ints}"));
        let before = self.put(HERE, format!("tt.load {to} : {pointers}"));
        self.line(HERE, format!("tt.store {to}, {value} : {pointers}"));
        let half = self.constant("0.5", &own);
        self.put(HERE, format!("arith.mulf {before}, {half} : {own}"))
    }

    /// Elements of the value that a tile of places names.
    fn looked_into(&mut self, value: &str, m: usize, n: usize) -> String {
        let (own, ints, axis) = (tile("f32", &[m, n]), tile("i32", &[m, n]), self.choices.below(2));
        let (r, c) = (self.along(0, m, n), self.along(1, m, n));
        let sum = self.put(Place::Front, format!("arith.addi {r}, {c} : {ints}"));
        let extent = self.constant([m, n][axis], &ints);
        let places = self.put(Place::Front, format!("arith.remui {sum}, {extent} : {ints}"));
        let types = format!("({own}, {ints}) -> {own}");
        self.put(HERE, format!("tt.gather {value}[{places}] {{axis = {axis} : i32}} : {types}"))
    }

    /// The value and how often the kernel came here.
    fn counted(&mut self, value: &str, m: usize, n: usize) -> String {
        let own = tile("f32", &[m, n]);
        let counter = self.table(vec![0; 4]);
        let yes = self.constant("true", "i1");
        let types = "(!tt.ptr<i32>, i32, i1) -> i32";
        let found =
            self.put(HERE, format!("tt.atomic_rmw add, acq_rel, gpu, {counter}, %c1, {yes} : {types}"));
        let found = self.put(HERE, format!("arith.sitofp {found} : i32 to f32"));
        let found = self.put(HERE, format!("tt.splat {found} : f32 -> {own}"));
        self.put(HERE, format!("arith.addf {value}, {found} : {own}"))
    }
}
