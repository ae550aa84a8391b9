// RUN: trainc-opt %s | trainc-opt | FileCheck %s

// A block of one thread, without memory of its own, is what is not said.
// CHECK: plan.kernel @one rows grid 4 flops 0 [#plan.param<read, f32, 64>]
plan.kernel @one rows grid 4 flops 0 [#plan.param<read, f32, 64>]
// CHECK-NEXT: plan.kernel @many gemm grid 16 threads 256 flops 8192 shared 4096 [#plan.param<write, f32, 64>]
plan.kernel @many gemm grid 16 threads 256 flops 8192 shared 4096 [#plan.param<write, f32, 64>]
// Only a part of the tensor is moved, and accesses depend on one another.
// CHECK-NEXT: plan.kernel @part scatter grid 4 flops 0 moves 16 chain 9 [#plan.param<read, f32, 64>]
plan.kernel @part scatter grid 4 flops 0 moves 16 chain 9 [#plan.param<read, f32, 64>]
// It computes besides what `flops` count.
// CHECK-NEXT: plan.kernel @rows rows grid 4 flops 0 [#plan.param<read, f32, 64>] arithmetic 320
plan.kernel @rows rows grid 4 flops 0 [#plan.param<read, f32, 64>] arithmetic 320
