// RUN: trainc-opt %s --summarise-kernels -split-input-file -verify-diagnostics

train.entry @init {
  %x = train.input "x" micro : tensor<8x8xf32>
  // expected-error @below {{has an epilogue, which generated products do not; compile with --library-calls=products}}
  %0 = nn.product %x, %x activation gelu : tensor<8x8xf32>, tensor<8x8xf32>
}
