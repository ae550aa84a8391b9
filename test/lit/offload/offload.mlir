// RUN: trainc-opt --offload %s | FileCheck %s
// RUN: sed 's/offload "optimizer"/offload "optimizer" offload_to host/' %s | trainc-opt --offload | FileCheck %s --check-prefix=HOST
// RUN: sed 's/offload "optimizer"/offload "none"/' %s | trainc-opt --offload | FileCheck %s --check-prefix=NONE

// The second group is fetched before the first one is updated, and one op earlier if memory has room. Small states stay resident. If a
// state is read after it was written, it is fetched after this write.
// CHECK: train.state optimizer on disk @exp_avg.w
// CHECK: train.state optimizer on disk @exp_avg.v
// CHECK: train.state optimizer @exp_avg.b
// HOST: train.state optimizer on host @exp_avg.w
// NONE: train.state optimizer @exp_avg.w
// CHECK-LABEL: train.entry @update
// CHECK: %[[OLDW:.*]] = train.get @exp_avg.w : tensor<16x1024xf32>
// CHECK-NEXT: %[[B:.*]] = train.get @exp_avg.b
// CHECK-NEXT: %[[OLDV:.*]] = train.get @exp_avg.v {plan.ahead = 1 : i64} : tensor<16x1024xf32>
// CHECK-NEXT: %[[W:.*]] = nn.kernel 1 x 16384 (%arg0 = %[[OLDW]]
// CHECK: train.set @exp_avg.w, %[[W]]
// CHECK-NEXT: %[[AGAIN:.*]] = train.get @exp_avg.w
// CHECK-NEXT: %[[V:.*]] = nn.kernel 1 x 16384 (%arg0 = %[[OLDV]]
// CHECK: train.set @exp_avg.v, %[[V]]
// CHECK-NEXT: nn.kernel 1 x 64 (%arg0 = %[[B]]
// CHECK: train.set @exp_avg.b
// CHECK: nn.kernel 1 x 16384 (%arg0 = %[[AGAIN]]
// CHECK-LABEL: train.entry @begin_step {
// CHECK-NEXT: }
train.program @main { model @m optimizer adamw(lr 0.1) batch 8 offload "optimizer" }
train.state optimizer @exp_avg.w : tensor<16x1024xf32>
train.state optimizer @exp_avg.v : tensor<16x1024xf32>
train.state optimizer @exp_avg.b : tensor<64xf32>
train.state output @sum : tensor<16x1024xf32>
train.entry @update {
  %w = train.get @exp_avg.w : tensor<16x1024xf32>
  %v = train.get @exp_avg.v : tensor<16x1024xf32>
  %b = train.get @exp_avg.b : tensor<64xf32>
  %0 = nn.kernel 1 x 16384 (%a = %w : tensor<16x1024xf32>) -> (tensor<16x1024xf32>) {
    %r = nn.square %a : tensor<16x1024xf32>
    nn.yield %r : tensor<16x1024xf32>
  }
  %1 = nn.kernel 1 x 16384 (%a = %v : tensor<16x1024xf32>) -> (tensor<16x1024xf32>) {
    %r = nn.square %a : tensor<16x1024xf32>
    nn.yield %r : tensor<16x1024xf32>
  }
  train.set @exp_avg.v, %1 : tensor<16x1024xf32>
  train.set @exp_avg.w, %0 : tensor<16x1024xf32>
  %2 = nn.kernel 1 x 64 (%a = %b : tensor<64xf32>) -> (tensor<64xf32>) {
    %r = nn.square %a : tensor<64xf32>
    nn.yield %r : tensor<64xf32>
  }
  train.set @exp_avg.b, %2 : tensor<64xf32>
  %again = train.get @exp_avg.w : tensor<16x1024xf32>
  %3 = nn.kernel 1 x 16384 (%a = %again : tensor<16x1024xf32>) -> (tensor<16x1024xf32>) {
    %r = nn.neg %a : tensor<16x1024xf32>
    nn.yield %r : tensor<16x1024xf32>
  }
  train.set @sum, %3 : tensor<16x1024xf32>
}
train.entry @begin_step {}
