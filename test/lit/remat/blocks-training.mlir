// RUN: trainc-check --ranks=1 %s | FileCheck %s
// RUN: trainc-check --ranks=2 %s | FileCheck %s
// RUN: sed 's/clip/zero_stage 3 clip/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 3 checkpoint_blocks "mlp" clip/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/clip/zero_stage 2 checkpoint_keep "40,0" checkpoint_rest selective clip/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/accumulate 2/accumulate 4 checkpoint_keep "0,100" reproducible ranks/' %s | trainc-check --ranks=1 - | FileCheck %s --check-prefix=ANY
// RUN: trainc compile --ranks=2 --zero-stage=3 --compile-to=spmd %s > %t.full
// RUN: trainc compile --ranks=2 --zero-stage=3 --compile-to=spmd --activation-checkpointing=none %s > %t.none
// RUN: grep -c "dist.all_gather_start" %t.none > %t.count
// RUN: grep -c "dist.all_gather_start" %t.full | diff - %t.count

// Blocks in blocks, with dropout, views, a loss and a value of a block that another one reads, and weights that two uses share: the same
// training as of one rank that keeps all. Parameters are gathered as often as without recomputation.
// CHECK: PASS ranks={{[12]}} max_rel_err={{.*}} bound=1.0e-09
// ANY: PASS ranks=1
nn.block @mlp(%x: tensor<?x?x8xf32>) {
  %gate = nn.linear "gate" %x to 24
  %up = nn.linear "up" %x to 24
  %act = nn.silu %gate
  %h = nn.mul %act, %up
  %d = nn.dropout "drop" %h p 0.1
  %m = nn.linear "down" %d to 8
  nn.return %m
}
nn.block @layer(%x: tensor<?x?x8xf32>) {
  %n1 = nn.layer_norm "ln_1" %x
  %qkv = nn.linear "qkv" %n1 to 24
  %q, %k, %v = nn.split %qkv into 3
  %a, %lse = nn.attention %q, %k, %v heads 2 causal
  %d = nn.dropout "drop" %a p 0.2
  %y = nn.add %x, %d
  %n2 = nn.rms_norm "ln_2" %y
  %m = nn.apply @mlp "mlp" (%n2)
  %s = nn.tanh %m
  %aside = nn.square %s
  nn.loss "aside" %aside scale 0.1
  %z = nn.add %y, %s
  nn.return %z
}
nn.model @tiny(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 16 by 8
  %h = nn.repeat @layer "h" times 3 (%x)
  %g = nn.gelu %h
  %logits = nn.linear "head" %g tied "wte.weight" no_bias
  %nll, %l = nn.cross_entropy %logits, %labels ignore 3
  nn.loss "loss" %nll
}
train.program @main {
  model @tiny
  optimizer adamw(lr 1e-2, eps 1e-3, weight_decay 0.1)
  activation_checkpointing full
  clip 0.5
  batch 2 x 6
  accumulate 2
}
