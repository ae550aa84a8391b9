// RUN: trainc-opt %s --verify-step -split-input-file -verify-diagnostics

train.state parameter @w : tensor<4xf32>
train.entry @micro_step {
  %w = train.get @w : tensor<4xf32>
  // expected-error @below {{'nn.softmax' op is left in phase 'step'; expected primitive tensor ops, and reads and writes of states}}
  %s = nn.softmax %w : tensor<4xf32>
  train.set @w, %s : tensor<4xf32>
}

// -----

train.state parameter @w : tensor<f32>
train.entry @micro_step {
  %w = train.get @w : tensor<f32>
  // expected-error @below {{'train.minimize' op is left in phase 'step'}}
  train.minimize %w : tensor<f32>
}

// -----

train.state parameter @w : tensor<4xf32>
train.entry @micro_step {
  %w = train.get @w : tensor<4xf32>
  // expected-error @below {{'train.gradient' op is left in phase 'step'}}
  train.gradient @w, %w : tensor<4xf32>
}

// -----

// expected-error @below {{'nn.model' op is left in phase 'step'}}
nn.model @empty(%x: tensor<?x2xf32>) {
}

// -----

train.entry @eval {
  // expected-error @below {{'train.input' op makes 'tensor<?xf32>' in phase 'step', where every value is a tensor of known sizes}}
  %x = train.input "x" micro : tensor<?xf32>
}
