// RUN: trainc-opt %s --verify-scheduled -split-input-file -verify-diagnostics

train.state parameter @w : tensor<4xf32>
train.entry @init {
  %w = train.get @w : tensor<4xf32>
  // expected-error @below {{'nn.exp' op is left in phase 'scheduled', but nothing executes it; expected kernels, products, attention, and reads and writes of states}}
  %e = nn.exp %w : tensor<4xf32>
  train.set @w, %e : tensor<4xf32>
}

// -----

train.state parameter @w : tensor<4xf32>
train.entry @init {
  // expected-error @below {{'nn.constant' op is left in phase 'scheduled'}}
  %e = nn.constant 1.0 : tensor<4xf32>
  train.set @w, %e : tensor<4xf32>
}

// -----

train.state parameter @w : tensor<4xf32>
train.entry @init {
  %w = train.get @w : tensor<4xf32>
  %r = nn.chunks 2 (%a = %w : tensor<4xf32> split 0) -> (tensor<4xf32> split 0) {
    // expected-error @below {{'nn.exp' op is left in phase 'scheduled'}}
    %e = nn.exp %a : tensor<2xf32>
    nn.yield %e : tensor<2xf32>
  }
  train.set @w, %r : tensor<4xf32>
}
