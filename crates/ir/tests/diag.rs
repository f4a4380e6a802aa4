//! Messages as people see them (C90, C92).

#![allow(clippy::unwrap_used, clippy::panic)]

use warploom_ir::diag::{Code, Diagnostic, TextPlace, render, render_reports, source_location};
use warploom_ir::{Loc, Module, OpId, Opcode, parse, verify};

const GATHER: &str = "\
module {
  tt.func @gather_rows(%d: !tt.tensordesc<1x64xbf16>, %n: tensor<32xi32>, %c: i32) {
    %0 = tt.descriptor_gather %d[%n, %c] : (!tt.tensordesc<1x64xbf16>, tensor<32xi32>, i32) -> tensor<32x64xbf16> loc(#loc4)
    tt.return
  }
}
#loc1 = loc(\"others.py\":76:9)
#loc2 = loc(\"rows\"(#loc1))
#loc3 = loc(\"caller.py\":1:1)
#loc4 = loc(callsite(#loc2 at #loc3))
";

fn first(module: &Module, opcode: Opcode) -> OpId {
    module.ops.keys().find(|op| module.ops[*op].opcode == opcode).unwrap()
}

fn unsupported() -> Diagnostic {
    let module = parse(GATHER).unwrap();
    Diagnostic::error(Code::Op, "tt.descriptor_gather is not supported for sm_90a")
        .of(&module, first(&module, Opcode::DescriptorGather))
        .note("needs", "gather4, sm_100 and later")
        .note("instead", "tt.load through pointers")
}

#[test]
fn a_refusal_shows_code_both_places_snippet_and_remedy() {
    let wanted = "\
error[op]: tt.descriptor_gather is not supported for sm_90a
 --> gather_rows.ttir:3:10 (others.py:76:9)
  |
3 |     %0 = tt.descriptor_gather %d[%n, %c] : (!tt.tensordesc<1x64xbf16>, tensor<32xi32>, i32) -> tensor<32x64xbf16> loc(#loc4)
  |          ^^^^^^^^^^^^^^^^^^^^
needs: gather4, sm_100 and later
instead: tt.load through pointers
";
    assert_eq!(render(&[unsupported()], "gather_rows.ttir", GATHER), wanted);
    assert_eq!(
        unsupported().op.as_deref(),
        Some(
            "%0 = tt.descriptor_gather %d[%n, %c] : (!tt.tensordesc<1x64xbf16>, tensor<32xi32>, i32) -> tensor<32x64xbf16>"
        )
    );
    assert_eq!(unsupported().place(GATHER), Some(TextPlace { line: 3, column: 10 }));
}

#[test]
fn several_are_divided_by_an_empty_line_and_rules_come_last() {
    let text = "a\nb\n";
    let diags = [
        Diagnostic::error(Code::Layout, "one").at(Some(2)).rule("C62"),
        Diagnostic::remark(Code::Loop, "two").at(Some(0)),
    ];
    let wanted = "\
error[layout]: one
 --> f:2:1
  |
2 | b
  | ^
rule: C62 (warploom rule C62)

remark[loop]: two
 --> f:1:1
  |
1 | a
  | ^
";
    assert_eq!(render(&diags, "f", text), wanted);
}

#[test]
fn without_text_the_operation_itself_is_shown() {
    let mut diag = unsupported();
    diag.offset = None;
    let text = render(&[diag], "built", "");
    assert!(
        text.starts_with(
            "error[op]: tt.descriptor_gather is not supported for sm_90a\n --> built (others.py:76:9)\n"
        ),
        "{text}"
    );
    assert!(text.contains("operation: %0 = tt.descriptor_gather"), "{text}");
}

#[test]
fn colours_change_nothing_but_colours() {
    let coloured = render_reports(&[(&unsupported()).into()], "f", GATHER, true);
    assert!(coloured.contains("\u{1b}["));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((head, tail)) = rest.split_once('\u{1b}') {
        plain += head;
        rest = tail.split_once('m').unwrap().1;
    }
    assert_eq!(plain + rest, render(&[unsupported()], "f", GATHER));
}

#[test]
fn any_offset_in_any_text_has_a_place() {
    // Characters of several bytes, long lines, tabs, offsets behind the end.
    let long = format!("é\t{}\r\nx\u{7}y", "wö".repeat(50_000));
    for offset in [0, 1, 2, 3, 77, 100_000, 150_000, 150_003, 150_004, 150_009, u32::MAX] {
        let diag = Diagnostic::error(Code::Parse, "here").at(Some(offset));
        let place = diag.place(&long).unwrap();
        let text = render(std::slice::from_ref(&diag), "f", &long);
        assert!(text.contains(&format!("--> f:{}:{}\n", place.line, place.column)), "{offset}: {text}");
        assert!(text.len() < 3000, "{offset}: {} bytes", text.len());
    }
    let diag = Diagnostic::error(Code::Parse, "here").at(Some(0));
    assert!(render(&[diag], "f", "").starts_with("error[parse]: here\n --> f:1:1\n"));
}

#[test]
fn the_source_is_the_innermost_place_in_a_file() {
    let text = "\
#a = loc(\"a.py\":1:2)
#u = loc(unknown)
\"x.y\"() : () -> () loc(#a)
\"x.y\"() : () -> () loc(\"n\"(\"m\"(#a)))
\"x.y\"() : () -> () loc(callsite(\"in.py\":3:4 at #a))
\"x.y\"() : () -> () loc(callsite(#u at callsite(unknown at #a)))
\"x.y\"() : () -> () loc(fused<\"k\">[unknown, \"n\", #a, \"z.py\":9:9])
\"x.y\"() : () -> () loc(\"only a name\")
\"x.y\"() : () -> ()
";
    let module = parse(text).unwrap();
    let ops = &module.blocks[module.body()].ops;
    let found: Vec<_> = ops.iter().map(|op| source_location(&module, module.ops[*op].loc)).collect();
    let wanted = [
        Some("a.py:1:2"),
        Some("a.py:1:2"),
        Some("in.py:3:4"),
        Some("a.py:1:2"),
        Some("a.py:1:2"),
        None,
        None,
    ];
    assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), wanted);
}

#[test]
fn a_location_that_leads_back_to_itself_ends() {
    let mut module = Module::new();
    let loc = module.locs.push(Loc::Alias("a".into()));
    module.loc_aliases.push(("a".into(), loc));
    assert_eq!(source_location(&module, loc), None);
    let name = module.locs.push(Loc::Name { name: "n".into(), child: None });
    module.locs[name] = Loc::CallSite { callee: name, caller: name };
    assert_eq!(source_location(&module, name), None);
    module.ops[module.root].loc = name;
    assert!(warploom_ir::print(&module).len() < 1_000_000);
}

#[test]
fn the_verifier_names_operation_and_source() {
    let text = GATHER.replace("tensor<32x64xbf16> loc", "tensor<32x32xbf16> loc");
    let diags = verify(&parse(&text).unwrap());
    assert_eq!(diags.len(), 1);
    assert_eq!(diags[0].source.as_deref(), Some("others.py:76:9"));
    assert!(diags[0].op.as_deref().is_some_and(|op| op.starts_with("%0 = tt.descriptor_gather")));
    assert_eq!(diags[0].place(&text), Some(TextPlace { line: 3, column: 10 }));
}
