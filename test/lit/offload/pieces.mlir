// RUN: trainc-opt --offload --split-input-file %s | FileCheck %s

// A group may hold 64 KiB of the 128 KiB of moments. Pieces are 16 rows of 4 KiB; a kernel reads @rows aligned to 64 bytes.
// Members are named before all pieces, so that the parameter can be updated in place.
// CHECK-LABEL: train.entry @update
// CHECK: %[[M0:.*]] = train.get @exp_avg.w : tensor<16x1024xf32>
// CHECK: %[[P:.*]] = train.get @w
// CHECK: %[[FLATG:.*]] = nn.reshape %{{.*}} to [32768]
// CHECK: %[[FLATP:.*]] = nn.reshape %[[P]] to [32768]
// CHECK: %[[G0:.*]] = dist.member %[[FLATG]] at 0 : tensor<32768xf32> -> tensor<16x1024xf32>
// CHECK-NEXT: %[[P0:.*]] = dist.member %[[FLATP]] at 0
// CHECK-NEXT: %[[ROWS0:.*]] = dist.member %{{.*}} at 0 : tensor<32xf32> -> tensor<16xf32>
// CHECK-NEXT: %[[G1:.*]] = dist.member %[[FLATG]] at 16384 : tensor<32768xf32> -> tensor<16x1024xf32>
// CHECK-NEXT: %[[P1:.*]] = dist.member %[[FLATP]] at 16384
// CHECK-NEXT: %[[ROWS1:.*]] = dist.member %{{.*}} at 16 : tensor<32xf32> -> tensor<16xf32>
// CHECK-NEXT: %[[M1:.*]] = train.get @exp_avg.w at 16384 {plan.ahead = 12 : i64} : tensor<16x1024xf32>
// CHECK-NEXT: %[[R0:.*]]:2 = nn.kernel 16 x 1024 (%arg0 = %[[G0]] : tensor<16x1024xf32>, %arg1 = %[[P0]] : tensor<16x1024xf32>, %arg2 = %[[M0]] : tensor<16x1024xf32>, %arg3 = %[[ROWS0]] : tensor<16xf32> at <16, *1024>, %arg4 = %[[LR:.*]] : tensor<f32> at <*16384>) -> (tensor<16x1024xf32>, tensor<16x1024xf32>)
// CHECK: nn.broadcast %arg4 to [16, 1024]
// CHECK: nn.reshape %arg3 to [16, 1] {nn.pattern = #nn.pattern<16, *1024>}
// CHECK: train.set @exp_avg.w, %[[R0]]#0 : tensor<16x1024xf32>
// CHECK-NEXT: %[[R1:.*]]:2 = nn.kernel 16 x 1024 (%arg0 = %[[G1]] : tensor<16x1024xf32>, %arg1 = %[[P1]] : tensor<16x1024xf32>, %arg2 = %[[M1]]
// CHECK: train.set @exp_avg.w at 16384, %[[R1]]#0 : tensor<16x1024xf32>
// CHECK-NEXT: %[[FLAT:.*]] = dist.pack %[[R0]]#1, %[[R1]]#1 at [0, 16384]
// CHECK-NEXT: %[[WHOLE:.*]] = nn.reshape %[[FLAT]] to [32, 1024]
// CHECK-NEXT: train.set @w, %[[WHOLE]]
train.program @main { model @m optimizer adamw(lr 0.1) batch 8 offload "optimizer" offload_group 65536 }
train.state parameter @w : tensor<32x1024xf32>
train.state optimizer @exp_avg.w : tensor<32x1024xf32>
train.state gradient @grad.w : tensor<32x1024xf32>
train.state scalar @rows : tensor<32xf32>
train.state scalar to_device @lr : tensor<f32>
train.entry @update {
  %g = train.get @grad.w : tensor<32x1024xf32>
  %w = train.get @w : tensor<32x1024xf32>
  %m = train.get @exp_avg.w : tensor<32x1024xf32>
  %rows = train.get @rows : tensor<32xf32>
  %lr = train.get @lr : tensor<f32>
  %0:2 = nn.kernel 32 x 1024 (%a = %g : tensor<32x1024xf32>, %p = %w : tensor<32x1024xf32>, %b = %m : tensor<32x1024xf32>, %r = %rows : tensor<32xf32> at <32, *1024>, %l = %lr : tensor<f32> at <*32768>) -> (tensor<32x1024xf32>, tensor<32x1024xf32>) {
    %sum = nn.add %a, %b : tensor<32x1024xf32>, tensor<32x1024xf32>
    %rate = nn.broadcast %l to [32, 1024] : tensor<f32>
    %step = nn.mul %sum, %rate : tensor<32x1024xf32>, tensor<32x1024xf32>
    %column = nn.reshape %r to [32, 1] {nn.pattern = #nn.pattern<32, *1024>} : tensor<32xf32>
    %each = nn.broadcast %column to [32, 1024] : tensor<32x1xf32>
    %scaled = nn.mul %step, %each : tensor<32x1024xf32>, tensor<32x1024xf32>
    %new = nn.sub %p, %scaled : tensor<32x1024xf32>, tensor<32x1024xf32>
    nn.yield %sum, %new : tensor<32x1024xf32>, tensor<32x1024xf32>
  }
  train.set @exp_avg.w, %0#0 : tensor<32x1024xf32>
  train.set @w, %0#1 : tensor<32x1024xf32>
}

// -----

// Random numbers depend on the index of their element, and a sum depends on all elements: neither kernel is cut.
// CHECK-LABEL: train.entry @update
// CHECK: nn.kernel 1 x 16384
// CHECK: nn.kernel 16 x 1024
// CHECK-NOT: dist.member
train.program @main { model @m optimizer adamw(lr 0.1) batch 8 offload "optimizer" offload_group 32768 }
train.state optimizer @exp_avg.w : tensor<16x1024xf32>
train.state optimizer @exp_avg.v : tensor<16x1024xf32>
train.state scalar @sums : tensor<1024xf32>
train.state scalar to_device @seed : tensor<i64>
train.entry @update {
  %w = train.get @exp_avg.w : tensor<16x1024xf32>
  %v = train.get @exp_avg.v : tensor<16x1024xf32>
  %seed = train.get @seed : tensor<i64>
  %0 = nn.kernel 1 x 16384 (%a = %w : tensor<16x1024xf32>, %s = %seed : tensor<i64> at <*16384>) -> (tensor<16x1024xf32>) {
    %zero = nn.constant 0 {nn.pattern = #nn.pattern<*16384>} : tensor<i64>
    %drawn = nn.random stream 5 seed %s step %zero offset %zero : tensor<16x1024xf32> : tensor<i64>, tensor<i64>, tensor<i64>
    %r = nn.add %a, %drawn : tensor<16x1024xf32>, tensor<16x1024xf32>
    nn.yield %r : tensor<16x1024xf32>
  }
  train.set @exp_avg.w, %0 : tensor<16x1024xf32>
  %1:2 = nn.kernel 16 x 1024 (%a = %v : tensor<16x1024xf32>) -> (tensor<16x1024xf32>, tensor<1024xf32>) {
    %r = nn.square %a : tensor<16x1024xf32>
    %sum = nn.reduce sum %r over [0] {nn.pattern = #nn.pattern<*16, 1024>} : tensor<16x1024xf32>
    nn.yield %r, %sum : tensor<16x1024xf32>, tensor<1024xf32>
  }
  train.set @exp_avg.v, %1#0 : tensor<16x1024xf32>
  train.set @sums, %1#1 : tensor<1024xf32>
}
