// RUN: trainc-opt --schedule-collectives %s | FileCheck %s
// RUN: sed 's/zero_stage 3/zero_stage 3 prefetch 0 allgather_bucket_size 0/' %s | trainc-opt --bucket-collectives --schedule-collectives | FileCheck %s --check-prefix=LATE
// RUN: sed 's/zero_stage 3/zero_stage 3 allgather_bucket_size 16/' %s | trainc-opt --bucket-collectives --schedule-collectives | FileCheck %s --check-prefix=TOGETHER

// Parts that are cast are gathered as parameters are, one unit ahead. The cast stands before the start, not where the entry begins.
// CHECK-LABEL: train.entry @eval
// CHECK-NEXT: %[[P0:.*]] = train.get @bucket.0
// CHECK-NEXT: %[[C0:.*]] = nn.convert %[[P0]]
// CHECK-NEXT: %[[G0:.*]] = dist.all_gather_start %[[C0]]
// CHECK-NEXT: %[[P1:.*]] = train.get @bucket.1
// CHECK-NEXT: %[[C1:.*]] = nn.convert %[[P1]]
// CHECK-NEXT: %[[G1:.*]] = dist.all_gather_start %[[C1]]
// CHECK-NEXT: dist.wait %[[G0]]
// CHECK-NEXT: nn.square
// CHECK: dist.wait %[[G1]]
// LATE: dist.all_gather_start
// LATE: nn.square
// LATE-NEXT: train.get @bucket.1
// LATE-NEXT: nn.convert
// LATE-NEXT: dist.all_gather_start
// Small ones go together: both casts come before.
// TOGETHER: nn.convert
// TOGETHER: nn.convert
// TOGETHER-NEXT: dist.all_gather_start %{{.*}} message 0
// TOGETHER-NEXT: dist.all_gather_start %{{.*}} message 0
// TOGETHER: nn.square
dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 3 eval_precision bf16 }
train.state parameter @bucket.0 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.0", "layer">]}
train.state parameter @bucket.1 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.1", "layer">]}
train.state scalar @out : tensor<8xbf16>
train.state working @copy.0 : tensor<8xbf16>
train.state working @copy.1 : tensor<8xbf16>
train.entry @eval {
  %p0 = train.get @bucket.0 : tensor<4xf32>
  %c0 = nn.convert %p0 to bf16 : tensor<4xf32>
  %s0 = dist.all_gather_start %c0 in shard : tensor<4xbf16> -> tensor<8xbf16>
  %w0 = dist.wait %s0 : tensor<8xbf16>
  %y = nn.square %w0 : tensor<8xbf16>
  %p1 = train.get @bucket.1 : tensor<4xf32>
  %c1 = nn.convert %p1 to bf16 : tensor<4xf32>
  %s1 = dist.all_gather_start %c1 in shard : tensor<4xbf16> -> tensor<8xbf16>
  %w1 = dist.wait %s1 : tensor<8xbf16>
  %z = nn.mul %y, %w1 : tensor<8xbf16>, tensor<8xbf16>
  train.set @out, %z : tensor<8xbf16>
}

// A parameter that is gathered to be written is not read by a unit: its gather does not depend on the order of units.
// LATE-LABEL: train.entry @refresh
// LATE: dist.all_gather_start
// LATE: dist.all_gather_start
// LATE: dist.wait
// LATE: train.set @copy.0
train.entry @refresh {
  %p0 = train.get @bucket.0 : tensor<4xf32>
  %c0 = nn.convert %p0 to bf16 : tensor<4xf32>
  %s0 = dist.all_gather_start %c0 in shard : tensor<4xbf16> -> tensor<8xbf16>
  %w0 = dist.wait %s0 : tensor<8xbf16>
  train.set @copy.0, %w0 : tensor<8xbf16>
  %p1 = train.get @bucket.1 : tensor<4xf32>
  %c1 = nn.convert %p1 to bf16 : tensor<4xf32>
  %s1 = dist.all_gather_start %c1 in shard : tensor<4xbf16> -> tensor<8xbf16>
  %w1 = dist.wait %s1 : tensor<8xbf16>
  train.set @copy.1, %w1 : tensor<8xbf16>
}
