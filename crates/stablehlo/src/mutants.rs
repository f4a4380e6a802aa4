//! Mutations of storage plans (M22): each must break L16.

use crate::check::check_buffers;
use crate::lower::{Planned, plan_text};
use crate::plan::Plan;
use crate::program::{Kind, Program};

fn planned(text: &str) -> Planned {
    let planned = plan_text(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    assert_eq!(check_buffers(&planned.program, &planned.plan), Ok(()), "{text}");
    planned
}

fn caught(p: &Program, plan: &Plan, what: &str) {
    let found = check_buffers(p, plan).expect_err(what);
    assert!(found.iter().all(|f| f.law == "L16"), "{found:?}");
}

/// A small deterministic stream of numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

const PAIR: &str = "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]";

/// A random function: tensors and buffers come, are written, go; some in a loop with one slot.
fn random(seed: u64) -> String {
    let mut d = Dice(seed);
    let mut text = String::from(
        "func.func @f(%n: tensor<i1>, %x: tensor<4xf32>) {\n%t0 = stablehlo.abs %x : tensor<4xf32>\n",
    );
    let (mut tensors, mut buffers, mut next) = (vec!["%t0".to_owned(), "%x".to_owned()], Vec::new(), 1);
    let steps = 4 + d.below(12);
    step(&mut d, &mut text, &mut tensors, &mut buffers, &mut next, steps, 2);
    text.push_str("return\n}\n");
    text
}

fn step(
    d: &mut Dice,
    text: &mut String,
    tensors: &mut Vec<String>,
    buffers: &mut Vec<String>,
    next: &mut usize,
    steps: usize,
    depth: usize,
) {
    for _ in 0..steps {
        let n = *next;
        *next += 1;
        let t = tensors[d.below(tensors.len())].clone();
        match d.below(6) {
            0 => {
                text.push_str(&format!("%v{n} = stablehlo.add {t}, {t} : tensor<4xf32>\n"));
                tensors.push(format!("%v{n}"));
            }
            1 => {
                text.push_str(&format!(
                    "%v{n} = stablehlo.custom_call @g({t}) : (tensor<4xf32>) -> tensor<4xf32>\n"
                ));
                tensors.push(format!("%v{n}"));
            }
            2 => {
                text.push_str(&format!(
                    "%v{n} = stablehlo.custom_call @Pin({t}) : (tensor<4xf32>) -> memref<4xf32>\n"
                ));
                buffers.push(format!("%v{n}"));
            }
            3 if !buffers.is_empty() => {
                let at = d.below(buffers.len());
                let b = buffers.swap_remove(at);
                text.push_str(&format!(
                    "%v{n} = stablehlo.custom_call @w({b}) {{{PAIR}}} : (memref<4xf32>) -> memref<4xf32>\n"
                ));
                buffers.push(format!("%v{n}"));
            }
            4 if !buffers.is_empty() => {
                let at = d.below(buffers.len());
                let b = buffers.swap_remove(at);
                text.push_str(&format!(
                    "%v{n} = stablehlo.custom_call @Unpin({b}) : (memref<4xf32>) -> tensor<4xf32>\n"
                ));
                tensors.push(format!("%v{n}"));
            }
            5 if !buffers.is_empty() && depth > 0 => {
                let at = d.below(buffers.len());
                let b = buffers.swap_remove(at);
                text.push_str(&format!(
                    "%v{n}:3 = stablehlo.while(%f{n} = %n, %b{n} = {b}, %x{n} = {t}) : tensor<i1>, memref<4xf32>, tensor<4xf32> cond {{\n\
                     stablehlo.return %f{n} : tensor<i1>\n}} do {{\n"
                ));
                let mut inner = tensors.clone();
                inner.push(format!("%x{n}"));
                let mut own = vec![format!("%b{n}")];
                let rotate = d.below(2) == 0;
                if rotate {
                    text.push_str(&format!(
                        "%u{n} = stablehlo.custom_call @Unpin(%b{n}) : (memref<4xf32>) -> tensor<4xf32>\n"
                    ));
                    inner.push(format!("%u{n}"));
                    own.clear();
                }
                let steps = 1 + d.below(5);
                step(d, text, &mut inner, &mut own, next, steps, depth - 1);
                let back = match (rotate, own.pop()) {
                    // Whatever became of the argument is found by running the lint; a wrong guess is refused.
                    (false, Some(last)) => last,
                    (_, _) => {
                        let s = inner[d.below(inner.len())].clone();
                        text.push_str(&format!(
                            "%p{n} = stablehlo.custom_call @Pin({s}) : (tensor<4xf32>) -> memref<4xf32>\n"
                        ));
                        format!("%p{n}")
                    }
                };
                let carry = inner[d.below(inner.len())].clone();
                text.push_str(&format!(
                    "stablehlo.return %f{n}, {back}, {carry} : tensor<i1>, memref<4xf32>, tensor<4xf32>\n}}\n"
                ));
                buffers.push(format!("%v{n}#1"));
                tensors.push(format!("%v{n}#2"));
            }
            _ => {}
        }
    }
}

/// Random functions are refused, or their storage obeys L16; every mutant of a plan is caught.
#[test]
fn m22_plans_and_their_mutants() {
    let mut made = [0usize; 4];
    let mut accepted = 0;
    for seed in 0..600 {
        let text = random(seed);
        let Ok(Planned { program: p, plan }) = plan_text(&text) else { continue };
        accepted += 1;
        assert_eq!(check_buffers(&p, &plan), Ok(()), "seed {seed}\n{text}");
        if plan.stores.len() > 1 {
            let mut bad = plan.clone();
            bad.of.values_mut().filter(|s| **s == 1).for_each(|s| *s = 0);
            caught(&p, &bad, &format!("two classes merged, seed {seed}"));
            made[0] += 1;
        }
        let all: Vec<_> =
            p.nodes.iter().filter(|n| matches!(n.kind, Kind::Call(_) | Kind::While(_))).collect();
        for part in all.iter().flat_map(|n| &n.results).flat_map(|v| p.buffers(*v)) {
            let mut bad = plan.clone();
            let store = bad.stores[bad.of[&part]].clone();
            bad.stores.push(store);
            bad.of.insert(part, bad.stores.len() - 1);
            caught(&p, &bad, &format!("one class split, seed {seed}"));
            made[1] += 1;
        }
        for n in 0..plan.copies.len() {
            let mut bad = plan.clone();
            bad.copies.remove(n);
            caught(&p, &bad, &format!("a copy dropped, seed {seed}\n{text}"));
            // Nor may the tensor be said to lie in the buffer.
            let copy = &plan.copies[n];
            let node = &p.nodes[copy.node];
            let (a, b) = (p.origin((node.operands[0], vec![])), (node.results[0], vec![]));
            let (tensor, buffer) = if copy.pin { (a, b) } else { (b, a) };
            if !bad.of.contains_key(&tensor) {
                bad.of.insert(tensor, bad.of[&buffer]);
                if check_buffers(&p, &bad).is_err() {
                    made[2] += 1;
                }
            }
        }
        for n in 0..plan.order.len() {
            let mut bad = plan.clone();
            bad.order.remove(n);
            caught(&p, &bad, &format!("an order dropped, seed {seed}, {:?}\n{text}", plan.order[n]));
            made[3] += 1;
        }
    }
    assert!(accepted > 100, "only {accepted} functions were accepted");
    assert!(made.iter().all(|n| *n >= 10), "{made:?} of {accepted}");
}

#[test]
fn l16_nested_loops_and_tuples() {
    let inner = format!(
        "%1:2 = stablehlo.while(%g = %f, %c = %b) : tensor<i1>, memref<4xf32> cond {{ stablehlo.return %g : tensor<i1> }} do {{\n\
         %2 = stablehlo.custom_call @w(%c) {{{PAIR}}} : (memref<4xf32>) -> memref<4xf32>\n\
         stablehlo.return %g, %2 : tensor<i1>, memref<4xf32> }}\n"
    );
    let text = format!(
        "func.func @f(%n: tensor<i1>, %x: tensor<4xf32>) {{\n%p = stablehlo.custom_call @Pin(%x) : (tensor<4xf32>) -> memref<4xf32>\n\
         %t = stablehlo.tuple %n, %p : tuple<tensor<i1>, memref<4xf32>>\n\
         %q = stablehlo.get_tuple_element %t[1] : (tuple<tensor<i1>, memref<4xf32>>) -> memref<4xf32>\n\
         %0:2 = stablehlo.while(%f = %n, %b = %q) : tensor<i1>, memref<4xf32> cond {{ stablehlo.return %f : tensor<i1> }} do {{\n\
         {inner}stablehlo.return %f, %1#1 : tensor<i1>, memref<4xf32> }}\n\
         %r = stablehlo.custom_call @Unpin(%0#1) : (memref<4xf32>) -> tensor<4xf32>\nreturn\n}}\n"
    );
    let planned = planned(&text);
    assert_eq!(planned.plan.stores.len(), 1);
    // The argument of the function is not ours; the loops copy nothing.
    assert_eq!(planned.plan.copies.len(), 1);
}
