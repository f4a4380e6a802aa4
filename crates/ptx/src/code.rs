//! A body as a list of instructions, and the names that each of them sees (E17).

use crate::error::SyntaxError;
use crate::tree::{Function, Instruction, Location, Registers, Statement, Variable};
use crate::types::RegisterClass;
use std::collections::HashMap;

/// Names of one `{ }`.
#[derive(Clone, Debug, Default)]
struct Scope<'a> {
    parent: Option<u32>,
    /// Registers by full name.
    registers: HashMap<&'a str, RegisterClass>,
    /// `%r<304>`: prefix to count and class.
    banks: HashMap<&'a str, (u64, RegisterClass)>,
    /// Instruction index that a label stands before.
    labels: HashMap<&'a str, u32>,
    /// `.branchtargets` lists by label.
    targets: HashMap<&'a str, Vec<&'a str>>,
}

/// An instruction with its place.
#[derive(Clone, Copy, Debug)]
pub struct Step<'t, 'a> {
    /// The instruction.
    pub instruction: &'t Instruction<'a>,
    /// The scope it stands in, to look names up with.
    pub scope: u32,
    /// The `.loc` it belongs to: an index into [`Code::locations`].
    pub location: Option<u32>,
}

/// A body as a list of instructions.
#[derive(Clone, Debug, Default)]
pub struct Code<'t, 'a> {
    steps: Vec<Step<'t, 'a>>,
    scopes: Vec<Scope<'a>>,
    variables: Vec<&'t Variable<'a>>,
    locations: Vec<Location<'a>>,
}

impl<'t, 'a> Code<'t, 'a> {
    /// The instructions of a function; none for a declaration.
    ///
    /// # Errors
    /// A label that stands twice in one scope.
    pub fn of(function: &'t Function<'a>) -> Result<Code<'t, 'a>, SyntaxError> {
        let mut code = Code { scopes: vec![Scope::default()], ..Code::default() };
        let mut open = vec![0_u32];
        let mut location = None;
        for statement in function.body.iter().flatten() {
            let scope = open.last().copied().unwrap_or(0);
            match statement {
                Statement::Open => {
                    open.push(code.scopes.len() as u32);
                    code.scopes.push(Scope { parent: Some(scope), ..Scope::default() });
                }
                Statement::Close => {
                    open.pop();
                }
                Statement::Location(at) => {
                    if code.locations.last() != Some(at) {
                        code.locations.push(*at);
                    }
                    location = Some(code.locations.len() as u32 - 1);
                }
                Statement::Variable(variable) => code.variables.push(variable),
                Statement::Instruction(instruction) => {
                    code.steps.push(Step { instruction, scope, location });
                }
                statement => code.name(statement, scope)?,
            }
        }
        Ok(code)
    }

    /// Takes the names of a statement into their scope.
    fn name(&mut self, statement: &Statement<'a>, scope: u32) -> Result<(), SyntaxError> {
        let here = self.steps.len() as u32;
        let Some(scope) = self.scopes.get_mut(scope as usize) else { return Ok(()) };
        let (name, line, twice) = match statement {
            Statement::Registers(registers) => {
                scope.declare(registers);
                return Ok(());
            }
            Statement::Label(name, line) => (name, line, scope.labels.insert(name, here).is_some()),
            Statement::Targets { label, kind: ".branchtargets", names, line } => {
                (label, line, scope.targets.insert(label, names.clone()).is_some())
            }
            _ => return Ok(()),
        };
        if twice {
            let message = format!("label '{name}' twice in one scope");
            return Err(SyntaxError::new(line.0, message, "rename one"));
        }
        Ok(())
    }

    /// The instructions in the order of the text.
    pub fn steps(&self) -> &[Step<'t, 'a>] {
        &self.steps
    }

    /// The number of scopes; the function's own has number 0.
    pub fn scopes(&self) -> usize {
        self.scopes.len()
    }

    /// Variables that the body declares, whatever their scope.
    pub fn variables(&self) -> &[&'t Variable<'a>] {
        &self.variables
    }

    /// The `.loc` directives; equal ones in a row are one.
    pub fn locations(&self) -> &[Location<'a>] {
        &self.locations
    }

    /// What a register holds, and the scope that declares it.
    pub fn register(&self, name: &str, scope: u32) -> Option<(RegisterClass, u32)> {
        self.outwards(scope, |s| s.register(name))
    }

    /// The index of the instruction that a label stands before; the number of instructions for one at the end.
    pub fn label(&self, name: &str, scope: u32) -> Option<u32> {
        self.outwards(scope, |s| s.labels.get(name).copied()).map(|(at, _)| at)
    }

    /// The labels of a `.branchtargets` list, and the scope it stands in.
    pub fn targets(&self, name: &str, scope: u32) -> Option<(&[&'a str], u32)> {
        self.outwards(scope, |s| s.targets.get(name)).map(|(list, at)| (list.as_slice(), at))
    }

    /// Finds something from a scope outwards, and the scope that has it.
    fn outwards<'s, T>(&'s self, scope: u32, look: impl Fn(&'s Scope<'a>) -> Option<T>) -> Option<(T, u32)> {
        let mut at = Some(scope);
        while let Some(i) = at {
            let s = self.scopes.get(i as usize)?;
            if let Some(found) = look(s) {
                return Some((found, i));
            }
            at = s.parent;
        }
        None
    }
}

impl<'a> Scope<'a> {
    fn declare(&mut self, registers: &Registers<'a>) {
        let class = RegisterClass::of(registers.ty);
        for (name, count) in &registers.names {
            match count {
                Some(count) => {
                    self.banks.insert(name, (*count, class));
                }
                None => {
                    self.registers.insert(name, class);
                }
            }
        }
    }

    /// The class of a register declared here.
    fn register(&self, name: &str) -> Option<RegisterClass> {
        if let Some(class) = self.registers.get(name) {
            return Some(*class);
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
