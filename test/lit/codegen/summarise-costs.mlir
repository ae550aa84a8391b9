// RUN: trainc-opt %s --fuse --summarise-kernels | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: sed 's/target cpu/target cuda/' %s | trainc-opt --fuse --summarise-kernels | FileCheck %s --check-prefixes=CHECK,CUDA

// Kernels that access a part of a tensor state the number of bytes that move; kernels with chains of accesses state their length.
train.program @p { model @m  optimizer sgd  batch 1  target cpu }

// Eight rows of the table, the ids and the result: 2048 + 32 + 2048 bytes.
// CHECK-DAG: plan.kernel @"rows#{{.*}} flops 0 moves 4128 [#plan.param<read, f32, 256000>, #plan.param<read, i32, 32>, #plan.param<write, f32, 2048
func.func @gather(%table: tensor<1000x64xf32>, %ids: tensor<8xi32>) -> tensor<8x64xf32> {
  %rows = nn.gather %table at %ids : tensor<1000x64xf32>, tensor<8xi32>
  %twice = nn.add %rows, %rows : tensor<8x64xf32>, tensor<8x64xf32>
  return %twice : tensor<8x64xf32>
}

// Ten columns are read and written: 2 x 40000 bytes.
// CHECK-DAG: plan.kernel @"copy#{{.*}} flops 0 moves 80000 [#plan.param<read, f32, 400000>, #plan.param<write, f32, 40000
func.func @slice(%x: tensor<1000x100xf32>) -> tensor<1000x10xf32> {
  %y = nn.slice %x dim 1 from 0 size 10 : tensor<1000x100xf32>
  return %y : tensor<1000x10xf32>
}

// At most eight rows of the table are read and written. On GPUs, sums of pieces and heads of ids are moved as well. A piece is 16 times 32
// ids. Each id is read before its updates. Then a warp reads the heads 4 times, and adds to a row once for each piece and once for each id.
// CPU-DAG: plan.kernel @"scatter#{{.*}} flops 0 moves 6176 [
// CUDA-DAG: plan.kernel @"scatter_pieces#{{.*}} flops 0 moves 5152 chain 32 [
// CUDA-DAG: plan.kernel @"scatter#{{.*}} flops 0 moves 7168 chain 6 [
func.func @scatter(%table: tensor<1000x64xf32>, %ids: tensor<8xi32>, %updates: tensor<8x64xf32>) -> tensor<1000x64xf32> {
  %sum = nn.scatter_add %updates into %table at %ids : tensor<8x64xf32>, tensor<1000x64xf32>, tensor<8xi32>
  return %sum : tensor<1000x64xf32>
}
