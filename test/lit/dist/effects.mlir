// RUN: trainc-opt %s --canonicalize --cse --fuse | FileCheck %s

// A collective is awaited even if nobody reads its result, and two equal collectives are not merged.
// CHECK-LABEL: train.entry @update
// CHECK: %[[W:.*]] = train.get @w
// CHECK: %[[A:.*]] = dist.all_reduce_start %[[W]]
// CHECK: %[[B:.*]] = dist.all_reduce_start %[[W]]
// CHECK: dist.wait %[[A]]
// CHECK: dist.wait %[[B]]
dist.mesh [shard = 2]
train.state parameter @w : tensor<4xf32>
train.entry @update {
  %w = train.get @w : tensor<4xf32>
  %a = dist.all_reduce_start %w in shard : tensor<4xf32>
  %b = dist.all_reduce_start %w in shard : tensor<4xf32>
  %x = dist.wait %a : tensor<4xf32>
  %y = dist.wait %b : tensor<4xf32>
}
