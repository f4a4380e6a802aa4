// run: verify
// Each rule of A57 has its error; the messages are those of upstream, word for word.
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.add"(%b, %b) : (memref<4xf32>, memref<4xf32>) -> tensor<4xf32> // error: operand #0 must be ranked tensor of float, boolean, integer, complex or quantized values, but got 'memref<4xf32>' [HT1] // error: operand #1 must be ranked tensor of float, boolean, integer, complex or quantized values, but got 'memref<4xf32>' [HT1]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %z = stablehlo.abs %a : tensor<4xf32>
  %0 = stablehlo.add %b, %b : memref<4xf32> // error: operand #0 must be ranked tensor of float, boolean, integer, complex or quantized values, but got 'memref<4xf32>' [HT1] // error: operand #1 must be ranked tensor of float, boolean, integer, complex or quantized values, but got 'memref<4xf32>' [HT1] // error: result #0 must be variadic of ranked tensor of float, boolean, integer, complex or quantized values, but got 'memref<4xf32>' [HT2]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %z = stablehlo.abs %a : tensor<4xf32>
  %0 = test.add %b, %b : memref<4xf32> // error: operand #0 must be ranked tensor of float, boolean, integer, complex or quantized values, but got 'memref<4xf32>' [HT1] // error: operand #1 must be ranked tensor of float, boolean, integer, complex or quantized values, but got 'memref<4xf32>' [HT1] // error: result #0 must be variadic of ranked tensor of float, boolean, integer, complex or quantized values, but got 'memref<4xf32>' [HT2]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.if"(%n) ({ // error: result #0 must be variadic of ranked tensor of float, boolean, integer, complex or quantized values, but got 'memref<4xf32>' [HT2]
    "stablehlo.return"(%b) : (memref<4xf32>) -> ()
  }, {
    "stablehlo.return"(%b) : (memref<4xf32>) -> ()
  }) : (tensor<i1>) -> memref<4xf32>
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "CreateBuffer", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32> // error: CreateBuffer custom_call shouldn't have any inputs [HB1]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"() {call_target_name = "CreateBuffer", api_version = 4 : i32, output_operand_aliases = []} : () -> tensor<4xf32> // error: CreateBuffer custom_call should have a memref result [HB3]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> memref<4xf32> // error: Pin custom_call should have a tensor input [HB5]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> tensor<4xf32> // error: Pin custom_call should have a memref output [HB7]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xi32> // error: Pin custom_call should have compatible input and output types [HB8]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a, %a) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>, tensor<4xf32>) -> memref<4xf32> // error: Pin custom_call should have one input [HB4]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> tensor<4xi32> // error: Unpin custom_call should have compatible input and output types [HB13]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> tensor<4xf32> // error: Unpin custom_call should have a memref input [HB10]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%b, %c) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>, memref<4xf32>) -> tensor<4xf32> // error: Unpin custom_call should have one input [HB9]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> memref<4xf32> // error: Unpin custom_call should have a tensor output [HB12]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> memref<4xf32> // error: shapes mismatch in the output_operand_alias attribute: operand part has type 'tensor<4xf32>' and output part has type 'memref<4xf32>' [HA4]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> tensor<4xf32> // error: shapes mismatch in the output_operand_alias attribute: operand part has type 'memref<4xf32>' and output part has type 'tensor<4xf32>' [HA4]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (memref<4xf32>) -> tensor<4xf32> // error: expects operandIndex in the output_operand_alias attribute to be in range [0, 1); got: 1. [HA1]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = -1, operand_tuple_indices = []>]} : (memref<4xf32>) -> tensor<4xf32> // error: expects operandIndex in the output_operand_alias attribute to be in range [0, 1); got: -1. [HA1]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [0]>]} : (memref<4xf32>) -> tensor<4xf32> // error: operand_tuple_indices in the output_operand_alias attribute out of bounds [HA2]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> tensor<4xf32> // error: output_tuple_indices in the output_operand_alias attribute out of bounds [HA3]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.get_tuple_element"(%a) <{index = 0 : i32}> : (tensor<4xf32>) -> tensor<4xf32> // error: index 0 is out of range for a tuple of 0 [HT3]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, tensor<4xf32>> // error: result type tuple<tensor<4xf32>, tensor<4xf32>> is not tuple<tensor<4xf32>, memref<4xf32>> [HT3]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32, affine_map<(d0) -> (d0)>> // error: a buffer has no layout map and no memory space: 'memref<4xf32, affine_map<(d0) -> (d0)>>' [A55] // error: buffer output [] is not used in output_operand_alias [HC3]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xf32, 1> // error: a buffer has no layout map and no memory space: 'memref<4xf32, 1>' [A55] // error: buffer output [] is not used in output_operand_alias [HC3]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<4xstring> // error: 'memref<4xstring>' is no buffer type [A55] // error: buffer output [] is not used in output_operand_alias [HC3]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> memref<-4xf32> // error: 'memref<-4xf32>' is no buffer type [A55] // error: buffer output [] is not used in output_operand_alias [HC3]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"(%b) {call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<operand_index = x>]} : (memref<4xf32>) -> tensor<4xf32> // error: '#stablehlo.output_operand_alias<operand_index = x>' is no output_operand_alias [A56]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  "stablehlo.custom_call"(%b) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> () // error: output_tuple_indices in the output_operand_alias attribute out of bounds [HA3]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.custom_call"() {call_target_name = "CreateBuffer", api_version = 4 : i32, output_operand_aliases = []} : () -> (memref<4xf32>, memref<4xf32>) // error: CreateBuffer custom_call should have one result [HB2]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.custom_call"(%a) {call_target_name = "Pin", api_version = 4 : i32, output_operand_aliases = []} : (tensor<4xf32>) -> (memref<4xf32>, memref<4xf32>) // error: Pin custom_call should have one output [HB6]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.custom_call"(%b) {call_target_name = "Unpin", api_version = 4 : i32, output_operand_aliases = []} : (memref<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) // error: Unpin custom_call should have one output [HB11]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f, %m) : (tensor<i1>, memref<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// =====
module {
  func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
    %0:2 = stablehlo.while(%f = %n, %m = %b) : tensor<i1>, memref<4xf32>
    cond {
      stablehlo.return %f : tensor<i1>
    } do {
      stablehlo.return %f, %m : tensor<i1>, memref<4xf32>
    }
    return
  }
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({ // error: while slot 1: cond argument has type memref<5xf32>, expected memref<4xf32> [HT4]
  ^bb0(%f: tensor<i1>, %m: memref<5xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f, %m) : (tensor<i1>, memref<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({ // error: while slot 1: body return has type tensor<4xf32>, expected memref<4xf32> [HT4]
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f, %a) : (tensor<i1>, tensor<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({ // error: while slot 0: cond return has type memref<4xf32>, expected tensor<i1> [HT4]
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%m) : (memref<4xf32>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f, %m) : (tensor<i1>, memref<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<4xf32>)
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.while"(%n, %b) ({ // error: while slot 1: operand has type memref<4xf32>, expected memref<?xf32> [HT4] // error: while slot 1: cond argument has type memref<4xf32>, expected memref<?xf32> [HT4] // error: while slot 1: body argument has type memref<4xf32>, expected memref<?xf32> [HT4] // error: while slot 1: body return has type memref<4xf32>, expected memref<?xf32> [HT4]
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<i1>, %m: memref<4xf32>):
    "stablehlo.return"(%f, %m) : (tensor<i1>, memref<4xf32>) -> ()
  }) : (tensor<i1>, memref<4xf32>) -> (tensor<i1>, memref<?xf32>)
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.custom_call"(%a, %b) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>]} : (tensor<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) // error: buffer operand 1[] is used in output_operand_alias more than once [HC2]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:2 = "stablehlo.custom_call"(%b, %c) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0, 0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [0, 0], operand_index = 1, operand_tuple_indices = []>]} : (memref<4xf32>, memref<4xf32>) -> (tuple<memref<4xf32>>, i32) // error: buffer output [0, 0] is used in output_operand_alias more than once [HC1]
  return
}
// -----
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0:3 = "stablehlo.custom_call"(%b, %c) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>]} : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>, memref<4xf32>) // error: buffer output [2] is not used in output_operand_alias [HC3]
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
func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
  %0 = "stablehlo.custom_call"() {call_target_name = "CreateBuffer", api_version = 4 : i32, output_operand_aliases = []} : () -> memref<4xf32>
  return
}
// =====
module {
  func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
    %0 = "stablehlo.custom_call"() {call_target_name = "CreateBuffer", api_version = 4 : i32, output_operand_aliases = []} : () -> memref<4xf32>
    return
  }
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
// =====
module {
  func.func @main(%a: tensor<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %n: tensor<i1>) {
    %0:2 = stablehlo.while(%f = %n, %m = %b) : tensor<i1>, memref<4xf32>
    cond {
      stablehlo.return %f : tensor<i1>
    } do {
      %1 = "stablehlo.custom_call"(%m) {call_target_name = "update", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
      stablehlo.return %f, %1 : tensor<i1>, memref<4xf32>
    }
    return
  }
}
