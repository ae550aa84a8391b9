// RUN: not trainc-check %s --kernels --bound=1e-3 2>&1 | FileCheck %s

// Kernels have no functions of 16-bit floats.
// CHECK: error: code generation: expected a function of f32 or f64 from the list in lib/Codegen/MathLowering.h
func.func @half(%x: tensor<4xf16>) -> tensor<4xf16> {
  %r = nn.exp %x : tensor<4xf16>
  return %r : tensor<4xf16>
}
