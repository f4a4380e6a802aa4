//! Tiles that lanes make where they like, on their way into a slot: by the accesses of memory that are widest (C33, G21).

use hashbrown::HashSet;
use smallvec::{SmallVec, smallvec};
use warploom_ir::{OpId, Opcode, ValueId};

use super::value::{Bound, Coord, Coords, Memory, View};
use super::{Lower, Place};
use crate::error::Result;
use crate::family::{Axis, Blocked, Family};

/// A value or two.
type Few = SmallVec<[ValueId; 2]>;

/// Bytes of a word that is stored.
const WORD: u64 = 4;

/// Most elements of a row that a lane makes at once.
const MOST: u64 = 32;

/// A load that a matrix is made of.
struct Source {
    op: OpId,
    /// Whether the matrix shows it transposed.
    turned: bool,
    /// How many neighbours of a row come from one element.
    each: u64,
}

/// Words of a lane that are kept from one slot to the next at most.
const KEPT: u64 = 64;

/// How the lanes make a matrix.
pub(super) struct Way {
    pub to: To,
    /// Whether what is loaded for it stays with the lanes: other slots are made of it, too.
    pub kept: bool,
}

/// What a lane makes at once.
pub(super) enum To {
    /// So many neighbours of a row.
    Along(u64),
    /// So many neighbours of a column.
    Down(u64),
}

impl Way {
    /// Whether it goes for a matrix of so many rows.
    pub fn fits(&self, rows: u64) -> bool {
        match self.to {
            To::Along(_) => true,
            To::Down(width) => rows.is_multiple_of(width),
        }
    }
}

impl<'c> Lower<'c, '_> {
    /// How a matrix is best made, so that what it is loaded from comes by the widest accesses; `None` where lanes that make
    /// `now` neighbours of a row do as well, or somebody else wants what is loaded. Where several slots are made of it, lanes
    /// keep what they loaded, or each slot loads it for itself where that is too much.
    pub(super) fn way_to_make(&self, value: ValueId, now: u64) -> Option<Way> {
        let (mut down, mut along, mut width, mut wide) = (0, 0, 1, 1);
        let (sources, stores) = self.loaded_from(value)?;
        for Source { op, turned, each } in sources {
            // Neighbours come together along the rows of what is loaded alone.
            let (bytes, widest) = (self.element_bytes(op), self.access_width(op));
            if turned {
                (down, along) = (down + widest, along + bytes);
                width = width.max(widest / bytes);
            } else {
                (down, along) = (down + bytes, along + widest);
                wide = wide.max(widest / bytes * each);
            }
        }
        let wide = wide.min(MOST);
        let ty = self.module.ty(value);
        let words =
            ty.elements().unwrap_or(u64::MAX).saturating_mul(ty.elem_bits().unwrap_or(64).into()) / 32;
        let kept = stores > 1 && words / (32 * self.place.warps) <= KEPT;
        // What lies between is computed again, too.
        let again = if stores > 1 && !kept { 2 * stores } else { 1 };
        let to = match down > along {
            true => (width > again).then_some(To::Down(width)),
            false => (wide > now * again).then_some(To::Along(wide)),
        };
        Some(Way { to: to?, kept })
    }

    /// The loads that a matrix of elements made anywhere consists of, and how many slots are made of them; `None` where
    /// somebody else uses them, too.
    fn loaded_from(&self, root: ValueId) -> Option<(Vec<Source>, u64)> {
        let (mut stack, mut found, mut cone) = (vec![(root, false, 1)], Vec::new(), HashSet::new());
        let cols = |value: ValueId| self.module.ty(value).shape().last().copied().unwrap_or(1);
        while let Some((value, turned, each)) = stack.pop() {
            let Some(op) = self.module.def_op(value) else { continue };
            if !cone.insert(value) || !matches!(self.bound.get(&value), Some(Bound::Lazy(_))) {
                continue;
            }
            let data = &self.module.ops[op];
            let matrix = self.module.ty(value).shape().len() == 2;
            match data.opcode {
                Opcode::Load if matrix => found.push(Source { op, turned, each }),
                Opcode::Trans if matrix => stack.extend(data.operands.iter().map(|&v| (v, !turned, each))),
                opcode if opcode.is_elementwise() && matrix => {
                    stack.extend(data.operands.iter().map(|&v| (v, turned, each)));
                }
                Opcode::Reshape if matrix => {
                    if let Some((between, sides)) = self.side_by_side(value) {
                        let count = sides.first().map_or(1, |&side| cols(value) / cols(side).max(1));
                        cone.extend(between);
                        stack.extend(sides.iter().map(|&side| (side, turned, count * each)));
                    }
                }
                // What is the same in a row or a column is loaded once for it.
                _ => {}
            }
        }
        let inside = |user: OpId| {
            let results = &self.module.ops[user].results;
            let unused = |&v: &ValueId| self.users_of(v).is_empty();
            results.iter().any(|result| cone.contains(result))
                || !results.is_empty() && results.iter().all(unused)
        };
        let loaded = |&&value: &&ValueId| value != root && self.lazy_of(value).reads != Memory::NONE;
        let users = cone.iter().filter(loaded).flat_map(|&value| self.users_of(value));
        let elsewhere: Vec<OpId> = users.filter(|&user| !inside(user)).collect();
        let others = self.slots_made_by(elsewhere, root)?;
        (!found.is_empty()).then_some((found, 1 + others))
    }

    /// How many slots beside that of `root` operations make, element by element; `None` where they do anything else.
    fn slots_made_by(&self, mut stack: Vec<OpId>, root: ValueId) -> Option<u64> {
        let (mut seen, mut slots) = (HashSet::new(), 0);
        while let Some(op) = stack.pop() {
            if !seen.insert(op) {
                continue;
            }
            let data = &self.module.ops[op];
            match data.opcode {
                Opcode::TileStore if data.operands.first() == Some(&root) => {}
                Opcode::TileStore => slots += 1,
                Opcode::Trans => stack.extend(data.results.iter().flat_map(|&v| self.users_of(v))),
                opcode if opcode.is_elementwise() => {
                    stack.extend(data.results.iter().flat_map(|&v| self.users_of(v)));
                }
                _ => return None,
            }
        }
        Some(slots)
    }

    /// The matrices whose elements a reshape shows side by side in its rows, one of them again and again or those of
    /// `tt.join`; behind what lies between.
    fn side_by_side(&self, reshaped: ValueId) -> Option<(Few, Few)> {
        let made_by = |value: ValueId, opcode: Opcode| {
            let op = self.module.def_op(value).filter(|&op| self.module.ops[op].opcode == opcode)?;
            Some(&self.module.ops[op].operands)
        };
        let wide = *made_by(reshaped, Opcode::Reshape)?.first()?;
        let (between, sides): (Few, Few) = match made_by(wide, Opcode::Join) {
            Some(both) => (smallvec![wide], both.iter().copied().collect()),
            None => {
                let thin = *made_by(wide, Opcode::Broadcast)?.first()?;
                let source = *made_by(thin, Opcode::ExpandDims)?.first()?;
                let last = self.module.ty(thin).shape().last() == Some(&1);
                (smallvec![wide, thin], last.then_some(source).into_iter().collect())
            }
        };
        let (to, shape) = (self.module.ty(reshaped).shape(), self.module.ty(*sides.first()?).shape());
        let fits = matches!((to, shape), ([m, n], [rows, cols]) if m == rows && n % cols == 0);
        fits.then_some((between, sides))
    }

    fn element_bytes(&self, load: OpId) -> u64 {
        let bits = self.module.result(load).and_then(|v| self.module.ty(v).elem_bits());
        u64::from(bits.unwrap_or(8) / 8).max(1)
    }

    /// Bytes of the widest access of a load along its rows.
    fn access_width(&self, load: OpId) -> u64 {
        let operands = &self.module.ops[load].operands;
        let (Some(&pointer), mask) = (operands.first(), operands.get(1).copied()) else { return 1 };
        let bytes = self.element_bytes(load);
        self.adjoining(pointer, mask, (1, bytes)).max(1) * bytes
    }

    /// A matrix whose lanes each make `width` neighbours of a column, of as many columns as make words: what is loaded
    /// comes down the columns, and words of rows are stored.
    pub(super) fn store_turned(
        &mut self,
        value: ValueId,
        view: &View<'c>,
        width: u64,
        bits: u32,
    ) -> Result<()> {
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let beside = (WORD / layout.elem).clamp(1, layout.cols);
        let (groups, chunks) = (layout.cols / beside, layout.rows / width);
        let lanes = 32 * self.place.warps;
        let across = (lanes / groups.min(lanes)).max(2).min(chunks);
        let place = self.place;
        // The matrix as its loads see it: groups of columns are rows.
        let (vector, warp) = (width as u16, place.warp as u16);
        let seen = Blocked { warp, lanes: lanes as u16, vector, across: across as u16 };
        let family = Family::Blocked(seen);
        self.place = Place { family, ..place };
        let scope = self.enter();
        let own = family.first(self, Axis::Row)?;
        let mine = match seen.row_step() > groups {
            true => Some(self.ir.icmp(inkwell::IntPredicate::ULT, own, self.ir.c32(groups))?.into()),
            false => None,
        };
        let skip = self.only_where(mine)?;
        let first = self.ir.scale(own, beside)?;
        let column = self.computed(first);
        for down in 0..groups.div_ceil(seen.row_step()) {
            for part in 0..chunks / across {
                let at = (part * seen.col_step(), down * seen.row_step() * beside);
                self.turn_words(value, view, (family, column), at, (width, beside, bits))?;
            }
        }
        // What some lanes alone have made is there for no other.
        if skip.is_some() {
            self.leave(scope);
        }
        self.rejoin(skip)?;
        self.place = place;
        Ok(())
    }

    /// `width` words, each of `beside` neighbours of a row.
    fn turn_words(
        &mut self,
        value: ValueId,
        view: &View<'c>,
        (family, column): (Family, Coord),
        (row, col): (u64, u64),
        (width, beside, bits): (u64, u64, u32),
    ) -> Result<()> {
        let elem = u64::from(bits / 8);
        let mut columns = Vec::new();
        for next in 0..beside {
            let col = Coord { offset: (col + next) as u32, ..column };
            let element = |i| Coords::from_iter([family.coord(Axis::Col, row + i), col]);
            let int = self.ir.int(bits).into();
            let elements = (0..width).map(|i| {
                let element = self.at(value, element(i))?;
                self.ir.bits(element, int)
            });
            columns.push(elements.collect::<Result<Vec<_>>>()?);
        }
        let own = family.first(self, Axis::Col)?;
        let byte = self.coordinate(Coord { offset: 0, ..column })?;
        let byte = self.ir.scale(byte, elem)?;
        let Family::Blocked(seen) = family else { return Ok(()) };
        for i in 0..width {
            let word =
                columns.iter().filter_map(|column| column.get(i as usize).copied()).collect::<Vec<_>>();
            let word = self.ir.vector(&word)?;
            let word = self.ir.bits(word, self.ir.int(bits * beside as u32).into())?;
            let first = self.ir.add(own, self.ir.c32((row + i) % 8))?;
            let span = seen.row_step() * beside * elem;
            let to = self.far_chunk(view, (first, byte, span), (row + i) / 8 * 8, col * elem)?;
            self.ir.store(word, to, (beside * elem) as u32)?;
        }
        Ok(())
    }
}
