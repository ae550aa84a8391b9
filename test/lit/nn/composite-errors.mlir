// RUN: trainc-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<2x3xi32>) {
  // expected-error @+1 {{nn.softmax: x must be a float tensor with a last dimension, found 'tensor<2x3xi32>'}}
  %0 = nn.softmax %x : tensor<2x3xi32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{nn.standardize: x must be a float tensor with a last dimension to standardise, found 'tensor<f32>'}}
  %0, %1 = nn.standardize %x eps 1e-5 : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.standardize: eps must be a number of 0 or more, found -1}}
  %0, %1 = nn.standardize %x eps -1 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{nn.rms_standardize: eps must be a number of 0 or more, found inf}}
  %0, %1 = nn.rms_standardize %x eps 0x7FF0000000000000 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{nn.positions: tokens must have a last dimension to count along, found 'tensor<f32>'}}
  %0 = nn.positions %x : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<2x3xi32>, %from: tensor<i64>) {
  // expected-error @+1 {{nn.positions: `from` must be tensor<i32>, found 'tensor<i64>'}}
  %0 = nn.positions %x from %from : tensor<i64> : tensor<2x3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x8xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{nn.rope: x must be a float tensor [batch, t, heads*d], found 'tensor<2x8xf32>'}}
  %0 = nn.rope %x positions %p heads 2 theta 10 : tensor<2x8xf32>, tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{nn.rope: the last dimension of x, 'tensor<2x3x8xf32>', must be 8 heads of an even width}}
  %0 = nn.rope %x positions %p heads 8 theta 10 : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{nn.rope: positions must be integers [batch, t] or [t] of x, 'tensor<2x3x8xf32>', found 'tensor<2xi32>'}}
  %0 = nn.rope %x positions %p heads 2 theta 10 : tensor<2x3x8xf32>, tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{nn.rope: theta must be a number above 0, found 0}}
  %0 = nn.rope %x positions %p heads 2 theta 0 : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>) {
  // expected-error @+1 {{nn.attention: scale must be a finite number}}
  %o, %l = nn.attention %q, %q, %q heads 2 scale 0x7FF8000000000000 : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{nn.mse: x and y must be float tensors of one shape, found 'tensor<2x3xf32>' and 'tensor<3xf32>'}}
  %0 = nn.mse %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xi32>) {
  // expected-error @+1 {{nn.mse: x and y must be float tensors of one shape, found 'tensor<2xi32>' and 'tensor<2xi32>'}}
  %0 = nn.mse %x, %x : tensor<2xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3xi32>, %l: tensor<2xi32>) {
  // expected-error @+1 {{nn.cross_entropy: logits must be a float tensor [..., classes], found 'tensor<2x3xi32>'}}
  %0, %1 = nn.cross_entropy %x, %l : tensor<2x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %l: tensor<2xi1>) {
  // expected-error @+1 {{nn.cross_entropy: labels must be i32 or i64, found 'tensor<2xi1>'}}
  %0, %1 = nn.cross_entropy %x, %l : tensor<2x3xf32>, tensor<2xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %l: tensor<2xi32>, %w: tensor<2xf32>) {
  // expected-error @+1 {{nn.cross_entropy: weights must be one number per class, 'tensor<3xf32>', found 'tensor<2xf32>'}}
  %0, %1 = nn.cross_entropy %x, %l weights %w : tensor<2xf32> : tensor<2x3xf32>, tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %l: tensor<2xi32>) {
  // expected-error @+1 {{nn.cross_entropy: smoothing must lie between 0 and 1, found 1.5}}
  %0, %1 = nn.cross_entropy %x, %l smoothing 1.5 : tensor<2x3xf32>, tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{nn.rope: rotary must be an even number from 2 to the width of a head, 4, found 6}}
  %0 = nn.rope %x positions %p heads 2 theta 10 rotary 6 : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{nn.rope: rotary must be an even number from 2 to the width of a head, 4, found 3}}
  %0 = nn.rope %x positions %p heads 2 theta 10 rotary 3 : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{scaling: expected linear, llama3, yarn, longrope or proportional, found 'ntk'}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling ntk(factor 8) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{scaling linear: expected factor, found 'low'}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling linear(low 8) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{scaling linear: `factor` is given twice}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling linear(factor 8, factor 4) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{scaling linear: `factor` must be above 0, found 0}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling linear(factor 0) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{scaling llama3: lacks `original`}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling llama3(factor 8, low 1, high 4) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{scaling llama3: `low` must be below `high`, found 4 and 4}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling llama3(factor 8, low 4, high 4, original 8192) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{scaling yarn: `beta_slow` must be below `beta_fast`, found 1 and 1}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling yarn(factor 8, original 4096, beta_fast 1) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{nn.rope: scaling longrope: `factors` must have a number for each of the 2 rotated pairs of a head, found 3}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling longrope(factors [1, 2, 3]) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{nn.rope: scaling longrope: `long` must have a number for each of the 2 rotated pairs of a head, found 1}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling longrope(short [1, 2], long [1], original 8) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{scaling longrope: expected either `factors`, or `short`, `long` and `original`}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling longrope(short [1, 2], long [1, 2]) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{scaling longrope: expected either `factors`, or `short`, `long` and `original`}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling longrope(factors [1, 2], original 8) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{scaling longrope: `original` must be a whole number of tokens, found 8.5}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling longrope(short [1, 2], long [1, 2], original 8.5) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{scaling proportional: `share` must be at most 1, found 1.5}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling proportional(share 1.5) : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{expected valid keyword}}
  %0 = nn.rope %x positions %p heads 2 theta 10 scaling #nn.rope_scaling<linear(factor 2)> : tensor<2x3x8xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>) {
  // expected-error @+1 {{nn.attention: window must be a number of keys from 1 to 2^31 - 1, found 0}}
  %o, %l = nn.attention %q, %q, %q heads 2 causal window 0 : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>) {
  // expected-error @+1 {{nn.attention: softcap must be a number above 0, found 0}}
  %o, %l = nn.attention %q, %q, %q heads 2 causal softcap 0 : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>) {
  // expected-error @+1 {{nn.attention: softcap must be a number above 0, found -2}}
  %o, %l = nn.attention %q, %q, %q heads 2 causal softcap -2 : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>) {
  // expected-error @+1 {{nn.attention: alibi must be a factor of the slopes above 0, found 0}}
  %o, %l = nn.attention %q, %q, %q heads 2 causal alibi 0 : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>) {
  // expected-error @+1 {{nn.attention: alibi is for attention to earlier keys; add `causal`}}
  %o, %l = nn.attention %q, %q, %q heads 2 alibi 1 : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{nn.attention: operand sinks must be 'tensor<2xf32>', a number for each head, found 'tensor<3xf32>'}}
  %o, %l = nn.attention %q, %q, %q heads 2 causal sinks %s : tensor<3xf32> : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>) {
  // expected-error @+1 {{nn.attention: `dropout P` and `dropout_key` need each other: give both or none; nn.dropout_key makes the key}}
  %o, %l = nn.attention %q, %q, %q heads 2 causal dropout 0.1 : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %k: tensor<4xi32>) {
  // expected-error @+1 {{nn.attention: `dropout P` and `dropout_key` need each other: give both or none; nn.dropout_key makes the key}}
  %o, %l = nn.attention %q, %q, %q heads 2 causal dropout_key %k : tensor<4xi32> : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %k: tensor<4xi32>) {
  // expected-error @+1 {{nn.attention: dropout must be at least 0 and below 1, found 1}}
  %o, %l = nn.attention %q, %q, %q heads 2 causal dropout 1 dropout_key %k : tensor<4xi32> : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %k: tensor<3xi32>) {
  // expected-error @+1 {{nn.attention: operand dropout_key must be a tensor<4xi32>, found 'tensor<3xi32>'}}
  %o, %l = nn.attention %q, %q, %q heads 2 causal dropout 0.5 dropout_key %k : tensor<3xi32> : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %b: tensor<2x10xf32>) {
  // expected-error @+1 {{nn.attention: operand bias must be 'tensor<2x9xf32>', a number for each head and distance, or odd and wider, found 'tensor<2x10xf32>'; nn.relative_bias makes one}}
  %o, %l = nn.attention %q, %q, %q heads 2 causal bias %b : tensor<2x10xf32> : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x2x8xf32>, %k: tensor<1x5x8xf32>, %b: tensor<2x7xf32>) {
  // expected-error @+1 {{nn.attention: operand bias must be 'tensor<2x9xf32>', a number for each head and distance, or odd and wider, found 'tensor<2x7xf32>'; nn.relative_bias makes one}}
  %o, %l = nn.attention %q, %k, %k heads 2 causal bias %b : tensor<2x7xf32> : tensor<1x2x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>, %c: tensor<3xi1>) {
  // expected-error @+1 {{nn.and: computes with i1, found 'tensor<3xf32>'; use nn.compare}}
  %a = nn.and %c, %x : tensor<3xi1>, tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>, %c: tensor<3xi1>) {
  // expected-error @+1 {{nn.or: operands lhs and rhs must have the same shape; dimension 0 is 3 in lhs and 4 in rhs}}
  %a = nn.or %c, %x : tensor<3xi1>, tensor<4xi1>
  return
}
