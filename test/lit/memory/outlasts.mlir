// RUN: trainc-opt --summarise-kernels --plan-memory %s | FileCheck %s
// RUN: sed 's/plan.outlasts = 2/plan.outlasts = 0/' %s | trainc-opt --summarise-kernels --plan-memory | FileCheck %s --check-prefix=WITHOUT

// The first op of the next micro-step computes %a, and should not wait for the moment's store. So the moment gets the other one of the two
// offsets that are free at the end. Without `plan.outlasts` it gets the lower one.
// CHECK: plan.arena @scratch bytes 16384
// CHECK: plan.buffer @micro_step.1 in @scratch at 0 bytes 8192 of f32 activation{{$}}
// CHECK: plan.buffer @micro_step.3 in @scratch at 8192 bytes 8192 of f32 activation fetched <@m + 0> stored
// WITHOUT: plan.buffer @micro_step.3 in @scratch at 0 bytes 8192 of f32 activation fetched <@m + 0> stored
train.state optimizer on disk @m : tensor<2048xf32>
train.state output @y : tensor<2048xf32>
train.entry @micro_step {
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
  train.set @y, %c : tensor<2048xf32>
  %m = train.get @m : tensor<2048xf32>
  %d = nn.kernel 1 x 2048 (%i = %m : tensor<2048xf32>) -> (tensor<2048xf32>) {
    %r = nn.square %i : tensor<2048xf32>
    nn.yield %r : tensor<2048xf32>
  }
  train.set @m, %d {plan.outlasts = 2 : i64} : tensor<2048xf32>
}
