// RUN: trainc-check --ranks=2 %s | FileCheck %s
// RUN: trainc-check --ranks=3 %s | FileCheck %s
// RUN: sed 's/accumulate 2/zero_stage 1/' %s | trainc-check --ranks=3 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 1 clip/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/accumulate 2/zero_stage 2/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 2 clip/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 3 clip/' %s | trainc-check --ranks=3 - | FileCheck %s
// RUN: sed 's/accumulate 2/zero_stage 3/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 3 sync_gradients step param_persistence_threshold 20 clip/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 3 reshard_after_forward false wrap "model" clip/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 1 hybrid_shard 2 clip/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 3 hybrid_shard 3 clip/' %s | trainc-check --ranks=6 - | FileCheck %s
// RUN: sed 's/accumulate 2/zero_stage 2 hybrid_shard 2/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/clip/sync_gradients micro_step clip/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 1 sync_gradients micro_step clip/' %s | trainc-check --ranks=3 - | FileCheck %s
// RUN: sed 's/adamw.*/sgd(lr 0.1, momentum 0.9) zero_stage 2/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: trainc compile --ranks=2 --compile-to=spmd %s | FileCheck %s --check-prefix=SPMD

// A tied embedding, attention, dropout, ignored labels, groups, a frozen parameter, clipping and accumulation: several ranks train as one
// rank that has all samples, whichever states they shard.
// CHECK: PASS ranks={{[2346]}} max_rel_err={{.*}} bound=1.0e-09

// The targets are counted over all ranks before the first forward, and gradients are summed after the last backward.
// SPMD: ranks 2
// SPMD: train.entry @begin_step
// SPMD: dist.all_reduce_start %{{.*}} : tensor<f32>
// SPMD: train.set @targets
// SPMD: train.entry @micro_step
// SPMD-NOT: dist.{{.*}}_start
// SPMD: train.entry @last_micro_step
// SPMD: dist.all_reduce_start %{{.*}} : tensor<512xf32>
nn.model @tiny(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 16 by 8
  %n = nn.layer_norm "ln" %x
  %qkv = nn.linear "qkv" %n to 24
  %q, %k, %v = nn.split %qkv into 3
  %a, %lse = nn.attention %q, %k, %v heads 2 causal
  %d = nn.dropout "drop" %a p 0.2
  %y = nn.add %x, %d
  %logits = nn.linear "head" %y tied "wte.weight" no_bias
  %nll, %l = nn.cross_entropy %logits, %labels ignore 3
  nn.loss "loss" %nll
}
train.program @main {
  model @tiny
  optimizer adamw(lr 1e-2, eps 1e-3, weight_decay 0.1)
  clip 0.5
  batch 2 x 6
  accumulate 2
  group "ln.bias" lr_scale 0.5
  group "qkv.bias" frozen
}
