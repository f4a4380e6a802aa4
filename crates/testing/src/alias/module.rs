//! Modules from bytes. The same bytes give the same module.

use warploom_alias::{
    AliasModule, Alloc, Counts, Elem, Encoding, GroupElement, GroupKind, LeafId, Result, ReuseGroup, SpecId,
    Storage, TensorEncoding,
};

use super::bytes::Bytes;

/// How wild a generated module is.
#[derive(Clone, Copy, Debug)]
pub struct Ranges {
    /// Levels of groups.
    pub depth: u64,
    /// Largest group size.
    pub group_size: u64,
    /// Largest number of buffers.
    pub count: u64,
    /// Leaves of one spec.
    pub leaves: u64,
}

impl Ranges {
    /// What the property tests ask for: depth to 6, group sizes to 8, counts to 64.
    pub const WIDE: Ranges = Ranges { depth: 6, group_size: 8, count: 64, leaves: 12 };
    /// What the mutations are made of: depth to 5, 8 leaves, group sizes to 4, counts to 12.
    pub const SMALL: Ranges = Ranges { depth: 5, group_size: 4, count: 12, leaves: 8 };
}

/// A module with one to three specs, each with a tree over leaves of mixed types.
pub fn module(bytes: &[u8], ranges: Ranges) -> AliasModule {
    let mut b = Bytes::new(bytes);
    let mut m = AliasModule::new();
    for n in 0..=b.below(3) {
        let storage = b.pick(&[Storage::Smem, Storage::Tmem], Storage::Smem);
        let Ok(spec) = m.storage_alias_spec(storage, None) else { continue };
        m.name_spec(spec, format!("s{n}"), None);
        if b.below(8) == 7 {
            m.set_counts(spec, Counts::Gcd);
        }
        let count = 1 + b.below(ranges.leaves);
        let leaves: Vec<LeafId> = (0..count)
            .filter_map(|k| leaf(&mut b, &mut m, spec, storage, &format!("s{n}_{k}"), ranges).ok())
            .collect();
        if leaves.is_empty() || b.below(16) == 15 {
            continue;
        }
        if let Ok(tree) = tree(&mut b, &leaves, ranges.depth, ranges) {
            // A tree over the spec's own leaves, each once, is never refused.
            let _accepted = m.set_buffer_overlap(spec, tree);
        }
    }
    m
}

fn leaf(
    b: &mut Bytes<'_>,
    m: &mut AliasModule,
    spec: SpecId,
    storage: Storage,
    name: &str,
    ranges: Ranges,
) -> Result<LeafId> {
    let elem = b.pick(
        &[Elem::F32, Elem::BF16, Elem::F8, Elem::F4, Elem::F64, Elem::int(1), Elem::int(24), Elem::PTR],
        Elem::F32,
    );
    let count = 1 + b.below(ranges.count);
    let mut alloc = match storage {
        Storage::Tmem => {
            let rows = b.pick(&[128, 64, 256, 32], 128);
            let columns = b.pick(&[16, 1, 3, 32, 64], 16);
            let mut e = TensorEncoding::new(if rows == 64 { 64 } else { 128 }, 32);
            e.col_stride = b.pick(&[1, 2], 1);
            e.two_ctas = b.below(8) == 7;
            Alloc::new(name, count, [rows, columns], elem).encoding(Encoding::Tensor(e))
        }
        _ => {
            let tile = [1 + b.below(40), 1 + b.below(40)];
            let swizzle = b.pick(&[0, 0, 32, 64, 128], 0);
            let encoding = match swizzle {
                0 => Encoding::Swizzled,
                _ => Encoding::Nvmma { swizzle, fp4_padded: b.below(4) == 3 },
            };
            Alloc::new(name, count, tile, elem).encoding(encoding)
        }
    };
    if b.below(4) == 3 && storage == Storage::Smem {
        alloc = alloc.align(1024 << b.below(2)).encoding(Encoding::Swizzled);
    }
    m.local_alloc(alloc.reuse(spec))
}

/// A tree over all these leaves.
fn tree(b: &mut Bytes<'_>, leaves: &[LeafId], depth: u64, ranges: Ranges) -> Result<ReuseGroup> {
    let kind = b.pick(&[GroupKind::Shared, GroupKind::Distinct], GroupKind::Shared);
    let size = 1 + b.pick(&[0, 0, 1], 0) * b.below(ranges.group_size);
    let mut elements: Vec<GroupElement> = Vec::new();
    let mut rest = leaves;
    while !rest.is_empty() {
        let take = 1 + b.below(rest.len() as u64) as usize;
        let (here, after) = rest.split_at(take.min(rest.len()));
        if depth > 1 && b.below(3) > 0 {
            elements.push(tree(b, here, depth - 1, ranges)?.into());
        } else {
            elements.extend(here.iter().map(|l| GroupElement::Leaf(*l)));
        }
        rest = after;
    }
    ReuseGroup::new(kind, elements)?.group_size(size as i64)
}
