//! `tt.map_elementwise`: a body of scalars, run for the elements of tiles one after the other (C3).
//!
//! A body that takes several elements at once gets neighbours in the order of rows. Triton leaves open which ones.

use super::attrs;
use super::data::Data;
use super::error::Fault;
use super::machine::Interpreter;
use super::value::Value;
use crate::entity::OpId;

impl Interpreter<'_> {
    /// The body with elements `0 .. pack`, `pack .. 2 pack`, .. of every operand, those of one operand side by side.
    pub(super) fn map_elementwise(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let module = self.module;
        let pack = usize::try_from(attrs::int(module, op, "pack")?).ok().filter(|&pack| pack > 0);
        let pack = pack.ok_or_else(|| Fault::Malformed("a map of no elements at once".into()))?;
        let body = module.entry(op, 0).ok_or_else(|| Fault::Malformed("a map without a body".into()))?;
        let tiles = self.tiles(&module.ops[op].operands)?;
        let elements = tiles.first().map_or(0, |tile| tile.len());
        let results = module.ops[op].results.len();
        let mut made: Vec<Vec<Data>> = vec![Vec::new(); results];
        for first in (0..elements).step_by(pack) {
            self.spend(1)?;
            let mut args: Vec<Value> = Vec::with_capacity(pack * tiles.len());
            for tile in &tiles {
                for at in first..first + pack {
                    args.push(tile.pick(std::iter::once(at))?.into());
                }
            }
            let returned = self.body(body, args)?;
            if returned.len() != pack * results {
                return Err(Fault::Malformed(format!("{} values of {}", returned.len(), pack * results)));
            }
            for (n, value) in returned.into_iter().enumerate() {
                let Value::Tile(data) = value else {
                    return Err(Fault::Malformed("a descriptor where a number is needed".into()));
                };
                made.get_mut(n / pack).into_iter().for_each(|all| all.push((*data).clone()));
            }
        }
        let whole = |parts: Vec<Data>| -> Result<Value, Fault> {
            let data = Data::concat(parts.iter())?;
            data.map(Value::from).ok_or_else(|| Fault::Malformed("a map of nothing".into()))
        };
        made.into_iter().map(whole).collect()
    }
}
