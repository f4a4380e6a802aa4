//! Loops and branches.

use super::maker::Maker;
use super::values::{Elem, Value};

impl Maker<'_, '_> {
    /// What a loop carries: values that it starts with.
    fn carried(&mut self) -> Vec<Value> {
        let count = self.choices.below(3);
        (0..count).filter_map(|_| self.pick(|v| v.elem != Elem::I1 || v.shape.is_empty())).collect()
    }

    /// Names inside for what is carried; a number of floating point may grow to twice as much.
    fn inside(&mut self, carried: &[Value]) -> Vec<Value> {
        carried
            .iter()
            .map(|value| {
                let most =
                    if value.elem.float() { (2 * value.most).min(value.elem.exact()) } else { u64::MAX };
                Value { name: self.fresh(), most, ..value.clone() }
            })
            .collect()
    }

    /// What a region ends with: a value of each type, no larger.
    fn last(&mut self, wanted: &[Value]) -> Vec<String> {
        let fits = |v: &Value, w: &Value| v.alike(w) && (!w.elem.float() || v.most <= w.most);
        wanted.iter().map(|w| self.pick(|v| fits(v, w)).map_or_else(|| w.name.clone(), |v| v.name)).collect()
    }

    fn made(&mut self, name: &str, inside: &[Value]) {
        for (n, value) in inside.iter().enumerate() {
            let name = if inside.len() == 1 { name.to_owned() } else { format!("{name}#{n}") };
            self.values.push(Value { name, ..value.clone() });
        }
    }

    fn types(values: &[Value]) -> String {
        values.iter().map(Value::ty).collect::<Vec<_>>().join(", ")
    }

    /// `%name:n = `, or nothing where there is no result.
    fn header(name: &str, count: usize) -> String {
        match count {
            0 => String::new(),
            1 => format!("{name} = "),
            n => format!("{name}:{n} = "),
        }
    }

    fn body(&mut self, inside: &[Value], counter: Option<&str>) -> Vec<String> {
        let known = self.values.len();
        self.values.extend(inside.iter().cloned());
        let number =
            counter.map(|name| Value { name: name.to_owned(), elem: Elem::I32, shape: vec![], most: 64 });
        self.values.extend(number);
        self.depth += 1;
        self.steps();
        let last = self.last(inside);
        self.depth -= 1;
        self.values.truncate(known);
        last
    }

    pub fn loop_(&mut self) {
        if self.depth > 2 {
            return;
        }
        let (start, step) =
            (self.constant(self.depth as i64, Elem::I32, &[]), self.constant(1, Elem::I32, &[]));
        let end = match self.choices.below(4) {
            0 => "%none".to_owned(),
            1 => self.constant(2, Elem::I32, &[]),
            _ => "%few".to_owned(),
        };
        let carried = self.carried();
        let inside = self.inside(&carried);
        let (name, counter) = (self.fresh(), self.fresh());
        let list: Vec<String> =
            inside.iter().zip(&carried).map(|(i, c)| format!("{} = {}", i.name, c.name)).collect();
        let args = match list.is_empty() {
            true => String::new(),
            false => format!(" iter_args({}) -> ({})", list.join(", "), Self::types(&carried)),
        };
        let header = Self::header(&name, carried.len());
        self.name(&format!("{header}scf.for {counter} = {start} to {end} step {step}{args}  : i32 {{"));
        let last = self.body(&inside, Some(&counter));
        if !last.is_empty() {
            self.name(&format!("  scf.yield {} : {}", last.join(", "), Self::types(&inside)));
        }
        self.name("}");
        self.made(&name, &inside);
    }

    pub fn branch(&mut self) {
        let Some(by) = self.pick(|v| v.elem == Elem::I1 && v.shape.is_empty()) else { return self.asked() };
        if self.depth > 2 {
            return;
        }
        let wanted = self.carried();
        let name = self.fresh();
        let types = if wanted.is_empty() { String::new() } else { format!(" -> ({})", Self::types(&wanted)) };
        self.name(&format!("{}scf.if {}{types} {{", Self::header(&name, wanted.len()), by.name));
        for side in 0..2 {
            let known = self.values.len();
            self.depth += 1;
            self.steps();
            let last = self.last(&wanted);
            self.depth -= 1;
            self.values.truncate(known);
            if !wanted.is_empty() {
                self.name(&format!("  scf.yield {} : {}", last.join(", "), Self::types(&wanted)));
            }
            self.name(if side == 0 { "} else {" } else { "}" });
        }
        self.made(&name, &wanted);
    }

    /// A question about a number.
    fn asked(&mut self) {
        let Some(x) = self.pick(|v| v.elem.int() && v.shape.is_empty()) else { return };
        let y = self.constant(1, x.elem, &[]);
        let kind = *self.choices.pick(&["slt", "sge", "eq"]).unwrap_or(&"slt");
        self.value(format!("arith.cmpi {kind}, {}, {y} : {}", x.name, x.ty()), Elem::I1, &[], 1);
    }

    pub fn while_(&mut self) {
        if self.depth > 2 {
            return;
        }
        let mut carried = self.carried();
        carried.push(Value { name: "%none".to_owned(), elem: Elem::I32, shape: Vec::new(), most: 64 });
        let (before, inside) = (self.inside(&carried), self.inside(&carried));
        let name = self.fresh();
        let list: Vec<String> =
            before.iter().zip(&carried).map(|(i, c)| format!("{} = {}", i.name, c.name)).collect();
        let types = Self::types(&carried);
        let header = Self::header(&name, carried.len());
        self.name(&format!("{header}scf.while ({}) : ({types}) -> ({types}) {{", list.join(", ")));
        let names = |values: &[Value]| values.iter().map(|v| v.name.clone()).collect::<Vec<_>>();
        let (counter, next) =
            (names(&before).pop().unwrap_or_default(), names(&inside).pop().unwrap_or_default());
        self.depth += 1;
        let again = self.put(format!("arith.cmpi slt, {counter}, %few : i32"));
        self.name(&format!("scf.condition({again}) {} : {types}", names(&before).join(", ")));
        self.depth -= 1;
        let list: Vec<String> = inside.iter().map(|v| format!("{}: {}", v.name, v.ty())).collect();
        self.name("} do {");
        self.name(&format!("^bb0({}):", list.join(", ")));
        let mut last = self.body(&inside, None);
        self.depth += 1;
        let one = self.constant(1, Elem::I32, &[]);
        let more = self.put(format!("arith.addi {next}, {one} : i32"));
        last.pop();
        last.push(more);
        self.name(&format!("scf.yield {} : {types}", last.join(", ")));
        self.depth -= 1;
        self.name("}");
        self.made(&name, &inside);
    }
}
