// RUN: trainc-opt %s --fuse --verify-scheduled | FileCheck %s

train.state parameter @w : tensor<64x64xf32>
train.state optimizer @m : tensor<64x64xf32>
train.state scalar to_device @lr : tensor<f32>
train.state scalar from_device @loss : tensor<f32>

// A momentum update is one kernel, after all uses of the weights, though it was written before one of them.
// CHECK-LABEL: train.entry @update
train.entry @update {
  // CHECK: %[[W:.*]] = train.get @w
  // CHECK: %[[Y:.*]] = nn.matmul
  // CHECK: %[[K:.*]]:2 = nn.kernel 1 x 4096
  // CHECK-NOT: nn.matmul %[[W]]
  // CHECK: train.set @m, %[[K]]#0
  // CHECK: train.set @w, %[[K]]#1
  %w = train.get @w : tensor<64x64xf32>
  %m = train.get @m : tensor<64x64xf32>
  %lr = train.get @lr : tensor<f32>
  %g = nn.matmul %w, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %s = nn.broadcast %lr to [64, 64] : tensor<f32>
  %m1 = nn.add %m, %g : tensor<64x64xf32>, tensor<64x64xf32>
  %d = nn.mul %m1, %s : tensor<64x64xf32>, tensor<64x64xf32>
  %w1 = nn.sub %w, %d : tensor<64x64xf32>, tensor<64x64xf32>
  train.set @m, %m1 : tensor<64x64xf32>
  train.set @w, %w1 : tensor<64x64xf32>
}

// Zero fills stay; other constants become kernels.
// CHECK-LABEL: train.entry @init
train.entry @init {
  // CHECK: %[[Z:.*]] = nn.constant 0
  // CHECK-NEXT: train.set @m, %[[Z]]
  // CHECK: %[[K:.*]] = nn.kernel 1 x 4096 ()
  // CHECK: nn.constant 1
  // CHECK: train.set @w, %[[K]]
  %z = nn.constant 0.0 : tensor<64x64xf32>
  train.set @m, %z : tensor<64x64xf32>
  %o = nn.constant 1.0 : tensor<64x64xf32>
  train.set @w, %o : tensor<64x64xf32>
}

// Bodies of loops are fused too.
// CHECK-LABEL: train.entry @chunks as micro_step
train.entry @chunks as micro_step {
  // CHECK: nn.chunks 4
  // CHECK: nn.kernel 16 x 64
  // CHECK-NOT: nn.kernel
  %w = train.get @w : tensor<64x64xf32>
  %s = nn.chunks 4 (%a = %w : tensor<64x64xf32> split 0) -> (tensor<64xf32> split 0) {
    %e = nn.exp %a : tensor<16x64xf32>
    %r = nn.reduce sum %e over [1] : tensor<16x64xf32>
    nn.yield %r : tensor<16xf32>
  }
  %n = nn.reshape %s to [64, 1] : tensor<64xf32>
  %b = nn.matmul %n transposed, %n : tensor<64x1xf32>, tensor<64x1xf32>
  %f = nn.reshape %b to [] : tensor<1x1xf32>
  train.set @loss, %f : tensor<f32>
}
