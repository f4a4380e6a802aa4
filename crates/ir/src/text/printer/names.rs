//! Names of values: those of the text where there are any, numbers elsewhere, as MLIR gives them out.

use std::collections::{HashMap, HashSet};

use cranelift_entity::SecondaryMap;

use crate::entity::{BlockId, OpId, RegionId, ValueId};
use crate::module::Module;
use crate::walk::{Event, events};

/// Runs of results that share one name: first result and how many.
pub(super) fn groups(m: &Module, op: OpId) -> Vec<(usize, usize)> {
    let results = &m.ops[op].results;
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for (n, value) in results.iter().enumerate() {
        match groups.last_mut() {
            Some((first, count)) if m.values[results[*first]].name == m.values[*value].name => *count += 1,
            _ => groups.push((n, 1)),
        }
    }
    groups
}

/// Names visible at one place, innermost region last.
struct Scope {
    used: HashSet<String>,
    regions: Vec<Vec<String>>,
    /// Number of the next `_n` that tells equal names apart.
    conflict: u32,
}

impl Scope {
    fn new() -> Scope {
        Scope { used: HashSet::new(), regions: vec![Vec::new()], conflict: 0 }
    }

    fn claim(&mut self, wanted: &str) -> String {
        let wanted = legal(wanted);
        let mut name = wanted.clone();
        while self.used.contains(&name) {
            name = format!("{wanted}_{}", self.conflict);
            self.conflict += 1;
        }
        self.used.insert(name.clone());
        if let Some(region) = self.regions.last_mut() {
            region.push(name.clone());
        }
        name
    }
}

/// A name that the lexer reads as one.
fn legal(name: &str) -> String {
    let mut out: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-') { c } else { '_' })
        .collect();
    let number = out.bytes().all(|b| b.is_ascii_digit());
    if out.is_empty() || !number && out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    out
}

/// Names every value of the module, with percent sign and result number.
pub(super) fn assign(m: &Module) -> SecondaryMap<ValueId, String> {
    let early = used_early(m);
    let numbers = number(m, &early);
    let mut labels: SecondaryMap<ValueId, String> = SecondaryMap::with_capacity(m.values.len());
    let mut scopes = vec![Scope::new()];
    for event in events(m, m.root) {
        let Some(scope) = scopes.last_mut() else { break };
        match event {
            Event::Enter(region) => {
                let owner = m.regions[region].parent;
                if owner.is_some_and(|op| m.is_isolated(op)) {
                    let mut scope = Scope::new();
                    // A value used before its definition holds its name from the start.
                    for op in early.get(&region).into_iter().flatten() {
                        name_results(m, *op, &numbers, &mut scope, &mut labels);
                    }
                    scopes.push(scope);
                } else {
                    scope.regions.push(Vec::new());
                }
            }
            Event::Leave(region) => {
                let owner = m.regions[region].parent;
                if owner.is_some_and(|op| m.is_isolated(op)) {
                    scopes.pop();
                } else {
                    for name in scope.regions.pop().unwrap_or_default() {
                        scope.used.remove(&name);
                    }
                }
            }
            Event::Block(block) => {
                for value in &m.blocks[block].args {
                    let value = *value;
                    labels[value] = match (&m.values[value].name, numbers.get(&value)) {
                        (Some(name), _) => format!("%{}", scope.claim(name)),
                        (None, Some(Number::Argument(n))) => format!("%{}", scope.claim(&format!("arg{n}"))),
                        (None, Some(Number::Value(n))) => format!("%{n}"),
                        (None, None) => String::from("%?"),
                    };
                }
            }
            Event::Op(_) => {}
            Event::Done(op) => name_results(m, op, &numbers, scope, &mut labels),
        }
    }
    // Values of detached operations, for messages.
    for value in m.values.keys() {
        if labels[value].is_empty() {
            labels[value] = match &m.values[value].name {
                Some(name) => format!("%{}", legal(name)),
                None => String::from("%?"),
            };
        }
    }
    labels
}

fn name_results(
    m: &Module,
    op: OpId,
    numbers: &HashMap<ValueId, Number>,
    scope: &mut Scope,
    labels: &mut SecondaryMap<ValueId, String>,
) {
    for (first, count) in groups(m, op) {
        let results = &m.ops[op].results;
        let value = results[first];
        if !labels[value].is_empty() {
            continue;
        }
        let name = match (&m.values[value].name, numbers.get(&value)) {
            (Some(name), _) => scope.claim(name),
            (None, Some(Number::Value(n) | Number::Argument(n))) => n.to_string(),
            (None, None) => String::from("?"),
        };
        for (index, value) in results[first..first + count].iter().enumerate() {
            labels[*value] = match count {
                1 => format!("%{name}"),
                _ => format!("%{name}#{index}"),
            };
        }
    }
}

#[derive(Clone, Copy)]
enum Number {
    Value(u32),
    Argument(u32),
}

/// Numbers values without names: those of a region before those of regions inside it, siblings from the
/// same number on; isolated regions begin anew. What is used before its definition comes first, for its
/// number must be its own in the whole isolated region.
fn number(m: &Module, early: &HashMap<RegionId, Vec<OpId>>) -> HashMap<ValueId, Number> {
    let mut numbers = HashMap::new();
    // Numbers that the text gave, where they were kept.
    let names = m.values.values().filter_map(|v| v.name.as_deref());
    let taken: HashSet<u32> = names.filter_map(|n| n.parse().ok()).collect();
    let mut work: Vec<(RegionId, u32, u32)> = m.ops[m.root].regions.iter().map(|r| (*r, 0, 0)).collect();
    while let Some((region, mut next, mut argument)) = work.pop() {
        for op in early.get(&region).into_iter().flatten() {
            number_results(m, *op, &mut numbers, &mut next, &taken);
        }
        for (n, block) in m.regions[region].blocks.iter().enumerate() {
            number_arguments(m, *block, n == 0, &mut numbers, &mut next, &mut argument);
            for op in &m.blocks[*block].ops {
                number_results(m, *op, &mut numbers, &mut next, &taken);
            }
        }
        for op in m.regions[region].blocks.iter().flat_map(|b| &m.blocks[*b].ops) {
            let start = if m.is_isolated(*op) { (0, 0) } else { (next, argument) };
            work.extend(m.ops[*op].regions.iter().map(|r| (*r, start.0, start.1)));
        }
    }
    numbers
}

fn number_results(
    m: &Module,
    op: OpId,
    numbers: &mut HashMap<ValueId, Number>,
    next: &mut u32,
    taken: &HashSet<u32>,
) {
    for (first, _) in groups(m, op) {
        let value = m.ops[op].results[first];
        if m.values[value].name.is_none() && !numbers.contains_key(&value) {
            while taken.contains(next) {
                *next += 1;
            }
            numbers.insert(value, Number::Value(*next));
            *next += 1;
        }
    }
}

fn number_arguments(
    m: &Module,
    block: BlockId,
    entry: bool,
    numbers: &mut HashMap<ValueId, Number>,
    next: &mut u32,
    argument: &mut u32,
) {
    for value in &m.blocks[block].args {
        let counter = if entry { &mut *argument } else { &mut *next };
        if m.values[*value].name.is_none() {
            let number = if entry { Number::Argument(*counter) } else { Number::Value(*counter) };
            numbers.insert(*value, number);
            *counter += 1;
        }
    }
}

/// Operations whose results are used before the place where they stand, by the isolated region they
/// stand in.
fn used_early(m: &Module) -> HashMap<RegionId, Vec<OpId>> {
    let mut defined: HashSet<ValueId> = HashSet::new();
    let mut early: HashMap<RegionId, Vec<OpId>> = HashMap::new();
    let mut isolated_regions: Vec<RegionId> = Vec::new();
    for event in events(m, m.root) {
        match event {
            Event::Enter(region) => {
                if m.regions[region].parent.is_some_and(|op| m.is_isolated(op)) {
                    isolated_regions.push(region);
                }
            }
            Event::Leave(region) => {
                if isolated_regions.last() == Some(&region) {
                    isolated_regions.pop();
                }
            }
            Event::Block(block) => defined.extend(&m.blocks[block].args),
            Event::Op(op) => {
                for value in &m.ops[op].operands {
                    if !defined.contains(value)
                        && let (Some(def), Some(region)) = (m.def_op(*value), isolated_regions.last())
                    {
                        let list = early.entry(*region).or_default();
                        if !list.contains(&def) {
                            list.push(def);
                        }
                    }
                }
            }
            Event::Done(op) => defined.extend(&m.ops[op].results),
        }
    }
    early
}
