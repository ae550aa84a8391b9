// RUN: trainc-check --ranks=1 %s | FileCheck %s
// RUN: trainc-check --ranks=2 %s | FileCheck %s
// RUN: sed 's/clip/zero_stage 3 clip/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/accumulate 2/accumulate 4 reproducible ranks/' %s | trainc compile --compile-to=step - | FileCheck %s --check-prefix=STEP
// RUN: trainc compile --compile-to=step %s | FileCheck %s --check-prefix=STEP
// RUN: trainc compile --activation-checkpointing=none --compile-to=step %s | FileCheck %s --check-prefix=NONE

// Norms, gated and plain activations, dropout, views and a softmax: the same training as of one rank that keeps all.
// CHECK: PASS ranks={{[12]}} max_rel_err={{.*}} bound=1.0e-09
// STEP: activation_checkpointing selective
// STEP-LABEL: train.entry @micro_step
// STEP: train.set @loss
// STEP-COUNT-8: nn.barrier
// STEP: train.entry
// NONE: activation_checkpointing none
// NONE-NOT: nn.barrier
nn.model @tiny(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 16 by 8
  %n1 = nn.layer_norm "ln_1" %x
  %qkv = nn.linear "qkv" %n1 to 24
  %q, %k, %v = nn.split %qkv into 3
  %a, %lse = nn.attention %q, %k, %v heads 2 causal
  %d = nn.dropout "drop" %a p 0.2
  %y = nn.add %x, %d
  %n2 = nn.rms_norm "ln_2" %y
  %gate = nn.linear "gate" %n2 to 24
  %up = nn.linear "up" %n2 to 24
  %act = nn.silu %gate
  %h = nn.mul %act, %up
  %hd = nn.dropout "hidden_drop" %h p 0.1
  %m = nn.linear "down" %hd to 8
  %g = nn.gelu %m
  %s = nn.softmax %g
  %z = nn.add %y, %s
  %logits = nn.linear "head" %z tied "wte.weight" no_bias
  %nll, %l = nn.cross_entropy %logits, %labels ignore 3
  nn.loss "loss" %nll
}
train.program @main {
  model @tiny
  optimizer adamw(lr 1e-2, eps 1e-3, weight_decay 0.1)
  activation_checkpointing selective
  clip 0.5
  batch 2 x 6
  accumulate 2
}
