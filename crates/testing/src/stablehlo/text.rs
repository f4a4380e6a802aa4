//! Functions with buffers from bytes.

use crate::alias::Bytes;

/// A StableHLO function with pairs, loops and boundaries from bytes: well-formed, not always legal.
pub fn function(bytes: &[u8]) -> String {
    let mut b = Bytes::new(bytes);
    let mut out = String::from("func.func @f(%n: tensor<i1>, %x: tensor<4xf32>, %m: memref<4xf32>) {\n");
    let (mut tensors, mut buffers) = (vec!["%x".to_owned()], vec!["%m".to_owned()]);
    let mut open = 0u64;
    for n in 0..2 + b.below(24) {
        let t = tensors.get(b.below(tensors.len() as u64) as usize).cloned().unwrap_or_default();
        let m = buffers.get(b.below(buffers.len() as u64) as usize).cloned().unwrap_or_default();
        let pairs = match b.below(4) {
            0 => "[]".to_owned(),
            k => format!(
                "[#stablehlo.output_operand_alias<output_tuple_indices = [{}], operand_index = {}, operand_tuple_indices = []>]",
                if k == 3 { "0" } else { "" },
                k / 2
            ),
        };
        match b.below(7) {
            0 => {
                out.push_str(&format!("%v{n} = stablehlo.add {t}, {t} : tensor<4xf32>\n"));
                tensors.push(format!("%v{n}"));
            }
            1 => {
                out.push_str(&format!(
                    "%v{n} = stablehlo.custom_call @Pin({t}) : (tensor<4xf32>) -> memref<4xf32>\n"
                ));
                buffers.push(format!("%v{n}"));
            }
            2 => {
                out.push_str(&format!(
                    "%v{n} = stablehlo.custom_call @Unpin({m}) : (memref<4xf32>) -> tensor<4xf32>\n"
                ));
                tensors.push(format!("%v{n}"));
            }
            3 | 4 => {
                out.push_str(&format!(
                    "%v{n} = stablehlo.custom_call @w({m}, {t}) {{output_operand_aliases = {pairs}}} : (memref<4xf32>, tensor<4xf32>) -> memref<4xf32>\n"
                ));
                buffers.push(format!("%v{n}"));
            }
            5 if open < 3 => {
                out.push_str(&format!(
                    "%w{open}_{n}:2 = stablehlo.while(%f{n} = %n, %b{n} = {m}) : tensor<i1>, memref<4xf32> cond {{\n\
                     stablehlo.return %f{n} : tensor<i1>\n}} do {{\n"
                ));
                buffers.push(format!("%b{n}"));
                open += 1;
            }
            6 if open > 0 => {
                out.push_str(&format!("stablehlo.return %n, {m} : tensor<i1>, memref<4xf32>\n}}\n"));
                open -= 1;
            }
            _ => {}
        }
    }
    for _ in 0..open {
        let last = buffers.last().cloned().unwrap_or_default();
        out.push_str(&format!("stablehlo.return %n, {last} : tensor<i1>, memref<4xf32>\n}}\n"));
    }
    out.push_str("return\n}\n");
    out
}
