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
  // expected-error @+1 {{nn.slice: elements 2 to 3 are not all in dimension 1 of x, 'tensor<2x3xf32>'}}
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
  // expected-error @+1 {{nn.pad: pads by a number of zeros, found low -1 and high 0}}
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
