// RUN: trainc compile %s --compile-to=plan | FileCheck %s

// The type of the weights beside a `config.json` is that of checkpoints.
// RUN: trainc compile %s --compile-to=plan | FileCheck %s --check-prefix=TYPE -DTYPE=float32
// RUN: trainc compile %s --compile-to=plan --precision=bf16 | FileCheck %s --check-prefix=TYPE -DTYPE=float32
// RUN: trainc compile %s --compile-to=plan --precision=bf16 --param-type=bf16 | FileCheck %s --check-prefix=TYPE -DTYPE=bfloat16
// RUN: trainc compile %s --compile-to=plan --precision=bf16 --param-type=bf16 --keep-f32=l.bias | FileCheck %s --check-prefix=TYPE -DTYPE=float32
// TYPE: plan.export "b.json" "{\0A \22dtype\22: \22float32\22\0A}
// TYPE: plan.export "config.json" "{\0A
// TYPE-SAME: \22dtype\22: \22[[TYPE]]\22,\0A
// TYPE-SAME: \22name\22: \22float32\22,\0A
// TYPE-SAME: \22torch_dtype\22: \22[[TYPE]]\22\0A

// Exports become the text of JSON files. A number has no more digits than its type needs, and is not an integer's text.
// CHECK: plan.export "a.json" "{\0A
// CHECK-SAME: \22double\22: 0.1,\0A
// CHECK-SAME: \22integer\22: -7,\0A
// CHECK-SAME: \22list\22: [\0A true,\0A \22t\22\0A ],\0A
// CHECK-SAME: \22none\22: null,\0A
// CHECK-SAME: \22single\22: 0.1,\0A
// CHECK-SAME: \22small\22: 1e-05,\0A
// CHECK-SAME: \22third\22: 0.3333333333333333,\0A
// CHECK-SAME: \22unsigned\22: 18446744073709551615,\0A
// CHECK-SAME: \22whole\22: 10000.0\0A}\0A"
nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "l" %x to 2
  nn.loss "loss" %y
}
train.program @p {
  model @m optimizer sgd batch 2
  export "a.json" {
    double = 0.1, single = 0.1 : f32, small = 1.0e-5, third = 0.3333333333333333, whole = 10000.0, integer = -7,
    unsigned = 18446744073709551615 : ui64, list = [true, "t"], none
  }
  export "b.json" { dtype = "float32" }
  export "config.json" { dtype = "float32", name = "float32", torch_dtype = "float32" }
}
