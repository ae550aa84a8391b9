// RUN: trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --ranks=4 --micro-batch=1 --zero-stage=2 --reproducible=ranks
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=TREE
// RUN: trainc dump %t.plan --code | FileCheck %s --check-prefix=CODE
// RUN: trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --ranks=2 --micro-batch=2 --reproducible=ranks
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=NCCL
// RUN: trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --ranks=4 --micro-batch=1 --zero-stage=2 --precision=bf16 --reduce-type=bf16
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=NCCL
// RUN: trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --ranks=4 --micro-batch=1 --zero-stage=2 --hybrid-shard=2 --precision=bf16 --reduce-type=bf16
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=GROUPS
// RUN: trainc compile %s -o %t.plan --ranks=4 --micro-batch=1 --zero-stage=2 --reproducible=ranks
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=NCCL

// Sums over more than two ranks use the tree if the plan promises it. A kernel always computes sums of bf16 numbers that stay f32. CPUs need no such
// kernel. With 4 ranks, each of the 3 others sends a quarter.

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "fc" %x to 1024
  nn.loss "loss" %y
}
train.program @p { model @m  optimizer sgd  batch 4 }

// TREE: kernel [[SUM:rank_sum_[0-9a-f]+]] rank_sum grid=512
// TREE-DAG: reduce-scatter over shard {{[^ ]*}} -> {{[^ ]*}} f32 elements=5120 summed by [[SUM]] in {{[^ ]*}} bytes=15360
// TREE-DAG: all-reduce over shard {{[^ ]*}} -> {{[^ ]*}} f32 elements=1 summed by [[SUM]] in {{[^ ]*}} bytes=192
// NCCL-NOT: rank_sum
// GROUPS: reduce-scatter over shard {{[^ ]*}} -> [[PART:[^ ]*]] bf16 into f32 elements=5120 summed by rank_sum_{{[^ ]*}} in {{[^ ]*}} bytes=5120 on
// GROUPS: all-reduce over replica [[PART]] -> {{[^ ]*}} f32 elements=2560 on

// (0 + 1) + (2 + 3)
// CODE: .entry rank_sum_
// CODE-COUNT-4: ld.global
// CODE-NOT: fma
// CODE: st.global
