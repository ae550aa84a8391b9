// RUN: trainc-opt --offload --split-input-file %s | FileCheck %s

// The second kernel reads the parameter as it was before the first one. The host no longer has that.
// CHECK-LABEL: train.entry @update
// CHECK: nn.kernel {{.*}}plan.on_host
// CHECK: train.set @w
// CHECK: nn.kernel
// CHECK-NOT: plan.on_host
// CHECK: train.set @m2
train.program @main { model @m optimizer adamw(lr 0.1) batch 8 target cuda offload "optimizer,parameters" offload_update host }
train.state parameter @w : tensor<32x1024xf32>
train.state optimizer @m1 : tensor<32x1024xf32>
train.state optimizer @m2 : tensor<32x1024xf32>
train.state gradient @out : tensor<32x1024xf32>
train.entry @update {
  %w = train.get @w : tensor<32x1024xf32>
  %m = train.get @m1 : tensor<32x1024xf32>
  %n = train.get @m2 : tensor<32x1024xf32>
  %0:2 = nn.kernel 32 x 1024 (%a = %w : tensor<32x1024xf32>, %b = %m : tensor<32x1024xf32>) -> (tensor<32x1024xf32>, tensor<32x1024xf32>) {
    %s = nn.add %a, %b : tensor<32x1024xf32>, tensor<32x1024xf32>
    %t = nn.sub %a, %b : tensor<32x1024xf32>, tensor<32x1024xf32>
    nn.yield %s, %t : tensor<32x1024xf32>, tensor<32x1024xf32>
  }
  train.set @m1, %0#0 : tensor<32x1024xf32>
  train.set @w, %0#1 : tensor<32x1024xf32>
  %1 = nn.kernel 32 x 1024 (%a = %w : tensor<32x1024xf32>, %b = %n : tensor<32x1024xf32>) -> (tensor<32x1024xf32>) {
    %s = nn.add %a, %b : tensor<32x1024xf32>, tensor<32x1024xf32>
    nn.yield %s : tensor<32x1024xf32>
  }
  train.set @m2, %1 : tensor<32x1024xf32>
  %2 = nn.kernel 32 x 1024 (%a = %w : tensor<32x1024xf32>) -> (tensor<32x1024xf32>) {
    %s = nn.square %a : tensor<32x1024xf32>
    nn.yield %s : tensor<32x1024xf32>
  }
  train.set @out, %2 : tensor<32x1024xf32>
}

// -----

// Who reads the moment besides finds another one in its place.
// CHECK-LABEL: train.entry @update
// CHECK-NOT: plan.on_host
// CHECK: train.set @out
train.program @main { model @m optimizer adamw(lr 0.1) batch 8 target cuda offload "optimizer" offload_update host }
train.state optimizer @m1 : tensor<32x1024xf32>
train.state gradient @g : tensor<32x1024xf32>
train.state gradient @out : tensor<32x1024xf32>
train.entry @update {
  %g = train.get @g : tensor<32x1024xf32>
  %m = train.get @m1 : tensor<32x1024xf32>
  %0 = nn.kernel 32 x 1024 (%a = %g : tensor<32x1024xf32>, %b = %m : tensor<32x1024xf32>) -> (tensor<32x1024xf32>) {
    %s = nn.add %a, %b : tensor<32x1024xf32>, tensor<32x1024xf32>
    nn.yield %s : tensor<32x1024xf32>
  }
  train.set @m1, %0 : tensor<32x1024xf32>
  train.set @m1, %g : tensor<32x1024xf32>
  %1 = nn.kernel 32 x 1024 (%a = %0 : tensor<32x1024xf32>) -> (tensor<32x1024xf32>) {
    %s = nn.square %a : tensor<32x1024xf32>
    nn.yield %s : tensor<32x1024xf32>
  }
  train.set @out, %1 : tensor<32x1024xf32>
}
