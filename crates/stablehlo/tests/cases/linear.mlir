// run: lint
// One writer, dead afterwards (A59 to A64).
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.custom_call"(%b, %c) {
    call_target_name = "f",
    api_version = 4 : i32,
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0],
    operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1],
    operand_index = 1, operand_tuple_indices = []>],
  } : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>)
  %1 = stablehlo.tuple %0#0, %0#1 : tuple<memref<4xf32>, memref<4xf32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<memref<4xf32>, memref<4xf32>>) -> memref<4xf32>
  %3 = stablehlo.get_tuple_element %1[0] : (tuple<memref<4xf32>, memref<4xf32>>) -> memref<4xf32>
  %4 = stablehlo.tuple %2 : tuple<memref<4xf32>>
  %5 = "stablehlo.custom_call"(%4) {
    call_target_name = "g",
    api_version = 4 : i32,
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [],
    operand_index = 0, operand_tuple_indices = [0]>],
  } : (tuple<memref<4xf32>>) -> memref<4xf32>
  %6 = "stablehlo.custom_call"(%3) { // error: an HLO buffer value has more than one writers (or unpins): '%0#0' '[]' [A60]
    call_target_name = "Unpin",
    api_version = 4 : i32,
    output_operand_aliases = [],
  } : (memref<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %p = "stablehlo.custom_call"(%a) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32>
  %0:2 = "stablehlo.while"(%n, %p) ({
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f, %m) : (tensor<i1>, memref<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  %1 = "stablehlo.custom_call"(%p) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32> // error: an HLO buffer value has more than one writers (or unpins): '%p' '[]' [A60]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    %1 = "stablehlo.custom_call"(%m) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
    "stablehlo.return"(%f, %m) : (tensor<i1>, memref<4xf32>) -> () // error: an HLO buffer value has more than one writers (or unpins): '%m' '[]' [A60]
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %t = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, memref<4xf32>>
  %0 = "stablehlo.custom_call"(%t) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [1]>]} : (tuple<tensor<4xf32>, memref<4xf32>>) -> memref<4xf32>
  %1 = "stablehlo.custom_call"(%0) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
  return
}
// =====
module {
  func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
    %t = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, memref<4xf32>>
    %0 = "stablehlo.custom_call"(%t) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [1]>]} : (tuple<tensor<4xf32>, memref<4xf32>>) -> memref<4xf32>
    %1 = "stablehlo.custom_call"(%0) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
    return
  }
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  "stablehlo.custom_call"(%b) {call_target_name = "look", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> () // error: buffer '%b' [] is used by 'stablehlo.custom_call @look' after 'stablehlo.custom_call @update' wrote or released it [A61]
  return
}
// -----
// clean
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  "stablehlo.custom_call"(%b) {call_target_name = "look", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> ()
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.if"(%n) ({
    %1 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }, {
    %2 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%2) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}
// =====
module {
  func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
    %0 = "stablehlo.if"(%n) ({
      %1 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
      stablehlo.return %1 : tensor<4xf32>
    }, {
      %2 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    return
  }
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.if"(%n) ({
    %1 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }, {
    %2 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%2) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  %3 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32> // error: an HLO buffer value has more than one writers (or unpins): '%b' '[]' [A60]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %c) ({
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    %1 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32> // error: an HLO buffer value has more than one writers (or unpins): '%b' '[]' [A60]
    "stablehlo.return"(%f, %m) : (tensor<i1>, memref<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    %1 = "stablehlo.custom_call"(%m) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32> // error: while condition may not write a buffer [A62]
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f, %m) : (tensor<i1>, memref<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// -----
// clean
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.custom_call"(%m) {call_target_name = "look", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> ()
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    %1 = "stablehlo.custom_call"(%m) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
    "stablehlo.return"(%f, %1) : (tensor<i1>, memref<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// -----
// clean
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    %1 = "stablehlo.custom_call"(%m) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
    %2 = "stablehlo.custom_call"(%1) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
    %3 = "stablehlo.custom_call"(%2) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32>
    "stablehlo.return"(%f, %3) : (tensor<i1>, memref<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    %3 = "stablehlo.custom_call"(%a) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32>
    %4 = "stablehlo.custom_call"(%m, %3) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>, memref<4xf32>) -> memref<4xf32>
    %5 = "stablehlo.custom_call"(%4) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%f, %3) : (tensor<i1>, memref<4xf32>) -> () // error: while slot 1: the new buffer is pinned before the old one is released [A62]
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f, %c) : (tensor<i1>, memref<4xf32>) -> () // error: an HLO buffer value has more than one writers (or unpins): '%c' '[]' [A60] // error: while slot 1 returns a buffer from outside of the loop, or from a rotated one [A62]
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// -----
// clean
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %t = stablehlo.tuple %b : tuple<memref<4xf32>>
  %0 = "stablehlo.custom_call"() {call_target_name = "CreateBuffer"} : () -> memref<2x?xf32>
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32>
  %1 = "stablehlo.custom_call"(%0) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  %2 = "stablehlo.custom_call"(%1) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
  return
}
// =====
module {
  func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
    %0 = "stablehlo.custom_call"(%a) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32>
    %1 = "stablehlo.custom_call"(%0) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
    %2 = "stablehlo.custom_call"(%1) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xf32>
    return
  }
}
// -----
// clean
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"() {call_target_name = "CreateBuffer", api_version = 4 : i32, output_operand_aliases = []} : () -> memref<4xf32>
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, memref<4xf32>>
  return
}
// =====
module {
  func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
    %0 = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, memref<4xf32>>
    return
  }
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, memref<4xf32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, memref<4xf32>>) -> memref<4xf32>
  return
}
// =====
module {
  func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
    %0 = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, memref<4xf32>>
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, memref<4xf32>>) -> memref<4xf32>
    return
  }
}
// -----
// clean
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    %1 = "stablehlo.custom_call"(%m) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
    "stablehlo.return"(%f, %1) : (tensor<i1>, memref<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// -----
func.func @swapped(%flag: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = stablehlo.add %x, %x : tensor<4xf32>
  %t = stablehlo.multiply %x, %x : tensor<4xf32>
  %a = stablehlo.custom_call @Pin(%s) : (tensor<4xf32>) -> memref<4xf32>
  %b = stablehlo.custom_call @Pin(%t) : (tensor<4xf32>) -> memref<4xf32>
  %0:3 = "stablehlo.while"(%flag, %a, %b) ({ // error: warploom.rotate [1, 1] is no cycle of buffer slots of one type [A63]
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f, %q, %p) : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> ()
  }) {warploom.rotate = [[1, 1]]} : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>, memref<4xf32>)
  %1 = stablehlo.custom_call @Unpin(%0#1) : (memref<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Unpin(%0#2) : (memref<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
// -----
func.func @swapped(%flag: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = stablehlo.add %x, %x : tensor<4xf32>
  %t = stablehlo.multiply %x, %x : tensor<4xf32>
  %a = stablehlo.custom_call @Pin(%s) : (tensor<4xf32>) -> memref<4xf32>
  %b = stablehlo.custom_call @Pin(%t) : (tensor<4xf32>) -> memref<4xf32>
  %0:3 = "stablehlo.while"(%flag, %a, %b) ({ // error: warploom.rotate [1] is no cycle of buffer slots of one type [A63]
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f, %q, %p) : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> ()
  }) {warploom.rotate = [[1]]} : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>, memref<4xf32>)
  %1 = stablehlo.custom_call @Unpin(%0#1) : (memref<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Unpin(%0#2) : (memref<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
// -----
func.func @swapped(%flag: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = stablehlo.add %x, %x : tensor<4xf32>
  %t = stablehlo.multiply %x, %x : tensor<4xf32>
  %a = stablehlo.custom_call @Pin(%s) : (tensor<4xf32>) -> memref<4xf32>
  %b = stablehlo.custom_call @Pin(%t) : (tensor<4xf32>) -> memref<4xf32>
  %0:3 = "stablehlo.while"(%flag, %a, %b) ({ // error: warploom.rotate [0, 1] is no cycle of buffer slots of one type [A63]
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f, %q, %p) : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> ()
  }) {warploom.rotate = [[0, 1]]} : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>, memref<4xf32>)
  %1 = stablehlo.custom_call @Unpin(%0#1) : (memref<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Unpin(%0#2) : (memref<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
// -----
func.func @swapped(%flag: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = stablehlo.add %x, %x : tensor<4xf32>
  %t = stablehlo.multiply %x, %x : tensor<4xf32>
  %a = stablehlo.custom_call @Pin(%s) : (tensor<4xf32>) -> memref<4xf32>
  %b = stablehlo.custom_call @Pin(%t) : (tensor<4xf32>) -> memref<4xf32>
  %0:3 = "stablehlo.while"(%flag, %a, %b) ({ // error: warploom.rotate [1, 9] is no cycle of buffer slots of one type [A63]
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f, %q, %p) : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> ()
  }) {warploom.rotate = [[1, 9]]} : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>, memref<4xf32>)
  %1 = stablehlo.custom_call @Unpin(%0#1) : (memref<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Unpin(%0#2) : (memref<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
// -----
func.func @swapped(%flag: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = stablehlo.add %x, %x : tensor<4xf32>
  %t = stablehlo.multiply %x, %x : tensor<4xf32>
  %a = stablehlo.custom_call @Pin(%s) : (tensor<4xf32>) -> memref<4xf32>
  %b = stablehlo.custom_call @Pin(%t) : (tensor<4xf32>) -> memref<4xf32>
  %0:3 = "stablehlo.while"(%flag, %a, %b) ({ // error: warploom.rotate [] is no cycle of buffer slots of one type [A63]
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f, %q, %p) : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> ()
  }) {warploom.rotate = [[x]]} : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>, memref<4xf32>)
  %1 = stablehlo.custom_call @Unpin(%0#1) : (memref<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Unpin(%0#2) : (memref<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
// -----
func.func @swapped(%flag: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = stablehlo.add %x, %x : tensor<4xf32>
  %t = stablehlo.multiply %x, %x : tensor<4xf32>
  %a = stablehlo.custom_call @Pin(%s) : (tensor<4xf32>) -> memref<4xf32>
  %b = stablehlo.custom_call @Pin(%t) : (tensor<4xf32>) -> memref<4xf32>
  %0:3 = "stablehlo.while"(%flag, %a, %b) ({ // error: warploom.rotate [2, 1] is no cycle of buffer slots of one type [A63]
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %p: memref<4xf32>, %q: memref<4xf32>):
    "stablehlo.return"(%f, %q, %p) : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> ()
  }) {warploom.rotate = [[1, 2], [2, 1]]} : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>, memref<4xf32>)
  %1 = stablehlo.custom_call @Unpin(%0#1) : (memref<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Unpin(%0#2) : (memref<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
// -----
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
    "stablehlo.return"(%f, %q, %p) : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> () // error: while slot 1 returns the buffer of slot 2; declare warploom.rotate or unpin and pin [A62] // error: while slot 2 returns the buffer of slot 1; declare warploom.rotate or unpin and pin [A62]
  }) : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>, memref<4xf32>)
  %1 = stablehlo.custom_call @Unpin(%0#1) : (memref<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Unpin(%0#2) : (memref<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
// -----
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
    "stablehlo.return"(%f, %p, %q) : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> () // error: while slot 1 returns the buffer of slot 1, but its warploom.rotate says slot 2 [A63] // error: while slot 2 returns the buffer of slot 2, but its warploom.rotate says slot 1 [A63]
  }) {warploom.rotate = [[1, 2]]} : (tensor<i1>, memref<4xf32>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>, memref<4xf32>)
  %1 = stablehlo.custom_call @Unpin(%0#1) : (memref<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Unpin(%0#2) : (memref<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
// -----
// run: lint strict
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) { // error: Seen buffers while buffers aren't allowed in this context: func.func [A64]
  "stablehlo.custom_call"(%b) {call_target_name = "look"} : (memref<4xf32>) -> () // error: buffer is used in operands but not in results: operand 0 ShapeIndex [] [A64]
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "update", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  %1 = "stablehlo.custom_call"(%0) {call_target_name = "Unpin"} : (memref<4xf32>) -> tensor<4xf32>
  return
}
// -----
// run: lint
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"() {call_target_name = "CreateBuffer"} : () -> memref<4xf32>
  %1 = "stablehlo.custom_call"(%0) {call_target_name = "Unpin"} : (memref<4xf32>) -> tensor<4xf32> // warning: buffer '%0' [] of CreateBuffer is unpinned before anything wrote it [A64]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "Pin"} : (tensor<4xf32>) -> memref<4xf32> // remark: buffer '%0' [] is never unpinned [A64]
  return
}
