// RUN: trainc-opt --shard --split-input-file --verify-diagnostics %s

dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 1 }
// expected-error @below {{has the placement #dist.placement<shard = 1>; expected #dist.placement<shard = 0>, or none: updates are sharded along dimension 0 only}}
train.state optimizer @momentum.w : tensor<4x2xf32> {dist.placement = #dist.placement<shard = 1>}

// -----

dist.mesh [shard = 2, tensor = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 4 zero_stage 1 }
// expected-error @below {{has the placement #dist.placement<tensor = 0>; expected #dist.placement<shard = 0>, or none}}
train.state parameter @w : tensor<4x2xf32> {dist.placement = #dist.placement<tensor = 0>}
