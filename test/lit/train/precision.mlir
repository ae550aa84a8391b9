// Settings of precision are printed again, and options are written over them.
// RUN: trainc compile %s --compile-to=model | FileCheck %s
// RUN: trainc compile %s --compile-to=model | trainc compile - --compile-to=model | FileCheck %s
// RUN: trainc compile %s --compile-to=model --keep-f32='head.*' --reduce-type=f32 --eval-precision=bf16 | FileCheck %s --check-prefix=OPTIONS
// RUN: not trainc compile %s --compile-to=model --param-type=fp32 2>&1 | FileCheck %s --check-prefix=BAD

// CHECK:      precision bf16
// CHECK-NEXT: param_type f32
// CHECK-NEXT: reduce_type bf16
// CHECK-NEXT: keep_f32 "*.bias,h.*"
// CHECK-NEXT: eval_precision fp32
// CHECK-NEXT: optimizer_states f32
// OPTIONS:      precision bf16
// OPTIONS-NEXT: param_type f32
// OPTIONS-NEXT: reduce_type f32
// OPTIONS-NEXT: keep_f32 "head.*"
// OPTIONS-NEXT: eval_precision bf16
// BAD: --param-type: expected f32 or bf16, found 'fp32'
nn.model @m(%x: tensor<?x20xf32>, %labels: tensor<?xi32>) {
  %h = nn.linear "h" %x to 16
  %l = nn.linear "head" %h to 10
  %nll, %lse = nn.cross_entropy %l, %labels
  nn.loss "loss" %nll
}
train.program @p {
  model @m
  optimizer adamw(lr 1e-3)
  batch 4
  precision bf16
  param_type f32
  reduce_type bf16
  keep_f32 "*.bias, h.*"
  eval_precision fp32
  optimizer_states f32
}
