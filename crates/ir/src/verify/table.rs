//! One row for each operation: how many operands, results and regions it has, and what else must hold.

use super::{Cx, arith, control, memory, products, program, shapes};
use crate::diag::{Code, Diagnostic};
use crate::opcode::Opcode;
use crate::text::format::{Format, Item, format};
use crate::types::Type;

/// A row of the table.
struct Row {
    operands: (usize, usize),
    results: (usize, usize),
    regions: usize,
    check: fn(&mut Cx<'_>),
}

const ANY: usize = usize::MAX;

/// A row of an operation without regions and with fixed numbers of operands and results.
const fn row(operands: usize, results: usize, check: fn(&mut Cx<'_>)) -> Row {
    Row { operands: (operands, operands), results: (results, results), regions: 0, check }
}

const fn range(operands: (usize, usize), results: (usize, usize), check: fn(&mut Cx<'_>)) -> Row {
    Row { operands, results, regions: 0, check }
}

const fn nest(
    operands: (usize, usize),
    results: (usize, usize),
    regions: usize,
    check: fn(&mut Cx<'_>),
) -> Row {
    Row { operands, results, regions, check }
}

fn nothing(_: &mut Cx<'_>) {}

fn rows(op: Opcode) -> Option<Row> {
    use Opcode as O;
    Some(match op {
        O::Module => nest((0, 0), (0, 0), 1, control::module),
        O::AddI | O::SubI | O::MulI | O::DivSI | O::DivUI | O::RemSI | O::RemUI => row(2, 1, arith::ints),
        O::AndI | O::OrI | O::XOrI | O::ShLI | O::ShRSI | O::ShRUI => row(2, 1, arith::ints),
        O::MinSI | O::MaxSI | O::MinUI | O::MaxUI | O::MulHiUI => row(2, 1, arith::ints),
        O::AbsI => row(1, 1, arith::ints),
        O::AddF | O::SubF | O::MulF | O::DivF | O::RemF | O::PreciseDivF => row(2, 1, arith::floats),
        O::MaxNumF | O::MinNumF | O::MaximumF | O::MinimumF => row(2, 1, arith::floats),
        O::NegF | O::Exp | O::Exp2 | O::Log | O::Log2 | O::Sqrt | O::Rsqrt => row(1, 1, arith::floats),
        O::Sin | O::Cos | O::Tanh | O::Erf | O::AbsF | O::Floor | O::Ceil => row(1, 1, arith::floats),
        O::PreciseSqrt => row(1, 1, arith::floats),
        O::Fma | O::ClampF => row(3, 1, arith::floats),
        O::CmpI => row(2, 1, arith::cmpi),
        O::CmpF => row(2, 1, arith::cmpf),
        O::Select => row(3, 1, arith::select),
        O::Constant => row(0, 1, arith::constant),
        O::ExtSI | O::ExtUI => row(1, 1, arith::extend_int),
        O::TruncI => row(1, 1, arith::truncate_int),
        O::ExtF => row(1, 1, arith::extend_float),
        O::TruncF => row(1, 1, arith::truncate_float),
        O::SIToFP | O::UIToFP => row(1, 1, arith::int_to_float),
        O::FPToSI | O::FPToUI => row(1, 1, arith::float_to_int),
        O::ArithBitcast | O::Bitcast => row(1, 1, arith::bitcast),
        O::IndexCast => row(1, 1, arith::index_cast),
        O::FpToFp => row(1, 1, arith::fp_to_fp),

        O::For => nest((3, ANY), (0, ANY), 1, control::for_loop),
        O::If => nest((1, 1), (0, ANY), 2, control::if_else),
        O::While => nest((0, ANY), (0, ANY), 2, control::while_loop),
        O::Condition => range((1, ANY), (0, 0), control::condition),
        O::Yield => range((0, ANY), (0, 0), control::yield_values),
        O::Func => nest((0, 0), (0, 0), 1, control::func),
        O::Return => range((0, ANY), (0, 0), control::return_values),
        O::Call => range((0, ANY), (0, ANY), control::call),
        O::GetProgramId | O::GetNumPrograms => row(0, 1, control::program_number),

        O::MakeRange => row(0, 1, shapes::make_range),
        O::Splat => row(1, 1, shapes::splat),
        O::Unsplat => row(1, 1, shapes::unsplat),
        O::Broadcast => row(1, 1, shapes::broadcast),
        O::ExpandDims => row(1, 1, shapes::expand_dims),
        O::Reshape => row(1, 1, shapes::reshape),
        O::Trans => row(1, 1, shapes::trans),
        O::Cat => row(2, 1, shapes::cat),
        O::Join => row(2, 1, shapes::join),
        O::Split => row(1, 2, shapes::split),
        O::Gather => row(2, 1, shapes::gather),
        O::Histogram => row(1, 1, shapes::histogram),
        O::Reduce => nest((1, ANY), (1, ANY), 1, shapes::reduce),
        O::Scan => nest((1, ANY), (1, ANY), 1, shapes::scan),
        O::ReduceReturn | O::ScanReturn => range((1, ANY), (0, 0), shapes::combined),

        O::IntToPtr => row(1, 1, memory::int_to_ptr),
        O::PtrToInt => row(1, 1, memory::ptr_to_int),
        O::AddPtr => row(2, 1, memory::addptr),
        O::Load => range((1, 3), (1, 1), memory::load),
        O::Store => range((2, 3), (0, 0), memory::store),
        O::AtomicRmw => range((2, 3), (1, 1), memory::atomic_rmw),
        O::AtomicCas => row(3, 1, memory::atomic_cas),
        O::MakeTensorDescriptor => range((1, ANY), (1, 1), memory::make_descriptor),
        O::DescriptorLoad => range((2, ANY), (1, 1), memory::descriptor_load),
        O::DescriptorStore => range((3, ANY), (0, 0), memory::descriptor_store),
        O::DescriptorReduce => range((3, ANY), (0, 0), memory::descriptor_store),
        O::DescriptorGather => row(3, 1, memory::descriptor_gather),
        O::DescriptorScatter => row(4, 0, memory::descriptor_scatter),

        O::Dot => row(3, 1, products::dot),
        O::DotScaled => range((3, 5), (1, 1), products::dot_scaled),

        O::ExternElementwise => range((0, ANY), (1, 1), arith::extern_elementwise),
        O::ElementwiseInlineAsm => range((0, ANY), (1, ANY), arith::inline_asm),
        O::Assert => row(1, 0, memory::truth),
        O::Assume => row(1, 0, memory::truth),
        O::Print => range((0, ANY), (0, 0), arith::print),
        O::TtgBarrier => row(0, 0, nothing),

        O::Alloc => row(0, 0, program::alloc),
        O::Pipeline => row(0, 0, program::pipeline),
        O::NamedBarrier => row(0, 0, program::named_barrier),
        O::Agent => nest((0, 0), (0, 0), 1, program::agent),
        O::Elect => nest((0, 0), (0, 0), 1, program::elect),
        O::ProducerAcquire | O::ConsumerWait => row(2, 0, program::ring),
        O::ProducerCommit | O::ConsumerRelease => row(2, 0, program::ring),
        O::Advance => row(2, 2, program::ring),
        O::TmaLoad | O::TmaStore => range((3, ANY), (0, 0), program::tma),
        O::Slot => range((1, 2), (1, 1), program::slot),
        O::Mma => row(4, 0, program::mma),
        O::TileStore => row(2, 0, program::tile_store),
        O::MmaWait => range((1, ANY), (1, ANY), program::mma_wait),
        O::StoreWait => row(0, 0, program::store_wait),
        O::StoreCommit | O::ProxyFence => row(0, 0, program::inside_agent),
        O::BarrierSync => row(0, 0, program::barrier_sync),
        O::AsyncCopy => range((2, 4), (0, 0), program::async_copy),
        O::AsyncCommit => row(0, 0, program::inside_agent),
        O::AsyncWait => row(0, 0, program::async_wait),
        O::Other(_) => return None,
    })
}

/// Checks an operation against its row, and the types of everything it makes against C4.
pub(super) fn check(cx: &mut Cx<'_>) {
    limits(cx);
    let Some(row) = rows(cx.m.ops[cx.op].opcode) else { return };
    let found = [
        ("operands", cx.operands().len(), row.operands),
        ("results", cx.results().len(), row.results),
        ("regions", cx.m.ops[cx.op].regions.len(), (row.regions, row.regions)),
    ];
    let mut sound = true;
    for (what, n, (low, high)) in found {
        sound &= cx.need((low..=high).contains(&n), || {
            let wanted = match (low, high) {
                (l, h) if l == h => l.to_string(),
                (l, ANY) => format!("at least {l}"),
                (l, h) => format!("{l} to {h}"),
            };
            format!("{n} {what}, {wanted} needed")
        });
    }
    sound &= properties(cx);
    if sound {
        (row.check)(cx);
    }
}

/// Properties that the custom form spells must be there, and be what it says.
fn properties(cx: &mut Cx<'_>) -> bool {
    use crate::attr::Attr;
    let Format::Items(items, _) = format(cx.m.ops[cx.op].opcode) else { return true };
    let mut sound = true;
    for item in items {
        let (name, fits, wanted, optional) = match item {
            Item::Keyword(name, words) | Item::Named(name, words) => {
                let fits = cx.prop(name).and_then(Attr::as_str).is_some_and(|w| words.number(w).is_some());
                (name, fits, format!("one of {}", words.list()), false)
            }
            Item::MaybeKeyword(name, words) | Item::MaybeNamed(name, words) => {
                let fits = cx.prop(name).and_then(Attr::as_str).is_some_and(|w| words.number(w).is_some());
                (name, fits, format!("one of {}", words.list()), true)
            }
            Item::Text(name) => {
                (name, matches!(cx.prop(name), Some(Attr::String(_))), "a string".to_owned(), false)
            }
            Item::Symbol(name) => {
                (name, matches!(cx.prop(name), Some(Attr::Symbol(_))), "a symbol".to_owned(), false)
            }
            Item::Name => (
                &"sym_name",
                matches!(cx.prop("sym_name"), Some(Attr::String(_))),
                "a string".to_owned(),
                false,
            ),
            _ => continue,
        };
        let missing = cx.prop(name).is_none();
        sound &= cx.need(fits || (missing && optional), || match missing {
            true => format!("attribute `{name}` is missing"),
            false => format!("attribute `{name}` must be {wanted}"),
        });
    }
    sound
}

/// Rank, extents and size of tiles and blocks (C4).
fn limits(cx: &mut Cx<'_>) {
    let m = cx.m;
    for value in cx.results() {
        limit(cx, m.ty(*value));
    }
    for region in &m.ops[cx.op].regions {
        for block in &m.regions[*region].blocks {
            for arg in &m.blocks[*block].args {
                limit(cx, m.ty(*arg));
            }
        }
    }
}

fn limit(cx: &mut Cx<'_>, ty: &Type) {
    if !ty.is_tensor() && !ty.is_desc() {
        return;
    }
    let shape = ty.shape();
    let fault = if shape.is_empty() || shape.len() > 5 {
        format!("`{ty}` has rank {}, 1 to 5 are supported", shape.len())
    } else if let Some(odd) = shape.iter().find(|d| !d.is_power_of_two()) {
        format!("extent {odd} of `{ty}` is not a power of two")
    } else if ty.elements().is_none_or(|n| n > 1 << 20) {
        format!("`{ty}` has more than 1048576 elements")
    } else {
        return;
    };
    cx.report(Diagnostic::error(Code::Verify, fault).rule("C4"));
}
