//! Nested scopes with their own registers and labels (E17).

use std::collections::HashMap;

/// The width class of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// One bit per lane.
    Pred,
    /// Bits: 8, 16, 32, 64 or 128.
    Bits(u8),
}

impl Class {
    pub(crate) fn of(ty: &str) -> Option<Class> {
        if ty == "pred" {
            return Some(Class::Pred);
        }
        super::raw::type_bytes(ty).and_then(|b| u8::try_from(b * 8).ok()).map(Class::Bits)
    }
}

/// Names of one `{ }`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope<'a> {
    pub parent: Option<u32>,
    /// Registers by full name.
    pub regs: HashMap<&'a str, Class>,
    /// `%r<304>`: prefix to count and class.
    pub banks: HashMap<&'a str, (u64, Class)>,
    /// Instruction index that a label stands before.
    pub labels: HashMap<&'a str, u32>,
    /// `.branchtargets` lists by label.
    pub targets: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Scope<'a> {
    /// The class of a register declared here.
    pub(crate) fn register(&self, name: &str) -> Option<Class> {
        if let Some(c) = self.regs.get(name) {
            return Some(*c);
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        // A bank's own name may end in digits, so every split is tried.
        (1..=digits).rev().find_map(|n| {
            let (prefix, number) = name.split_at(name.len() - n);
            let (count, class) = self.banks.get(prefix)?;
            let canonical = number == "0" || !number.starts_with('0');
            (canonical && number.parse::<u64>().ok()? < *count).then_some(*class)
        })
    }
}

/// Finds `name` from `scope` outwards with `look`, and the scope that has it.
pub(crate) fn outwards<'s, 'a, T>(
    scopes: &'s [Scope<'a>],
    scope: u32,
    look: impl Fn(&'s Scope<'a>) -> Option<T>,
) -> Option<(T, u32)> {
    let mut at = Some(scope);
    while let Some(i) = at {
        let s = scopes.get(i as usize)?;
        if let Some(t) = look(s) {
            return Some((t, i));
        }
        at = s.parent;
    }
    None
}
