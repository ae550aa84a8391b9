// RUN: trainc-opt --offload %s | FileCheck %s
// RUN: sed 's/offload "hidden_activations"/offload "activations"/' %s | trainc-opt --offload | FileCheck %s --check-prefix=ALL

// One op computes three values of 4 MiB. A copy of each takes 4 ms, and a product 10 ms. Two copies that begin together take 8 ms.
// Three would take 12 ms, so the third value stays resident, unless all activations are offloaded whose own copies are short enough.
// CHECK-COUNT-2: train.state activation on disk
// CHECK-NOT: train.state activation
// ALL-COUNT-3: train.state activation on disk
// ALL-NOT: train.state activation
train.program @main { model @m optimizer adamw(lr 0.1) batch 8 offload "hidden_activations" }
train.state scalar from_device @loss : tensor<f32>
train.state parameter @w : tensor<1024x1024xf32>
train.state gradient @dw : tensor<1024x1024xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<1024x1024xf32>
  %w = train.get @w : tensor<1024x1024xf32>
  %a, %b, %c = nn.kernel 1 x 1048576 (%p = %x : tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
    %r = nn.exp %p : tensor<1024x1024xf32>
    %s = nn.relu %p : tensor<1024x1024xf32>
    %t = nn.neg %p : tensor<1024x1024xf32>
    nn.yield %r, %s, %t : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
  }
  %z = nn.kernel 1 x 1048576 (%p = %a : tensor<1024x1024xf32>, %q = %b : tensor<1024x1024xf32>, %u = %c : tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
    %r = nn.mul %p, %q : tensor<1024x1024xf32>, tensor<1024x1024xf32>
    %s = nn.mul %r, %u : tensor<1024x1024xf32>, tensor<1024x1024xf32>
    nn.yield %s : tensor<1024x1024xf32>
  }
  %y0 = nn.matmul %z, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %y1 = nn.matmul %y0, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %y2 = nn.matmul %y1, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %loss = nn.kernel 1 x 1048576 (%p = %y2 : tensor<1024x1024xf32>) -> (tensor<f32>) {
    %r = nn.reduce sum %p over [0, 1] {nn.pattern = #nn.pattern<*1048576>} : tensor<1024x1024xf32>
    nn.yield %r : tensor<f32>
  }
  train.set @loss, %loss : tensor<f32>
  %d0 = nn.matmul %y2, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %d1 = nn.matmul %d0, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %d2 = nn.matmul %d1, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %dw = nn.kernel 1 x 1048576 (%p = %a : tensor<1024x1024xf32>, %q = %b : tensor<1024x1024xf32>, %u = %c : tensor<1024x1024xf32>, %v = %d2 : tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
    %r = nn.mul %p, %q : tensor<1024x1024xf32>, tensor<1024x1024xf32>
    %s = nn.mul %u, %v : tensor<1024x1024xf32>, tensor<1024x1024xf32>
    %t = nn.add %r, %s : tensor<1024x1024xf32>, tensor<1024x1024xf32>
    nn.yield %t : tensor<1024x1024xf32>
  }
  train.set @dw, %dw : tensor<1024x1024xf32>
}
