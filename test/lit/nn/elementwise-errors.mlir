// RUN: trainc-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<3xi32>) {
  // expected-error @+1 {{nn.exp: operand x must have floating-point elements, found 'tensor<3xi32>'}}
  %0 = nn.exp %x : tensor<3xi32>
  return
}

// -----

func.func @gelu_grad(%g: tensor<3xi32>, %x: tensor<3xi32>) {
  // expected-error @+1 {{nn.gelu_grad: operand x must have floating-point elements, found 'tensor<3xi32>'}}
  %0 = nn.gelu_grad %g at %x : tensor<3xi32>, tensor<3xi32>
  return
}

// -----

func.func @gelu_grad_shapes(%g: tensor<4xf32>, %x: tensor<3xf32>) {
  // expected-error @+1 {{nn.gelu_grad: operands dout and x must have the same shape; dimension 0 is 4 in dout and 3 in x}}
  %0 = nn.gelu_grad %g at %x : tensor<4xf32>, tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{nn.add: operands lhs and rhs must have the same shape; dimension 1 is 3 in lhs and 4 in rhs}}
  %0 = nn.add %x, %y : tensor<2x3xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{nn.mul: operands lhs and rhs must have the same shape, found 'tensor<2x3xf32>' and 'tensor<3xf32>'}}
  %0 = nn.mul %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>, %y: tensor<3xi32>) {
  // expected-error @+1 {{nn.max: operands lhs and rhs must have the same element type, found 'f32' and 'i32'; use nn.convert}}
  %0 = nn.max %x, %y : tensor<3xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>, %y: tensor<3xf64>) {
  // expected-error @+1 {{nn.compare: operands lhs and rhs must have the same element type, found 'f32' and 'f64'; use nn.convert}}
  %0 = nn.compare lt %x, %y : tensor<3xf32>, tensor<3xf64>
  return
}

// -----

func.func @f(%c: tensor<3xf32>, %x: tensor<3xf32>) {
  // expected-error @+1 {{nn.select: operand condition must have i1 elements, found 'tensor<3xf32>'}}
  %0 = nn.select %c, %x, %x : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @f(%c: tensor<1xi1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{nn.select: operands condition and lhs must have the same shape; dimension 0 is 1 in condition and 3 in lhs}}
  %0 = nn.select %c, %x, %x : tensor<1xi1>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{nn.convert: converts to floating-point and integer types of more than one bit, found 'i1'}}
  %0 = nn.convert %x to i1 : tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{nn.convert: converts to floating-point and integer types of more than one bit, found 'index'}}
  %0 = nn.convert %x to index : tensor<3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+2 {{nn.constant: needs a static tensor of numbers, found 'tensor<?xf32>'}}
  // expected-error @+1 {{'nn.constant' op failed to infer returned types}}
  %0 = nn.constant 1 : tensor<?xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+2 {{nn.constant: needs a static tensor of numbers, found 'tensor<2xindex>'}}
  // expected-error @+1 {{'nn.constant' op failed to infer returned types}}
  %0 = nn.constant 1 : tensor<2xindex>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{nn.iota: dimension 2 is not one of the 2 dimensions of 'tensor<2x3xi32>'}}
  %0 = nn.iota 2 : tensor<2x3xi32>
  return
}

// -----

func.func @f(%s: tensor<i64>, %t: tensor<1xi64>) {
  // expected-error @+1 {{nn.random: operand step must be a tensor<i64>, found 'tensor<1xi64>'}}
  %0 = nn.random stream 1 seed %s step %t offset %s : tensor<4xf32> : tensor<i64>, tensor<1xi64>, tensor<i64>
  return
}

// -----

func.func @f(%s: tensor<i32>, %t: tensor<i64>) {
  // expected-error @+1 {{nn.random: operand seed must be a tensor<i64>, found 'tensor<i32>'}}
  %0 = nn.random stream 1 seed %s step %t offset %t : tensor<4xf32> : tensor<i32>, tensor<i64>, tensor<i64>
  return
}

// -----

func.func @f(%s: tensor<i64>) {
  // expected-error @+1 {{nn.random: draws floating-point numbers, found 'tensor<4xi32>'}}
  %0 = nn.random stream 1 seed %s step %s offset %s : tensor<4xi32> : tensor<i64>, tensor<i64>, tensor<i64>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{custom op 'nn.exq' is unknown; did you mean 'nn.exp'?}}
  %0 = nn.exq %x : tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{custom op 'nn.Linaer' is unknown; did you mean 'nn.linear'?}}
  %0 = nn.Linaer "fc" %x to 3
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{custom op 'nn.deconvolution' is unknown; docs/reference/ops.md lists all ops}}
  %0 = nn.deconvolution %x : tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xi1>) {
  // expected-error @+1 {{nn.add: computes with numbers, found 'tensor<2xi1>'; use nn.select}}
  %0 = nn.add %x, %x : tensor<2xi1>, tensor<2xi1>
  return
}

// -----

func.func @f(%x: tensor<2xi1>) {
  // expected-error @+1 {{nn.compare: computes with numbers, found 'tensor<2xi1>'; use nn.select}}
  %0 = nn.compare lt %x, %x : tensor<2xi1>, tensor<2xi1>
  return
}

// -----

func.func @f() {
  // expected-error @+2 {{nn.constant: 0.5 is not a number of 'i32'}}
  // expected-error @+1 {{'nn.constant' op failed to infer returned types}}
  %0 = nn.constant 0.5 : tensor<2xi32>
  return
}

// -----

func.func @f() {
  // expected-error @+2 {{nn.constant: 3e+10 is not a number of 'i32'}}
  // expected-error @+1 {{'nn.constant' op failed to infer returned types}}
  %0 = nn.constant 3e10 : tensor<2xi32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{nn.iota: dimension 0 of [?] must be a size between 1 and 17592186044416}}
  %0 = nn.iota 0 : tensor<?xi32>
  return
}
