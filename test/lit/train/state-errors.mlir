// RUN: trainc-opt %s -verify-diagnostics -split-input-file

train.entry @eval {
  // expected-error @below {{no train.state named @w}}
  %w = train.get @w : tensor<4xf32>
}

// -----

train.state parameter @w : tensor<4xf32>
train.entry @eval {
  // expected-error @below {{state @w is 'tensor<4xf32>', the value is 'tensor<3xf32>'}}
  %w = train.get @w : tensor<3xf32>
}

// -----

train.state parameter @w : tensor<4xf32>
train.entry @init {
  %c = nn.constant 0 : tensor<3xf32>
  // expected-error @below {{state @w is 'tensor<4xf32>', the value is 'tensor<3xf32>'}}
  train.set @w, %c : tensor<3xf32>
}

// -----

// expected-error @below {{a parameter cannot be named 'exp_avg.w', which is a reserved name; rename it}}
train.state parameter @exp_avg.w : tensor<4xf32>

// -----

train.state parameter @w : tensor<4xf32>
train.entry @eval {
  %x = train.get @w : tensor<4xf32>
  %r = nn.chunks 2 (%a = %x : tensor<4xf32> split 0) -> (tensor<4xf32> split 0) {
    // expected-error @below {{'train.set' op expects parent op 'train.entry'}}
    train.set @w, %a : tensor<2xf32>
    nn.yield %a : tensor<2xf32>
  }
}

// -----

// expected-error @below {{has the role 'activation', of offloaded values; expected 'on disk' or 'on host'}}
train.state activation @saved : tensor<4xf32>
