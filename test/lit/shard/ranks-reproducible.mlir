// RUN: trainc-check --ranks=2 %s | FileCheck %s
// RUN: trainc-check --ranks=8 %s | FileCheck %s
// RUN: sed 's/accumulate 2/accumulate 1/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/accumulate 2/accumulate 4 zero_stage 1/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 2 clip/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 3 clip/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/reproducible/zero_stage 3 hybrid_shard 2 reproducible/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/clip/optimizer_states bf16 clip/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 3 precision bf16 param_type bf16 optimizer_states bf16 clip/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: trainc compile --ranks=2 --accumulate=4 --compile-to=spmd %s | FileCheck %s --check-prefix=SPMD
// RUN: trainc compile --ranks=1 --accumulate=1 --compile-to=spmd %s | FileCheck %s --check-prefix=ALONE
// RUN: trainc compile --ranks=2 --reproducible=plan --compile-to=spmd %s | FileCheck %s --check-prefix=PLAIN

// Dropout, weighted targets of which some are ignored, clipping, states that are rounded at random: the same on any number of ranks, not only nearly so.
// CHECK: PASS ranks={{[248]}} max_rel_err=0.0e+00 bound=0.0e+00

// Counts of targets are added over micro-batches first, then over ranks and elements.
// SPMD-LABEL: train.entry @begin_step
// SPMD: nn.add %{{.*}} : tensor<2x1x12xf32>
// SPMD: nn.add %{{.*}} : tensor<1x1x12xf32>
// SPMD: dist.all_reduce_start %{{.*}} : tensor<1x12xf32>
// SPMD: nn.reduce sum
// SPMD-LABEL: train.entry @micro_step
// SPMD: train.set @partial.0.grad.bucket.0
// SPMD-NOT: dist.{{.*}}_start
// SPMD-LABEL: train.entry @update

// One rank has flat states as well, whose norm is a sum over chunks.
// ALONE: train.state parameter @bucket.0
// ALONE-NOT: dist.{{.*}}_start

// PLAIN-NOT: @partial
nn.model @tiny(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 16 by 8
  %n = nn.layer_norm "ln" %x
  %d = nn.dropout "drop" %n p 0.2
  %y = nn.linear "fc" %d to 8
  %logits = nn.linear "head" %y tied "wte.weight" no_bias
  %importance = nn.parameter "importance" tensor<16xf32> init normal(1)
  %nll, %l = nn.cross_entropy %logits, %labels ignore 3 weights %importance
  nn.loss "loss" %nll
}
train.program @main {
  model @tiny
  optimizer adamw(lr 1e-2, eps 1e-3, weight_decay 0.1)
  clip 0.5
  batch 2 x 6
  accumulate 2
  reproducible ranks
  group "ln.bias" lr_scale 0.5
  group "importance" frozen
}
