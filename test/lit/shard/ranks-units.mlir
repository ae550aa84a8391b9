// RUN: trainc-check --ranks=2 %s | FileCheck %s
// RUN: sed 's/"blocks"/"mlp"/' %s | trainc-check --ranks=3 - | FileCheck %s
// RUN: sed 's/"blocks"/"mixer, mlp"/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/"blocks"/"220" reduce_bucket_size 0 allgather_bucket_size 0/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/"blocks"/"100" reduce_bucket_size 1000000 allgather_bucket_size 1000000/' %s | trainc-check --ranks=3 - | FileCheck %s
// RUN: sed 's/"blocks"/"mlp" prefetch 0 param_persistence_threshold 0/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/"blocks"/"mlp" prefetch 32 limit_all_gathers 1 max_live_parameters 400/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/"blocks"/"mlp" max_reuse_distance 700/' %s | trainc-check --ranks=2 - | FileCheck %s
// RUN: sed 's/"blocks"/"blocks" max_reuse_distance 1000000 prefetch 2/' %s | trainc-check --ranks=4 - | FileCheck %s
// RUN: sed 's/"blocks"/"mixer" hybrid_shard 2 reduce_bucket_size 1000000 prefetch 3/' %s | trainc-check --ranks=4 - | FileCheck %s

// Blocks in blocks, of two kinds: how parameters are grouped, when they are gathered and which stay changes no number.
// CHECK: PASS ranks={{[234]}} max_rel_err={{.*}} bound=1.0e-09
nn.block @mixer(%x: tensor<?x?x8xf32>) {
  %n = nn.layer_norm "ln" %x
  %qkv = nn.linear "qkv" %n to 24
  %q, %k, %v = nn.split %qkv into 3
  %a, %lse = nn.attention %q, %k, %v heads 2 causal
  nn.return %a
}
nn.block @mlp(%x: tensor<?x?x8xf32>) {
  %h = nn.linear "up" %x to 12
  %g = nn.gelu %h approximate tanh
  %m = nn.linear "down" %g to 8
  nn.return %m
}
nn.block @layer(%x: tensor<?x?x8xf32>) {
  %a = nn.apply @mixer "mixer" (%x)
  %y = nn.add %x, %a
  %m = nn.apply @mlp "mlp" (%y)
  %z = nn.add %y, %m
  nn.return %z
}
nn.model @tiny(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 16 by 8
  %h = nn.repeat @layer "h" times 3 (%x)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  %nll, %l = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @main {
  model @tiny
  optimizer adamw(lr 1e-2, eps 1e-3)
  zero_stage 3
  wrap "blocks"
  clip 0.5
  batch 2 x 6
}
