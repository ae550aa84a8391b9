// RUN: sed 's/LIMIT/prefetch 2/' %s | trainc-opt --schedule-collectives | FileCheck %s --check-prefix=FREE
// RUN: sed 's/LIMIT/prefetch 2 limit_all_gathers 1/' %s | trainc-opt --schedule-collectives | FileCheck %s --check-prefix=ONE
// RUN: sed 's/LIMIT/prefetch 2 max_live_parameters 16/' %s | trainc-opt --schedule-collectives | FileCheck %s --check-prefix=LIVE

// Two units ahead: two gathers begin while the product is computed, the third when the first unit is.
// FREE-COUNT-2: dist.all_gather_start
// FREE: nn.matmul
// FREE: nn.square
// FREE: dist.all_gather_start
// FREE: nn.abs

// One in flight: the next begins when the one before has been waited for.
// ONE: dist.all_gather_start
// ONE-NOT: dist.all_gather_start
// ONE: dist.wait
// ONE-NEXT: nn.square
// ONE: dist.all_gather_start
// ONE-NOT: dist.all_gather_start
// ONE: dist.wait
// ONE-NEXT: nn.square

// Two units gathered at once: the third begins when the first has been read for the last time.
// LIVE-COUNT-2: dist.all_gather_start
// LIVE: nn.matmul
// LIVE: nn.square
// LIVE: nn.abs
// LIVE: dist.all_gather_start
dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 3 LIMIT }
train.state parameter @bucket.0 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.0", "layer">]}
train.state parameter @bucket.1 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.1", "layer">]}
train.state parameter @bucket.2 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.2", "layer">]}
train.state scalar @out : tensor<8xf32>
train.state scalar @matrix : tensor<512x512xf32>
train.entry @micro_step {
  %a = train.get @matrix : tensor<512x512xf32>
  %b = nn.matmul %a, %a : tensor<512x512xf32>, tensor<512x512xf32>
  %p0 = train.get @bucket.0 : tensor<4xf32>
  %s0 = dist.all_gather_start %p0 in shard : tensor<4xf32> -> tensor<8xf32>
  %w0 = dist.wait %s0 : tensor<8xf32>
  %y0 = nn.square %w0 : tensor<8xf32>
  train.set @out, %y0 : tensor<8xf32>
  %z0 = nn.abs %w0 : tensor<8xf32>
  train.set @out, %z0 : tensor<8xf32>
  %p1 = train.get @bucket.1 : tensor<4xf32>
  %s1 = dist.all_gather_start %p1 in shard : tensor<4xf32> -> tensor<8xf32>
  %w1 = dist.wait %s1 : tensor<8xf32>
  %y1 = nn.square %w1 : tensor<8xf32>
  train.set @out, %y1 : tensor<8xf32>
  %p2 = train.get @bucket.2 : tensor<4xf32>
  %s2 = dist.all_gather_start %p2 in shard : tensor<4xf32> -> tensor<8xf32>
  %w2 = dist.wait %s2 : tensor<8xf32>
  %y2 = nn.square %w2 : tensor<8xf32>
  train.set @out, %y2 : tensor<8xf32>
}
