// RUN: trainc-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.kernel' op iterates over one row and column or more, found 0 x 2}}
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
  %0 = "nn.kernel"(%x) <{rows = 1 : i64, columns = 2 : i64}> ({ ^b(%a: tensor<3xf32>): nn.yield %a : tensor<3xf32> }) : (tensor<2xf32>) -> tensor<3xf32>
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
