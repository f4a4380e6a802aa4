//! The layout in which a tile is computed from tiles that lanes hold without any element going to another lane: operations
//! that give places other names change the layout alone (G5).

use warploom_ir::{OpId, Opcode, ValueId};
use warploom_layout::{Dim, Layout};

use super::Lower;
use super::distributed::unique_registers;
use super::value::{Bound, Form, Memory};
use crate::error::Result;
use crate::family::Family;
use crate::llvm::Val;

/// Registers that a lane may have of any tile, besides twice its share.
const FEW: u64 = 8;

impl<'c> Lower<'c, '_> {
    /// Whether no family lays out a tile, so that any layout is as good, or lanes in rows hold far more than their share of a
    /// row or column.
    pub(super) fn is_free(&self, value: ValueId) -> bool {
        if self.place.elected {
            return false;
        }
        let family = self.place.family;
        match self.form(value, family) {
            Ok(Form::Flat | Form::Whole) => true,
            Ok(Form::Slice { axis, extent }) if matches!(family, Family::Blocked(_)) => {
                family.held(axis, extent).is_ok_and(|held| held.len() as u64 > self.share(value))
            }
            _ => false,
        }
    }

    /// Registers that a lane may have of a tile.
    fn share(&self, value: ValueId) -> u64 {
        let elements: u64 = self.module.ty(value).shape().iter().product();
        (2 * elements / (32 * self.place.warps)).max(FEW)
    }

    /// Notes the layout that a tile which is not evaluated yet has by nature.
    pub(super) fn note_natural(&mut self, value: ValueId) {
        let found = self.module.def_op(value).and_then(|op| self.natural(op, value));
        match found {
            Some(form) => drop(self.natural.insert(value, form)),
            None => drop(self.natural.remove(&value)),
        }
    }

    /// The form of what an operation makes where every element stays with its lane; `None` where there is none, or the
    /// family has a form for it.
    pub(super) fn natural(&mut self, op: OpId, result: ValueId) -> Option<Form> {
        use Opcode::{Broadcast, ExpandDims, Gather, Join, Reshape, Split, Trans};
        if !self.is_free(result) {
            return None;
        }
        let module = self.module;
        let (operands, shape) = (&module.ops[op].operands, module.ty(result).shape());
        let map = match module.ops[op].opcode {
            // Copies of what is loaded may be loaded in any layout.
            Broadcast if !operands.iter().any(|&v| self.is_held(v)) => return None,
            Reshape | Trans | ExpandDims | Broadcast | Split | Join => {
                let held = operands.iter().find_map(|&v| self.layout_now(v))?;
                self.tile_op(op).ok()??.forward(&held).ok()??
            }
            Gather => self.layout_now(*operands.get(1)?)?,
            opcode if opcode.is_elementwise() => {
                let alike = || operands.iter().filter(|&&v| module.ty(v).shape() == shape);
                // What is loaded in many dimensions may be loaded in any layout, and so may the rest where lanes hold none of it.
                let loaded =
                    |v: &ValueId| self.lazy_of(*v).reads != Memory::NONE && !self.natural.contains_key(v);
                if alike().any(loaded) && !alike().any(|&v| self.is_held(v)) {
                    return None;
                }
                alike().filter_map(|&v| self.layout_now(v)).min_by_key(|l| l.input_size(Dim::Register))?
            }
            _ => return None,
        };
        if unique_registers(&map).len() as u64 > self.share(result) {
            return None;
        }
        self.layouts.form(&map, shape.len())
    }

    /// The layout that a tile has which lanes hold, or which is computed from such, or loaded; `None` of what any lane computes.
    fn layout_now(&self, value: ValueId) -> Option<Layout> {
        let family = self.place.family;
        let form = match self.bound.get(&value)? {
            Bound::Fragment(fragment) => fragment.form,
            Bound::Lazy(lazy) if lazy.reads != Memory::NONE => match self.natural.get(&value) {
                Some(form) => *form,
                None => {
                    let form = self.form(value, family).ok()?;
                    matches!(form, Form::Tile { .. } | Form::Slice { .. }).then_some(form)?
                }
            },
            _ => return None,
        };
        self.map_of(value, family, form).ok()
    }

    /// Whether an operation only gives places other names, and its results stay where its operands are.
    pub(super) fn renames(&mut self, op: OpId) -> bool {
        use Opcode::{Broadcast, ExpandDims, Join, Reshape, Split, Trans};
        let module = self.module;
        let named = matches!(module.ops[op].opcode, Broadcast | ExpandDims | Join | Reshape | Split | Trans);
        named
            && module.ops[op].operands.iter().any(|&v| self.is_held(v))
            && module.ops[op].results.iter().all(|&result| self.natural(op, result).is_some())
    }

    /// Binds a value to elements in this layout, where it may lie in any; `false`, and nothing is done, elsewhere.
    pub(super) fn hold_anyhow(&mut self, value: ValueId, elements: &[Val<'c>], map: &Layout) -> Result<bool> {
        let rank = self.module.ty(value).shape().len();
        let kept = unique_registers(map);
        let few = kept.len() as u64 <= self.share(value);
        let form = if few && self.is_free(value) { self.layouts.form(map, rank) } else { None };
        let Some(form) = form else { return Ok(false) };
        let kept = kept.into_iter();
        let kept: Option<Vec<_>> = kept.map(|register| elements.get(register as usize).copied()).collect();
        match kept {
            Some(kept) => self.hold(value, form, kept).map(|()| true),
            None => Ok(false),
        }
    }
}
