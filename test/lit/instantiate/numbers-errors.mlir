// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file

// Numbers are f64 in the text, and f32 where a step uses them.

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{'nn.rms_norm' op eps must be a number of 0 or more, found -1}}
  %y = nn.rms_norm "n" %x eps -1.0
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{expected a number of f32, found 1e400, which is infinite there}}
  %y = nn.layer_norm "n" %x eps 1e400
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{eps must be a number of 0 or more, found 1e+39, which is infinite in f32}}
  %y = nn.layer_norm "n" %x eps 1e39
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{p must be at least 0 and below 1, found 0.999999999999, which is 1 in f32}}
  %y = nn.dropout "d" %x p 0.999999999999
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{expected a number, found NaN}}
  %y = nn.constant 0x7FF8000000000000
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{expected a number of f32, found 1.0e400, which is infinite there}}
  %y = nn.constant 1.0e400
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{expected a number of f32, found 3e-46, which is 0 there; write 0, or a larger number}}
  %y = nn.constant 3e-46
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{nn.constant: 1e+39 is not a number of 'f32'}}
  // expected-error @below {{failed to infer returned types}}
  %y = nn.constant 1e39
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{init constant: expected finite numbers, found 1e+39, which is infinite in f32}}
  %y = nn.parameter "w" tensor<4xf32> init constant(1e39)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{init uniform: high - low must be finite, found 6e+38, which is infinite in f32}}
  %y = nn.parameter "w" tensor<4xf32> init uniform(-3e38, 3e38)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{scale must be a finite number, found 1e+39, which is infinite in f32}}
  nn.loss "loss" %x scale 1e39
}

// -----

nn.model @m(%x: tensor<?x3x4xf32>) {
  // expected-error @below {{scale must be a finite number, found 1e+39, which is infinite in f32}}
  %y, %lse = nn.attention %x, %x, %x heads 1 scale 1e39
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>, %labels: tensor<?xi32>) {
  // expected-error @below {{ignore must be a number of 'i32', as the labels are, with 53 bits at most, found -3000000000}}
  %nll, %lse = nn.cross_entropy %x, %labels ignore -3000000000
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>, %labels: tensor<?xi32>) {
  // expected-error @below {{ignore must be a number of 'i32', as the labels are, with 53 bits at most, found 9223372036854775807}}
  %nll, %lse = nn.cross_entropy %x, %labels ignore 9223372036854775807
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>, %labels: tensor<?xi64>) {
  // expected-error @below {{ignore must be a number of 'i64', as the labels are, with 53 bits at most, found 9223372036854775807}}
  %nll, %lse = nn.cross_entropy %x, %labels ignore 9223372036854775807
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>, %labels: tensor<?xi64>) {
  // expected-error @below {{ignore must be a number of 'i64', as the labels are, with 53 bits at most, found 9007199254740993}}
  %nll, %lse = nn.cross_entropy %x, %labels ignore 9007199254740993
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x?x4xf32>) {
  // expected-error @below {{'nn.linear' op a tensor of [1048576, 2000000, 256] has more than 17592186044416 elements}}
  %y = nn.linear "l" %x to 256
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 1048576 x 2000000 }

// -----

nn.model @m(%x: tensor<?x?xi32>) {
  // expected-error @below {{'nn.embedding' op a tensor of [1048576, 2000000, 256] has more than 17592186044416 elements}}
  %y = nn.embedding "l" %x of 10 by 256
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 1048576 x 2000000 }

// -----

nn.model @m(%x: tensor<?x?x1xf32>) {
  %w = nn.parameter "w" tensor<1000000xf32>
  // expected-error @below {{'nn.mul' op a tensor of [1048576, 2000000, 1000000] has more than 17592186044416 elements}}
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 1048576 x 2000000 }
