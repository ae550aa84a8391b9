// RUN: trainc-opt --reshard %s | FileCheck %s

// A read after a write of its state still uses the value that was gathered before the write.
// CHECK-LABEL: train.entry @micro_step
// CHECK: dist.all_gather_start
// CHECK: %[[W:.*]] = dist.wait
// CHECK: dist.all_gather_start
// CHECK: train.set @bucket.0
// CHECK-NOT: dist.all_gather_start
// CHECK: nn.mul %{{.*}}, %[[W]]
dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 3 }
train.state parameter @bucket.0 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.0", "layer">]}
train.state parameter @bucket.1 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.1", "layer">]}
train.state scalar @out : tensor<8xf32>
train.entry @micro_step {
  %x = nn.constant 2 : tensor<8xf32>
  %new = nn.constant 3 : tensor<4xf32>
  %p0 = train.get @bucket.0 : tensor<4xf32>
  %s0 = dist.all_gather_start %p0 in shard : tensor<4xf32> -> tensor<8xf32>
  %w0 = dist.wait %s0 : tensor<8xf32>
  %a = nn.mul %x, %w0 : tensor<8xf32>, tensor<8xf32>
  %p1 = train.get @bucket.1 : tensor<4xf32>
  %s1 = dist.all_gather_start %p1 in shard : tensor<4xf32> -> tensor<8xf32>
  %w1 = dist.wait %s1 : tensor<8xf32>
  %b = nn.add %a, %w1 : tensor<8xf32>, tensor<8xf32>
  train.set @bucket.0, %new : tensor<4xf32>
  %c = nn.mul %b, %w0 : tensor<8xf32>, tensor<8xf32>
  train.set @out, %c : tensor<8xf32>
}
