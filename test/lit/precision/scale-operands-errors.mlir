// RUN: trainc-opt %s --split-input-file --scale-operands --verify-diagnostics

// expected-warning@+1 {{product_type (--product-type) fp8 does nothing: no product of activations and a parameter before the last has sizes that are multiples of 16}}
train.program @p { model @m  optimizer sgd  batch 16  precision bf16 product_type fp8 }
train.state parameter @w : tensor<8x16xf32>
train.state scalar from_device @loss : tensor<f32>
train.entry @init {
}
train.entry @micro_step {
  %x = train.input "x" micro : tensor<16x8xbf16>
  %wf = train.get @w : tensor<8x16xf32>
  %w = nn.convert %wf to bf16 : tensor<8x16xf32>
  %h = nn.matmul %x, %w : tensor<16x8xbf16>, tensor<8x16xbf16>
  %y = nn.matmul %h, %h : tensor<16x16xbf16>, tensor<16x16xbf16>
  %l = nn.reduce sum %y over [0, 1] to f32 : tensor<16x16xbf16>
  train.set @loss, %l : tensor<f32>
}

// -----

// expected-error@+1 {{the module has no entries @init and @micro_step; run instantiate first}}
train.program @p { model @m  optimizer sgd  batch 16  precision bf16 product_type fp8 }
