// RUN: trainc-opt %s --summarise-kernels | FileCheck %s

// Kernels have numbers in place of names, and no code.
train.state parameter @a : tensor<40x100xf32>
train.state parameter @b : tensor<40x100xf32>
train.state parameter @c : tensor<100xf32>

// CHECK-LABEL: train.entry @init
train.entry @init {
  // CHECK: plan.launches = [#plan.launch_spec<@"rows#0"(0, 1)>], plan.may_alias = [array<i64: 0, 0>]
  %a = train.get @a : tensor<40x100xf32>
  %0 = nn.kernel 1 x 4000 (%x = %a : tensor<40x100xf32>) -> (tensor<40x100xf32>) {
    %e = nn.exp %x : tensor<40x100xf32>
    nn.yield %e : tensor<40x100xf32>
  }
  train.set @a, %0 : tensor<40x100xf32>

  // Equal ops have one summary.
  // CHECK: plan.launches = [#plan.launch_spec<@"rows#0"(0, 1)>], plan.may_alias = [array<i64: 0, 0>]
  %b = train.get @b : tensor<40x100xf32>
  %1 = nn.kernel 1 x 4000 (%x = %b : tensor<40x100xf32>) -> (tensor<40x100xf32>) {
    %e = nn.exp %x : tensor<40x100xf32>
    nn.yield %e : tensor<40x100xf32>
  }
  train.set @b, %1 : tensor<40x100xf32>

  // CHECK: plan.launches = [#plan.launch_spec<@"rows#1"(0, 2)>, #plan.launch_spec<@"finish#2"(2, 1)>], plan.scratch = [tensor<1300xf32>]
  %x = train.input "x" micro : tensor<4000x100xf32>
  %2 = nn.kernel 4000 x 100 (%y = %x : tensor<4000x100xf32>) -> (tensor<100xf32>) {
    %s = nn.reduce sum %y over [0] {nn.pattern = #nn.pattern<*4000, 100>} : tensor<4000x100xf32>
    nn.yield %s : tensor<100xf32>
  }
  train.set @c, %2 : tensor<100xf32>
}

// CHECK: plan.kernel @"rows#0" rows grid 1 flops 0 [#plan.param<read, f32, 16000>, #plan.param<write, f32, 16000 may_alias[0]>] arithmetic 48000
// CHECK: plan.kernel @"rows#1" rows grid 13 flops 0 [#plan.param<read, f32, 1600000>, #plan.param<write, f32, 5200>] arithmetic 400000
// CHECK: plan.kernel @"finish#2" rows grid 1 flops 0 [#plan.param<read, f32, 5200>, #plan.param<write, f32, 400>]
// CHECK: module @kernels attributes {plan.target = "cpu"}
// CHECK-NEXT: func.func @source.0(%{{.*}}: tensor<40x100xf32>) -> tensor<40x100xf32> attributes {plan.kernels = [@"rows#0"]}
// CHECK-NEXT: nn.kernel 1 x 4000
// CHECK: func.func @source.1(%{{.*}}: tensor<4000x100xf32>) -> tensor<100xf32> attributes {plan.kernels = [@"rows#1", @"finish#2"]}
// CHECK-NOT: func.func
