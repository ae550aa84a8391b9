// RUN: trainc-opt --summarise-kernels --plan-memory %s | FileCheck %s

// Both copies should begin early, the second one by more. The arena has room for that one from the entry's begin on. The first one
// begins when %b is no longer read.
// CHECK: plan.arena @scratch bytes 24576
// CHECK-LABEL: plan.entry @update
// CHECK: plan.copy <@v + 0> to
// CHECK-NEXT: plan.launch
// CHECK-NEXT: plan.launch
// CHECK-NEXT: plan.launch
// CHECK-NEXT: plan.copy <@m + 0> to
// CHECK-NEXT: plan.launch
// CHECK-NEXT: plan.launch
train.state optimizer on disk @m : tensor<2048xf32>
train.state optimizer on disk @v : tensor<2048xf32>
train.state output @y : tensor<2048xf32>
train.entry @update {
  %x = train.input "x" micro : tensor<2048xf32>
  %a = nn.kernel 1 x 2048 (%i = %x : tensor<2048xf32>) -> (tensor<2048xf32>) {
    %r = nn.square %i : tensor<2048xf32>
    nn.yield %r : tensor<2048xf32>
  }
  %b = nn.kernel 1 x 2048 (%i = %a : tensor<2048xf32>) -> (tensor<2048xf32>) {
    %r = nn.exp %i : tensor<2048xf32>
    nn.yield %r : tensor<2048xf32>
  }
  %c = nn.kernel 1 x 2048 (%i = %a : tensor<2048xf32>, %j = %b : tensor<2048xf32>) -> (tensor<2048xf32>) {
    %r = nn.add %i, %j : tensor<2048xf32>, tensor<2048xf32>
    nn.yield %r : tensor<2048xf32>
  }
  %d = nn.kernel 1 x 2048 (%i = %c : tensor<2048xf32>) -> (tensor<2048xf32>) {
    %r = nn.square %i : tensor<2048xf32>
    nn.yield %r : tensor<2048xf32>
  }
  %m = train.get @m {plan.ahead = 5 : i64} : tensor<2048xf32>
  %v = train.get @v {plan.ahead = 5 : i64} : tensor<2048xf32>
  %e = nn.kernel 1 x 2048 (%i = %d : tensor<2048xf32>, %j = %m : tensor<2048xf32>, %k = %v : tensor<2048xf32>) -> (tensor<2048xf32>) {
    %r = nn.add %i, %j : tensor<2048xf32>, tensor<2048xf32>
    %s = nn.add %r, %k : tensor<2048xf32>, tensor<2048xf32>
    nn.yield %s : tensor<2048xf32>
  }
  train.set @y, %e : tensor<2048xf32>
}
