// RUN: trainc-opt %s --summarise-kernels --plan-memory --split-input-file | FileCheck %s

// A gradient is added to in place; a reshape is the operand's bytes; an input is a buffer of its own.
// CHECK-DAG: plan.arena @persistent bytes 960
// CHECK-DAG: plan.buffer @g in @persistent at 0 bytes 128 of f32 gradient
// CHECK-DAG: plan.buffer @[[X:.*input.x.*]] in @persistent at {{[0-9]+}} bytes 256 of f32 input
// CHECK: plan.scalar "lr" to_device @lr : f32
train.state gradient @g : tensor<4x8xf32>
train.state scalar to_device @lr : tensor<f32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<2x8x4xf32>
  %flat = nn.reshape %x to [16, 4] : tensor<2x8x4xf32>
  %dy = train.input "dy" micro : tensor<16x8xf32>
  %g = train.get @g : tensor<4x8xf32>
  // CHECK: plan.entry @micro_step flops 1024
  // CHECK: plan.launch @"gemm_4x8x16_tn#{{.*}} [#plan.operand<@[[X]] + 0>, #plan.operand<@{{.*}}dy{{.*}} + 0>, #plan.operand<@g + 0>]
  // CHECK-NOT: plan.copy
  %n = nn.matmul %flat transposed, %dy accumulate %g : tensor<4x8xf32> : tensor<16x4xf32>, tensor<16x8xf32>
  train.set @g, %n : tensor<4x8xf32>
}

// -----

// A value that is still needed when its state is overwritten is copied first.
// CHECK-LABEL: plan.entry @update
// CHECK-NEXT: plan.copy <@s + 0> to <@[[OLD:.*]] + 0> bytes 64
// CHECK-NEXT: plan.zero <@s + 0> bytes 64
// CHECK-NEXT: plan.launch @"gemm_4x4x4_nn#{{.*}} [#plan.operand<@[[OLD]] + 0>, #plan.operand<@[[OLD]] + 0>, #plan.operand<@out + 0>]
train.state optimizer @s : tensor<4x4xf32>
train.state output @out : tensor<4x4xf32>
train.entry @update {
  %old = train.get @s : tensor<4x4xf32>
  %zero = nn.constant 0 : tensor<4x4xf32>
  train.set @s, %zero : tensor<4x4xf32>
  %p = nn.matmul %old, %old : tensor<4x4xf32>, tensor<4x4xf32>
  train.set @out, %p : tensor<4x4xf32>
}

// -----

// Zeros of init are the arena's own; elsewhere they are filled in.
// CHECK-LABEL: plan.entry @init
// CHECK-NEXT: }
// CHECK-LABEL: plan.entry @begin_step
// CHECK-NEXT: plan.zero <@s + 0> bytes 16
train.state optimizer @s : tensor<4xf32>
train.entry @init {
  %zero = nn.constant 0 : tensor<4xf32>
  train.set @s, %zero : tensor<4xf32>
}
train.entry @begin_step {
  %zero = nn.constant 0 : tensor<4xf32>
  train.set @s, %zero : tensor<4xf32>
}

// -----

// A chunk loop: slices advance, the carried sum is added to where it is wanted.
// CHECK-LABEL: plan.entry @micro_step
// CHECK: plan.zero <@out + 0> bytes 64
// CHECK: plan.loop count 2
// CHECK: plan.launch @"gemm_4x4x8_tn#{{.*}} [#plan.operand<@{{.*}}x{{.*}} + 0 loop_stride 128>, #plan.operand<@{{.*}}x{{.*}} + 0 loop_stride 128>, #plan.operand<@out + 0>]
// CHECK-NEXT: }
// CHECK-NEXT: }
train.state output @out : tensor<4x4xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<16x4xf32>
  %zero = nn.constant 0 : tensor<4x4xf32>
  %sum = nn.chunks 2 (%slice = %x : tensor<16x4xf32> split 0, %acc = %zero : tensor<4x4xf32> carried) -> (tensor<4x4xf32> carried) {
    %n = nn.matmul %slice transposed, %slice accumulate %acc : tensor<4x4xf32> : tensor<8x4xf32>, tensor<8x4xf32>
    nn.yield %n : tensor<4x4xf32>
  }
  train.set @out, %sum : tensor<4x4xf32>
}

// -----

// A loop adds to a state in place.
// CHECK-LABEL: plan.entry @micro_step
// CHECK-NOT: plan.copy
// CHECK: plan.launch @"gemm_4x4x8_tn#{{.*}} + 0 loop_stride 128>, #plan.operand<@g + 0>]
// CHECK-NOT: plan.copy
train.state gradient @g : tensor<4x4xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<16x4xf32>
  %g = train.get @g : tensor<4x4xf32>
  %sum = nn.chunks 2 (%slice = %x : tensor<16x4xf32> split 0, %acc = %g : tensor<4x4xf32> carried) -> (tensor<4x4xf32> carried) {
    %n = nn.matmul %slice transposed, %slice accumulate %acc : tensor<4x4xf32> : tensor<8x4xf32>, tensor<8x4xf32>
    nn.yield %n : tensor<4x4xf32>
  }
  %y = nn.matmul %x transposed, %x accumulate %sum : tensor<4x4xf32> : tensor<16x4xf32>, tensor<16x4xf32>
  train.set @g, %y : tensor<4x4xf32>
}

// -----

// Two values that a loop swaps: each has the other's destination, so one of them is copied aside.
// CHECK-LABEL: plan.entry @e as micro_step
// CHECK-NOT: plan.copy
// CHECK: plan.loop count 3
// CHECK-NEXT: plan.copy <@[[Y:.*]] + 0> to <@[[ASIDE:.*]] + 0> bytes 16
// CHECK-NEXT: plan.copy <@[[X:.*]] + 0> to <@[[Y]] + 0> bytes 16
// CHECK-NEXT: plan.copy <@[[ASIDE]] + 0> to <@[[X]] + 0> bytes 16
// CHECK-NEXT: }
train.state optimizer @a : tensor<2x2xf32>
train.state optimizer @b : tensor<2x2xf32>
train.entry @e as micro_step {
  %a = train.get @a : tensor<2x2xf32>
  %b = train.get @b : tensor<2x2xf32>
  %r:2 = nn.chunks 3 (%x = %a : tensor<2x2xf32> carried, %y = %b : tensor<2x2xf32> carried) -> (tensor<2x2xf32> carried, tensor<2x2xf32> carried) {
    nn.yield %y, %x : tensor<2x2xf32>, tensor<2x2xf32>
  }
  train.set @a, %r#0 : tensor<2x2xf32>
  train.set @b, %r#1 : tensor<2x2xf32>
}

// -----

// Partial results have the type of the numbers.
// CHECK-DAG: plan.buffer @[[PARTS:.*scratch]] in @scratch at 0 bytes {{[0-9]+}} of i32 workspace
// CHECK-LABEL: plan.entry @update
// CHECK: plan.launch @"rows#{{.*}} [{{.*}}, #plan.operand<@[[PARTS]] + 0>]
// CHECK: plan.launch @"finish#{{.*}} [#plan.operand<@[[PARTS]] + 0>, #plan.operand<@most + 0>]
train.state optimizer @table : tensor<4000x100xi32>
train.state output @most : tensor<100xi32>
train.entry @update {
  %x = train.get @table : tensor<4000x100xi32>
  %m = nn.kernel 4000 x 100 (%y = %x : tensor<4000x100xi32>) -> (tensor<100xi32>) {
    %r = nn.reduce max %y over [0] {nn.pattern = #nn.pattern<*4000, 100>} : tensor<4000x100xi32>
    nn.yield %r : tensor<100xi32>
  }
  train.set @most, %m : tensor<100xi32>
}

// -----

// A loop of one iteration moves nowhere.
// CHECK-LABEL: plan.entry @update
// CHECK-NEXT: plan.loop count 1
// CHECK-NEXT: plan.copy <@table + 0> to <@[[SLICE:.*]] + 0> bytes 32 "nn.yield"
// CHECK: plan.copy <@[[SLICE]] + 0> to <@moved + 0> bytes 32
train.state optimizer @table : tensor<2x4xf32>
train.state output @moved : tensor<2x4xf32>
train.entry @update {
  %x = train.get @table : tensor<2x4xf32>
  %m = nn.chunks 1 (%c = %x : tensor<2x4xf32>) -> (tensor<2x4xf32> split 0) {
    nn.yield %c : tensor<2x4xf32>
  }
  train.set @moved, %m : tensor<2x4xf32>
}
