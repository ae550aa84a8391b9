// RUN: trainc-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) {
  // expected-error @+1 {{nn.matmul: the inner dimensions differ: lhs, 'tensor<2x3xf32>', has 3 columns and rhs, 'tensor<4x5xf32>', has 4 rows}}
  %0 = nn.matmul %x, %y : tensor<2x3xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) {
  // expected-error @+1 {{nn.matmul: the inner dimensions differ: lhs, 'tensor<2x3xf32>' transposed, has 2 columns and rhs, 'tensor<4x3xf32>' transposed, has 3 rows}}
  %0 = nn.matmul %x transposed, %y transposed : tensor<2x3xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{nn.matmul: operands lhs and rhs must have two dimensions or more, found 'tensor<2x3xf32>' and 'tensor<3xf32>'}}
  %0 = nn.matmul %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x2xi32>) {
  // expected-error @+1 {{nn.matmul: operands lhs and rhs must have the same floating-point element type, found 'tensor<2x3xf32>' and 'tensor<3x2xi32>'}}
  %0 = nn.matmul %x, %y : tensor<2x3xf32>, tensor<3x2xi32>
  return
}

// -----

func.func @f(%x: tensor<2x5x3xf32>, %y: tensor<3x3x4xf32>) {
  // expected-error @+1 {{nn.matmul: the leading dimensions of lhs, 'tensor<2x5x3xf32>', and rhs, 'tensor<3x3x4xf32>', differ}}
  %0 = nn.matmul %x, %y : tensor<2x5x3xf32>, tensor<3x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x5x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+1 {{nn.matmul: the leading dimensions of lhs, 'tensor<2x5x3xf32>', and rhs, 'tensor<3x4xf32>', differ}}
  %0 = nn.matmul %x, %y reduce_batch : tensor<2x5x3xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<5x3xf32>, %y: tensor<3x4xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{nn.matmul: operand accumulate must have the product's type 'tensor<5x4xf32>', found 'tensor<4x5xf32>'}}
  %0 = nn.matmul %x, %y accumulate %c : tensor<4x5xf32> : tensor<5x3xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>, %i: tensor<2xi32>) {
  // expected-error @+1 {{nn.gather: operand table must have two dimensions, rows and columns, found 'tensor<4xf32>'}}
  %0 = nn.gather %t at %i : tensor<4xf32>, tensor<2xi32>
  return
}

// -----

func.func @f(%t: tensor<4x3xf32>, %i: tensor<2xf32>) {
  // expected-error @+1 {{nn.gather: operand ids must have i32 or i64 elements, found 'tensor<2xf32>'}}
  %0 = nn.gather %t at %i : tensor<4x3xf32>, tensor<2xf32>
  return
}

// -----

func.func @f(%t: tensor<4x3xf32>, %i: tensor<2xi32>, %u: tensor<2x4xf32>) {
  // expected-error @+1 {{nn.scatter_add: operand updates must hold one row of table, 'tensor<4x3xf32>', per element of ids, 'tensor<2xi32>': expected 'tensor<2x3xf32>', found 'tensor<2x4xf32>'}}
  %0 = nn.scatter_add %u into %t at %i : tensor<2x4xf32>, tensor<4x3xf32>, tensor<2xi32>
  return
}

// -----

func.func @f(%t: tensor<4x3xf32>, %i: tensor<2xi32>, %u: tensor<2x4xf32>) {
  // expected-error @+1 {{nn.scatter: operand updates must hold one row of table, 'tensor<4x3xf32>', per element of ids, 'tensor<2xi32>': expected 'tensor<2x3xf32>', found 'tensor<2x4xf32>'}}
  %0 = nn.scatter %u into %t at %i : tensor<2x4xf32>, tensor<4x3xf32>, tensor<2xi32>
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %k: tensor<1x5x8xf32>) {
  // expected-error @+1 {{nn.attention: operand q must be [batch, positions, heads*width] of floating-point numbers, found 'tensor<5x8xf32>'}}
  %o, %l = nn.attention %q, %k, %k heads 2 : tensor<5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>) {
  // expected-error @+1 {{nn.attention: the last dimension of operand q, 'tensor<1x5x8xf32>', is not a multiple of its 3 heads}}
  %o, %l = nn.attention %q, %q, %q heads 3 : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %k: tensor<1x5x6xf32>) {
  // expected-error @+1 {{nn.attention: 4 query heads cannot share 3 key heads evenly}}
  %o, %l = nn.attention %q, %k, %k heads 4 kv_heads 3 : tensor<1x5x8xf32>, tensor<1x5x6xf32>, tensor<1x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %k: tensor<1x5x4xf32>) {
  // expected-error @+1 {{nn.attention: a head of q, 'tensor<1x5x8xf32>', is 4 wide and one of k, 'tensor<1x5x4xf32>', is 2}}
  %o, %l = nn.attention %q, %k, %k heads 2 : tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %k: tensor<2x5x8xf32>) {
  // expected-error @+1 {{nn.attention: q, k and v must have the same batch, and k and v the same positions, found 'tensor<1x5x8xf32>', 'tensor<2x5x8xf32>' and 'tensor<2x5x8xf32>'}}
  %o, %l = nn.attention %q, %k, %k heads 2 : tensor<1x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %k: tensor<1x6x8xf32>, %s: tensor<1x5xi32>) {
  // expected-error @+1 {{nn.attention: operand segments must be i32 [batch, positions] of queries that are the keys as well, found 'tensor<1x5xi32>' with q, 'tensor<1x5x8xf32>', and k, 'tensor<1x6x8xf32>'}}
  %o, %l = nn.attention %q, %k, %k heads 2 segments %s : tensor<1x5xi32> : tensor<1x5x8xf32>, tensor<1x6x8xf32>, tensor<1x6x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %s: tensor<3xi32>) {
  // expected-error @+1 {{nn.attention: operand limit must be a tensor<i32>, or tensor<1xi32> with a limit for each sequence, found 'tensor<3xi32>'}}
  %o, %l = nn.attention %q, %q, %q heads 2 limit %s : tensor<3xi32> : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %l: tensor<2x5xf32>) {
  // expected-error @+1 {{nn.attention_grad: operands out, dout and lse must be 'tensor<1x5x8xf32>', 'tensor<1x5x8xf32>' and 'tensor<1x2x5xf32>', found 'tensor<1x5x8xf32>', 'tensor<1x5x8xf32>' and 'tensor<2x5xf32>'}}
  %0:3 = nn.attention_grad %q, %q, %q, %q, %l, %q heads 2 kv_heads 2 scale 0.5 : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<2x5xf32>, tensor<1x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x5x8xf32>, %l: tensor<1x2x5xf32>, %d: tensor<1x5x2xf32>) {
  // expected-error @+1 {{nn.attention_grad: operand dlse must be 'tensor<1x2x5xf32>', as lse is, found 'tensor<1x5x2xf32>'}}
  %0:3 = nn.attention_grad %q, %q, %q, %q, %l, %q heads 2 kv_heads 2 scale 0.5 dlse %d : tensor<1x5x2xf32> : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x2x5xf32>, tensor<1x5x8xf32>
  return
}

// -----

nn.model @wide(%x: tensor<?x8xf32>) {
  // expected-error@+1 {{expected integer value}}
  %y = nn.linear "fc" %x to true
}
