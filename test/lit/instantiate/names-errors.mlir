// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file

// Names that the step has for itself.

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'exp_avg.w', which is a reserved name; rename it}}
  %w = nn.parameter "exp_avg.w" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'exp_avg_sq.w', which is a reserved name; rename it}}
  %w = nn.parameter "exp_avg_sq.w" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'momentum.w', which is a reserved name; rename it}}
  %w = nn.parameter "momentum.w" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'grad.w', which is a reserved name; rename it}}
  %w = nn.parameter "grad.w" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'cache.0', which is a reserved name; rename it}}
  %w = nn.parameter "cache.0" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'targets.z', which is a reserved name; rename it}}
  %w = nn.parameter "targets.z" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'bias_correction1', which is a reserved name; rename it}}
  %w = nn.parameter "bias_correction1" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'bias_correction2', which is a reserved name; rename it}}
  %w = nn.parameter "bias_correction2" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'eval', which is a reserved name; rename it}}
  %w = nn.parameter "eval" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'kernels', which is a reserved name; rename it}}
  %w = nn.parameter "kernels" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  nn.loss "loss" %x
}
// expected-error @below {{a program cannot be named @loss, which is a reserved name; rename it}}
train.program @loss { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  nn.loss "loss" %x
}
// expected-error @below {{a program cannot be named @seed, which is a reserved name; rename it}}
train.program @seed { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  nn.loss "loss" %x
}
// expected-error @below {{a program cannot be named @lr, which is a reserved name; rename it}}
train.program @lr { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  nn.loss "loss" %x
}
// expected-error @below {{a program cannot be named @micro, which is a reserved name; rename it}}
train.program @micro { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  nn.loss "loss" %x
}
// expected-error @below {{a program cannot be named @exp_avg.w, which is a reserved name; rename it}}
train.program @"exp_avg.w" { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{the name 'p' is taken by a train.program}}
  %w = nn.parameter "p" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
// expected-note @below {{it is here}}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named '__metadata__', which is a reserved name; rename it}}
  %w = nn.parameter "__metadata__" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'bucket.0', which is a reserved name; rename it}}
  %w = nn.parameter "bucket.0" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'partial.0.w', which is a reserved name; rename it}}
  %w = nn.parameter "partial.0.w" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }
