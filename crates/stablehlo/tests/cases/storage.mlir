// run: lower
// One storage for what must share memory, copies at the boundaries only (A65 to A69).
// fact: storages = 1
// fact: copies = none
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
// -----
// fact: storages = 3
// fact: copies = pin:16
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %s = stablehlo.add %a, %a : tensor<4xf32>
  %p = "stablehlo.custom_call"(%s) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32>
  %q = "stablehlo.custom_call"(%p) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  %r = "stablehlo.custom_call"(%q) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
  %z = stablehlo.multiply %s, %s : tensor<4xf32>
  return
}
// -----
// fact: storages = 3
// fact: copies = none
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %s = stablehlo.add %a, %a : tensor<4xf32>
  %p = "stablehlo.custom_call"(%s) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32>
  %q = "stablehlo.custom_call"(%p) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  %r = "stablehlo.custom_call"(%q) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
  return
}
// -----
// fact: storages = 3
// fact: copies = pin:16
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %s = stablehlo.add %a, %a : tensor<4xf32>
  %p = "stablehlo.custom_call"(%a) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32>
  %q = "stablehlo.custom_call"(%p) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  %r = "stablehlo.custom_call"(%q) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
  %z = stablehlo.multiply %s, %s : tensor<4xf32>
  return
}
// -----
// fact: storages = 3
// fact: copies = pin:16+unpin:16
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %s = stablehlo.add %a, %a : tensor<4xf32>
  %0:2 = stablehlo.while(%f = %n, %x = %s) : tensor<i1>, tensor<4xf32>
  cond {
    stablehlo.return %f : tensor<i1>
  } do {
    %p = "stablehlo.custom_call"(%x) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32>
    %q = "stablehlo.custom_call"(%p) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
    %r = "stablehlo.custom_call"(%q) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
    %y = stablehlo.custom_call @see(%x) : (tensor<4xf32>) -> tensor<i1>
    stablehlo.return %y, %r : tensor<i1>, tensor<4xf32>
  }
  return
}
// -----
// fact: storages = 3
// fact: copies = pin:16
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %s = stablehlo.add %a, %a : tensor<4xf32>
  %p = "stablehlo.custom_call"(%s) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32>
  %0:2 = "stablehlo.while"(%n, %p) ({
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    %1 = "stablehlo.custom_call"(%m) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
    "stablehlo.return"(%f, %1) : (tensor<i1>, memref<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  %r = "stablehlo.custom_call"(%0#1) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
  %z = stablehlo.multiply %s, %s : tensor<4xf32>
  return
}
// -----
// fact: storages = 1
// fact: copies = none
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
// fact: storages = 1
// fact: copies = pin:16
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
    %4 = stablehlo.custom_call @g(%3) : (tensor<4xf32>) -> tensor<4xf32>
    %5 = "stablehlo.custom_call"(%4) {call_target_name = "Pin"} : (tensor<4xf32>) -> memref<4xf32>
    stablehlo.return %f, %5 : tensor<i1>, memref<4xf32>
  }
  %6 = "stablehlo.custom_call"(%0#1) {call_target_name = "Unpin"} : (memref<4xf32>) -> tensor<4xf32>
  return %6 : tensor<4xf32>
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %t = stablehlo.tuple %b : tuple<memref<4xf32>>
  %0 = "stablehlo.custom_call"() {call_target_name = "CreateBuffer"} : () -> memref<2x?xf32> // error: buffer '%0' has dynamic dimension 1 ('memref<2x?xf32>'); storage needs a size known at compile time [A66]
  return
}
// -----
// No value leads from the Pin to the Unpin, so the Pin moves behind it (A62).
// fact: storages = 1
// fact: copies = pin:16
// check: %2 = "stablehlo.custom_call"
// check: %3 = "stablehlo.custom_call"
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = stablehlo.while(%f = %n, %m = %b) : tensor<i1>, memref<4xf32>
  cond {
    stablehlo.return %f : tensor<i1>
  } do {
    %3 = "stablehlo.custom_call"(%a) {call_target_name = "Pin"} : (tensor<4xf32>) -> memref<4xf32>
    %2 = "stablehlo.custom_call"(%m) {call_target_name = "Unpin"} : (memref<4xf32>) -> tensor<4xf32>
    stablehlo.return %f, %3 : tensor<i1>, memref<4xf32>
  }
  return
}
// -----
// What is written (A69): storages on what makes or changes a buffer, bytes copied at the boundaries.
// source: crates/stablehlo/tests/files/loops.mlir
// fact: storages = 2
// fact: copies = none
// check: %5 = "stablehlo.custom_call"(%4) {call_target_name = "Pin", warploom.storage = "b", warploom.copy = 0 : i64} :
// check: %6 = "stablehlo.custom_call"(%0#1) {call_target_name = "Unpin", warploom.copy = 0 : i64} :
// check: stablehlo.custom_call @Pin(%s) {warploom.storage = "a", warploom.copy = 0 : i64} :
