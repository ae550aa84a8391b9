// RUN: trainc-opt %s --split-input-file --verify-diagnostics

func.func @unscaled(%a: tensor<16x32xf8E4M3FN>, %b: tensor<16x32xf8E4M3FN>) {
  // expected-error@+1 {{fp8 factors need `scaled` with two scalars, and other factors must not have it; found 'tensor<16x32xf8E4M3FN>' without a scale}}
  %0 = nn.matmul %a, %b transposed to bf16 : tensor<16x32xf8E4M3FN>, tensor<16x32xf8E4M3FN>
  return
}

// -----

func.func @scaled(%a: tensor<16x32xbf16>, %b: tensor<16x32xbf16>, %s: tensor<f32>) {
  // expected-error@+1 {{and other factors must not have it; found 'tensor<16x32xbf16>' with a scale}}
  %0 = nn.matmul %a, %b transposed to f32 scaled %s, %s : tensor<f32>, tensor<f32> : tensor<16x32xbf16>, tensor<16x32xbf16>
  return
}

// -----

func.func @scale(%a: tensor<16x32xf8E4M3FN>, %s: tensor<1xf32>) {
  // expected-error@+1 {{a scale must be 'tensor<f32>', found 'tensor<1xf32>'}}
  %0 = nn.matmul %a, %a transposed to f32 scaled %s, %s : tensor<1xf32>, tensor<1xf32> : tensor<16x32xf8E4M3FN>, tensor<16x32xf8E4M3FN>
  return
}

// -----

func.func @mixed(%a: tensor<16x32xf8E4M3FN>, %b: tensor<16x32xbf16>, %s: tensor<f32>) {
  // expected-error@+1 {{operands lhs and rhs must have the same floating-point element type}}
  %0 = nn.matmul %a, %b transposed to f32 scaled %s, %s : tensor<f32>, tensor<f32> : tensor<16x32xf8E4M3FN>, tensor<16x32xbf16>
  return
}

// -----

func.func @gradients(%a: tensor<16x32xf8E5M2>, %s: tensor<f32>) {
  // expected-error@+1 {{has no product of two factors of f8E5M2; expected one of f8E4M3FN}}
  %0 = nn.matmul %a, %a transposed to f32 scaled %s, %s : tensor<f32>, tensor<f32> : tensor<16x32xf8E5M2>, tensor<16x32xf8E5M2>
  return
}

// -----

func.func @layout(%a: tensor<16x16xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{factors of fp8 have the summed dimension in rows: expected lhs as it is, rhs transposed, and no sum over a batch; use nn.transpose}}
  %0 = nn.matmul %a, %a to f32 scaled %s, %s : tensor<f32>, tensor<f32> : tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>
  return
}

// -----

func.func @sizes(%a: tensor<3x32xf8E4M3FN>, %b: tensor<24x32xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{sizes k and n of a product of fp8 must be multiples of 16, found k 32 and n 24}}
  %0 = nn.matmul %a, %b transposed to f32 scaled %s, %s : tensor<f32>, tensor<f32> : tensor<3x32xf8E4M3FN>, tensor<24x32xf8E4M3FN>
  return
}

// -----

func.func @result(%a: tensor<16x32xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{expected `to bf16` or `to f32` with factors of fp8, found `to 'f16'`}}
  %0 = nn.matmul %a, %a transposed to f16 scaled %s, %s : tensor<f32>, tensor<f32> : tensor<16x32xf8E4M3FN>, tensor<16x32xf8E4M3FN>
  return
}

// -----

func.func @none(%a: tensor<16x32xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{expected `to bf16` or `to f32` with factors of fp8, found neither}}
  %0 = nn.matmul %a, %a transposed scaled %s, %s : tensor<f32>, tensor<f32> : tensor<16x32xf8E4M3FN>, tensor<16x32xf8E4M3FN>
  return
}

// -----

func.func @product(%a: tensor<16x32xf8E4M3FN>) {
  // expected-error@+1 {{has no factors of fp8, found 'tensor<16x32xf8E4M3FN>'; use nn.matmul}}
  %0 = nn.product %a, %a transposed to f32 : tensor<16x32xf8E4M3FN>, tensor<16x32xf8E4M3FN>
  return
}

// -----

func.func @add(%a: tensor<4xf8E5M2>) {
  // expected-error@+1 {{does not compute with fp8 numbers, found 'tensor<4xf8E5M2>'; use nn.convert}}
  %0 = nn.add %a, %a : tensor<4xf8E5M2>, tensor<4xf8E5M2>
  return
}

// -----

func.func @abs(%a: tensor<4xf8E4M3FN>) {
  // expected-error@+1 {{does not compute with fp8 numbers}}
  %0 = nn.abs %a : tensor<4xf8E4M3FN>
  return
}

// -----

func.func @reduce(%a: tensor<4xf8E4M3FN>) {
  // expected-error@+1 {{does not compute with fp8 numbers}}
  %0 = nn.reduce max %a over [0] : tensor<4xf8E4M3FN>
  return
}

// -----

func.func @to_integers(%a: tensor<4xf8E4M3FN>) {
  // expected-error@+1 {{fp8 is converted from and to f32, bf16 and f16 alone, found 'f8E4M3FN' to 'i32'}}
  %0 = nn.convert %a to i32 : tensor<4xf8E4M3FN>
  return
}

// -----

func.func @from_other(%a: tensor<4xf8E4M3FN>) {
  // expected-error@+1 {{found 'f8E4M3FN' to 'f8E5M2'}}
  %0 = nn.convert %a to f8E5M2 : tensor<4xf8E4M3FN>
  return
}

// -----

func.func @power_of_two(%a: tensor<4xbf16>) {
  // expected-error@+1 {{operand x must have elements of f32, found 'tensor<4xbf16>'}}
  %0 = nn.power_of_two %a : tensor<4xbf16>
  return
}
