// RUN: trainc-opt --verify-spmd %s | FileCheck %s
// RUN: trainc-opt --verify-spmd --fuse --summarise-kernels --plan-memory %s | FileCheck %s --check-prefix=PLAN

// Two axes shard two dimensions. The first weight's rows lie along `tensor`, its columns along `shard`: a product of columns of x is a partial
// sum of columns of y. The second weight's rows lie along `shard`, where the columns of y are.
// CHECK: dist.all_reduce_start %{{.*}} in tensor : tensor<4x6xf32>
// CHECK: dist.all_reduce_start %{{.*}} in shard : tensor<4x5xf32>
// PLAN: plan.collective all_reduce in tensor
// PLAN: plan.collective all_reduce in shard
dist.mesh [shard = 2, tensor = 2]
train.state cache @up : tensor<8x6xf32> {dist.placement = #dist.placement<tensor = 0, shard = 1>}
train.state cache @down : tensor<6x5xf32> {dist.placement = #dist.placement<shard = 0>}
train.state output @z : tensor<4x5xf32>
train.entry @eval {
  %x = train.input "x" micro {dist.placement = #dist.placement<tensor = 1>} : tensor<4x8xf32>
  %up = train.get @up : tensor<8x6xf32>
  %0 = nn.matmul %x, %up : tensor<4x8xf32>, tensor<8x6xf32>
  %1 = dist.all_reduce_start %0 in tensor : tensor<4x6xf32>
  %y = dist.wait %1 : tensor<4x6xf32>
  %a = nn.mul %y, %y : tensor<4x6xf32>, tensor<4x6xf32>
  %down = train.get @down : tensor<6x5xf32>
  %2 = nn.matmul %a, %down : tensor<4x6xf32>, tensor<6x5xf32>
  %3 = dist.all_reduce_start %2 in shard : tensor<4x5xf32>
  %z = dist.wait %3 : tensor<4x5xf32>
  train.set @z, %z : tensor<4x5xf32>
}
