// RUN: trainc-opt %s --summarise-kernels | FileCheck %s
// RUN: trainc-opt %s --summarise-kernels --generate-kernels | FileCheck %s --check-prefix=CODE

// Blocks of 64 queries, 16 a warp; what they hold of both sides fits 48 KiB.
train.program @p { model @m  optimizer sgd  batch 1  target cuda  library_calls none }

train.state output @out : tensor<2x130x128xbf16>
train.state output @wide : tensor<2x130x128xf32>

train.entry @micro_step {
  %x = train.input "x" micro : tensor<2x130x128xbf16>
  // CHECK: nn.attention {{.*}}launch_spec<@[[LOW:"attention#[0-9]+"]]
  %o, %lse = nn.attention %x, %x, %x heads 2 causal : tensor<2x130x128xbf16>, tensor<2x130x128xbf16>, tensor<2x130x128xbf16>
  train.set @out, %o : tensor<2x130x128xbf16>
  // CHECK: nn.attention {{.*}}launch_spec<@[[WIDE:"attention#[0-9]+"]]
  %y = train.input "y" micro : tensor<2x130x128xf32>
  %p, %plse = nn.attention %y, %y, %y heads 2 causal : tensor<2x130x128xf32>, tensor<2x130x128xf32>, tensor<2x130x128xf32>
  train.set @wide, %p : tensor<2x130x128xf32>
}
// CHECK-DAG: plan.kernel @[[LOW]] attention grid 12 threads 128 flops {{[0-9]+}} shared 27648
// CHECK-DAG: plan.kernel @[[WIDE]] attention grid 12 threads 128 flops {{[0-9]+}} shared 34816

// bf16 numbers are multiplied by tensor cores, those of f32 by fused multiply-adds.
// CODE-LABEL: func.func @attention_
// CODE: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CODE: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CODE: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CODE-LABEL: func.func @attention_
// CODE-NOT: nvvm.mma.sync
// CODE: math.fma
