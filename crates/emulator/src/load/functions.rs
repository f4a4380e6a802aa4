//! Which functions a kernel may call (E98).

use std::collections::{BTreeMap, BTreeSet};
use warploom_ptx::{Function, Operand, Statement};

/// The functions of a module that have a body, by name: number and text.
pub(super) type Bodies<'t, 'a> = BTreeMap<&'a str, (u32, &'t Function<'a>)>;

/// Functions that a body calls by name, and whether it calls through an address.
fn calls<'a>(function: &Function<'a>) -> (BTreeSet<&'a str>, bool) {
    let (mut names, mut through) = (BTreeSet::new(), false);
    for statement in function.body.iter().flatten() {
        let Statement::Instruction(i) = statement else { continue };
        if i.opcode.split('.').next() != Some("call") {
            continue;
        }
        let callee = i.operands.iter().find_map(|o| if let Operand::Name(n) = o { Some(*n) } else { None });
        match callee {
            Some(n) if n.starts_with('%') => through = true,
            Some(n) => {
                names.insert(n);
            }
            None => {}
        }
    }
    (names, through)
}

/// What a body may call in one step: any function of the module where it calls through an address.
fn next<'a>(function: &Function<'a>, bodies: &Bodies<'_, 'a>) -> BTreeSet<&'a str> {
    let (names, through) = calls(function);
    if through { bodies.keys().copied().collect() } else { names }
}

/// All functions that may run below a body, itself not among them unless it is called again.
pub(super) fn below<'a>(function: &Function<'a>, bodies: &Bodies<'_, 'a>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&'a str> = next(function, bodies).into_iter().collect();
    while let Some(name) = open.pop() {
        if let Some((_, f)) = bodies.get(name)
            && found.insert(name)
        {
            open.extend(next(f, bodies));
        }
    }
    found
}
