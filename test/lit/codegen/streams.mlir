// RUN: trainc-opt %s --summarise-kernels --generate-kernels | FileCheck %s

// Streams of random numbers, whatever their names, share one code; a large number is no stream.
// CHECK-LABEL: train.entry @init
// CHECK: module @kernels
// CHECK-COUNT-1: func.func private @rows_shared_
// CHECK: call @rows_shared_{{.*}}(%arg0, %arg1, %arg2, %c5_i64)
// CHECK: call @rows_shared_{{.*}}(%arg0, %arg1, %arg2, %c1234567890123456789_i64)
// CHECK-NOT: rows_shared_
// CHECK: 1125899906842624
// CHECK-NOT: rows_shared_
train.state scalar to_device @seed : tensor<i64>
train.state parameter @a : tensor<64xf32>
train.state parameter @b : tensor<64xf32>
train.state parameter @c : tensor<64xi64>
train.entry @init {
  %s = train.get @seed : tensor<i64>
  %a = nn.kernel 1 x 64 (%t = %s : tensor<i64> at <*64>) -> (tensor<64xf32>) {
    %0 = nn.random stream 5 seed %t step %t offset %t : tensor<64xf32> : tensor<i64>, tensor<i64>, tensor<i64>
    nn.yield %0 : tensor<64xf32>
  }
  train.set @a, %a : tensor<64xf32>
  %b = nn.kernel 1 x 64 (%t = %s : tensor<i64> at <*64>) -> (tensor<64xf32>) {
    %0 = nn.random stream 1234567890123456789 seed %t step %t offset %t : tensor<64xf32> : tensor<i64>, tensor<i64>, tensor<i64>
    nn.yield %0 : tensor<64xf32>
  }
  train.set @b, %b : tensor<64xf32>
  %c = nn.kernel 1 x 64 (%t = %s : tensor<i64> at <*64>) -> (tensor<64xi64>) {
    %0 = nn.constant 1125899906842624 : tensor<64xi64>
    nn.yield %0 : tensor<64xi64>
  }
  train.set @c, %c : tensor<64xi64>
}
