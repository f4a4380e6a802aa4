//! Walking, changing, and asking for constants.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashMap;

use warploom_ir::walk::{Event, block_ops, events, ops, uses};
use warploom_ir::{Module, OpId, Opcode, ValueId, parse, print, verify};

const LOOP: &str = "\
module {
  tt.func @f(%n: i32, %x: f32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1.500000e+00 : f32
    %t = arith.constant dense<-0.000000e+00> : tensor<4xf32>
    %z = arith.constant dense<0.000000e+00> : tensor<4xf32>
    %s = tt.splat %c1 : i32 -> tensor<4xi32>
    %e = tt.expand_dims %s {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %true = arith.constant true
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %one) -> (f32)  : i32 {
      %a = arith.addf %acc, %x : f32
      scf.yield %a : f32
    }
    %p = arith.addf %sum, %x : f32
    tt.return
  }
}
";

fn read() -> Module {
    parse(LOOP).unwrap()
}

fn value(m: &Module, name: &str) -> ValueId {
    m.values.keys().find(|v| m.values[*v].name.as_deref() == Some(name)).unwrap()
}

fn find(m: &Module, opcode: Opcode) -> OpId {
    m.ops.keys().find(|op| m.ops[*op].opcode == opcode).unwrap()
}

#[test]
fn walks_go_in_the_order_of_the_text() {
    let m = read();
    let spans: Vec<u32> = ops(&m, m.root).skip(1).map(|op| m.ops[op].span.unwrap()).collect();
    assert!(spans.is_sorted());
    assert_eq!(spans.len(), 14);
    let depth = events(&m, m.root).fold(0i32, |depth, event| match event {
        Event::Enter(_) => depth + 1,
        Event::Leave(_) => depth - 1,
        _ => depth,
    });
    assert_eq!(depth, 0);
    let body = m.entry(find(&m, Opcode::For), 0).unwrap();
    let inner: Vec<&str> = block_ops(&m, body).map(|op| m.op_name(op)).collect();
    assert_eq!(inner, ["arith.addf", "scf.yield"]);
}

#[test]
fn uses_are_found_and_replaced_below_regions_too() {
    let mut m = read();
    let (x, one) = (value(&m, "x"), value(&m, "one"));
    let found: Vec<(&str, usize)> = uses(&m, x).map(|(op, n)| (m.op_name(op), n)).collect();
    assert_eq!(found, [("arith.addf", 1), ("arith.addf", 1)]);
    let inner = find(&m, Opcode::For);
    m.replace_uses_below(inner, x, one);
    assert_eq!(uses(&m, x).count(), 1);
    m.replace_all_uses(x, one);
    assert!(!m.is_used(x));
    assert_eq!(uses(&m, one).count(), 3);
    assert!(verify(&m).is_empty());
}

#[test]
fn a_loop_is_copied_with_its_body_and_other_operands() {
    let mut m = read();
    let original = find(&m, Opcode::For);
    let block = m.ops[original].block.unwrap();
    let end = m.terminator(block).unwrap();
    m.detach(end);
    let mut map = HashMap::from([(value(&m, "x"), value(&m, "one"))]);
    let copy = m.clone_op(original, block, &mut map);
    m.append(block, end);
    assert!(verify(&m).is_empty(), "{:#?}", verify(&m));
    assert_eq!(map.get(&m.ops[original].results[0]), Some(&m.ops[copy].results[0]));
    let text = print(&m);
    let tail = text.split("%p = ").nth(1).unwrap();
    assert!(tail.contains("%sum_0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %one)"), "{text}");
    assert!(tail.contains("%a = arith.addf %acc, %one : f32"), "{text}");
    assert!(tail.contains("scf.yield %a : f32"), "{text}");
    assert_eq!(print(&parse(&text).unwrap()), text);
    // The original is untouched.
    assert!(text.contains("%a = arith.addf %acc, %x : f32"), "{text}");
}

#[test]
fn erased_operations_are_gone_and_their_uses_are_errors() {
    let mut m = read();
    let unused = m.def_op(value(&m, "p")).unwrap();
    m.erase(unused);
    assert!(verify(&m).is_empty());
    assert!(!print(&m).contains("%p ="));
    let used = m.def_op(value(&m, "one")).unwrap();
    m.erase(used);
    let diags = verify(&m);
    assert_eq!(diags.len(), 1);
    assert!(diags[0].message.contains("not open here"));
    assert_eq!(diags[0].notes, [("found", "%one".to_owned())]);
}

#[test]
fn constants_are_seen_through_what_repeats_them() {
    let m = read();
    let v = |name| value(&m, name);
    assert_eq!(m.const_int(v("c0")), Some(0));
    assert_eq!(m.const_int(v("e")), Some(1));
    assert_eq!(m.const_int(v("true")), Some(1));
    assert_eq!(m.const_int(v("one")), None);
    assert_eq!(m.const_int(v("n")), None);
    assert_eq!(m.const_float(v("one")), Some(1.5));
    assert_eq!(m.const_float(v("sum")), None);
    assert!(m.is_const_zero(v("c0")) && m.is_const_zero(v("z")));
    assert!(!m.is_const_zero(v("t")), "-0.0 is no start from zero");
    assert!(!m.is_const_zero(v("c1")));
}

#[test]
fn arenas_that_contradict_themselves_are_found() {
    let broken: [fn(&mut Module); 5] = [
        |m| {
            let op = find(m, Opcode::For);
            m.ops[op].block = None;
        },
        |m| {
            let v = value(m, "a");
            m.values[v].def = m.values[value(m, "x")].def;
        },
        |m| {
            // An operation stands twice.
            let op = find(m, Opcode::For);
            let block = m.ops[op].block.unwrap();
            m.blocks[block].ops.push(op);
        },
        |m| {
            // A region holds the operation that owns it.
            let op = find(m, Opcode::For);
            let inner = m.entry(op, 0).unwrap();
            m.blocks[inner].ops.insert(0, op);
            m.ops[op].block = Some(inner);
        },
        |m| {
            let op = find(m, Opcode::For);
            let region = m.ops[op].regions[0];
            m.regions[region].parent = None;
        },
    ];
    for (n, damage) in broken.into_iter().enumerate() {
        let mut m = read();
        damage(&mut m);
        let diags = verify(&m);
        assert_eq!(diags.len(), 1, "{n}");
        assert!(diags[0].message.contains("consistently"), "{n}");
    }
}
