// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file

nn.model @m(%x: tensor<?x4xf32>, %k: tensor<?x4xi32>) {
  // expected-error @below {{'nn.mul' op 0.5 is not a number of 'i32', the type of the other operand}}
  %a = nn.mul %k, 0.5
  nn.loss "loss" %x
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{'nn.add' op 1e+39 is not a number of 'f32', the type of the other operand}}
  %a = nn.add 1e39, %x
  nn.loss "loss" %a
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{expected a value, found a second number}}
  %a = nn.add 1, 2
  nn.loss "loss" %a
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{'nn.add' op expected a number, found NaN}}
  %a = nn.add %x, 0x7FF8000000000000
  nn.loss "loss" %a
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected a value, found a number, which only a model's text may have here}}
  %a = nn.add %x, 0.5 : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.add' op has a number in place of an operand, which only a model's text may have}}
  %a = "nn.add"(%x, %x) <{number = 0.5 : f64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.add' op has 'number_first' without a number}}
  %a = "nn.add"(%x, %x) <{number_first}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
