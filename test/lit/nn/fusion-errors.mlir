// RUN: trainc-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.kernel' op iterates over one row and column or more, and less than 2^63 positions, found 0 x 2}}
  %0 = nn.kernel 0 x 2 (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) { nn.yield %a : tensor<2xf32> }
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.kernel' op yielded value 0 is 'tensor<2xf32>', but result 0 is 'tensor<3xf32>'}}
  %0 = nn.kernel 1 x 2 (%a = %x : tensor<2xf32>) -> (tensor<3xf32>) { nn.yield %a : tensor<2xf32> }
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.kernel' op has 1 results but 0 yielded values}}
  %0 = nn.kernel 1 x 2 (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) { nn.yield }
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.kernel' op must end in nn.yield}}
  %0 = nn.kernel 1 x 2 (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) { %b = nn.exp %a : tensor<2xf32> }
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.kernel' op argument 0 is 'tensor<3xf32>', but input 0 is 'tensor<2xf32>'}}
  %0 = "nn.kernel"(%x) <{rows = 1 : i64, columns = 2 : i64, patterns = [#nn.pattern<2>]}> ({ ^b(%a: tensor<3xf32>): nn.yield %a : tensor<3xf32> }) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.kernel' op iterates over one row and column or more, and less than 2^63 positions, found 4294967296 x 4294967296}}
  %0 = nn.kernel 4294967296 x 4294967296 (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) { nn.yield %a : tensor<2xf32> }
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected runs of one position or more, less than 2^63 together, found 0}}
  %0 = nn.kernel 1 x 2 (%a = %x : tensor<2xf32> at <2, *0>) -> (tensor<2xf32>) { nn.yield %a : tensor<2xf32> }
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.kernel' op has 1 inputs but 0 patterns}}
  %0 = "nn.kernel"(%x) <{rows = 1 : i64, columns = 2 : i64, patterns = []}> ({ ^b(%a: tensor<2xf32>): nn.yield %a : tensor<2xf32> }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.kernel' op patterns: expected #nn.pattern<...>, or unit for a table, found [1]}}
  %0 = "nn.kernel"(%x) <{rows = 1 : i64, columns = 2 : i64, patterns = [1]}> ({ ^b(%a: tensor<2xf32>): nn.yield %a : tensor<2xf32> }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %v: tensor<6xf32>) {
  // expected-error @+1 {{'nn.kernel' op argument 1 has 6 elements, but its pattern, #nn.pattern<24>, has 24; without a pattern a value has an element for each row and column}}
  %0 = nn.kernel 4 x 6 (%a = %x : tensor<4x6xf32>, %b = %v : tensor<6xf32>) -> (tensor<4x6xf32>) { nn.yield %a : tensor<4x6xf32> }
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %v: tensor<6xf32>) {
  // expected-error @+1 {{'nn.kernel' op argument 1 has a pattern of 12 positions, #nn.pattern<*2, 6>; expected 4 rows x 6 columns}}
  %0 = nn.kernel 4 x 6 (%a = %x : tensor<4x6xf32>, %b = %v : tensor<6xf32> at <*2, 6>) -> (tensor<4x6xf32>) { nn.yield %a : tensor<4x6xf32> }
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'nn.kernel' op argument 1 varies over some of the dimensions that make up the columns, in the pattern #nn.pattern<*8, 3>; expected all or none}}
  %0 = nn.kernel 4 x 6 (%a = %x : tensor<4x6xf32>, %b = %v : tensor<3xf32> at <*8, 3>) -> (tensor<4x6xf32>) { nn.yield %a : tensor<4x6xf32> }
  return
}

// -----

func.func @f(%v: tensor<8xf32>) {
  // expected-error @+1 {{'nn.kernel' op argument 0 varies over some of the dimensions that make up the columns, in the pattern #nn.pattern<*3, 8>}}
  %0 = nn.kernel 4 x 6 (%y = %v : tensor<8xf32> at <*3, 8>) -> (tensor<3x8xf32>) {
    %b = nn.broadcast %y to [3, 8] : tensor<8xf32>
    nn.yield %b : tensor<3x8xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  %0 = nn.kernel 4 x 8 (%a = %x : tensor<4x8xf32>) -> (tensor<4x16xf32>) {
    // expected-error @+1 {{cannot be part of a kernel: expected elementwise, reduce, broadcast, reshape or gather ops}}
    %e = nn.concat dim 1 %a, %a : tensor<4x8xf32>, tensor<4x8xf32>
    nn.yield %e : tensor<4x16xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  %0 = nn.kernel 4 x 8 (%a = %x : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    // expected-error @+1 {{'nn.exp' op nn.pattern: expected #nn.pattern<...>, found 5}}
    %e = nn.exp %a {nn.pattern = 5} : tensor<4x8xf32>
    nn.yield %e : tensor<4x8xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  %0 = nn.kernel 4 x 8 (%a = %x : tensor<4x8xf32>) -> (tensor<4xf32>) {
    // expected-error @+1 {{'nn.reduce' op result has 4 elements, but its pattern, #nn.pattern<32>, has 32}}
    %s = nn.reduce sum %a over [1] : tensor<4x8xf32>
    nn.yield %s : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  %0 = nn.kernel 4 x 8 (%a = %x : tensor<4x8xf32>) -> (tensor<8xf32>) {
    %s = nn.reduce sum %a over [0] {nn.pattern = #nn.pattern<*4, 8>} : tensor<4x8xf32>
    // expected-error @+1 {{'nn.exp' op uses a reduction that is complete only after the last row}}
    %e = nn.exp %s {nn.pattern = #nn.pattern<*4, 8>} : tensor<8xf32>
    nn.yield %e : tensor<8xf32>
  }
  return
}

// -----

// A square of rows and columns: the elements are those of rows or those of columns.
func.func @f(%x: tensor<4x4xf32>, %v: tensor<4xf32>) {
  %0:2 = nn.kernel 4 x 4 (%a = %x : tensor<4x4xf32>, %y = %v : tensor<4xf32> at <*4, 4>) -> (tensor<4x4xf32>, tensor<4xf32>) {
    %c = nn.broadcast %y to [4, 4] : tensor<4xf32>
    %s = nn.add %a, %c : tensor<4x4xf32>, tensor<4x4xf32>
    %r = nn.reduce sum %a over [1] {nn.pattern = #nn.pattern<4, *4>} : tensor<4x4xf32>
    // expected-error @+1 {{'nn.add' op reads #nn.pattern<*4, 4> and makes #nn.pattern<4, *4>, which are not the same rows and columns}}
    %b = nn.add %r, %y {nn.pattern = #nn.pattern<4, *4>} : tensor<4xf32>, tensor<4xf32>
    nn.yield %s, %b : tensor<4x4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @f(%v: tensor<4xf32>) {
  %0 = nn.kernel 4 x 4 (%y = %v : tensor<4xf32> at <4, *4>) -> (tensor<4x4xf32>) {
    // expected-error @+1 {{'nn.broadcast' op reads #nn.pattern<4, *4> and makes #nn.pattern<16>, which are not the same rows and columns}}
    %c = nn.broadcast %y to [4, 4] : tensor<4xf32>
    nn.yield %c : tensor<4x4xf32>
  }
  return
}

// -----

func.func @f(%v: tensor<4xf32>) {
  %0 = nn.kernel 4 x 4 (%y = %v : tensor<4xf32> at <4, *4>) -> (tensor<4x1xf32>) {
    // expected-error @+1 {{'nn.reshape' op reads #nn.pattern<4, *4> and makes #nn.pattern<*4, 4>, which are not the same rows and columns}}
    %c = nn.reshape %y to [4, 1] {nn.pattern = #nn.pattern<*4, 4>} : tensor<4xf32>
    nn.yield %c : tensor<4x1xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>) {
  %0 = nn.kernel 4 x 4 (%a = %x : tensor<4x4xf32>) -> (tensor<4xf32>) {
    // expected-error @+1 {{'nn.reduce' op reads #nn.pattern<16> and makes #nn.pattern<4, *4>, which are not the same rows and columns}}
    %s = nn.reduce sum %a over [0] {nn.pattern = #nn.pattern<4, *4>} : tensor<4x4xf32>
    nn.yield %s : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<2x2x6xf32>) {
  %0 = nn.kernel 4 x 6 (%a = %x : tensor<2x2x6xf32>) -> (tensor<2x6xf32>) {
    // expected-error @+1 {{'nn.reduce' op reduces only some of the dimensions that make up the rows}}
    %s = nn.reduce sum %a over [0] {nn.pattern = #nn.pattern<*2, 12>} : tensor<2x2x6xf32>
    nn.yield %s : tensor<2x6xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  %0 = nn.kernel 4 x 6 (%a = %x : tensor<4x6xf32>) -> (tensor<f32>) {
    // expected-error @+1 {{'nn.reduce' op reduces everything, in an order that only a single row of all elements has}}
    %s = nn.reduce sum %a over [0, 1] {nn.pattern = #nn.pattern<*24>} : tensor<4x6xf32>
    nn.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @f(%t: tensor<4x8xf32>, %i: tensor<4xi32>) {
  %0 = nn.kernel 4 x 8 (%a = %t : tensor<4x8xf32>, %b = %i : tensor<4xi32> at <4, *8>) -> (tensor<4x8xf32>) {
    // expected-error @+1 {{'nn.gather' op reads no table; expected an input of the kernel that is followed by `table`}}
    %g = nn.gather %a at %b : tensor<4x8xf32>, tensor<4xi32>
    nn.yield %g : tensor<4x8xf32>
  }
  return
}

// -----

func.func @f(%t: tensor<10x8xf32>, %i: tensor<4xi32>) {
  %0 = nn.kernel 4 x 8 (%a = %t : tensor<10x8xf32> table, %b = %i : tensor<4xi32> table) -> (tensor<4x8xf32>) {
    // expected-error @+1 {{'nn.gather' op reads a table for ids}}
    %g = nn.gather %a at %b : tensor<10x8xf32>, tensor<4xi32>
    nn.yield %g : tensor<4x8xf32>
  }
  return
}

// -----

func.func @f(%t: tensor<10x8xf32>, %i: tensor<4xi32>) {
  %0 = nn.kernel 8 x 4 (%a = %t : tensor<10x8xf32> table, %b = %i : tensor<4xi32> at <4, *8>) -> (tensor<4x8xf32>) {
    // expected-error @+1 {{'nn.gather' op rows of the table, of 8 elements, are not the kernel's, of 4}}
    %g = nn.gather %a at %b : tensor<10x8xf32>, tensor<4xi32>
    nn.yield %g : tensor<4x8xf32>
  }
  return
}

// -----

func.func @f(%t: tensor<10x1xf32>, %i: tensor<24xi32>) {
  %0 = nn.kernel 4 x 6 (%a = %t : tensor<10x1xf32> table, %b = %i : tensor<24xi32>) -> (tensor<24x1xf32>) {
    // expected-error @+1 {{'nn.gather' op picks one element per row and column; expected rows of the table}}
    %g = nn.gather %a at %b : tensor<10x1xf32>, tensor<24xi32>
    nn.yield %g : tensor<24x1xf32>
  }
  return
}

// -----

func.func @f(%t: tensor<10x4xf32>, %i: tensor<4xi32>) {
  %0 = nn.kernel 4 x 4 (%a = %t : tensor<10x4xf32> table, %b = %i : tensor<4xi32> at <*4, 4>) -> (tensor<4x4xf32>) {
    // expected-error @+1 {{'nn.gather' op reads #nn.pattern<*4, 4> and makes #nn.pattern<16>, which are not the same rows and columns}}
    %g = nn.gather %a at %b : tensor<10x4xf32>, tensor<4xi32>
    nn.yield %g : tensor<4x4xf32>
  }
  return
}

// -----

func.func @f(%t: tensor<4x8xf32>, %i: tensor<4xi32>) {
  %0:2 = nn.kernel 4 x 8 (%a = %t : tensor<4x8xf32> table, %b = %i : tensor<4xi32> at <4, *8>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %g = nn.gather %a at %b : tensor<4x8xf32>, tensor<4xi32>
    // expected-error @+1 {{'nn.exp' op reads a table; expected nn.gather}}
    %e = nn.exp %a : tensor<4x8xf32>
    nn.yield %g, %e : tensor<4x8xf32>, tensor<4x8xf32>
  }
  return
}

// -----

func.func @f(%t: tensor<10x8xf32>) {
  %0 = nn.kernel 4 x 8 (%a = %t : tensor<10x8xf32> table) -> (tensor<10x8xf32>) {
    // expected-error @+1 {{'nn.yield' op yields a table}}
    nn.yield %a : tensor<10x8xf32>
  }
  return
}

// -----

func.func @f(%v: tensor<8xf32>) {
  %0:2 = nn.kernel 4 x 8 (%y = %v : tensor<8xf32> at <*4, 8>) -> (tensor<8xf32>, tensor<4x8xf32>) {
    %e = nn.exp %y {nn.pattern = #nn.pattern<*4, 8>} : tensor<8xf32>
    %b = nn.broadcast %e to [4, 8] : tensor<8xf32>
    // expected-error @+1 {{'nn.yield' op value 0 repeats over rows, and would be made once per row}}
    nn.yield %e, %b : tensor<8xf32>, tensor<4x8xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.chunks' op runs once or more, found 0}}
  %0 = nn.chunks 0 (%a = %x : tensor<4xf32> split 0) -> (tensor<4xf32> split 0) { nn.yield %a : tensor<4xf32> }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.chunks' op cannot cut dimension 0 of input 0, 'tensor<4xf32>', into 3 equal slices}}
  %0 = nn.chunks 3 (%a = %x : tensor<4xf32> split 0) -> (tensor<4xf32> split 0) { nn.yield %a : tensor<1xf32> }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.chunks' op input 0, 'tensor<4xf32>', has no dimension 1 to split}}
  %0 = nn.chunks 2 (%a = %x : tensor<4xf32> split 1) -> (tensor<4xf32> split 0) { nn.yield %a : tensor<4xf32> }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.chunks' op results are either split or carried}}
  %0 = nn.chunks 2 (%a = %x : tensor<4xf32> split 0) -> (tensor<4xf32>) { nn.yield %a : tensor<2xf32> }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.chunks' op yielded value 0 is 'tensor<4xf32>', but result slice 0 is 'tensor<2xf32>'}}
  %0 = nn.chunks 2 (%a = %x : tensor<4xf32>) -> (tensor<4xf32> split 0) { nn.yield %a : tensor<4xf32> }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.chunks' op has 0 carried inputs but 1 carried results}}
  %0 = nn.chunks 2 (%a = %x : tensor<4xf32>) -> (tensor<4xf32> carried) { nn.yield %a : tensor<4xf32> }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.chunks' op has 1 inputs but 0 split dimensions of inputs}}
  %0 = "nn.chunks"(%x) <{count = 2 : i64, input_dims = array<i64>, result_dims = array<i64: 0>}> ({ ^b(%a: tensor<2xf32>): nn.yield %a : tensor<2xf32> }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @product_bias(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %b: tensor<16xf32>) {
  // expected-error @below {{operand bias must be one row of the product, 'tensor<32xf32>', found 'tensor<16xf32>'}}
  %r = nn.product %x, %w bias %b : tensor<16xf32> : tensor<8x16xf32>, tensor<16x32xf32>
  return
}

// -----

func.func @product_before(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) {
  // expected-error @below {{`before` needs an activation}}
  %r:2 = nn.product %x, %w before : tensor<8x16xf32>, tensor<16x32xf32>
  return
}

// -----

func.func @product_gradient(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) {
  // expected-error @below {{the gradient of an activation needs `at`, and other activations must not have it; found gelu_gradient without `at`}}
  %r = nn.product %x, %w activation gelu_gradient : tensor<8x16xf32>, tensor<16x32xf32>
  return
}

// -----

func.func @product_auxiliary(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %h: tensor<8x16xf32>) {
  // expected-error @below {{operand auxiliary must have the product's type 'tensor<8x32xf32>', found 'tensor<8x16xf32>'}}
  %r = nn.product %x, %w activation gelu_gradient at %h : tensor<8x16xf32> : tensor<8x16xf32>, tensor<16x32xf32>
  return
}

// -----

func.func @product_gradient_bias(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %b: tensor<32xf32>, %h: tensor<8x32xf32>) {
  // expected-error @below {{has a bias with the gradient of an activation, which libraries do not have}}
  %r = nn.product %x, %w bias %b : tensor<32xf32> activation gelu_gradient at %h : tensor<8x32xf32> : tensor<8x16xf32>, tensor<16x32xf32>
  return
}

// -----

func.func @product_gradient_before(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %h: tensor<8x32xf32>) {
  // expected-error @below {{`before` needs an activation}}
  %r:2 = nn.product %x, %w activation gelu_gradient at %h : tensor<8x32xf32> before : tensor<8x16xf32>, tensor<16x32xf32>
  return
}

// -----

func.func @product_sum_result(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) {
  // expected-error @below {{expected one matrix, and either `sum result` with the gradient of an activation, or `sum a` or `sum b` without activation and bias; found `sum result` with activation none on 1 matrix}}
  %r:2 = nn.product %x, %w sum result : tensor<8x16xf32>, tensor<16x32xf32>
  return
}

// -----

func.func @product_sum_batch(%x: tensor<3x8x16xf32>, %w: tensor<3x16x32xf32>) {
  // expected-error @below {{found `sum b` with activation none on 3 matrices}}
  %r:2 = nn.product %x, %w sum b : tensor<3x8x16xf32>, tensor<3x16x32xf32>
  return
}

// -----

func.func @product_to(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) {
  // expected-error @below {{factors of 'f32' cannot have a product of type 'bf16'}}
  %r = nn.product %x, %w to bf16 : tensor<8x16xf32>, tensor<16x32xf32>
  return
}
