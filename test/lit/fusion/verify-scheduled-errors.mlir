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

// -----

train.state parameter @w : tensor<4x6xf32>
train.entry @init {
  %w = train.get @w : tensor<4x6xf32>
  // expected-error @below {{does not fit 4 rows x 6 columns}}
  %r = nn.kernel 4 x 6 (%a = %w : tensor<4x6xf32>) -> (tensor<4x6xf32>) {
    %s = nn.reduce sum %a over [0] keep : tensor<4x6xf32>
    %b = nn.broadcast %s to [4, 6] : tensor<1x6xf32>
    nn.yield %b : tensor<4x6xf32>
  }
  train.set @w, %r : tensor<4x6xf32>
}

// -----

train.state parameter @w : tensor<4x6xf32>
train.state parameter @s : tensor<f32>
train.entry @init {
  %w = train.get @w : tensor<4x6xf32>
  // expected-error @below {{does not fit 4 rows x 6 columns: nn.reduce: reduces everything, in an order that only a single row of all elements has}}
  %r = nn.kernel 4 x 6 (%a = %w : tensor<4x6xf32>) -> (tensor<f32>) {
    %s = nn.reduce sum %a over [0, 1] : tensor<4x6xf32>
    nn.yield %s : tensor<f32>
  }
  train.set @s, %r : tensor<f32>
}
