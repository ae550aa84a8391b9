// RUN: trainc-opt --shard %s | FileCheck %s
// RUN: sed 's/zero_stage 1/zero_stage 1 precision fp32 reduce_type bf16/' %s | trainc-opt --narrow-gradients --shard | FileCheck %s --check-prefix=LOW

// If ranks keep a gradient whole, each contribution is all-reduced at once; the update then reads the rank's shard of the gradient.
// CHECK: train.state gradient @grad.w : tensor<8xf32>
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[START:.*]] = dist.all_reduce_start %{{.*}} of @w : tensor<8xf32>
// CHECK: %[[SUM:.*]] = dist.wait %[[START]] : tensor<8xf32>
// CHECK-NEXT: %[[ADDED:.*]] = nn.add %{{.*}}, %[[SUM]] : tensor<8xf32>
// CHECK-NEXT: train.set @grad.w, %[[ADDED]]
// CHECK-LABEL: train.entry @update
// CHECK: %[[GRADIENT:.*]] = train.get @grad.w : tensor<8xf32>
// CHECK: dist.part %[[GRADIENT]] in shard : tensor<8xf32> -> tensor<4xf32>
// CHECK: dist.all_gather_start
// CHECK: train.set @w
// CHECK-NOT: reduce_scatter

// The same with sums of another type, which are widened first.
// LOW-LABEL: train.entry @micro_step
// LOW: %[[START:.*]] = dist.all_reduce_start %{{.*}} of @w : tensor<8xbf16>
// LOW: %[[SUM:.*]] = dist.wait %[[START]] : tensor<8xbf16>
// LOW-NEXT: %[[WIDE:.*]] = nn.convert %[[SUM]] to f32 : tensor<8xbf16>
// LOW-NEXT: %[[ADDED:.*]] = nn.add %{{.*}}, %[[WIDE]] : tensor<8xf32>
// LOW-NEXT: train.set @grad.w, %[[ADDED]]
// LOW-LABEL: train.entry @update
// LOW-NOT: reduce_scatter

train.program @main { model @m optimizer sgd(lr 0.1, momentum 0.9) batch 8 ranks 2 zero_stage 1 accumulate 2 sync_gradients micro_step }
train.state parameter @w : tensor<8xf32>
train.state optimizer @momentum.w : tensor<8xf32>
train.state gradient @grad.w : tensor<8xf32>
train.entry @begin_step {
  %zero = nn.constant 0 : tensor<8xf32>
  train.set @grad.w, %zero : tensor<8xf32>
}
train.entry @micro_step {
  %old = train.get @grad.w : tensor<8xf32>
  %x = train.input "x" micro : tensor<8xf32>
  %sum = train.sum_over_ranks %x of @w : tensor<8xf32>
  %added = nn.add %old, %sum : tensor<8xf32>, tensor<8xf32>
  train.set @grad.w, %added : tensor<8xf32>
}
train.entry @update {
  %gradient = train.get @grad.w : tensor<8xf32>
  %momentum = train.get @momentum.w : tensor<8xf32>
  %next = nn.add %momentum, %gradient : tensor<8xf32>, tensor<8xf32>
  train.set @momentum.w, %next : tensor<8xf32>
  %w = train.get @w : tensor<8xf32>
  %new = nn.sub %w, %next : tensor<8xf32>, tensor<8xf32>
  train.set @w, %new : tensor<8xf32>
}
