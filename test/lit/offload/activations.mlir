// RUN: trainc-opt --offload %s | FileCheck %s
// RUN: sed 's/offload "activations"/offload "none"/' %s | trainc-opt --offload | FileCheck %s --check-prefix=NONE

// A copy of %h takes 4 ms each way, and a product 10 ms. So %h is stored during the second product, which does not reuse its memory. It is fetched
// during the last product, which needs two tensors; the product before needs four. %g is read too soon. The other entry uses the same spill slot.
// CHECK: train.state activation on disk @saved : tensor<1024x1024xf32>
// CHECK-NOT: train.state activation
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[H:.*]] = nn.matmul
// CHECK-NEXT: train.set @saved, %[[H]] {plan.beside = 2 : i64}
// CHECK-NEXT: %[[G:.*]] = nn.kernel 1 x 1048576 (%arg0 = %[[H]]
// CHECK: %[[Y:.*]] = nn.matmul %[[G]]
// CHECK: train.set @loss
// CHECK: %[[AGAIN:.*]] = train.get @saved
// CHECK-NEXT: nn.matmul %[[Y]]
// CHECK: %[[FLAT:.*]] = nn.reshape %[[AGAIN]] to [1048576]
// CHECK: nn.kernel {{.*}} = %[[FLAT]]
// CHECK-LABEL: train.entry @last_micro_step
// CHECK: train.set @saved
// CHECK: train.get @saved
// NONE-NOT: @saved
train.program @main { model @m optimizer adamw(lr 0.1) batch 8 offload "activations" }
train.state scalar from_device @loss : tensor<f32>
train.state parameter @w : tensor<1024x1024xf32>
train.state gradient @dw : tensor<1024x1024xf32>
train.state gradient @dh : tensor<1048576xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<1024x1024xf32>
  %w = train.get @w : tensor<1024x1024xf32>
  %h = nn.matmul %x, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %flat = nn.reshape %h to [1048576] : tensor<1024x1024xf32>
  %g = nn.kernel 1 x 1048576 (%a = %h : tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
    %r = nn.gelu %a : tensor<1024x1024xf32>
    nn.yield %r : tensor<1024x1024xf32>
  }
  %y = nn.matmul %g, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %loss = nn.kernel 1 x 1048576 (%a = %y : tensor<1024x1024xf32>) -> (tensor<f32>) {
    %r = nn.reduce sum %a over [0, 1] {nn.pattern = #nn.pattern<*1048576>} : tensor<1024x1024xf32>
    nn.yield %r : tensor<f32>
  }
  train.set @loss, %loss : tensor<f32>
  %e = nn.kernel 1 x 1048576 (%a = %y : tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
    %r = nn.exp %a : tensor<1024x1024xf32>
    nn.yield %r : tensor<1024x1024xf32>
  }
  %dw = nn.matmul %g transposed, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %scaled = nn.kernel 1 x 1048576 (%a = %dw : tensor<1024x1024xf32>, %b = %e : tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
    %r = nn.mul %a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>
    nn.yield %r : tensor<1024x1024xf32>
  }
  train.set @dw, %scaled : tensor<1024x1024xf32>
  %dg = nn.matmul %y, %w transposed : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %flatdg = nn.reshape %dg to [1048576] : tensor<1024x1024xf32>
  %dh = nn.kernel 1 x 1048576 (%a = %flatdg : tensor<1048576xf32>, %b = %flat : tensor<1048576xf32>) -> (tensor<1048576xf32>) {
    %r = nn.mul %a, %b : tensor<1048576xf32>, tensor<1048576xf32>
    nn.yield %r : tensor<1048576xf32>
  }
  train.set @dh, %dh : tensor<1048576xf32>
}
train.entry @last_micro_step {
  %x = train.input "x" micro : tensor<1024x1024xf32>
  %w = train.get @w : tensor<1024x1024xf32>
  %h = nn.matmul %x, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %flat = nn.reshape %h to [1048576] : tensor<1024x1024xf32>
  %g = nn.kernel 1 x 1048576 (%a = %h : tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
    %r = nn.gelu %a : tensor<1024x1024xf32>
    nn.yield %r : tensor<1024x1024xf32>
  }
  %y = nn.matmul %g, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %loss = nn.kernel 1 x 1048576 (%a = %y : tensor<1024x1024xf32>) -> (tensor<f32>) {
    %r = nn.reduce sum %a over [0, 1] {nn.pattern = #nn.pattern<*1048576>} : tensor<1024x1024xf32>
    nn.yield %r : tensor<f32>
  }
  train.set @loss, %loss : tensor<f32>
  %e = nn.kernel 1 x 1048576 (%a = %y : tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
    %r = nn.exp %a : tensor<1024x1024xf32>
    nn.yield %r : tensor<1024x1024xf32>
  }
  %dw = nn.matmul %g transposed, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %scaled = nn.kernel 1 x 1048576 (%a = %dw : tensor<1024x1024xf32>, %b = %e : tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
    %r = nn.mul %a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>
    nn.yield %r : tensor<1024x1024xf32>
  }
  train.set @dw, %scaled : tensor<1024x1024xf32>
  %dg = nn.matmul %y, %w transposed : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %flatdg = nn.reshape %dg to [1048576] : tensor<1024x1024xf32>
  %dh = nn.kernel 1 x 1048576 (%a = %flatdg : tensor<1048576xf32>, %b = %flat : tensor<1048576xf32>) -> (tensor<1048576xf32>) {
    %r = nn.mul %a, %b : tensor<1048576xf32>, tensor<1048576xf32>
    nn.yield %r : tensor<1048576xf32>
  }
  train.set @dh, %dh : tensor<1048576xf32>
}
