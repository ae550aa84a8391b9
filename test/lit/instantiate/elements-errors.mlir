// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file

// expected-error @below {{has a tensor of type 'tensor<2x3xi33>'; models compute with f32, i32, i64 and i1}}
nn.model @odd(%tokens: tensor<?x3xi33>) {
  %x = nn.embedding "e" %tokens of 8 by 4
  nn.loss "loss" %x
}
train.program @p {
  model @odd
  optimizer sgd(lr 0.1)
  schedule constant
  batch 2
}

// -----

nn.model @half(%x: tensor<?x4xf32>) {
  // expected-error @below {{has a tensor of type 'tensor<2x4xbf16>'; models compute with f32, i32, i64 and i1}}
  %h = nn.convert %x to bf16
  nn.loss "loss" %h
}
train.program @p {
  model @half
  optimizer sgd(lr 0.1)
  schedule constant
  batch 2
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter of 'tensor<4xi32>' cannot start from normal(0.02), which it does not hold}}
  %c = nn.parameter "c" tensor<4xi32> init normal(0.02)
  %f = nn.convert %c to f32
  nn.loss "loss" %f
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter of 'tensor<4xi64>' cannot start from uniform(0), which it does not hold}}
  %c = nn.parameter "c" tensor<4xi64> init uniform(0, 9)
  %f = nn.convert %c to f32
  nn.loss "loss" %f
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter of 'tensor<4xi32>' cannot start from constant(0.5), which it does not hold}}
  %c = nn.parameter "c" tensor<4xi32> init constant(0.5)
  %f = nn.convert %c to f32
  nn.loss "loss" %f
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  %zero = nn.constant 0
  %c = nn.compare lt %x, %zero
  // expected-error @below {{needs ids of i32 or i64, found 'tensor<2x4xi1>'}}
  %y = nn.embedding "e" %c of 3 by 4
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{parameter "p": dimension 1 of [2, 0] must be a size between 1 and 2147483647}}
  %p = nn.parameter "p" tensor<2x0xf32>
  nn.loss "loss" %p
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{parameter "fc.weight": dimension 0 of [4611686018427387904, 4] must be a size between 1 and 2147483647}}
  %y = nn.linear "fc" %x to 4611686018427387904
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x2147483647xf32>) {
  // expected-error @below {{parameter "fc.weight": a tensor of [2147483647, 2147483647] has more than 17592186044416 elements}}
  %y = nn.linear "fc" %x to 2147483647
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// expected-error @below {{dimension 1 of [2, 0] must be a size between 1 and 2147483647}}
nn.model @m(%x: tensor<?x0xf32>) {
  nn.loss "loss" %x
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter's dimensions must all be known, found 'tensor<?x4xf32>'}}
  %w = nn.parameter "w" tensor<?x4xf32>
  nn.loss "loss" %w
}
train.program @p { model @m optimizer sgd batch 2 }
