// RUN: trainc-opt %s --split-input-file --round-saved | FileCheck %s

train.program @p { model @m  optimizer sgd  precision bf16 }
train.state parameter @w : tensor<8x32xf32>
train.state parameter @table : tensor<16x32xbf16>
train.state scalar from_device @loss : tensor<f32>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  // Rows of a table are activations, although all but the indices is a parameter's.
  %table = train.get @table : tensor<16x32xbf16>
  %ids = train.input "ids" micro : tensor<8xi32>
  %low = nn.gather %table at %ids : tensor<16x32xbf16>, tensor<8xi32>
  // Widened values are recomputed, not kept.
  // CHECK: %[[X:.*]] = nn.convert %{{.*}} to f32 : tensor<8x32xbf16>
  %x = nn.convert %low to f32 : tensor<8x32xbf16>
  // CHECK-NEXT: %[[Y:.*]], %[[RSTD:.*]] = nn.standardize %[[X]]
  // CHECK-NEXT: %[[ROUNDED:.*]] = nn.convert %[[Y]] to bf16
  // CHECK-NEXT: %[[SAVED:.*]] = nn.convert %[[ROUNDED]] to f32
  %y, %rstd = nn.standardize %x eps 1.0e-05 : tensor<8x32xf32>
  // The forward goes on with the exact numbers.
  // CHECK-NEXT: nn.exp %[[Y]]
  %e = nn.exp %y : tensor<8x32xf32>
  %total = nn.reduce sum %e over [0, 1] : tensor<8x32xf32>
  train.set @loss, %total : tensor<f32>
  // CHECK: %[[A:.*]] = nn.mul %[[SAVED]], %[[X]]
  %a = nn.mul %y, %x : tensor<8x32xf32>, tensor<8x32xf32>
  // A statistic stays as it is.
  // CHECK: nn.reshape %[[RSTD]]
  %column = nn.reshape %rstd to [8, 1] : tensor<8xf32>
  %factor = nn.broadcast %column to [8, 32] : tensor<8x1xf32>
  %g = nn.mul %a, %factor : tensor<8x32xf32>, tensor<8x32xf32>
  train.gradient @w, %g : tensor<8x32xf32>
}

// -----

// A product to fewer columns is no statistic, and so the loss' log-sum-exp is one: it stays as it is.

train.program @p { model @m  optimizer sgd  precision bf16 }
train.state parameter @w : tensor<32x4xbf16>
train.state parameter @b : tensor<8xf32>
train.state scalar from_device @loss : tensor<f32>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x32xbf16>
  %labels = train.input "labels" micro : tensor<8xi32>
  %w = train.get @w : tensor<32x4xbf16>
  %low = nn.matmul %x, %w : tensor<8x32xbf16>, tensor<32x4xbf16>
  %logits = nn.convert %low to f32 : tensor<8x4xbf16>
  // CHECK: %{{.*}}, %[[LSE:.*]] = nn.cross_entropy
  // CHECK-NOT: nn.convert
  %nll, %lse = nn.cross_entropy %logits, %labels : tensor<8x4xf32>, tensor<8xi32>
  %total = nn.reduce sum %nll over [0] : tensor<8xf32>
  train.set @loss, %total : tensor<f32>
  // CHECK: nn.neg %[[LSE]]
  %g = nn.neg %lse : tensor<8xf32>
  train.gradient @b, %g : tensor<8xf32>
}

// -----

// The sums of a product with a parameter that is kept in f32 stay as they are, and so does the log-sum-exp of such logits.

train.program @p { model @m  optimizer sgd  precision bf16 keep_f32 "w" }
train.state parameter @w : tensor<32x4xf32>
train.state parameter @b : tensor<8xf32>
train.state scalar from_device @loss : tensor<f32>

// CHECK-LABEL: train.entry @micro_step
// CHECK-NOT: nn.convert
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x32xf32>
  %labels = train.input "labels" micro : tensor<8xi32>
  %w = train.get @w : tensor<32x4xf32>
  %logits = nn.matmul %x, %w : tensor<8x32xf32>, tensor<32x4xf32>
  %nll, %lse = nn.cross_entropy %logits, %labels : tensor<8x4xf32>, tensor<8xi32>
  %total = nn.reduce sum %nll over [0] : tensor<8xf32>
  train.set @loss, %total : tensor<f32>
  %d = nn.sub %lse, %nll : tensor<8xf32>, tensor<8xf32>
  train.gradient @b, %d : tensor<8xf32>
  // CHECK: train.gradient @w
  %s = nn.matmul %x transposed, %logits : tensor<8x32xf32>, tensor<8x4xf32>
  train.gradient @w, %s : tensor<32x4xf32>
}

// -----

// Columns are read as they are, broadcast ones, too: a loss and its gradient have the same weights.

train.program @p { model @m  optimizer sgd  precision bf16 }
train.state parameter @w : tensor<8x4xf32>
train.state scalar from_device @loss : tensor<f32>

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[ALL:.*]] = nn.broadcast
// CHECK-NOT: nn.convert %[[ALL]] to bf16
// CHECK: nn.mul %[[ALL]], %[[ALL]]
train.entry @micro_step {
  %weights = train.input "weights" micro : tensor<8x1xf32>
  %w = train.get @w : tensor<8x4xf32>
  %all = nn.broadcast %weights to [8, 4] : tensor<8x1xf32>
  %y = nn.mul %w, %all : tensor<8x4xf32>, tensor<8x4xf32>
  %total = nn.reduce sum %y over [0, 1] : tensor<8x4xf32>
  train.set @loss, %total : tensor<f32>
  %g = nn.mul %all, %all : tensor<8x4xf32>, tensor<8x4xf32>
  train.gradient @w, %g : tensor<8x4xf32>
}
