//! What must hold of every module and every text. Each law says what is broken, in words.

use warploom_alias::{
    AliasErrors, AliasLayout, AliasLimits, AliasModule, AliasOptions, Alloc, CheckOptions, GroupElement,
    LeafId, ReuseGroup, TextOptions, check, check_lowered, lower_text,
};

/// Options without limits: trees of random tiles are larger than a chip.
pub fn without_limits() -> AliasOptions {
    AliasOptions::default().limits(AliasLimits::default().tmem_columns(u64::MAX))
}

/// A module that is laid out is laid out right (L1 to L12); `None` where it is refused.
///
/// # Errors
/// What the checker found.
pub fn layout_is_right(m: &AliasModule, options: &AliasOptions) -> Result<Option<AliasLayout>, String> {
    let Ok(layout) = m.layout(options) else { return Ok(None) };
    let against = CheckOptions::of(options);
    check(m, &layout, &against).map_err(|findings| findings.to_string())?;
    Ok(Some(layout))
}

/// Strict slots accept a subset of the modules, with the same addresses (A34).
///
/// # Errors
/// The first leaf that lies elsewhere.
pub fn strict_slots_are_a_subset(m: &AliasModule, options: &AliasOptions) -> Result<(), String> {
    let strict = options.clone().strict_slots(true);
    let Some(slots) = layout_is_right(m, &strict)? else { return Ok(()) };
    let plain = layout_is_right(m, options)?.ok_or("strict slots accept what the default refuses")?;
    same_places(&slots, &plain)
}

/// The order in which leaves are declared changes no base and no stride (A2).
///
/// # Errors
/// The first leaf that lies elsewhere.
pub fn declaration_order_changes_nothing(m: &AliasModule, options: &AliasOptions) -> Result<(), String> {
    let other = reversed(m).map_err(|e| e.to_string())?;
    match (m.layout(options), other.layout(options)) {
        (Ok(a), Ok(b)) => same_places(&a, &b),
        _ => Ok(()),
    }
}

/// Storages and leaves, by name, lie in the same places.
fn same_places(a: &AliasLayout, b: &AliasLayout) -> Result<(), String> {
    for (x, y) in a.storages.iter().zip(&b.storages) {
        let shape = |s: &warploom_alias::StorageLayout| (s.size, s.groups, s.stride, s.align, s.rows);
        if shape(x) != shape(y) {
            return Err(format!("storage {}: {:?} and {:?}", x.name, shape(x), shape(y)));
        }
        for leaf in &x.leaves {
            let other = y.leaves.iter().find(|l| l.name == leaf.name);
            if other.map(|l| &l.map) != Some(&leaf.map) {
                return Err(format!("%{} lies elsewhere", leaf.name));
            }
        }
    }
    match a.storages.len() == b.storages.len() {
        true => Ok(()),
        false => Err("another number of storages".to_owned()),
    }
}

/// The same module with its leaves declared the other way round.
fn reversed(m: &AliasModule) -> Result<AliasModule, AliasErrors> {
    let mut out = AliasModule::new();
    for (_, s) in m.specs() {
        let size = s.size_bytes().and_then(|n| i64::try_from(n).ok());
        let id = out.storage_alias_spec(s.storage(), size)?;
        out.set_counts(id, s.counts());
    }
    let leaves: Vec<_> = m.leaves().collect();
    let mut moved: Vec<(LeafId, LeafId)> = Vec::new();
    for (id, l) in leaves.iter().rev() {
        let mut alloc = Alloc::new(l.name(), l.count(), l.tile(), l.elem()).encoding(l.encoding().clone());
        if let Some(align) = l.align() {
            alloc = alloc.align(align);
        }
        if let Some(spec) = l.spec() {
            alloc = alloc.reuse(spec);
        }
        moved.push((*id, out.local_alloc(alloc)?));
    }
    for o in m.overlaps() {
        out.set_buffer_overlap(o.spec, renamed(&o.tree, &moved)?)?;
    }
    Ok(out)
}

fn renamed(group: &ReuseGroup, moved: &[(LeafId, LeafId)]) -> Result<ReuseGroup, AliasErrors> {
    let mut elements: Vec<GroupElement> = Vec::new();
    for element in group.elements() {
        match element {
            GroupElement::Leaf(leaf) => elements
                .extend(moved.iter().find(|(old, _)| old == leaf).map(|(_, new)| GroupElement::Leaf(*new))),
            GroupElement::Group(inner) => elements.push(renamed(inner, moved)?.into()),
        }
    }
    Ok(ReuseGroup::new(group.kind(), elements)?.group_size(i64::try_from(group.size()).unwrap_or(1))?)
}

/// A text that is lowered says what its layout says (L13, L14); the lowered text, `None` where it is refused.
///
/// # Errors
/// What the checker found.
pub fn lowering_is_right(text: &str, options: &TextOptions) -> Result<Option<String>, String> {
    let out = lower_text(text, options);
    if out.failed {
        return Ok(None);
    }
    check_lowered(text, &out.text, &options.layout)
        .map_err(|findings| format!("{findings}\n{}", out.text))?;
    Ok(Some(out.text))
}

/// No text panics, and lowered text lowers to itself.
///
/// # Errors
/// The lowered text that lowers to another.
pub fn text_is_stable(text: &str) -> Result<(), String> {
    lower_text(text, &with_layout(AliasOptions::tlx()));
    let out = lower_text(text, &TextOptions::default());
    if out.failed {
        return Ok(());
    }
    let again = lower_text(&out.text, &TextOptions::default());
    match !again.failed && again.text == out.text {
        true => Ok(()),
        false => Err(out.text),
    }
}

/// Options of a text with these of its layout.
pub fn with_layout(layout: AliasOptions) -> TextOptions {
    TextOptions::default().layout(layout)
}

/// Whatever the bytes say: the module that they are is laid out right and its text lowers right, by default and with
/// TLX's numbers. What the fuzz target `alias` asks.
///
/// # Errors
/// What is broken.
pub fn bytes_keep_the_laws(bytes: &[u8]) -> Result<(), String> {
    let text = super::text_of(&super::module(bytes, super::Ranges::SMALL));
    for compat in [false, true] {
        let options = without_limits().compat(compat);
        layout_is_right(&super::module(bytes, super::Ranges::WIDE), &options)?;
        lowering_is_right(&text, &with_layout(options))?;
    }
    Ok(())
}
