// A rotated chain: the argument is written twice and unpinned, a new value is pinned and returned.
func.func @rotated(%flag: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %init = stablehlo.add %x, %x : tensor<4xf32>
  %b = "stablehlo.custom_call"(%init) {call_target_name = "Pin", api_version = 4 : i32} : (tensor<4xf32>) -> memref<4xf32>
  %0:2 = stablehlo.while(%f = %flag, %buffer = %b) : tensor<i1>, memref<4xf32>
  cond {
    stablehlo.return %f : tensor<i1>
  } do {
    %1 = "stablehlo.custom_call"(%buffer) {call_target_name = "update", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
    %2 = "stablehlo.custom_call"(%1) {call_target_name = "update", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
    %3 = "stablehlo.custom_call"(%2) {call_target_name = "Unpin"} : (memref<4xf32>) -> tensor<4xf32>
    %4 = stablehlo.add %3, %3 : tensor<4xf32>
    %5 = "stablehlo.custom_call"(%4) {call_target_name = "Pin"} : (tensor<4xf32>) -> memref<4xf32>
    stablehlo.return %f, %5 : tensor<i1>, memref<4xf32>
  }
  %6 = "stablehlo.custom_call"(%0#1) {call_target_name = "Unpin"} : (memref<4xf32>) -> tensor<4xf32>
  return %6 : tensor<4xf32>
}

// -----

// Two buffers change places; the cycle is declared.
func.func @swapped(%flag: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = stablehlo.add %x, %x : tensor<4xf32>
  %t = stablehlo.multiply %x, %x : tensor<4xf32>
  %a = stablehlo.custom_call @Pin(%s) : (tensor<4xf32>) -> memref<4xf32>
  %b = stablehlo.custom_call @Pin(%t) : (tensor<4xf32>) -> memref<4xf32>
  %0:3 = "stablehlo.while"(%flag, %a, %b) ({
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f, %q, %p) : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> ()
  }) {warploom.rotate = [[1, 2]]} : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>, memref<4xf32>)
  %1 = stablehlo.custom_call @Unpin(%0#1) : (memref<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Unpin(%0#2) : (memref<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
