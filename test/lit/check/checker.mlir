// The checker itself: what it must find, and bad usage.
// RUN: not trainc-check %s --reference | FileCheck %s --check-prefix=VALUES
// RUN: not trainc-check %s --gradients | FileCheck %s --check-prefix=GRADIENTS
// RUN: not trainc-check %s --decompose 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not trainc-check %s 2>&1 | FileCheck %s --check-prefix=USAGE

// VALUES: PASS @right reference max_rel_err=0.0e+00
// VALUES: FAIL @wrong reference max_rel_err=1.0e+00
// VALUES: FAIL @not_a_number reference max_rel_err=inf
// GRADIENTS: PASS @right gradients
// GRADIENTS: FAIL @no_gradient gradients max_rel_err=1.0e+00 bound=1.0e-06
// UNUSED: trainc-check: --decompose applies to no function of
// USAGE: trainc-check: name at least one of --reference, --gradients, --decompose, --kernels

func.func @right(%x: tensor<f32> {check.values = dense<2.0> : tensor<f32>}) -> (tensor<f32> {check.expect = dense<4.0> : tensor<f32>}) {
  %r = nn.square %x : tensor<f32>
  return %r : tensor<f32>
}
func.func @wrong(%x: tensor<f32> {check.values = dense<2.0> : tensor<f32>}) -> (tensor<f32> {check.expect = dense<2.0> : tensor<f32>}) {
  %r = nn.square %x : tensor<f32>
  return %r : tensor<f32>
}
func.func @not_a_number(%x: tensor<f32> {check.values = dense<-2.0> : tensor<f32>})
    -> (tensor<f32> {check.expect = dense<2.0> : tensor<f32>}) attributes {check.no_gradients = "NaN"} {
  %r = nn.sqrt %x : tensor<f32>
  return %r : tensor<f32>
}
func.func @no_gradient(%table: tensor<3x2xf32>, %ids: tensor<4xi32> {check.integers = [0, 3]}, %updates: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %r = nn.scatter_add %updates into %table at %ids : tensor<4x2xf32>, tensor<3x2xf32>, tensor<4xi32>
  return %r : tensor<3x2xf32>
}
