// RUN: trainc-opt --summarise-kernels --plan-memory %s | FileCheck %s

// Arenas begin as zeros. The verifier proves that init stores every offloaded parameter, so init also stores those that are zero.
// CHECK-LABEL: plan.entry @init
// CHECK-NOT: @moments
// CHECK: plan.zero <@init.0 + 0> bytes 8192
// CHECK-NEXT: plan.copy <@init.0 + 0> to <@bias + 0> bytes 8192 on disk
// CHECK-NOT: @moments
// CHECK: }
train.state parameter on disk @bias : tensor<2048xf32>
train.state optimizer on disk @moments : tensor<2048xf32>
train.entry @init {
  %zero = nn.constant 0.0 : tensor<2048xf32>
  train.set @bias, %zero : tensor<2048xf32>
  train.set @moments, %zero : tensor<2048xf32>
}
