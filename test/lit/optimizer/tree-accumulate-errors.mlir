// RUN: trainc-opt --tree-accumulate --split-input-file --verify-diagnostics %s

// expected-error @+1 {{accumulates 6 micro-batches; expected a power of two, for a binary tree}}
train.program @p { model @m optimizer sgd(lr 0.1) batch 8 accumulate 6 reproducible ranks }

// -----

// expected-error @+1 {{the module has no entries @begin_step and @micro_step; run optimizer first}}
train.program @p { model @m optimizer sgd(lr 0.1) batch 8 accumulate 4 reproducible ranks }
train.entry @micro_step {}

// -----

train.program @p { model @m optimizer sgd(lr 0.1) batch 8 accumulate 4 reproducible ranks }
train.state gradient @grad.w : tensor<2xf32>
train.entry @begin_step {
  %zero = nn.constant 0 : tensor<2xf32>
  train.set @grad.w, %zero : tensor<2xf32>
}
// expected-error @+1 {{does not write @grad.w, which @begin_step zeroes}}
train.entry @micro_step {}

// -----

train.program @p { model @m optimizer sgd(lr 0.1) batch 8 accumulate 4 reproducible ranks }
train.state gradient @grad.w : tensor<2xf32>
train.entry @begin_step {
  %zero = nn.constant 0 : tensor<2xf32>
  train.set @grad.w, %zero : tensor<2xf32>
}
train.entry @micro_step {
  %g = nn.constant 1 : tensor<2xf32>
  // expected-error @+1 {{writes a state that @begin_step zeroes; expected the sum of the state and a value}}
  train.set @grad.w, %g : tensor<2xf32>
}
