// RUN: trainc-opt %s --autodiff -split-input-file -verify-diagnostics

train.state parameter @w : tensor<4x2xf32>
train.entry @micro_step {
  %ids = train.input "ids" micro : tensor<3xi32>
  %u = train.input "u" micro : tensor<3x2xf32>
  %w = train.get @w : tensor<4x2xf32>
  // expected-error @+1 {{'nn.scatter_add' op has no gradient, but is on the path from a trained parameter to the loss}}
  %s = nn.scatter_add %u into %w at %ids : tensor<3x2xf32>, tensor<4x2xf32>, tensor<3xi32>
  %l = nn.reduce sum %s over [0, 1] : tensor<4x2xf32>
  train.minimize %l : tensor<f32>
}

// -----

train.state parameter @w : tensor<4xf32>
train.entry @micro_step {
  %w = train.get @w : tensor<4xf32>
  // expected-error @+1 {{'train.minimize' op needs a floating-point scalar, found 'tensor<4xf32>'}}
  train.minimize %w : tensor<4xf32>
}

// -----

train.program @p { model @m optimizer sgd batch 2 }
train.state parameter frozen @w : tensor<f32>
train.entry @micro_step {
  %w = train.get @w : tensor<f32>
  // expected-warning @+1 {{the plan evaluates and does not train: the loss does not depend on any trained parameter, or only through integers and comparisons, which have no gradient}}
  train.minimize %w : tensor<f32>
}

// -----

train.state parameter @w : tensor<f32>
train.entry @micro_step {
  %w = train.get @w : tensor<f32>
  // expected-note @+1 {{the other one}}
  train.minimize %w : tensor<f32>
  // expected-error @+1 {{'train.minimize' op an entry minimises one loss; add the losses}}
  train.minimize %w : tensor<f32>
}

// -----

// Class weights stand in the loss's denominator, too.
train.state parameter @w : tensor<3x4xf32>
train.state parameter @gain : tensor<4xf32>
train.entry @micro_step {
  %x = train.get @w : tensor<3x4xf32>
  %gain = train.get @gain : tensor<4xf32>
  %weights = nn.exp %gain : tensor<4xf32>
  %labels = train.input "labels" micro : tensor<3xi32>
  // expected-error @+1 {{'nn.cross_entropy' op operand #2 has no gradient, but depends on the trained parameter "gain"; compute it from constants and data, or freeze the parameter: group "NAME" frozen}}
  %nll, %lse = nn.cross_entropy %x, %labels weights %weights : tensor<4xf32> : tensor<3x4xf32>, tensor<3xi32>
  %l = nn.reduce sum %nll over [0] : tensor<3xf32>
  train.minimize %l : tensor<f32>
}

// -----

train.state parameter @w : tensor<1x5x8xf32>
train.entry @micro_step {
  %q = train.get @w : tensor<1x5x8xf32>
  %limit = nn.constant 3 : tensor<i32>
  // expected-error @+1 {{'nn.attention' op has no gradient where `limit` is given; that form is for generation}}
  %out, %lse = nn.attention %q, %q, %q heads 2 limit %limit : tensor<i32> : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  %l = nn.reduce sum %out over [0, 1, 2] : tensor<1x5x8xf32>
  train.minimize %l : tensor<f32>
}
