//! What a lane lacks of a tile that it computes, and how it comes: elements that other lanes hold are brought to where
//! they are wanted, once for all that are computed from them (G12).

use std::collections::BTreeMap;

use hashbrown::HashSet;
use warploom_ir::{OpId, Opcode, ValueId};

use super::Lower;
use super::regroup::regrouped;
use super::value::{Bound, Coord, Coords, Form, Key, Memory};
use crate::error::{Result, internal};

/// Elements that other lanes hold, by the tiles that they are of, in the order in which they were wanted.
#[derive(Default)]
pub(super) struct Lacking {
    by_tile: BTreeMap<ValueId, Vec<Coords>>,
    /// What was looked at: many elements are computed from the same.
    seen: HashSet<Key>,
}

impl Lacking {
    /// How many.
    pub fn count(&self) -> usize {
        self.by_tile.values().map(Vec::len).sum()
    }

    fn add(&mut self, value: ValueId, at: Coords) {
        self.by_tile.entry(value).or_default().push(at);
    }
}

impl<'c> Lower<'c, '_> {
    /// The place in its operand that an operation which only looks at it otherwise looks at; `None` where code computes it.
    pub(super) fn seen_through(&self, op: OpId, at: &Coords) -> Result<Option<Coords>> {
        let source = self.operand(op, 0)?;
        let from = self.module.ty(source).shape();
        Ok(match self.module.ops[op].opcode {
            Opcode::ExpandDims => {
                let mut inner = at.clone();
                inner.remove(self.axis(op, at.len())?);
                Some(inner)
            }
            Opcode::Broadcast => {
                Some(at.iter().zip(from).map(|(&c, &n)| if n == 1 { Coord::ZERO } else { c }).collect())
            }
            Opcode::Trans => {
                let mut inner = at.clone();
                for (d, &source) in self.order(op, at.len())?.iter().enumerate() {
                    inner[source] = at[d];
                }
                Some(inner)
            }
            Opcode::Reshape => {
                let result = self.only_result(op)?;
                regrouped(self.module.ty(result).shape(), from, at, self.place.family, 32 * self.place.warps)
            }
            _ => None,
        })
    }

    /// Notes what a lane lacks to compute an element; false where it is in memory that the lane does not reach, or at a
    /// place that code computes.
    pub(super) fn lacks(&self, value: ValueId, at: Coords, lacking: &mut Lacking) -> Result<bool> {
        let (mut stack, reached) = (vec![(value, at)], self.reached());
        while let Some((value, at)) = stack.pop() {
            let key = self.key(value, at);
            if self.memo.contains_key(&key) || !lacking.seen.insert(key.clone()) {
                continue;
            }
            let (value, at) = key;
            let shape = self.module.ty(value).shape();
            let found = match self.bound.get(&value) {
                Some(Bound::Fragment(fragment)) => {
                    let held = match fragment.form {
                        Form::Whole => true,
                        Form::Flat => self.flat_index(shape, &at)?.is_some(),
                        Form::Linear(number) => {
                            let layout = self.distributed(number)?;
                            layout.register(&at, |a, b| self.starts_alike(a, b)).is_some()
                        }
                        Form::Tile { cols, .. } => self.tile_index(fragment.family, cols, &at).is_some(),
                        Form::Slice { axis, extent } => {
                            self.slice_index(fragment.family, (axis, extent), &at)?.is_some()
                        }
                    };
                    let known = at.iter().all(|coord| coord.base.of(0).is_some());
                    if !held && known {
                        lacking.add(value, at);
                    }
                    held || known
                }
                Some(Bound::View(view)) if Memory::ring(view.ring).meets(reached) => {
                    let family = self.family()?;
                    let places = self.places(value, family, self.form(value, family)?)?;
                    let held = !view.transposed && self.own_place(&places, &at).is_some();
                    let known = !view.transposed && at.iter().all(|coord| coord.base.of(0).is_some());
                    if !held && known {
                        lacking.add(value, at);
                    }
                    held || known
                }
                // What it reads may have been kept in registers since.
                Some(Bound::Lazy(lazy)) if lazy.reads != Memory::NONE => {
                    let op =
                        self.module.def_op(value).ok_or_else(|| internal("a tile without an operation"))?;
                    let operands = &self.module.ops[op].operands;
                    match self.module.ops[op].opcode {
                        opcode if opcode.is_elementwise() || opcode == Opcode::Load => {
                            let tiles = operands.iter().filter(|v| self.module.ty(**v).is_tensor());
                            stack.extend(tiles.map(|&v| (v, at.clone())));
                            true
                        }
                        Opcode::Join => {
                            let inner: Coords = at.iter().copied().take(at.len() - 1).collect();
                            stack.extend(operands.iter().map(|&v| (v, inner.clone())));
                            true
                        }
                        // Both halves: one alone has no linear map.
                        Opcode::Split => {
                            let halves = [0, 1].map(|offset| {
                                let half = Coord { offset, ..Coord::ZERO };
                                at.iter().copied().chain([half]).collect()
                            });
                            stack
                                .extend(halves.into_iter().flat_map(|at| operands.first().map(|&v| (v, at))));
                            true
                        }
                        // What the index names is in memory, but the index may not be.
                        Opcode::Gather => {
                            stack.extend(operands.get(1).map(|&v| (v, at)));
                            true
                        }
                        _ => {
                            let inner = self.seen_through(op, &at)?;
                            stack.extend(inner.clone().zip(operands.first()).map(|(at, &v)| (v, at)));
                            inner.is_some()
                        }
                    }
                }
                _ => true,
            };
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The one of the places that lanes hold which is this place, however it is written.
    pub(super) fn own_place<'p>(&self, held: &'p [Coords], at: &Coords) -> Option<&'p Coords> {
        held.iter().find(|place| *place == at).or_else(|| held.iter().find(|place| self.is_same(place, at)))
    }

    /// Brings what lanes lack to compute these elements of a tile.
    pub(super) fn reach(&mut self, value: ValueId, places: &[Coords]) -> Result<()> {
        let mut lacking = Lacking::default();
        for place in places {
            self.lacks(value, place.clone(), &mut lacking)?;
        }
        // Of what is made of several tiles, it alone comes from where it is made.
        let natural = match (self.bound.get(&value), self.natural.get(&value)) {
            (Some(Bound::Lazy(_)), Some(&form)) if lacking.count() > places.len() => Some(form),
            _ => None,
        };
        if let Some(form) = natural
            && self.comes(value, form, places)?
        {
            lacking = Lacking::default();
            places.iter().for_each(|place| lacking.add(value, place.clone()));
        }
        if lacking.count() > 0 {
            self.bring(lacking)?;
        }
        Ok(())
    }

    /// Whether a tile in this form can be brought to other places.
    fn comes(&self, value: ValueId, form: Form, places: &[Coords]) -> Result<bool> {
        let (family, ty) = (self.family()?, self.module.ty(value));
        if self.places(value, family, form)? == places {
            return Ok(false);
        }
        match self.map_of_places(ty, places) {
            Ok(wanted) => self.has_way((&self.map_of(value, family, form)?, &wanted), ty),
            Err(_) => Ok(false),
        }
    }

    /// Brings elements to where they are wanted; false, and nothing is done, where they have no linear map.
    pub(super) fn bring(&mut self, lacking: Lacking) -> Result<bool> {
        let mut ways = Vec::new();
        for (value, mut places) in lacking.by_tile {
            places.sort_by_key(|place| place.iter().map(|coord| coord.offset).collect::<Vec<_>>());
            let ty = self.module.ty(value);
            let Ok(wanted) = self.map_of_places(ty, &places) else { return Ok(false) };
            ways.push((value, places, wanted));
        }
        let family = self.family()?;
        for (value, places, wanted) in ways {
            let form = self.form_now(value, family)?;
            let held = self.map_of(value, family, form)?;
            let elements = self.held_elements(value, form)?;
            let found = self.brought(elements, (&held, &wanted), self.module.ty(value))?;
            for (place, element) in places.into_iter().zip(found) {
                let key = self.key(value, place);
                self.remember(key, element);
            }
        }
        Ok(true)
    }

    /// Whether a tile that no lane has a place for is only looked at otherwise: elements are brought once it has one.
    pub(super) fn is_seen_only(&self, value: ValueId) -> bool {
        use Opcode::{Broadcast, ExpandDims, Reshape, Trans};
        let family = self.place.family;
        let users = self.users_of(value);
        matches!(self.form(value, family), Ok(Form::Flat))
            && !users.is_empty()
            && users
                .iter()
                .all(|&op| matches!(self.module.ops[op].opcode, Broadcast | ExpandDims | Reshape | Trans))
    }
}
