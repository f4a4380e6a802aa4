//! StableHLO buffers: what verifies, and each rule's error (section 15).

use warploom_alias::{TextOptions, lower_text};

fn codes(body: &str) -> Vec<(&'static str, String)> {
    let source = format!(
        "func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %n: tensor<i32>) {{\n{body}\nreturn\n}}\n"
    );
    let out = lower_text(&source, &TextOptions { no_lower: true, ..TextOptions::default() });
    assert_eq!(out.failed, !out.diagnostics.is_empty());
    out.diagnostics.iter().map(|d| (d.code, d.message.clone())).collect()
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
        "\"stablehlo.custom_call\"({operands}) {{\n call_target_name = \"{target}\",\n api_version = 4 : i32,\n output_operand_aliases = [{}]\n}} : {signature}\n",
        pairs.join(", ")
    )
}

#[test]
fn a57_positive() {
    let p1 = format!(
        "%0 = {}%1 = {}%2 = {}",
        call("Pin", "%a", &[], "(tensor<4xf32>) -> memref<4xf32>"),
        call("update", "%0", &[("[]", 0, "[]")], "(memref<4xf32>) -> memref<4xf32>"),
        call("Unpin", "%1", &[], "(memref<4xf32>) -> tensor<4xf32>")
    );
    let p2 = format!("%0 = {}", call("CreateBuffer", "", &[], "() -> memref<4xf32>"));
    let p3 = "%0 = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, memref<4xf32>>".to_owned();
    let p4 = format!(
        "{p3}\n%1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, memref<4xf32>>) -> memref<4xf32>"
    );
    for text in [p1, p2, p3, p4] {
        assert_eq!(codes(&text), []);
    }
}

#[test]
fn a57_negative() {
    let rows: Vec<(String, &str)> = vec![
        (call("CreateBuffer", "%a", &[], "(tensor<4xf32>) -> memref<4xf32>"), "HB1"),
        (call("CreateBuffer", "", &[], "() -> tensor<4xf32>"), "HB3"),
        (call("Pin", "%b", &[], "(memref<4xf32>) -> memref<4xf32>"), "HB5"),
        (call("Pin", "%a", &[], "(tensor<4xf32>) -> tensor<4xf32>"), "HB7"),
        (call("Pin", "%a", &[], "(tensor<4xf32>) -> memref<4xi32>"), "HB8"),
        (call("Unpin", "%b", &[], "(memref<4xf32>) -> tensor<4xi32>"), "HB13"),
        (call("Unpin", "%a", &[], "(tensor<4xf32>) -> tensor<4xf32>"), "HB10"),
        (call("Pin", "%a", &[("[]", 0, "[]")], "(tensor<4xf32>) -> memref<4xf32>"), "HA4"),
        (call("Unpin", "%b", &[("[]", 0, "[]")], "(memref<4xf32>) -> tensor<4xf32>"), "HA4"),
        (call("f", "%b", &[("[]", 1, "[]")], "(memref<4xf32>) -> tensor<4xf32>"), "HA1"),
        (call("f", "%b", &[("[]", 0, "[0]")], "(memref<4xf32>) -> tensor<4xf32>"), "HA2"),
        (call("f", "%b", &[("[1]", 0, "[]")], "(memref<4xf32>) -> tensor<4xf32>"), "HA3"),
        (
            "%0 = \"stablehlo.get_tuple_element\"(%a) <{index = 0 : i32}> : (tensor<4xf32>) -> tensor<4xf32>"
                .into(),
            "HT3",
        ),
    ];
    for (text, code) in rows {
        let text = if text.starts_with('%') { text } else { format!("%0 = {text}") };
        let found = codes(&text);
        assert_eq!(found.first().map(|f| f.0), Some(code), "{text}: {found:?}");
    }
    let found = codes("%0 = \"stablehlo.add\"(%b, %b) : (memref<4xf32>, memref<4xf32>) -> tensor<4xf32>");
    assert_eq!((found[0].0, found.len()), ("HT1", 2));
    assert!(found[0].1.starts_with("operand #0 must be ranked tensor"));
    let two = "(tensor<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>)";
    let found = codes(&format!("%0:2 = {}", call("f", "%a, %b", &[("[0]", 1, "[]"), ("[1]", 1, "[]")], two)));
    assert_eq!(
        found,
        [("HC2", "buffer operand 1[] is used in output_operand_alias more than once".to_owned())]
    );
    let nested = "(memref<4xf32>, memref<4xf32>) -> (tuple<memref<4xf32>>, i32)";
    let found = codes(&format!(
        "%0:2 = {}",
        call("f", "%b, %b", &[("[0, 0]", 0, "[]"), ("[0, 0]", 1, "[]")], nested)
    ));
    assert_eq!(
        found,
        [("HC1", "buffer output [0, 0] is used in output_operand_alias more than once".to_owned())]
    );
    let three = "(memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>, memref<4xf32>)";
    let found =
        codes(&format!("%0:3 = {}", call("f", "%b, %b", &[("[0]", 0, "[]"), ("[1]", 1, "[]")], three)));
    assert_eq!(found, [("HC3", "buffer output [2] is not used in output_operand_alias".to_owned())]);
}
