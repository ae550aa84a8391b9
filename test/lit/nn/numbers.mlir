// RUN: trainc-opt %s | FileCheck %s --check-prefix=TEXT
// RUN: trainc-opt %s | trainc-opt | FileCheck %s --check-prefix=TEXT
// RUN: trainc-opt %s --instantiate | FileCheck %s
// RUN: trainc-opt %s | trainc-opt --instantiate | FileCheck %s

// A number in place of an operand becomes a constant with the element type of the other operand.
nn.model @m(%x: tensor<?x4xf32>, %k: tensor<?x4xi32>) {
  %w = nn.linear "w" %x to 4
  %a = nn.mul %w, 0.5
  %b = nn.sub 1, %a
  %c = nn.max %b, -2e-3
  %next = nn.add %k, 1
  %seen = nn.compare le 2, %next
  %d = nn.select %seen, %c, -inf
  %e = nn.select %seen, 0, %d
  nn.loss "loss" %e
}
train.program @p { model @m optimizer sgd batch 2 }

// TEXT: nn.mul %{{.*}}, 0.5{{$}}
// TEXT: nn.sub 1, %{{[0-9]+$}}
// TEXT: nn.max %{{.*}}, -0.002{{$}}
// TEXT: nn.add %k, 1{{$}}
// TEXT: nn.compare le 2, %{{[0-9]+$}}
// TEXT: nn.select %{{.*}}, %{{.*}}, -inf{{$}}
// TEXT: nn.select %{{.*}}, 0, %{{[0-9]+$}}

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[HALF:.*]] = nn.constant 0.5 : tensor<f32>
// CHECK: %[[HALVES:.*]] = nn.broadcast %[[HALF]] to [2, 4] : tensor<f32>
// CHECK: %[[A:.*]] = nn.mul %{{.*}}, %[[HALVES]] : tensor<2x4xf32>, tensor<2x4xf32>
// CHECK: nn.constant 1 : tensor<f32>
// CHECK: nn.sub %{{.*}}, %[[A]] : tensor<2x4xf32>, tensor<2x4xf32>
// CHECK: nn.constant -0.002 : tensor<f32>
// CHECK: nn.constant 1 : tensor<i32>
// CHECK: nn.add %{{.*}}, %{{.*}} : tensor<2x4xi32>, tensor<2x4xi32>
// CHECK: nn.constant 2 : tensor<i32>
// CHECK: nn.compare le %{{.*}}, %{{.*}} : tensor<2x4xi32>, tensor<2x4xi32>
// CHECK: nn.constant -inf : tensor<f32>
// CHECK: nn.select
// CHECK: nn.constant 0 : tensor<f32>
// CHECK: nn.select
