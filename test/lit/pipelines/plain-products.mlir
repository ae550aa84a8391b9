// RUN: trainc compile %s --target=cuda --compile-to=scheduled | FileCheck %s --check-prefix=FUSED
// RUN: trainc compile %s --target=cuda --library-calls=plain --compile-to=scheduled | FileCheck %s
// RUN: trainc compile %s --target=cuda --library-calls=plain --precision=bf16 -o %t.plan
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=PLAN

// Products stay plain where the program says so: biases, activations and sums are kernels, and products and attention library calls.

// FUSED: nn.product {{.*}} bias {{.*}} activation gelu_tanh

// CHECK-LABEL: train.entry @micro_step
// CHECK-NOT: nn.product
// CHECK: nn.matmul

// PLAN-LABEL: entry micro_step
// PLAN: matrix product 32 x 64 x 32, b transposed (a {{[^ ]+}}, b {{[^ ]+}}, out result {{[^ ]+}}, out workspace
// PLAN: : attention batch 2
// PLAN-NOT: gradient of attention
// PLAN: launch attention_grad

nn.model @m(%x: tensor<?x?x32xf32>) {
  %h = nn.linear "a" %x to 64
  %g = nn.gelu %h approximate tanh
  %q = nn.linear "b" %g to 32
  %y, %lse = nn.attention %q, %q, %q heads 4 causal
  %z = nn.linear "c" %y to 8
  nn.loss "loss" %z
}
train.program @p {
  model @m
  optimizer sgd
  batch 2 x 16
}
