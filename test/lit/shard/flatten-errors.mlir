// RUN: trainc-opt --flatten --split-input-file --verify-diagnostics %s

train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 1 }
train.state parameter @a : tensor<2xf32>
train.state parameter @b : tensor<2xf32>
train.entry @init {
  %0 = nn.constant 0 : tensor<2xf32>
  // expected-error @+1 {{is one of 1 writes of an entry to a group of 2 parameters, which several ranks hold in one state; expected all of them}}
  train.set @b, %0 : tensor<2xf32>
}
train.entry @micro_step {
  %a = train.get @a : tensor<2xf32>
  train.gradient @a, %a : tensor<2xf32>
  train.gradient @b, %a : tensor<2xf32>
}

// -----

train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 1 }
train.state parameter @a : tensor<2xf32>
train.entry @micro_step {
  %a = train.get @a : tensor<2xf32>
  train.gradient @a, %a : tensor<2xf32>
  // expected-error @+1 {{writes a parameter in a loop or twice; expected one write in the entry}}
  train.gradient @a, %a : tensor<2xf32>
}

// -----

train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 1 }
train.state parameter @a : tensor<2xf32>
train.state parameter @b : tensor<2xf32>
train.entry @micro_step {
  %a = train.get @a : tensor<2xf32>
  train.gradient @a, %a : tensor<2xf32>
  train.gradient @b, %a : tensor<2xf32>
  train.set @a, %a : tensor<2xf32>
  // expected-error @+1 {{reads a parameter after the first write to those that several ranks hold in one state with it}}
  %again = train.get @a : tensor<2xf32>
  train.set @b, %again : tensor<2xf32>
}

// -----

// expected-error @+1 {{wrap: no parameter is in a block @layers; expected blocks or model alone, a number of parameters, or names of blocks with parameters: @layer}}
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 wrap "layer, layers" }
train.state parameter @a : tensor<2xf32> {blocks = [#train.block<"h.0", "layer">]}
train.entry @micro_step {
  %a = train.get @a : tensor<2xf32>
  train.gradient @a, %a : tensor<2xf32>
}

// -----

// expected-error @+1 {{hybrid_shard: 6 ranks cannot form groups of 4; expected a divisor of the number of ranks}}
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 6 zero_stage 3 hybrid_shard 4 }
train.state parameter @a : tensor<2xf32>
train.entry @micro_step {
  %a = train.get @a : tensor<2xf32>
  train.gradient @a, %a : tensor<2xf32>
}
