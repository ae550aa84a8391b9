// RUN: trainc-opt %s --summarise-kernels -split-input-file -verify-diagnostics

train.program @p { model @m  optimizer sgd  batch 1  target cuda  library_calls none }

train.entry @init {
  %x = train.input "x" micro : tensor<16x16xf8E4M3FN>
  %s = train.input "s" micro : tensor<f32>
  // expected-error @below {{has factors of fp8, which cuBLASLt alone multiplies; compile with --library-calls=products}}
  %0 = nn.matmul %x, %x transposed to f32 scaled %s, %s : tensor<f32>, tensor<f32> : tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>
}

// -----

train.program @p { model @m  optimizer sgd  batch 1 }

train.entry @init {
  %x = train.input "x" micro : tensor<16x16xf8E4M3FN>
  %s = train.input "s" micro : tensor<f32>
  // expected-error @below {{has numbers of fp8, which GPUs compute with; compile with --target=cuda}}
  %0 = nn.matmul %x, %x transposed to f32 scaled %s, %s : tensor<f32>, tensor<f32> : tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>
}
