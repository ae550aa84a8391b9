// RUN: trainc-opt --summarise-kernels --plan-memory %s | FileCheck %s

// Values that an entry keeps on disk while it runs are in an arena that does not outlive the entry. The second kernel runs while a copy to
// disk is in flight and does not reuse its memory. The third kernel runs after the copy and does. Buffers name their value on disk.
// CHECK: plan.arena @persistent
// CHECK-NEXT: plan.arena @scratch
// CHECK-NEXT: plan.arena @disk_scratch in disk bytes 8192{{$}}
// CHECK: plan.buffer @saved in @disk_scratch at 0 bytes 8192 of f32 activation
// CHECK: plan.buffer @micro_step.1 in @scratch at [[PLACE:[0-9]+]] bytes 8192 of f32 activation stored [#plan.operand<@saved + 0>]
// CHECK: plan.buffer @micro_step.3 in @scratch at [[PLACE]] bytes 8192 of f32 activation{{$}}
// CHECK: plan.buffer @micro_step.4 in @scratch at {{[0-9]+}} bytes 8192 of f32 activation fetched <@saved + 0>{{$}}
// CHECK-LABEL: plan.entry @micro_step
// CHECK: plan.copy <@micro_step.1 + 0> to <@saved + 0> bytes 8192 on disk
// CHECK: plan.copy <@saved + 0> to <@micro_step.4 + 0>
train.state activation on disk @saved : tensor<2048xf32>
train.state output @y : tensor<2048xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<2048xf32>
  %a = nn.kernel 1 x 2048 (%i = %x : tensor<2048xf32>) -> (tensor<2048xf32>) {
    %r = nn.square %i : tensor<2048xf32>
    nn.yield %r : tensor<2048xf32>
  }
  train.set @saved, %a {plan.beside = 1 : i64} : tensor<2048xf32>
  %b = nn.kernel 1 x 2048 (%i = %a : tensor<2048xf32>) -> (tensor<2048xf32>) {
    %r = nn.exp %i : tensor<2048xf32>
    nn.yield %r : tensor<2048xf32>
  }
  %c = nn.kernel 1 x 2048 (%i = %b : tensor<2048xf32>) -> (tensor<2048xf32>) {
    %r = nn.square %i : tensor<2048xf32>
    nn.yield %r : tensor<2048xf32>
  }
  %again = train.get @saved : tensor<2048xf32>
  %d = nn.kernel 1 x 2048 (%i = %b : tensor<2048xf32>, %j = %c : tensor<2048xf32>, %k = %again : tensor<2048xf32>) -> (tensor<2048xf32>) {
    %r = nn.add %i, %j : tensor<2048xf32>, tensor<2048xf32>
    %s = nn.add %r, %k : tensor<2048xf32>, tensor<2048xf32>
    nn.yield %s : tensor<2048xf32>
  }
  train.set @y, %d : tensor<2048xf32>
}
