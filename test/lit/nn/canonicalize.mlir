// RUN: trainc-opt %s --canonicalize | FileCheck %s

// Simplifications of elementwise and shape ops.

// CHECK-LABEL: func.func @identities(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
func.func @identities(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = nn.constant 0 : tensor<4xf32>
  %one = nn.constant 1 : tensor<4xf32>
  %a = nn.add %zero, %x : tensor<4xf32>, tensor<4xf32>
  %b = nn.sub %x, %zero : tensor<4xf32>, tensor<4xf32>
  %c = nn.mul %x, %one : tensor<4xf32>, tensor<4xf32>
  %d = nn.div %x, %one : tensor<4xf32>, tensor<4xf32>
  %e = nn.neg %x : tensor<4xf32>
  %f = nn.neg %e : tensor<4xf32>
  %g = nn.convert %x to f32 : tensor<4xf32>
  return %a, %b, %c, %d, %f, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// NaN and infinity must survive a product with zero.
// CHECK-LABEL: func.func @times_zero
// CHECK: nn.mul
func.func @times_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nn.constant 0 : tensor<4xf32>
  %a = nn.mul %x, %zero : tensor<4xf32>, tensor<4xf32>
  return %a : tensor<4xf32>
}

// CHECK-LABEL: func.func @constants
// CHECK-NEXT: %[[A:.*]] = nn.constant -7.5 : tensor<2x2xf32>
// CHECK-NEXT: return %[[A]]
func.func @constants() -> tensor<2x2xf32> {
  %two = nn.constant 2 : tensor<2xf32>
  %half = nn.constant 0.5 : tensor<2xf32>
  %a = nn.div %two, %half : tensor<2xf32>, tensor<2xf32>
  %b = nn.mul %a, %two : tensor<2xf32>, tensor<2xf32>
  %c = nn.sub %half, %b : tensor<2xf32>, tensor<2xf32>
  %d = nn.broadcast %c to [2, 2] : tensor<2xf32>
  return %d : tensor<2x2xf32>
}

// Integers are folded as such: exactly, and modulo the size of their type.
// CHECK-LABEL: func.func @integers
// CHECK-DAG: %[[SUM:.*]] = nn.constant -2147483648 : tensor<2xi32>
// CHECK-DAG: %[[PRODUCT:.*]] = nn.constant -1073741824 : tensor<2xi32>
// CHECK-DAG: %[[QUOTIENT:.*]] = nn.constant -3 : tensor<2xi32>
// CHECK-DAG: %[[BY_ZERO:.*]] = nn.constant 0 : tensor<2xi32>
// CHECK: return %[[SUM]], %[[PRODUCT]], %[[QUOTIENT]], %[[BY_ZERO]], %[[SUM]], %[[SUM]]
func.func @integers() -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %most = nn.constant 2147483647 : tensor<2xi32>
  %least = nn.constant -2147483648 : tensor<2xi32>
  %large = nn.constant 1073741824 : tensor<2xi32>
  %zero = nn.constant 0 : tensor<2xi32>
  %one = nn.constant 1 : tensor<2xi32>
  %two = nn.constant 2 : tensor<2xi32>
  %seven = nn.constant -7 : tensor<2xi32>
  %minus = nn.sub %zero, %one : tensor<2xi32>, tensor<2xi32>
  %sum = nn.add %most, %one : tensor<2xi32>, tensor<2xi32>
  %three = nn.add %one, %two : tensor<2xi32>, tensor<2xi32>
  %product = nn.mul %large, %three : tensor<2xi32>, tensor<2xi32>
  %quotient = nn.div %seven, %two : tensor<2xi32>, tensor<2xi32>
  %by_zero = nn.div %seven, %zero : tensor<2xi32>, tensor<2xi32>
  %opposite = nn.div %least, %minus : tensor<2xi32>, tensor<2xi32>
  %difference = nn.sub %minus, %most : tensor<2xi32>, tensor<2xi32>
  return %sum, %product, %quotient, %by_zero, %opposite, %difference : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}

// A number of more than 53 bits does not fit into a constant, so its computation stays.
// CHECK-LABEL: func.func @large_integers
// CHECK-DAG: nn.constant 27021597764222976 : tensor<2xi64>
// CHECK: nn.add
func.func @large_integers() -> (tensor<2xi64>, tensor<2xi64>) {
  %large = nn.constant 9007199254740992 : tensor<2xi64>
  %one = nn.constant 1 : tensor<2xi64>
  %three = nn.constant 3 : tensor<2xi64>
  %sum = nn.add %large, %one : tensor<2xi64>, tensor<2xi64>
  %product = nn.mul %large, %three : tensor<2xi64>, tensor<2xi64>
  return %sum, %product : tensor<2xi64>, tensor<2xi64>
}

// CHECK-LABEL: func.func @converted
// CHECK-NEXT: nn.constant 3 : tensor<2xf64>
func.func @converted() -> tensor<2xf64> {
  %three = nn.constant 3 : tensor<2xi32>
  %a = nn.convert %three to f64 : tensor<2xi32>
  return %a : tensor<2xf64>
}

// CHECK-LABEL: func.func @choices(
// CHECK-SAME: %{{.*}}: tensor<4xi1>, %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @choices(%c: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = nn.select %c, %x, %x : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  return %a : tensor<4xf32>
}

// CHECK-LABEL: func.func @mean
// CHECK: %[[N:.*]] = nn.constant 0.25 : tensor<3xf32>
// CHECK: %[[S:.*]] = nn.reduce sum %{{.*}} over [1] : tensor<3x4xf32>
// CHECK: %[[M:.*]] = nn.mul %[[S]], %[[N]]
// CHECK: nn.reshape %[[M]] to [3, 1]
func.func @mean(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %a = nn.reduce mean %x over [-1] keep : tensor<3x4xf32>
  return %a : tensor<3x1xf32>
}

// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: %[[X:.*]]: tensor<3x4xf32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
func.func @nothing(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %a = nn.reshape %x to [3, -1] : tensor<3x4xf32>
  %b = nn.broadcast %x to [3, 4] : tensor<3x4xf32>
  %c = nn.transpose %x by [0, 1] : tensor<3x4xf32>
  %d = nn.slice %x dim 1 from 0 size 4 : tensor<3x4xf32>
  %e = nn.pad %x dim 0 low 0 high 0 : tensor<3x4xf32>
  %f = nn.concat dim 0 %x : tensor<3x4xf32>
  %g = nn.reduce sum %x over [] : tensor<3x4xf32>
  return %a, %b, %c, %d, %e, %f, %g : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>, %[[S:.*]]: tensor<f32>)
// CHECK-DAG: %[[R:.*]] = nn.reshape %[[X]] to [4, 6]
// CHECK-DAG: %[[T:.*]] = nn.transpose %[[X]] by [2, 0, 1]
// CHECK-DAG: %[[B:.*]] = nn.broadcast %[[S]] to [2, 3]
// CHECK: return %[[R]], %[[T]], %[[B]]
func.func @twice(%x: tensor<2x3x4xf32>, %s: tensor<f32>) -> (tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<2x3xf32>) {
  %a = nn.reshape %x to [24] : tensor<2x3x4xf32>
  %b = nn.reshape %a to [4, -1] : tensor<24xf32>
  %c = nn.transpose %x by [1, 2, 0] : tensor<2x3x4xf32>
  %d = nn.transpose %c by [1, 2, 0] : tensor<3x4x2xf32>
  %e = nn.broadcast %s to [3] : tensor<f32>
  %f = nn.broadcast %e to [2, 3] : tensor<3xf32>
  return %b, %d, %f : tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<2x3xf32>
}

// A window that is as long as the sequence hides nothing, so that libraries may compute the attention. Where a limit ends is not known.
// CHECK-LABEL: func.func @wide_windows
// CHECK: nn.attention %{{.*}} heads 1 causal :
// CHECK: nn.attention %{{.*}} heads 1 causal window 4 :
// CHECK: nn.attention %{{.*}} heads 1 :
// CHECK: nn.attention %{{.*}} heads 1 window 5 limit
// CHECK: nn.attention_grad %{{.*}} heads 1 kv_heads 1 causal scale 1
func.func @wide_windows(%q: tensor<1x5x4xf32>, %limit: tensor<i32>) -> (tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>) {
  %a, %lse = nn.attention %q, %q, %q heads 1 causal window 5 : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  %b, %lse1 = nn.attention %q, %q, %q heads 1 causal window 4 : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  %c, %lse2 = nn.attention %q, %q, %q heads 1 window 5 : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  %d, %lse3 = nn.attention %q, %q, %q heads 1 window 5 limit %limit : tensor<i32> : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  %e, %f, %g = nn.attention_grad %q, %q, %q, %a, %lse, %a heads 1 kv_heads 1 causal window 9 scale 1 : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x1x5xf32>, tensor<1x5x4xf32>
  return %a, %b, %c, %d, %e : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
}

// Dropout with probability 0, or with a key of zeros, drops nothing, so that libraries may compute the attention.
// CHECK-LABEL: func.func @idle_dropout
// CHECK: nn.attention %{{.*}} heads 1 causal : tensor<1x5x4xf32>
// CHECK: nn.attention %{{.*}} heads 1 causal : tensor<1x5x4xf32>
// CHECK: nn.attention %{{.*}} heads 1 causal dropout 0.5 dropout_key
// CHECK: nn.attention_grad %{{.*}} heads 1 kv_heads 1 causal scale 1 : tensor<1x5x4xf32>
// CHECK: nn.attention_grad %{{.*}} heads 1 kv_heads 1 causal scale 1 : tensor<1x5x4xf32>
// CHECK: nn.attention_grad %{{.*}} heads 1 kv_heads 1 causal scale 1 dropout 0.5 dropout_key
func.func @idle_dropout(%q: tensor<1x5x4xf32>, %key: tensor<4xi32>) -> (tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>) {
  %zeros = nn.constant 0 : tensor<4xi32>
  %a, %lse = nn.attention %q, %q, %q heads 1 causal dropout 0 dropout_key %key : tensor<4xi32> : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  %b, %lse1 = nn.attention %q, %q, %q heads 1 causal dropout 0.5 dropout_key %zeros : tensor<4xi32> : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  %c, %lse2 = nn.attention %q, %q, %q heads 1 causal dropout 0.5 dropout_key %key : tensor<4xi32> : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  %d, %dk, %dv = nn.attention_grad %q, %q, %q, %c, %lse2, %q heads 1 kv_heads 1 causal scale 1 dropout 0 dropout_key %key : tensor<4xi32> : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x1x5xf32>, tensor<1x5x4xf32>
  %e, %ek, %ev = nn.attention_grad %q, %q, %q, %c, %lse2, %q heads 1 kv_heads 1 causal scale 1 dropout 0.5 dropout_key %zeros : tensor<4xi32> : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x1x5xf32>, tensor<1x5x4xf32>
  %f, %fk, %fv = nn.attention_grad %q, %q, %q, %c, %lse2, %q heads 1 kv_heads 1 causal scale 1 dropout 0.5 dropout_key %key : tensor<4xi32> : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x1x5xf32>, tensor<1x5x4xf32>
  return %a, %b, %c, %d, %e, %f : tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
}
