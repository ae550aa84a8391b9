// RUN: trainc-opt %s --split-input-file --verify-diagnostics

func.func @product(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>) {
  // expected-error@+1 {{factors of 'f32' cannot have a product of type 'f32'; expected no `to`, or `to f32` with factors of bf16 or f16}}
  %0 = nn.matmul %a, %b to f32 : tensor<4x8xf32>, tensor<8x6xf32>
  return
}

// -----

func.func @product(%a: tensor<4x8xbf16>, %b: tensor<8x6xbf16>) {
  // expected-error@+1 {{factors of 'bf16' cannot have a product of type 'f16'}}
  %0 = nn.matmul %a, %b to f16 : tensor<4x8xbf16>, tensor<8x6xbf16>
  return
}

// -----

func.func @sum(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{elements of 'f32' are not combined to 'f64'; expected `to f32` with elements of bf16 or f16 alone}}
  %0 = nn.reduce sum %x over [1] to f64 : tensor<4x8xf32>
  return
}

// -----

func.func @attention(%q: tensor<1x4x8xf16>, %k: tensor<1x4x8xbf16>) {
  // expected-error@+1 {{q, k and v must have the same element type, found 'tensor<1x4x8xf16>', 'tensor<1x4x8xbf16>' and 'tensor<1x4x8xbf16>'}}
  %o, %lse = nn.attention %q, %k, %k heads 2 : tensor<1x4x8xf16>, tensor<1x4x8xbf16>, tensor<1x4x8xbf16>
  return
}

// -----

func.func @round_f64(%x: tensor<4xf64>, %c: tensor<4xi64>, %s: tensor<i64>) {
  // expected-error@+1 {{rounds f32 numbers, found 'tensor<4xf64>'}}
  %0 = nn.stochastic_round %x in %c draw 0 seed %s step %s : tensor<4xf64>, tensor<4xi64>, tensor<i64>, tensor<i64>
  return
}

// -----

func.func @chunks_i32(%x: tensor<4xf32>, %c: tensor<4xi32>, %s: tensor<i64>) {
  // expected-error@+1 {{operand chunks must hold i64 numbers, found 'tensor<4xi32>'}}
  %0 = nn.stochastic_round %x in %c draw 0 seed %s step %s : tensor<4xf32>, tensor<4xi32>, tensor<i64>, tensor<i64>
  return
}

// -----

func.func @chunks_short(%x: tensor<4xf32>, %c: tensor<3xi64>, %s: tensor<i64>) {
  // expected-error@+1 {{dimension 0 is 4 in x and 3 in chunks}}
  %0 = nn.stochastic_round %x in %c draw 0 seed %s step %s : tensor<4xf32>, tensor<3xi64>, tensor<i64>, tensor<i64>
  return
}

// -----

func.func @ninth(%x: tensor<4xf32>, %c: tensor<4xi64>, %s: tensor<i64>) {
  // expected-error@+1 {{draw must be 0 to 7, the numbers of one draw, found 8}}
  %0 = nn.stochastic_round %x in %c draw 8 seed %s step %s : tensor<4xf32>, tensor<4xi64>, tensor<i64>, tensor<i64>
  return
}

// -----

func.func @seed(%x: tensor<4xf32>, %c: tensor<4xi64>, %s: tensor<i64>) {
  // expected-error@+1 {{operand seed must be a tensor<i64>, found 'tensor<4xi64>'}}
  %0 = nn.stochastic_round %x in %c draw 0 seed %c step %s : tensor<4xf32>, tensor<4xi64>, tensor<4xi64>, tensor<i64>
  return
}
