// RUN: trainc-opt %s --summarise-kernels --generate-kernels > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir

train.program @p { model @m  optimizer sgd  batch 1  target cuda }

train.state output @columns : tensor<768xf32>
train.state output @rows : tensor<16384xf32>
train.state output @positions : tensor<1024x768xbf16>

train.entry @micro_step {
  // Rows are summed as well, so each block has all of their columns, and 512 tiles of rows leave a partial sum each.
  // CHECK: nn.kernel 16384 x 768
  // CHECK: plan.launches = [#plan.launch_spec<@[[BOTH:rows_[0-9a-f]+]](0, 2, 3)>, #plan.launch_spec<@[[FINISH:finish_[0-9a-f]+]](3, 1)>], plan.scratch = [tensor<393216xf32>]
  %x = train.input "x" micro : tensor<16384x768xbf16>
  %r, %c = nn.kernel 16384 x 768 (%a = %x : tensor<16384x768xbf16>) -> (tensor<768xf32>, tensor<16384xf32>) {
    %w = nn.convert %a to f32 : tensor<16384x768xbf16>
    %s = nn.reduce sum %w over [0] {nn.pattern = #nn.pattern<*16384, 768>} : tensor<16384x768xf32>
    %t = nn.reduce sum %w over [1] {nn.pattern = #nn.pattern<16384, *768>} : tensor<16384x768xf32>
    nn.yield %s, %t : tensor<768xf32>, tensor<16384xf32>
  }
  train.set @columns, %r : tensor<768xf32>
  train.set @rows, %c : tensor<16384xf32>

  // A block of 128 threads has 1024 columns of all rows, and stores the result.
  // CHECK: nn.kernel 16 x 786432
  // CHECK-NOT: plan.scratch
  // CHECK: plan.launches = [#plan.launch_spec<@[[ALL:rows_[0-9a-f]+]](0, 1)>]
  %y = train.input "y" micro : tensor<16x1024x768xbf16>
  %p = nn.kernel 16 x 786432 (%a = %y : tensor<16x1024x768xbf16>) -> (tensor<1024x768xbf16>) {
    %s = nn.reduce sum %a over [0] {nn.pattern = #nn.pattern<*16, 786432>} : tensor<16x1024x768xbf16>
    nn.yield %s : tensor<1024x768xbf16>
  }
  train.set @positions, %p : tensor<1024x768xbf16>
}

// CHECK-DAG: plan.kernel @[[BOTH]] rows grid 512 threads 128
// CHECK-DAG: plan.kernel @[[FINISH]] rows grid 24 threads 512
// CHECK-DAG: plan.kernel @[[ALL]] rows grid 768 threads 128

// Loops over rows carry what threads add up. It is stored after them.
// CHECK: func.func @[[BOTH]](%{{.*}}: !llvm.ptr {{.*}}, %{{.*}}: !llvm.ptr, %[[SCRATCH:.*]]: !llvm.ptr)
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>)
// CHECK-NOT: getelementptr %[[SCRATCH]]
// CHECK: scf.yield {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK-NOT: getelementptr %[[SCRATCH]]
// CHECK: scf.yield {{.*}} : vector<8xf32>
// CHECK: scf.if
// CHECK: getelementptr %[[SCRATCH]]
// CHECK: func.func @[[FINISH]]
// CHECK: func.func @[[ALL]]
// CHECK: scf.for {{.*}} step {{.*}} iter_args({{.*}}) -> (vector<8xf32>)
