// RUN: trainc compile %s -o %t.without.plan --ranks=6
// RUN: trainc compile %s -o %t.with.plan --ranks=6 --hybrid-shard=4 2>&1 | FileCheck %s
// RUN: cmp %t.without.plan %t.with.plan
// RUN: trainc compile %s --compile-to=scheduled --offload=gradients --memory-limit=1GiB 2>&1 | FileCheck %s --check-prefix=OUT

// A word that does nothing in a stage changes no byte of the plan. At stage 0 even groups are allowed that the ranks cannot be divided into.

// A step of one micro-batch on one rank has no sums of gradients. The strategies that a limit tries say nothing of it.
// OUT-COUNT-1: warning: offload (--offload) gradients does nothing: a step accumulates no gradients; leave it out
// OUT-NOT: warning:

// CHECK: hybrid_shard (--hybrid-shard) does nothing with zero_stage 0, which shards no states
nn.model @m(%features: tensor<?x16xf32>, %labels: tensor<?x16xf32>) {
  %y = nn.linear "fc" %features to 16
  %l = nn.mse %y, %labels
  nn.loss "loss" %l
}
train.program @p { model @m  optimizer adamw(lr 1e-3)  batch 4 }
