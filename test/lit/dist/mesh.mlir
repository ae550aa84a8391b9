// RUN: trainc-opt %s | trainc-opt | FileCheck %s

// CHECK: dist.mesh [replica = 2, shard = 3, tensor = 2]
dist.mesh [replica = 2, shard = 3, tensor = 2]
// CHECK: {dist.placement = #dist.placement<tensor = 1, shard = 0>}
train.state parameter @w : tensor<4x3xf32> {dist.placement = #dist.placement<tensor = 1, shard = 0>}
// CHECK: {dist.placement = #dist.placement<shard = own, tensor = partial>}
train.state gradient @g : tensor<4x3xf32> {dist.placement = #dist.placement<shard = own, tensor = partial>}
train.entry @micro_step {
  %w = train.get @w : tensor<4x3xf32>
  // CHECK: dist.all_gather_start %{{.*}} in [shard, tensor] : tensor<4x3xf32> -> tensor<24x3xf32>
  %0 = dist.all_gather_start %w in [shard, tensor] : tensor<4x3xf32> -> tensor<24x3xf32>
  %1 = dist.wait %0 : tensor<24x3xf32>
  // CHECK: dist.part %{{.*}} in replica : tensor<24x3xf32> -> tensor<12x3xf32>
  %2 = dist.part %1 in replica : tensor<24x3xf32> -> tensor<12x3xf32>
}
