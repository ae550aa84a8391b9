// RUN: trainc-check --ranks=2 %s | FileCheck %s
// RUN: sed 's/accumulate 2/accumulate 1/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 2 clip/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 3 activation_checkpointing selective clip/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 3 activation_checkpointing full clip/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/reproducible/zero_stage 3 hybrid_shard 2 reproducible/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: trainc compile --ranks=2 --zero-stage=3 --compile-to=spmd %s | FileCheck %s --check-prefix=SPMD

// Products of fp8, their scales and magnitudes: the same bits on any number of ranks and in every stage.
// CHECK: PASS ranks={{[24]}} max_rel_err=0.0e+00 bound=0.0e+00

// The forward and the backward of both layers, of which the last projection stays bf16.
// SPMD-COUNT-12: nn.matmul {{.*}} scaled
// SPMD-NOT: nn.matmul {{.*}} scaled
nn.block @layer(%x: tensor<?x?x16xf32>) {
  %n = nn.layer_norm "ln" %x
  %h = nn.linear "fc1" %n to 32
  %g = nn.gelu %h
  %y = nn.linear "fc2" %g to 16
  %r = nn.add %x, %y
  nn.return %r
}
nn.model @tiny(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 16 by 16
  %h = nn.repeat @layer "h" times 2 (%x)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  %nll, %l = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @main {
  model @tiny
  optimizer adamw(lr 1e-2, eps 1e-3, weight_decay 0.1)
  clip 0.5
  batch 2 x 8
  accumulate 2
  target cuda
  precision bf16 product_type fp8
  reproducible ranks
}
