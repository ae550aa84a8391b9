// RUN: trainc-opt %s --fuse | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: sed 's/target cpu/target cuda gpu "a100"/' %s | trainc-opt --fuse | FileCheck %s --check-prefixes=CHECK,A100
// RUN: sed 's/target cpu/target cuda gpu "h100-sxm"/' %s | trainc-opt --fuse | FileCheck %s --check-prefixes=CHECK,H100
// RUN: trainc-opt %s --fuse=print-traffic 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY
// RUN: sed 's/target cpu/target cuda gpu "a100"/' %s | trainc-opt --fuse=print-traffic 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY-A100

// How much arithmetic a machine does while it moves a byte, and how many bytes it moves while a kernel starts, decide what is fused.
// WHY: on CPU values of 16 ops are recomputed, and a launch is worth keeping 120000 bytes
// WHY-A100: on A100 SXM 80GB values of 27 ops are recomputed, and a launch is worth keeping 3670200 bytes
train.program @p { model @m  optimizer sgd  batch 1  target cpu }

// A table of 23 ops is read in two kernels. GPUs make it again in the second one; a CPU reads it.
// CHECK-LABEL: func.func @table
// CHECK: nn.iota
// CHECK: nn.matmul
// CPU-NOT: nn.iota
// A100: nn.iota
// H100: nn.iota
// CHECK: return
func.func @table(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %i = nn.iota 1 : tensor<64x64xi32>
  %c = nn.convert %i to f32 : tensor<64x64xi32>
  %a = nn.mul %c, %c : tensor<64x64xf32>, tensor<64x64xf32>
  %b = nn.mul %a, %a : tensor<64x64xf32>, tensor<64x64xf32>
  %t = nn.mul %b, %b : tensor<64x64xf32>, tensor<64x64xf32>
  %y = nn.mul %x, %t : tensor<64x64xf32>, tensor<64x64xf32>
  %p = nn.matmul %y, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %z = nn.mul %p, %t : tensor<64x64xf32>, tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// One of 47 ops: an H100 computes twice as many numbers as an A100 while it moves a byte.
// CHECK-LABEL: func.func @longer
// CHECK: nn.iota
// CHECK: nn.matmul
// CPU-NOT: nn.iota
// A100-NOT: nn.iota
// H100: nn.iota
// CHECK: return
func.func @longer(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %i = nn.iota 1 : tensor<64x64xi32>
  %c = nn.convert %i to f32 : tensor<64x64xi32>
  %a = nn.mul %c, %c : tensor<64x64xf32>, tensor<64x64xf32>
  %b = nn.mul %a, %a : tensor<64x64xf32>, tensor<64x64xf32>
  %d = nn.mul %b, %b : tensor<64x64xf32>, tensor<64x64xf32>
  %t = nn.mul %d, %d : tensor<64x64xf32>, tensor<64x64xf32>
  %y = nn.mul %x, %t : tensor<64x64xf32>, tensor<64x64xf32>
  %p = nn.matmul %y, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %z = nn.mul %p, %t : tensor<64x64xf32>, tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// A value of the backward could be computed early, but would be in memory until it is read. A GPU moves its megabyte in less time than the
// launch overhead of a kernel.
// CHECK-LABEL: func.func @early
// CHECK: nn.exp
// CPU-NOT: nn.sigmoid
// A100: nn.sigmoid
// H100: nn.sigmoid
// CHECK: nn.matmul
// CPU: nn.sigmoid
// CHECK: return
func.func @early(%h: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %x = nn.exp %h : tensor<512x512xf32>
  %y = nn.tanh %x : tensor<512x512xf32>
  %o = nn.matmul %y, %w : tensor<512x512xf32>, tensor<512x512xf32>
  %t = nn.sigmoid %x : tensor<512x512xf32>
  %d = nn.mul %o, %t : tensor<512x512xf32>, tensor<512x512xf32>
  return %d : tensor<512x512xf32>
}
