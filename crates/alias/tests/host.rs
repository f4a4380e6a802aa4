//! StableHLO buffers: what verifies, each rule's error, linearity, storage and copies (sections 12 to 15).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use warploom_alias::{Emit, TextOptions, TextOutput, lower_text};

/// One function over a tensor, two buffers and a flag.
fn function(body: &str) -> String {
    format!(
        "func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {{\n{body}\nreturn\n}}\n"
    )
}

fn said(out: &TextOutput) -> Vec<(&'static str, String)> {
    out.diagnostics
        .iter()
        .filter(|d| d.severity == warploom_alias::Severity::Error)
        .map(|d| (d.code, d.message.clone()))
        .collect()
}

/// The errors of A57 alone.
fn codes(body: &str) -> Vec<(&'static str, String)> {
    let options = TextOptions { no_lower: true, no_linearity: true, ..TextOptions::default() };
    let out = lower_text(&function(body), &options);
    assert_eq!(out.failed, !said(&out).is_empty());
    for d in out.diagnostics.iter() {
        assert!(d.at.is_some() && d.help.is_some(), "{d:?} has a place and a remedy");
    }
    said(&out)
}

/// The errors of verification and lint.
fn linear(body: &str) -> Vec<(&'static str, String)> {
    let out = lower_text(&function(body), &TextOptions { no_lower: true, ..TextOptions::default() });
    assert_eq!(out.failed, !said(&out).is_empty());
    said(&out)
}

fn json(source: &str) -> serde_json::Value {
    let out = lower_text(source, &TextOptions { emit: Emit::Json, ..TextOptions::default() });
    assert!(!out.failed, "{}", out.render_diagnostics("FILE"));
    serde_json::from_str(&out.text).expect("json")
}

/// Kinds of the copies of a text, and its number of storages.
fn copies(source: &str) -> (Vec<String>, usize) {
    let json = json(source);
    let kinds = json["copies"].as_array().into_iter().flatten();
    let kinds = kinds.map(|c| {
        assert_eq!(c["bytes"], 16);
        c["kind"].as_str().expect("a kind").to_owned()
    });
    (kinds.collect(), json["storages"].as_array().expect("storages").len())
}

fn call(target: &str, operands: &str, pairs: &[(&str, i64, &str)], signature: &str) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(o, n, p)| {
            format!(
                "#stablehlo.output_operand_alias<output_tuple_indices = {o},\n operand_index = {n}, operand_tuple_indices = {p}>"
            )
        })
        .collect();
    format!(
        "\"stablehlo.custom_call\"({operands}) {{\n call_target_name = \"{target}\",\n api_version = 4 : i32,\n output_operand_aliases = [{}],\n}} : {signature}\n",
        pairs.join(", ")
    )
}

fn pin(to: &str, from: &str) -> String {
    format!("{to} = {}", call("Pin", from, &[], "(tensor<4xf32>) -> memref<4xf32>"))
}

fn unpin(to: &str, from: &str) -> String {
    format!("{to} = {}", call("Unpin", from, &[], "(memref<4xf32>) -> tensor<4xf32>"))
}

fn update(to: &str, from: &str) -> String {
    format!("{to} = {}", call("update", from, &[("[]", 0, "[]")], "(memref<4xf32>) -> memref<4xf32>"))
}

fn read(from: &str) -> String {
    call("look", from, &[], "(memref<4xf32>) -> ()")
}

/// A loop over the flag and one buffer, in generic form; the body's text ends in a return of `%f` and `result`.
fn repeat(to: &str, init: &str, cond: &str, body: &str, result: &str) -> String {
    format!(
        "{to}:2 = \"stablehlo.while\"(%n, {init}) ({{\n^bb0(%f: tensor<i1>, %m: memref<4xf32>):\n{cond}\
         \"stablehlo.return\"(%f) : (tensor<i1>) -> ()\n}}, {{\n^bb0(%f: tensor<i1>, %m: memref<4xf32>):\n{body}\
         \"stablehlo.return\"(%f, {result}) : (tensor<i1>, memref<4xf32>) -> ()\n}}) : \
         (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)\n"
    )
}

fn positives() -> Vec<String> {
    let tuple = "%0 = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, memref<4xf32>>\n";
    vec![
        pin("%0", "%a") + &update("%1", "%0") + &unpin("%2", "%1"),
        format!("%0 = {}", call("CreateBuffer", "", &[], "() -> memref<4xf32>")),
        tuple.to_owned(),
        format!(
            "{tuple}%1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, memref<4xf32>>) -> memref<4xf32>\n"
        ),
        repeat("%0", "%b", "", &update("%1", "%m"), "%1"),
    ]
}

#[test]
fn a57_positive() {
    for text in positives() {
        assert_eq!(codes(&text), [], "{text}");
        assert_eq!(linear(&text), [], "{text}");
    }
    let fresh = "func.func @fresh() -> memref<4xf32> {\n%0 = \"stablehlo.custom_call\"() {call_target_name = \"CreateBuffer\"} : () -> memref<4xf32>\nreturn %0 : memref<4xf32>\n}\n";
    assert!(!lower_text(fresh, &TextOptions::default()).failed);
}

/// How the message of a rule begins, word for word as upstream has it.
fn wording(code: &str) -> Option<&'static str> {
    Some(match code {
        "HA1" => "expects operandIndex in the output_operand_alias attribute to be in range [0, 1); got: ",
        "HA2" => "operand_tuple_indices in the output_operand_alias attribute out of bounds",
        "HA3" => "output_tuple_indices in the output_operand_alias attribute out of bounds",
        "HA4" => "shapes mismatch in the output_operand_alias attribute: operand part has type '",
        "HB1" => "CreateBuffer custom_call shouldn't have any inputs",
        "HB2" => "CreateBuffer custom_call should have one result",
        "HB3" => "CreateBuffer custom_call should have a memref result",
        "HB4" => "Pin custom_call should have one input",
        "HB5" => "Pin custom_call should have a tensor input",
        "HB6" => "Pin custom_call should have one output",
        "HB7" => "Pin custom_call should have a memref output",
        "HB8" => "Pin custom_call should have compatible input and output types",
        "HB9" => "Unpin custom_call should have one input",
        "HB10" => "Unpin custom_call should have a memref input",
        "HB11" => "Unpin custom_call should have one output",
        "HB12" => "Unpin custom_call should have a tensor output",
        "HB13" => "Unpin custom_call should have compatible input and output types",
        _ => return None,
    })
}

#[test]
fn a57_every_rule_has_its_error() {
    let rows: Vec<(String, &str)> = vec![
        (call("CreateBuffer", "%a", &[], "(tensor<4xf32>) -> memref<4xf32>"), "HB1"),
        (call("CreateBuffer", "", &[], "() -> tensor<4xf32>"), "HB3"),
        (call("Pin", "%b", &[], "(memref<4xf32>) -> memref<4xf32>"), "HB5"),
        (call("Pin", "%a", &[], "(tensor<4xf32>) -> tensor<4xf32>"), "HB7"),
        (call("Pin", "%a", &[], "(tensor<4xf32>) -> memref<4xi32>"), "HB8"),
        (call("Pin", "%a, %a", &[], "(tensor<4xf32>, tensor<4xf32>) -> memref<4xf32>"), "HB4"),
        (call("Unpin", "%b", &[], "(memref<4xf32>) -> tensor<4xi32>"), "HB13"),
        (call("Unpin", "%a", &[], "(tensor<4xf32>) -> tensor<4xf32>"), "HB10"),
        (call("Unpin", "%b, %c", &[], "(memref<4xf32>, memref<4xf32>) -> tensor<4xf32>"), "HB9"),
        (call("Unpin", "%b", &[], "(memref<4xf32>) -> memref<4xf32>"), "HB12"),
        (call("Pin", "%a", &[("[]", 0, "[]")], "(tensor<4xf32>) -> memref<4xf32>"), "HA4"),
        (call("Unpin", "%b", &[("[]", 0, "[]")], "(memref<4xf32>) -> tensor<4xf32>"), "HA4"),
        (call("f", "%b", &[("[]", 1, "[]")], "(memref<4xf32>) -> tensor<4xf32>"), "HA1"),
        (call("f", "%b", &[("[]", -1, "[]")], "(memref<4xf32>) -> tensor<4xf32>"), "HA1"),
        (call("f", "%b", &[("[]", 0, "[0]")], "(memref<4xf32>) -> tensor<4xf32>"), "HA2"),
        (call("f", "%b", &[("[1]", 0, "[]")], "(memref<4xf32>) -> tensor<4xf32>"), "HA3"),
        (
            "%0 = \"stablehlo.get_tuple_element\"(%a) <{index = 0 : i32}> : (tensor<4xf32>) -> tensor<4xf32>"
                .into(),
            "HT3",
        ),
        ("%0 = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, tensor<4xf32>>".into(), "HT3"),
        (call("f", "%a", &[], "(tensor<4xf32>) -> memref<4xf32, affine_map<(d0) -> (d0)>>"), "A55"),
        (call("f", "%a", &[], "(tensor<4xf32>) -> memref<4xf32, 1>"), "A55"),
        (call("f", "%a", &[], "(tensor<4xf32>) -> memref<4xstring>"), "A55"),
        (call("f", "%a", &[], "(tensor<4xf32>) -> memref<-4xf32>"), "A55"),
        (
            "\"stablehlo.custom_call\"(%b) {call_target_name = \"f\", output_operand_aliases = [#stablehlo.output_operand_alias<operand_index = x>]} : (memref<4xf32>) -> tensor<4xf32>".into(),
            "A56",
        ),
    ];
    for (text, code) in rows {
        let text = if text.starts_with('%') { text } else { format!("%0 = {text}") };
        let found = codes(&text);
        assert_eq!(found.first().map(|f| f.0), Some(code), "{text}: {found:?}");
        assert_eq!(wording(code).filter(|w| !found[0].1.starts_with(w)), None, "{text}: {found:?}");
    }
    // A pair on a call without results, where upstream asserts (A58).
    assert_eq!(codes(&call("f", "%b", &[("[]", 0, "[]")], "(memref<4xf32>) -> ()"))[0].0, "HA3");
    let two = call("CreateBuffer", "", &[], "() -> (memref<4xf32>, memref<4xf32>)");
    assert_eq!(codes(&format!("%0:2 = {two}"))[0], ("HB2", wording("HB2").unwrap().to_owned()));
    let two = call("Pin", "%a", &[], "(tensor<4xf32>) -> (memref<4xf32>, memref<4xf32>)");
    assert_eq!(codes(&format!("%0:2 = {two}"))[0], ("HB6", wording("HB6").unwrap().to_owned()));
    let two = call("Unpin", "%b", &[], "(memref<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)");
    assert_eq!(codes(&format!("%0:2 = {two}"))[0], ("HB11", wording("HB11").unwrap().to_owned()));
}

#[test]
fn a57_buffers_in_operations_that_may_not_carry_them() {
    let found = codes("%0 = \"stablehlo.add\"(%b, %b) : (memref<4xf32>, memref<4xf32>) -> tensor<4xf32>");
    assert_eq!((found[0].0, found.len()), ("HT1", 2));
    assert!(found[0].1.starts_with("operand #0 must be ranked tensor"));
    for text in ["%0 = stablehlo.add %b, %b : memref<4xf32>", "%0 = test.add %b, %b : memref<4xf32>"] {
        let text = format!("%z = stablehlo.abs %a : tensor<4xf32>\n{text}");
        let found: Vec<_> = codes(&text).into_iter().map(|f| f.0).collect();
        assert_eq!(found, ["HT1", "HT1", "HT2"]);
    }
    let found = codes(
        "%0 = \"stablehlo.if\"(%n) ({\n\"stablehlo.return\"(%b) : (memref<4xf32>) -> ()\n}, {\n\"stablehlo.return\"(%b) : (memref<4xf32>) -> ()\n}) : (tensor<i1>) -> memref<4xf32>",
    );
    assert_eq!(
        found[0],
        (
            "HT2",
            "result #0 must be variadic of ranked tensor of float, boolean, integer, complex or quantized values, but got 'memref<4xf32>'".to_owned()
        )
    );
}

#[test]
fn a57_pairs_of_buffers() {
    let two = "(tensor<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>)";
    let found = codes(&format!("%0:2 = {}", call("f", "%a, %b", &[("[0]", 1, "[]"), ("[1]", 1, "[]")], two)));
    let message = "buffer operand 1[] is used in output_operand_alias more than once".to_owned();
    assert_eq!(found, [("HC2", message)]);
    let nested = "(memref<4xf32>, memref<4xf32>) -> (tuple<memref<4xf32>>, i32)";
    let pairs = [("[0, 0]", 0, "[]"), ("[0, 0]", 1, "[]")];
    let found = codes(&format!("%0:2 = {}", call("f", "%b, %c", &pairs, nested)));
    let message = "buffer output [0, 0] is used in output_operand_alias more than once".to_owned();
    assert_eq!(found, [("HC1", message)]);
    let three = "(memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>, memref<4xf32>)";
    let pairs = [("[0]", 0, "[]"), ("[1]", 1, "[]")];
    let found = codes(&format!("%0:3 = {}", call("f", "%b, %c", &pairs, three)));
    assert_eq!(found, [("HC3", "buffer output [2] is not used in output_operand_alias".to_owned())]);
}

#[test]
fn a57_loops() {
    let good = repeat("%0", "%b", "", "", "%m");
    assert_eq!(codes(&good), []);
    let cases = [
        (good.replacen("%m: memref<4xf32>", "%m: memref<5xf32>", 1), "while slot 1: cond argument has type"),
        (
            good.replace("(%f, %m) : (tensor<i1>, memref<4xf32>)", "(%f, %a) : (tensor<i1>, tensor<4xf32>)"),
            "while slot 1: body return has type",
        ),
        (
            good.replace("(%f) : (tensor<i1>)", "(%m) : (memref<4xf32>)"),
            "while slot 0: cond return has type memref<4xf32>, expected tensor<i1>",
        ),
        (
            good.replace("-> (tensor<i1>, memref<4xf32>)\n", "-> (tensor<i1>, memref<?xf32>)\n"),
            "while slot 1: operand has type memref<4xf32>, expected memref<?xf32>",
        ),
    ];
    for (text, start) in cases {
        let found = codes(&text);
        assert!(found.iter().all(|f| f.0 == "HT4") && found[0].1.starts_with(start), "{found:?}\n{text}");
    }
}

#[test]
fn a60_a61_one_writer_and_dead_after() {
    let twice = format!(
        "%0:2 = {}%1 = stablehlo.tuple %0#0, %0#1 : tuple<memref<4xf32>, memref<4xf32>>\n\
         %2 = stablehlo.get_tuple_element %1[0] : (tuple<memref<4xf32>, memref<4xf32>>) -> memref<4xf32>\n\
         %3 = stablehlo.get_tuple_element %1[0] : (tuple<memref<4xf32>, memref<4xf32>>) -> memref<4xf32>\n\
         %4 = stablehlo.tuple %2 : tuple<memref<4xf32>>\n%5 = {}{}",
        call(
            "f",
            "%b, %c",
            &[("[0]", 0, "[]"), ("[1]", 1, "[]")],
            "(memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>)"
        ),
        call("g", "%4", &[("[]", 0, "[0]")], "(tuple<memref<4xf32>>) -> memref<4xf32>"),
        unpin("%6", "%3"),
    );
    let message = "an HLO buffer value has more than one writers (or unpins): '%0#0' '[]'".to_owned();
    assert_eq!(linear(&twice), [("A60", message)]);
    let looped = pin("%p", "%a") + &repeat("%0", "%p", "", "", "%m") + &unpin("%1", "%p");
    assert_eq!(linear(&looped)[0].0, "A60");
    let kept = repeat("%0", "%b", "", &update("%1", "%m"), "%m");
    assert_eq!(linear(&kept)[0].0, "A60");
    let inside = format!(
        "%t = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, memref<4xf32>>\n%0 = {}{}",
        call("f", "%t", &[("[]", 0, "[1]")], "(tuple<tensor<4xf32>, memref<4xf32>>) -> memref<4xf32>"),
        unpin("%1", "%0")
    );
    assert_eq!(linear(&inside), []);
    let late = update("%0", "%b") + &read("%b");
    let message = "buffer '%b' [] is used by 'stablehlo.custom_call @look' after 'stablehlo.custom_call @update' wrote or released it";
    assert_eq!(linear(&late), [("A61", message.to_owned())]);
    assert_eq!(linear(&(read("%b") + &update("%0", "%b"))), []);
    // The two branches of an `if` exclude each other; a loop does everything again.
    let branch = format!(
        "%0 = \"stablehlo.if\"(%n) ({{\n{}\"stablehlo.return\"(%1) : (tensor<4xf32>) -> ()\n}}, {{\n{}\"stablehlo.return\"(%2) : (tensor<4xf32>) -> ()\n}}) : (tensor<i1>) -> tensor<4xf32>\n",
        unpin("%1", "%b"),
        unpin("%2", "%b")
    );
    assert_eq!(linear(&branch), []);
    assert_eq!(linear(&(branch + &unpin("%3", "%b")))[0].0, "A60");
    let again = repeat("%0", "%c", "", &unpin("%1", "%b"), "%m");
    assert_eq!(linear(&again)[0].0, "A60");
}

#[test]
fn a62_loops() {
    let write = repeat("%0", "%b", &update("%1", "%m"), "", "%m");
    assert_eq!(linear(&write), [("A62", "while condition may not write a buffer".to_owned())]);
    assert_eq!(linear(&repeat("%0", "%b", &read("%m"), &update("%1", "%m"), "%1")), []);
    // The new buffer is made from what the old one held, so it may come after its end only.
    let after = update("%1", "%m") + &unpin("%2", "%1") + &pin("%3", "%2");
    assert_eq!(linear(&repeat("%0", "%b", "", &after, "%3")), []);
    // The other way round: the old buffer is written with what the new one holds.
    let writes = call("f", "%m, %3", &[("[]", 0, "[]")], "(memref<4xf32>, memref<4xf32>) -> memref<4xf32>");
    let before = pin("%3", "%a") + &format!("%4 = {writes}") + &unpin("%5", "%4");
    let message = "while slot 1: the new buffer is pinned before the old one is released".to_owned();
    assert_eq!(linear(&repeat("%0", "%b", "", &before, "%3")), [("A62", message)]);
    let outside = repeat("%0", "%b", "", "", "%c");
    let found = linear(&outside);
    assert!(found.iter().any(|f| f.0 == "A62" && f.1.contains("from outside of the loop")), "{found:?}");
}

#[test]
fn a62_the_old_buffer_is_ended_before_the_new_one_begins() {
    // No value leads from the Pin to the Unpin, so the Pin moves behind it.
    let body = pin("%3", "%a") + &unpin("%2", "%m");
    let source = function(&repeat("%0", "%b", "", &body, "%3"));
    let out = lower_text(&source, &TextOptions::default());
    assert!(!out.failed, "{}", out.render_diagnostics("FILE"));
    let at = |what: &str| out.text.find(what).expect("it is there");
    assert!(at("%2 = ") < at("%3 = "), "{}", out.text);
}

#[test]
fn a63_cycles() {
    let source = include_str!("host/loops.mlir");
    let swap = source.split("// -----").nth(1).expect("two parts");
    let json = json(swap);
    assert_eq!(json.get("copies"), None);
    assert_eq!(json["storages"].as_array().map(Vec::len), Some(1));
    assert_eq!(json["storages"][0]["leaves"][0]["count"], 2);
    assert_eq!(json["storages"][0]["space"], "global");
    let undeclared = swap.replace("{warploom.rotate = [[1, 2]]} ", "");
    let out = lower_text(&undeclared, &TextOptions::default());
    let message = "while slot 1 returns the buffer of slot 2; declare warploom.rotate or unpin and pin";
    assert_eq!((said(&out)[0].0, said(&out)[0].1.as_str()), ("A62", message));
    for bad in ["[[1, 1]]", "[[1]]", "[[0, 1]]", "[[1, 9]]", "[[x]]", "[[1, 2], [2, 1]]"] {
        let out = lower_text(&swap.replace("[[1, 2]]", bad), &TextOptions::default());
        assert_eq!(said(&out)[0].0, "A63", "{bad}");
    }
    let straight = swap.replace("(%f, %q, %p)", "(%f, %p, %q)");
    let out = lower_text(&straight, &TextOptions::default());
    let message = "while slot 1 returns the buffer of slot 1, but its warploom.rotate says slot 2";
    assert_eq!((said(&out)[0].0, said(&out)[0].1.as_str()), ("A63", message));
}

#[test]
fn a64_notes_and_xla_bans() {
    let source = function(&(read("%b") + &update("%0", "%b") + &unpin("%1", "%0")));
    assert!(!lower_text(&source, &TextOptions::default()).failed);
    let strict = lower_text(&source, &TextOptions { xla_strict: true, ..TextOptions::default() });
    let found = said(&strict);
    let both = [
        "Seen buffers while buffers aren't allowed in this context: func.func",
        "buffer is used in operands but not in results: operand 0 ShapeIndex []",
    ];
    assert_eq!(found.iter().map(|f| f.1.as_str()).collect::<Vec<_>>(), both);
    let fresh = format!("%0 = {}{}", call("CreateBuffer", "", &[], "() -> memref<4xf32>"), unpin("%1", "%0"));
    let out = lower_text(&function(&fresh), &TextOptions::default());
    assert!(!out.failed);
    let message = "buffer '%0' [] of CreateBuffer is unpinned before anything wrote it";
    assert!(out.diagnostics.iter().any(|d| d.code == "A64" && d.message == message), "{:?}", out.diagnostics);
    let out = lower_text(&function(&pin("%0", "%a")), &TextOptions::default());
    assert!(out.diagnostics.iter().any(|d| d.message == "buffer '%0' [] is never unpinned"));
}

#[test]
fn a66_sizes_are_needed_for_storage_only() {
    let text = "%t = stablehlo.tuple %b : tuple<memref<4xf32>>\n%0 = \"stablehlo.custom_call\"() {call_target_name = \"CreateBuffer\"} : () -> memref<2x?xf32>\n";
    assert_eq!(linear(text), []);
    let out = lower_text(&function(text), &TextOptions::default());
    let message =
        "buffer '%0' has dynamic dimension 1 ('memref<2x?xf32>'); storage needs a size known at compile time";
    assert_eq!(said(&out), [("A66", message.to_owned())]);
}

/// The table of section 15.
#[test]
fn a68_copies() {
    let again = "%z = stablehlo.multiply %s, %s : tensor<4xf32>\n";
    let sum = "%s = stablehlo.add %a, %a : tensor<4xf32>\n";
    let chain = format!("{sum}{}{}{}{again}", pin("%p", "%s"), update("%q", "%p"), unpin("%r", "%q"));
    assert_eq!(copies(&function(&chain)), (vec!["pin".to_owned()], 3));
    assert_eq!(copies(&function(&chain.replace(again, ""))).0, Vec::<String>::new());
    // A function's argument is not ours to overwrite.
    assert_eq!(
        copies(&function(
            &chain.replace("%p = \"stablehlo.custom_call\"(%s)", "%p = \"stablehlo.custom_call\"(%a)")
        ))
        .0,
        ["pin"]
    );

    let inside = format!(
        "{sum}%0:2 = stablehlo.while(%f = %n, %x = %s) : tensor<i1>, tensor<4xf32>\ncond {{\n\
         stablehlo.return %f : tensor<i1>\n}} do {{\n{}{}{}%y = stablehlo.custom_call @see(%x) : (tensor<4xf32>) -> tensor<i1>\n\
         stablehlo.return %y, %r : tensor<i1>, tensor<4xf32>\n}}\n",
        pin("%p", "%x"),
        update("%q", "%p"),
        unpin("%r", "%q")
    );
    assert_eq!(copies(&function(&inside)).0, ["pin", "unpin"]);

    let carried = format!(
        "{sum}{}{}{}{again}",
        pin("%p", "%s"),
        repeat("%0", "%p", "", &update("%1", "%m"), "%1"),
        unpin("%r", "%0#1")
    );
    assert_eq!(copies(&function(&carried)).0, ["pin"]);

    let rotated = include_str!("host/loops.mlir").split("// -----").next().expect("a part");
    assert_eq!(copies(rotated), (Vec::new(), 1));
    // A call may not write its result over its operand.
    let called =
        rotated.replace("stablehlo.add %3, %3 :", "stablehlo.custom_call @g(%3) : (tensor<4xf32>) ->");
    assert_eq!(copies(&called).0, ["pin"]);
}

#[test]
fn a69_what_is_written() {
    let source = include_str!("host/loops.mlir");
    let out = lower_text(source, &TextOptions::default());
    assert!(!out.failed, "{}", out.render_diagnostics("FILE"));
    for text in [
        "%5 = \"stablehlo.custom_call\"(%4) {warploom.storage = \"b\", warploom.copy = 0 : i64, call_target_name = \"Pin\"} :",
        "stablehlo.custom_call @Pin(%s) {warploom.storage = \"a\", warploom.copy = 0 : i64} :",
        "%6 = \"stablehlo.custom_call\"(%0#1) {warploom.copy = 0 : i64, call_target_name = \"Unpin\"} :",
    ] {
        assert!(out.text.contains(text), "{text} in\n{}", out.text);
    }
    let again = lower_text(&out.text, &TextOptions { no_lower: true, ..TextOptions::default() });
    assert!(!again.failed);
    assert_eq!(again.text, out.text, "what is written reads back");
}

#[test]
fn a56_forms_print_back() {
    for text in positives() {
        let options = TextOptions { no_lower: true, ..TextOptions::default() };
        let out = lower_text(&function(&text), &options);
        assert!(!out.failed, "{}", out.render_diagnostics("FILE"));
        assert_eq!(lower_text(&out.text, &options).text, out.text);
    }
}
