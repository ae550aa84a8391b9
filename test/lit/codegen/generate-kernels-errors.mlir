// RUN: trainc-opt %s --generate-kernels -split-input-file -verify-diagnostics

train.state parameter @a : tensor<4x8xf32>
train.entry @init {
  %a = train.get @a : tensor<4x8xf32>
  // expected-error @below {{does not fit 4 rows x 8 columns: nn.exp: uses a reduction that is complete only after the last row}}
  %0 = nn.kernel 4 x 8 (%x = %a : tensor<4x8xf32>) -> (tensor<8xf32>) {
    %s = nn.reduce sum %x over [0] : tensor<4x8xf32>
    %e = nn.exp %s : tensor<8xf32>
    nn.yield %e : tensor<8xf32>
  }
}

// -----

train.state parameter @a : tensor<4x8xf32>
train.entry @init {
  %a = train.get @a : tensor<4x8xf32>
  %0 = nn.kernel 4 x 8 (%x = %a : tensor<4x8xf32>) -> (tensor<4x16xf32>) {
    // expected-error @below {{cannot stand in a kernel: expected elementwise, reduce, broadcast, reshape or gather ops}}
    %e = nn.concat dim 1 %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
    nn.yield %e : tensor<4x16xf32>
  }
}
