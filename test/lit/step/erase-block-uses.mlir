// RUN: trainc-opt %s --erase-block-uses | FileCheck %s

// CHECK-LABEL: train.entry @micro_step
// CHECK-NEXT: %[[W:.*]] = train.get @w
// CHECK-NEXT: %[[X:.*]] = nn.exp %[[W]]
// CHECK-NEXT: train.set @w, %[[X]]
// CHECK-NEXT: }
train.state parameter @w : tensor<4xf32>
train.entry @micro_step {
  %w = train.get @w : tensor<4xf32>
  %x = nn.exp %w : tensor<4xf32>
  %y = nn.exp %x : tensor<4xf32>
  train.block_use <"h.0", "layer"> from %w to %x : tensor<4xf32> to tensor<4xf32>
  train.block_use <"h.1", "layer"> from %x to %y : tensor<4xf32> to tensor<4xf32>
  train.set @w, %x : tensor<4xf32>
}
