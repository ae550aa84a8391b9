// RUN: trainc-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.reduce: dimension 2 is not one of the 2 dimensions of x, 'tensor<2x3xf32>'}}
  %0 = nn.reduce sum %x over [2] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.reduce: dimension -1 is reduced twice}}
  %0 = nn.reduce sum %x over [1, -1] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{custom op 'nn.reduce' expected string or keyword containing one of the following enum values for attribute 'kind' [sum, max, min, mean]}}
  %0 = nn.reduce product %x over [1] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.broadcast: cannot repeat x, 'tensor<2x3xf32>', to the 1 dimensions of [3]}}
  %0 = nn.broadcast %x to [3] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.broadcast: cannot repeat dimension 1 of x, 'tensor<2x3xf32>', from 3 to 6; only dimensions of size 1 are repeated}}
  %0 = nn.broadcast %x to [4, 2, 6] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.reshape: x, 'tensor<2x3xf32>', has 6 elements, which do not fit the shape [4, 2]}}
  %0 = nn.reshape %x to [4, 2] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.reshape: x, 'tensor<2x3xf32>', has 6 elements, which do not fit the shape [4, -1]}}
  %0 = nn.reshape %x to [4, -1] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.reshape: shape [-1, -1] may hold one -1 and otherwise sizes}}
  %0 = nn.reshape %x to [-1, -1] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.reshape: size 0 at position 2 keeps x's dimension, but x, 'tensor<2x3xf32>', has only 2}}
  %0 = nn.reshape %x to [2, 3, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.transpose: [0, 0] is not a permutation of the 2 dimensions of x, 'tensor<2x3xf32>'}}
  %0 = nn.transpose %x by [0, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.slice: 2 elements from 2 on are not all in dimension 1 of x, 'tensor<2x3xf32>'}}
  %0 = nn.slice %x dim 1 from 2 size 2 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.slice: dimension 5 is not one of the 2 dimensions of x, 'tensor<2x3xf32>'}}
  %0 = nn.slice %x dim 5 from 0 size 1 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.pad: pads by a number of zeros below 2^31, found low -1 and high 0}}
  %0 = nn.pad %x dim 0 low -1 high 0 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.pad: dimension -3 is not one of the 2 dimensions of x, 'tensor<2x3xf32>'}}
  %0 = nn.pad %x dim -3 low 1 high 0 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{nn.concat: input 1, 'tensor<2x4xf32>', and input 0, 'tensor<2x3xf32>', may only differ in the size of dimension 0}}
  %0 = nn.concat dim 0 %x, %y : tensor<2x3xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{nn.concat: input 1, 'tensor<2xf32>', and input 0, 'tensor<2x3xf32>', may only differ in the size of dimension 0}}
  %0 = nn.concat dim 0 %x, %y : tensor<2x3xf32>, tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) {
  // expected-error @+1 {{nn.concat: input 1, 'tensor<2x3xi32>', and input 0, 'tensor<2x3xf32>', may only differ in the size of dimension 1}}
  %0 = nn.concat dim 1 %x, %y : tensor<2x3xf32>, tensor<2x3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.concat: dimension 2 is not one of the 2 dimensions of input 0, 'tensor<2x3xf32>'}}
  %0 = nn.concat dim 2 %x : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.broadcast: dimension 0 of [-5, 2, 3] must be a size between 1 and 2147483647}}
  %0 = nn.broadcast %x to [-5, 2, 3] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{nn.broadcast: dimension 0 of [0, 3] must be a size between 1 and 2147483647}}
  %0 = nn.broadcast %x to [0, 3] : tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<1xf32>) {
  // expected-error @+1 {{nn.broadcast: a tensor of [2000000000, 2000000000] has more than 17592186044416 elements}}
  %0 = nn.broadcast %x to [2000000000, 2000000000] : tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.pad: pads by a number of zeros below 2^31, found low 9223372036854775807 and high 9223372036854775807}}
  %0 = nn.pad %x dim 0 low 9223372036854775807 high 9223372036854775807 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.pad: dimension 0 of [4294967296, 3] must be a size between 1 and 2147483647}}
  %0 = nn.pad %x dim 0 low 2147483647 high 2147483647 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.reshape: dimension 0 of [4611686018427387904, 4, 1] must be a size between 1 and 2147483647}}
  %0 = nn.reshape %x to [4611686018427387904, 4, -1] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x0xf32>) {
  // expected-error @+1 {{nn.reshape: dimension 0 of [0] must be a size between 1 and 17592186044416}}
  %0 = nn.reshape %x to [-1] : tensor<2x0xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xi32>) {
  // expected-error @+1 {{nn.reduce: takes no mean of x, 'tensor<2x3xi32>'; use nn.convert}}
  %0 = nn.reduce mean %x over [1] : tensor<2x3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3xi1>) {
  // expected-error @+1 {{nn.reduce: takes no max of x, 'tensor<2x3xi1>'; use nn.convert}}
  %0 = nn.reduce max %x over [1] : tensor<2x3xi1>
  return
}

// -----

// expected-error @+2 {{nn.concat: joins one tensor or more}}
// expected-error @+1 {{'nn.concat' op failed to infer returned types}}
%0 = "nn.concat"() <{dim = 0 : i64}> : () -> tensor<2xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.split: dimension 2 does not exist in x, 'tensor<2x3xf32>'}}
  %0:2 = nn.split %x into 2 dim 2 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.split: dimension 1 of x, 'tensor<2x3xf32>', cannot be cut into 2 equal parts}}
  %0:2 = nn.split %x into 2 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected integer value}}
  %0 = nn.reduce sum %x over [true] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected integer value}}
  %0 = nn.broadcast %x to [2, true, 3] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected integer value}}
  %0 = nn.reshape %x to [0, true, 3] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected integer value}}
  %0 = nn.transpose %x by [true, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected integer value}}
  %0 = nn.slice %x dim true from 0 size 1 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected integer value}}
  %0 = nn.pad %x dim 0 low true high 0 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected integer value}}
  %0 = nn.concat dim true %x : tensor<2x3xf32>, %x : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected integer value}}
  %0 = nn.split %x into 3 dim true : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>) {
  // expected-error @+1 {{nn.split: parts of [2, 3] elements, 5 in total, are not dimension 1 of x, 'tensor<2x6xf32>'}}
  %0:2 = nn.split %x into [2, 3] : tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>) {
  // expected-error @+1 {{nn.split: a part must have 1 to 2^31 - 1 elements, found 0}}
  %0:2 = nn.split %x into [6, 0] : tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>) {
  // expected-error @+1 {{expected 1 to 4096 sizes, found 0}}
  %0 = nn.split %x into [] : tensor<2x6xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{nn.table: 2 numbers are not dimension 0 of 'tensor<3xf32>'}}
  %0 = nn.table 0 [1, 2] : tensor<3xf32>
  return
}
