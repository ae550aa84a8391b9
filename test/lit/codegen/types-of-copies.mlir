// RUN: trainc-opt %s --summarise-kernels --generate-kernels | FileCheck %s

// Copies of bf16 and f16 numbers have the same code, and are two kernels: a plan says the types of a kernel's operands.

train.state parameter @a : tensor<40x100xbf16>
train.state parameter @b : tensor<40x100xf16>
train.state output @x : tensor<40x10xbf16>
train.state output @y : tensor<40x10xf16>

// CHECK-LABEL: train.entry @eval
train.entry @eval {
  // CHECK: plan.launch_spec<@[[FIRST:copy_[0-9a-f]+]](0, 1)>
  %a = train.get @a : tensor<40x100xbf16>
  %x = nn.slice %a dim 1 from 0 size 10 : tensor<40x100xbf16>
  train.set @x, %x : tensor<40x10xbf16>
  // CHECK-NOT: @[[FIRST]]
  // CHECK: plan.launch_spec<@[[SECOND:copy_[0-9a-f]+]](0, 1)>
  %b = train.get @b : tensor<40x100xf16>
  %y = nn.slice %b dim 1 from 0 size 10 : tensor<40x100xf16>
  train.set @y, %y : tensor<40x10xf16>
}
// CHECK: plan.kernel @[[FIRST]] {{.*}}<read, bf16, 8000>, #plan.param<write, bf16, 800>
// CHECK: plan.kernel @[[SECOND]] {{.*}}<read, f16, 8000>, #plan.param<write, f16, 800>
