// RUN: trainc-opt --offload %s | FileCheck %s
// RUN: trainc-opt --offload --summarise-kernels --plan-memory --order-streams %s | FileCheck %s --check-prefix=PLAN
// RUN: sed 's/offload_update host/offload_update device/' %s | trainc-opt --offload | FileCheck %s --check-prefix=DEVICE

// The kernel reads and writes the moments in place. All other operands are copied to the host as soon as they are computed, and the learning rate once for
// both kernels. The new parameter reuses the spill slot of the old one.
// CHECK: train.state activation on host @[[RATE:.*]] : tensor<f32>
// CHECK-LABEL: train.entry @update
// CHECK: %[[W:.*]] = train.get @w
// CHECK-NEXT: train.set @[[PARAMETER:.*]], %[[W]]
// CHECK: %[[LR:.*]] = train.get @lr
// CHECK-NEXT: train.set @[[RATE]], %[[LR]]
// CHECK: %[[G:.*]] = nn.kernel
// CHECK: train.set @[[GRADIENT:.*]], %[[G]]
// CHECK: %[[M:.*]] = train.get @exp_avg.w
// CHECK: %[[GH:.*]] = train.get @[[GRADIENT]]
// CHECK: %[[WH:.*]] = train.get @[[PARAMETER]]
// CHECK: %[[LRH:.*]] = train.get @[[RATE]]
// CHECK-NEXT: %[[NEW:.*]]:2 = nn.kernel 32 x 1024 (%arg0 = %[[GH]] : {{.*}} %arg1 = %[[WH]] : {{.*}} %arg2 = %[[M]] : {{.*}} %arg3 = %[[LRH]] : {{.*}}plan.on_host
// CHECK: train.set @[[PARAMETER]], %[[NEW]]#1
// CHECK: train.set @exp_avg.w, %[[NEW]]#0
// CHECK: %[[BACK:.*]] = train.get @[[PARAMETER]]
// CHECK: train.set @w, %[[BACK]]
// CHECK: nn.kernel {{.*}}plan.on_host

// The new parameter is copied to its own place.
// PLAN: plan.buffer @w {{.*}} fetched <@[[ROOM:.*]] + 0> stored [#plan.operand<@[[ROOM]] + 0>]
// PLAN: plan.entry @update
// PLAN: plan.copy <@w + 0> to <@[[ROOM]] + 0> bytes 131072 on copy_out
// PLAN: plan.launch @{{.*}} [{{.*}}<@[[ROOM]] + 0>{{.*}}<@exp_avg.w + 0>{{.*}}] on host_compute
// PLAN: plan.copy <@[[ROOM]] + 0> to <@w + 0> bytes 131072 on copy_in

// DEVICE-NOT: plan.on_host
train.program @main { model @m optimizer adamw(lr 0.1) batch 8 target cuda offload "optimizer" offload_update host }
train.state parameter @w : tensor<32x1024xf32>
train.state parameter @v : tensor<16x1024xf32>
train.state optimizer @exp_avg.w : tensor<32x1024xf32>
train.state optimizer @exp_avg.v : tensor<16x1024xf32>
train.state gradient @grad.w : tensor<32x1024xf32>
train.state gradient @grad.v : tensor<16x1024xf32>
train.state scalar to_device @lr : tensor<f32>
train.entry @update {
  %w = train.get @w : tensor<32x1024xf32>
  %v = train.get @v : tensor<16x1024xf32>
  %m = train.get @exp_avg.w : tensor<32x1024xf32>
  %n = train.get @exp_avg.v : tensor<16x1024xf32>
  %sum = train.get @grad.w : tensor<32x1024xf32>
  %h = train.get @grad.v : tensor<16x1024xf32>
  %lr = train.get @lr : tensor<f32>
  %g = nn.kernel 32 x 1024 (%a = %sum : tensor<32x1024xf32>) -> (tensor<32x1024xf32>) {
    %square = nn.square %a : tensor<32x1024xf32>
    nn.yield %square : tensor<32x1024xf32>
  }
  %0:2 = nn.kernel 32 x 1024 (%a = %g : tensor<32x1024xf32>, %p = %w : tensor<32x1024xf32>, %b = %m : tensor<32x1024xf32>, %l = %lr : tensor<f32> at <*32768>) -> (tensor<32x1024xf32>, tensor<32x1024xf32>) {
    %sum1 = nn.add %a, %b : tensor<32x1024xf32>, tensor<32x1024xf32>
    %rate = nn.broadcast %l to [32, 1024] : tensor<f32>
    %step = nn.mul %sum1, %rate : tensor<32x1024xf32>, tensor<32x1024xf32>
    %new = nn.sub %p, %step : tensor<32x1024xf32>, tensor<32x1024xf32>
    nn.yield %sum1, %new : tensor<32x1024xf32>, tensor<32x1024xf32>
  }
  train.set @exp_avg.w, %0#0 : tensor<32x1024xf32>
  train.set @w, %0#1 : tensor<32x1024xf32>
  %1:2 = nn.kernel 16 x 1024 (%a = %h : tensor<16x1024xf32>, %p = %v : tensor<16x1024xf32>, %b = %n : tensor<16x1024xf32>, %l = %lr : tensor<f32> at <*16384>) -> (tensor<16x1024xf32>, tensor<16x1024xf32>) {
    %sum1 = nn.add %a, %b : tensor<16x1024xf32>, tensor<16x1024xf32>
    %rate = nn.broadcast %l to [16, 1024] : tensor<f32>
    %step = nn.mul %sum1, %rate : tensor<16x1024xf32>, tensor<16x1024xf32>
    %new = nn.sub %p, %step : tensor<16x1024xf32>, tensor<16x1024xf32>
    nn.yield %sum1, %new : tensor<16x1024xf32>, tensor<16x1024xf32>
  }
  train.set @exp_avg.v, %1#0 : tensor<16x1024xf32>
  train.set @v, %1#1 : tensor<16x1024xf32>
}
