//! Sums in tensor memory that all lanes have read before they meet: who issues the next product behind that needs no word
//! from each of them (C24, C25).

use std::collections::BTreeSet;

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode};

use crate::engines::tensor::TensorRing;
use crate::layout::BARRIER;

/// The rings whose products all start behind a meeting of those who read the one before, on every way to them.
pub(super) fn met<'a>(out: &Module, func: OpId, rings: &'a [TensorRing]) -> BTreeSet<&'a str> {
    let mut late = BTreeSet::new();
    if let Some(body) = out.entry(func, 0) {
        of(out, body, &mut late);
    }
    let names = rings.iter().filter(|ring| ring.empty.is_some()).map(|ring| ring.name.as_str());
    names.filter(|name| !late.contains(*name)).collect()
}

/// What a block does with rings.
#[derive(Default)]
struct Done {
    /// Products that start before all have met, if all could come from its beginning.
    asked: BTreeSet<String>,
    /// What was read, and not met for, at its end.
    read: BTreeSet<String>,
}

/// What a block does; `late` takes the rings of which a product may start before its readers have met.
fn of(out: &Module, block: BlockId, late: &mut BTreeSet<String>) -> Done {
    let (mut done, mut have_met) = (Done::default(), false);
    for &op in &out.blocks[block].ops {
        let data = &out.ops[op];
        let named = |name: &str| out.attr(op, name).and_then(Attr::as_symbol).map(str::to_owned);
        let inner = match data.opcode {
            Opcode::ConsumerRelease => {
                Done { read: named("pipeline").into_iter().collect(), ..Done::default() }
            }
            Opcode::ProducerAcquire => {
                Done { asked: named("pipeline").into_iter().collect(), ..Done::default() }
            }
            Opcode::BarrierSync if named("barrier").as_deref() == Some(BARRIER) => {
                have_met = true;
                done.read.clear();
                continue;
            }
            _ => {
                let mut all = Done::default();
                for &region in &data.regions {
                    for &block in &out.regions[region].blocks {
                        let one = of(out, block, late);
                        all.asked.extend(one.asked);
                        all.read.extend(one.read);
                    }
                }
                if matches!(data.opcode, Opcode::For | Opcode::While) {
                    late.extend(all.asked.intersection(&all.read).cloned());
                }
                all
            }
        };
        late.extend(inner.asked.intersection(&done.read).cloned());
        if !have_met {
            done.asked.extend(inner.asked);
        }
        // None of it may have been done.
        done.read.extend(inner.read);
    }
    done
}
