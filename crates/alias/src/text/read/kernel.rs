//! What the function of a part declares, and who reads which value.

use hashbrown::HashMap;
use warploom_ir::{Attr, OpId, Opcode, Type, ValueId};

use crate::error::{AliasError, AliasErrors, AliasNote};
use crate::model::{AliasModule, LeafId, SpecId};
use crate::text::dialect::{TLX, current_name};
use crate::text::part::TextPart;

/// What the function of a part declares, and where.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) module: AliasModule,
    /// Operations of the function, in the order of the text.
    pub(crate) ops: Vec<OpId>,
    /// Operation of each spec; for a legacy spec, that of the owner.
    pub(crate) specs: Vec<(SpecId, OpId)>,
    /// Operation of each leaf of a spec.
    pub(crate) leaves: Vec<(LeafId, OpId)>,
    /// Groups and overlap definitions.
    pub(crate) trees: Vec<OpId>,
    pub(crate) notes: Vec<AliasNote>,
    /// Bindings of values to leaves (A44), in the order of the text.
    pub(crate) bindings: Vec<(OpId, String)>,
}

/// Reads a part and brings what has several spellings to one: deprecated names (A3), words of the generic form.
///
/// # Errors
/// A16: everything that is no assembly.
pub(crate) fn open(text: &str, first_line: u32) -> Result<(TextPart, Vec<AliasNote>), AliasErrors> {
    let mut part = TextPart::read(text, first_line, TLX)?;
    let mut notes = Vec::new();
    for op in part.walk() {
        if let Some(name) = current_name(part.name(op)) {
            if name == "tlx.storage_alias_spec" {
                let message = "'tlx.shared_buffer_def' was renamed to 'tlx.storage_alias_spec'";
                notes.push(AliasError::warning("A3", message).at(part.pos(op)).help("use the new name"));
            }
            part.module.ops[op].opcode = part.opcode(name);
        }
        words(&mut part, op);
    }
    for value in part.module.values.values_mut() {
        if let Type::Opaque(text) = &mut value.ty
            && text.contains("!tlx.shared_buffer_def<")
        {
            *text = text.replace("!tlx.shared_buffer_def<", "!tlx.storage_alias_spec<");
        }
    }
    Ok((part, notes))
}

/// What custom assembly writes as words and plain numbers.
fn words(part: &mut TextPart, op: OpId) {
    if !matches!(part.name(op), "tlx.storage_alias_spec" | "tlx.reuse_group") {
        return;
    }
    let props = &mut part.module.ops[op].props;
    if let Some(size) = props.remove("buffer_size_bytes") {
        props.set("size", size);
    }
    for name in ["storage", "group_kind"] {
        if let Some(Attr::Opaque(text)) = props.get(name)
            && let Some((_, word)) = text.split_once('<').filter(|_| text.starts_with('#'))
        {
            let word = Attr::Opaque(word.trim_end_matches('>').to_owned());
            props.set(name, word);
        }
    }
    if props.get("group_size").and_then(Attr::as_i64) == Some(1) {
        props.remove("group_size");
    }
}

/// Operations by function, each list in the order of the text.
pub(crate) fn functions(part: &TextPart) -> Vec<Vec<OpId>> {
    let m = &part.module;
    let mut out: Vec<Vec<OpId>> = vec![Vec::new()];
    for op in part.walk() {
        if m.is_isolated(op) && m.ops[op].opcode != Opcode::Module {
            out.push(Vec::new());
        }
        if let Some(last) = out.last_mut() {
            last.push(op);
        }
    }
    out
}

/// Which of these operations read each value. Values do not cross functions, so those of one function are
/// enough for its values.
pub(crate) fn users(part: &TextPart, ops: &[OpId]) -> HashMap<ValueId, Vec<OpId>> {
    let mut out: HashMap<ValueId, Vec<OpId>> = HashMap::new();
    for op in ops {
        for value in &part.module.ops[*op].operands {
            let list = out.entry(*value).or_default();
            if list.last() != Some(op) {
                list.push(*op);
            }
        }
    }
    out
}
