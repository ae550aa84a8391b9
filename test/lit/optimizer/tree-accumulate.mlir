// RUN: trainc-opt %s --autodiff --optimizer --tree-accumulate | FileCheck %s
// RUN: sed 's/accumulate 4/accumulate 2/' %s | trainc-opt --autodiff --optimizer --tree-accumulate | FileCheck %s --check-prefix=TWO
// RUN: sed 's/accumulate 4//' %s | trainc-opt --autodiff --optimizer --tree-accumulate | FileCheck %s --check-prefix=ONE
// RUN: sed 's/reproducible ranks/reproducible plan/' %s | trainc-opt --autodiff --optimizer --tree-accumulate | FileCheck %s --check-prefix=PLAIN

// Sums over four micro-batches become binary counters: (0 + 1) + (2 + 3).

train.program @p {
  model @m
  optimizer sgd(lr 0.1)
  batch 2
  reproducible ranks
  accumulate 4
}
train.state parameter @w : tensor<4x3xf32>
train.state scalar from_device @loss : tensor<f32>

// CHECK-DAG: train.state gradient @grad.w : tensor<4x3xf32>
// CHECK-DAG: train.state gradient @partial.0.grad.w : tensor<4x3xf32>
// CHECK-DAG: train.state scalar @partial.0.loss : tensor<f32>
// CHECK-NOT: @partial.1

// CHECK-LABEL: train.entry @begin_step
// CHECK: train.set @loss
// CHECK: train.set @grad.w
// CHECK: train.set @partial.0.loss
// CHECK: train.set @partial.0.grad.w
train.entry @begin_step {
  %zero = nn.constant 0 : tensor<f32>
  train.set @loss, %zero : tensor<f32>
}

// The micro-batch completes a run of two, or of four, where that many divide its number plus one.
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[MICRO:.*]] = train.get @micro : tensor<i64>
// CHECK: %[[COUNT:.*]] = nn.add %[[MICRO]]
// CHECK: %[[SIZE:.*]] = nn.constant 2 : tensor<i64>
// CHECK: %[[HALF:.*]] = nn.div %[[COUNT]], %[[SIZE]]
// CHECK: %[[EVEN:.*]] = nn.mul %[[HALF]], %[[SIZE]]
// CHECK: %[[REST:.*]] = nn.sub %[[COUNT]], %[[EVEN]]
// CHECK: %[[BY2:.*]] = nn.compare eq %[[REST]]
// CHECK: nn.constant 4 : tensor<i64>
// CHECK: %[[BY4:.*]] = nn.compare eq

// CHECK: %[[L0:.*]] = train.get @partial.0.loss
// CHECK: %[[L1:.*]] = train.get @loss
// CHECK-NOT: train.set
// CHECK: nn.add %[[L0]]
// CHECK: train.set @partial.0.loss
// CHECK: train.set @loss

// CHECK: %[[G:.*]] = nn.matmul %{{.*}} transposed
// CHECK-NEXT: %[[G0:.*]] = train.get @partial.0.grad.w
// CHECK-NEXT: %[[G1:.*]] = train.get @grad.w
// CHECK-NEXT: %[[PAIR:.*]] = nn.add %[[G0]], %[[G]]
// CHECK-NEXT: %[[IS2:.*]] = nn.broadcast %[[BY2]] to [4, 3] : tensor<i1>
// CHECK-NEXT: %[[NEXT0:.*]] = nn.select %[[IS2]], %[[G0]], %[[G]]
// CHECK-NEXT: train.set @partial.0.grad.w, %[[NEXT0]]
// CHECK-NEXT: %[[ALL:.*]] = nn.add %[[G1]], %[[PAIR]]
// CHECK-NEXT: %[[IS2:.*]] = nn.broadcast %[[BY2]] to [4, 3] : tensor<i1>
// CHECK-NEXT: %[[WAITING:.*]] = nn.select %[[IS2]], %[[PAIR]], %[[G1]]
// CHECK-NEXT: %[[IS4:.*]] = nn.broadcast %[[BY4]] to [4, 3] : tensor<i1>
// CHECK-NEXT: %[[NEXT1:.*]] = nn.select %[[IS4]], %[[ALL]], %[[WAITING]]
// CHECK-NEXT: train.set @grad.w, %[[NEXT1]]

// With two micro-batches, the state itself holds the first one's gradient.
// TWO-NOT: @partial
// TWO-LABEL: train.entry @micro_step
// TWO: %[[G:.*]] = nn.matmul %{{.*}} transposed
// TWO-NEXT: %[[OLD:.*]] = train.get @grad.w
// TWO-NEXT: %[[SUM:.*]] = nn.add %[[OLD]], %[[G]]
// TWO: %[[NEXT:.*]] = nn.select %{{.*}}, %[[SUM]], %[[G]]
// TWO-NEXT: train.set @grad.w, %[[NEXT]]

// One alone is the sum.
// ONE-LABEL: train.entry @micro_step
// ONE-NOT: train.get @loss
// ONE-NOT: nn.add
// ONE: train.set @loss

// PLAIN-NOT: @partial
train.entry @micro_step {
  %x = train.input "x" micro : tensor<2x4xf32>
  %w = train.get @w : tensor<4x3xf32>
  %y = nn.matmul %x, %w : tensor<2x4xf32>, tensor<4x3xf32>
  %l = nn.reduce sum %y over [0, 1] : tensor<2x3xf32>
  %old = train.get @loss : tensor<f32>
  %loss = nn.add %old, %l : tensor<f32>, tensor<f32>
  train.set @loss, %loss : tensor<f32>
  train.minimize %l : tensor<f32>
}
