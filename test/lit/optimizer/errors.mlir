// RUN: trainc-opt %s --optimizer -split-input-file -verify-diagnostics

// expected-error @+1 {{optimizer: expected one train.program in the module, found 0}}
module {
}

// -----

// expected-error @+1 {{'train.program' op the module has no entry @micro_step; run instantiate and autodiff first}}
train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2 }

// -----

train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2 }
// expected-error @+1 {{'train.entry' op has no train.gradient; run autodiff first}}
train.entry @micro_step {
  %x = train.input "x" micro : tensor<2x4xf32>
}

// -----

// expected-error @+1 {{'train.program' op rounds at random, by the chunks of flat parameters; run flatten first}}
train.program @p { model @m optimizer adam(lr 0.1) schedule constant batch 2 optimizer_states bf16 }
train.state parameter @w : tensor<256xf32>
train.entry @micro_step {
  %g = train.input "g" micro : tensor<256xf32>
  train.gradient @w, %g : tensor<256xf32>
}
