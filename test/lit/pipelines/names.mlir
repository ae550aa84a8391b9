// RUN: trainc compile %s -o %t.plan && trainrun %t.plan --device=null | FileCheck %s
// RUN: trainc compile %s --compile-to=plan | FileCheck %s --check-prefix=PLAN

// Parameters may be named as blocks, models, and what a plan calls its arenas and buffers.
// CHECK: parameters: 24
// PLAN: plan.arena @persistent
// PLAN: plan.arena @scratch
// PLAN: plan.buffer @"persistent'" in @persistent
// PLAN: plan.buffer @"scratch'" in @persistent
// PLAN: plan.state "persistent" parameter @"persistent'"
// PLAN: plan.state "scratch" parameter @"scratch'"

nn.block @scale(%x: tensor<?x4xf32>) {
  %s = nn.parameter "scale" tensor<4xf32> init ones
  %y = nn.mul %x, %s
  nn.return %y
}
nn.model @m(%x: tensor<?x4xf32>) {
  %a = nn.apply @scale "" (%x)
  %p = nn.parameter "persistent" tensor<4xf32> init ones
  %b = nn.mul %a, %p
  %q = nn.parameter "scratch" tensor<4xf32> init ones
  %c = nn.mul %b, %q
  %r = nn.parameter "m" tensor<4xf32> init ones
  %d = nn.mul %c, %r
  %s = nn.parameter "input.x.micro.tensor<2x4xf32>" tensor<4xf32> init ones
  %e = nn.mul %d, %s
  %t = nn.parameter "micro_step.0" tensor<4xf32> init ones
  %f = nn.mul %e, %t
  nn.loss "loss" %f
}
train.program @p { model @m optimizer adamw batch 2 }
