// RUN: trainc-opt --shard --verify-spmd %s | FileCheck %s

// Ops that cannot compute on a shard gather the whole tensor: sums and maxima over dimension 0, a transpose, sizes that are not multiples of
// the ranks, and ops that also read the rank's own samples. The gradient's state still holds a shard.
// CHECK: train.state gradient @grad : tensor<2x4xf32>{{.*}}dist.placement = #dist.placement<shard = 0>
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 2 }
train.state gradient @grad : tensor<4x4xf32>
train.state scalar from_device @largest as grad_norm : tensor<4xf32>
train.state parameter @w : tensor<4x4xf32>
train.state scalar @product : tensor<4x3xf32>
train.state scalar @flat : tensor<1x16xf32>
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[SP:.*]] = dist.reduce_scatter_start %{{.*}} in shard : tensor<4x4xf32> -> tensor<2x4xf32>
// CHECK: %[[SUM:.*]] = dist.wait %[[SP]] : tensor<2x4xf32>
// CHECK: %[[AP:.*]] = dist.all_gather_start %[[SUM]] in shard : tensor<2x4xf32> -> tensor<4x4xf32>
// CHECK: %[[WHOLE:.*]] = dist.wait %[[AP]] : tensor<4x4xf32>
// CHECK: nn.reduce max %[[WHOLE]] over [0]
// CHECK: nn.transpose %[[WHOLE]]
// CHECK: nn.matmul %[[WHOLE]] transposed, %{{.*}} : tensor<4x4xf32>, tensor<4x3xf32>
// CHECK: nn.matmul %[[WHOLE]] transposed, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK: %[[HALF:.*]] = nn.reshape %[[SUM]] to [1, 8]
// CHECK: dist.all_gather_start %[[HALF]] in shard : tensor<1x8xf32> -> tensor<2x8xf32>
train.entry @micro_step {
  %g = train.input "g" micro : tensor<4x4xf32>
  %sum = train.sum_over_ranks %g : tensor<4x4xf32>
  train.set @grad, %sum : tensor<4x4xf32>
  %max = nn.reduce max %sum over [0] : tensor<4x4xf32>
  train.set @largest, %max : tensor<4xf32>
  %t = nn.transpose %sum by [1, 0] : tensor<4x4xf32>
  %both = nn.add %t, %sum : tensor<4x4xf32>, tensor<4x4xf32>
  train.set @w, %both : tensor<4x4xf32>
  %x = train.input "x" micro : tensor<4x3xf32>
  %product = nn.matmul %sum transposed, %x : tensor<4x4xf32>, tensor<4x3xf32>
  train.set @product, %product : tensor<4x3xf32>
  %w = train.get @w : tensor<4x4xf32>
  %shared = nn.matmul %sum transposed, %w : tensor<4x4xf32>, tensor<4x4xf32>
  train.set @w, %shared : tensor<4x4xf32>
  %halves = nn.reshape %sum to [2, 8] : tensor<4x4xf32>
  %uneven = nn.reshape %halves to [1, 16] : tensor<2x8xf32>
  train.set @flat, %uneven : tensor<1x16xf32>
}
// CHECK-LABEL: train.entry @update
// CHECK: %[[PART:.*]] = train.get @grad : tensor<2x4xf32>
// CHECK: %[[GP:.*]] = dist.all_gather_start %[[PART]] in shard : tensor<2x4xf32> -> tensor<4x4xf32>
// CHECK: %[[ALL:.*]] = dist.wait %[[GP]]
// CHECK: nn.reduce max %[[ALL]]
train.entry @update {
  %grad = train.get @grad : tensor<4x4xf32>
  %max = nn.reduce max %grad over [0] : tensor<4x4xf32>
  train.set @largest, %max : tensor<4xf32>
}
