// RUN: trainc-opt --verify-spmd --fuse --summarise-kernels --plan-memory %s | FileCheck %s

// An operand moves with the rank along axes of one collective or part. The part along `tensor` of a part along `shard` is taken of a copy.
// CHECK: plan.copy <@w + 0 rank_stride 16 along shard> to <@[[COPY:[^ ]*]] + 0> bytes 16
// CHECK: plan.copy <@[[COPY]] + 0 rank_stride 8 along tensor> to <@p + 0> bytes 8
dist.mesh [shard = 2, tensor = 2]
train.state parameter @w : tensor<8xf32>
train.state cache @p : tensor<2xf32> {dist.placement = #dist.placement<shard = 0, tensor = 0>}
train.entry @update {
  %w = train.get @w : tensor<8xf32>
  %0 = dist.part %w in shard : tensor<8xf32> -> tensor<4xf32>
  %1 = dist.part %0 in tensor : tensor<4xf32> -> tensor<2xf32>
  train.set @p, %1 : tensor<2xf32>
}
