// RUN: trainc-opt %s --split-input-file --fuse | FileCheck %s

// Kernels read 16-bit numbers and convert them on the way: no f32 copy of them leaves a kernel.

// CHECK-LABEL: func.func @two_kernels
func.func @two_kernels(%x: tensor<64x128xbf16>, %y: tensor<128xf32>) -> (tensor<128xf32>, tensor<64xf32>) {
  // CHECK: nn.kernel 64 x 128 ({{.*}}%arg0 : tensor<64x128xbf16>{{.*}} -> (tensor<128xf32>)
  // CHECK: nn.kernel 64 x 128 ({{.*}}%arg0 : tensor<64x128xbf16>{{.*}} -> (tensor<64xf32>)
  %wide = nn.convert %x to f32 : tensor<64x128xbf16>
  %columns = nn.reduce sum %wide over [0] : tensor<64x128xf32>
  %e = nn.exp %columns : tensor<128xf32>
  %row = nn.broadcast %e to [64, 128] : tensor<128xf32>
  %product = nn.mul %wide, %row : tensor<64x128xf32>, tensor<64x128xf32>
  %rows = nn.reduce sum %product over [1] : tensor<64x128xf32>
  return %e, %rows : tensor<128xf32>, tensor<64xf32>
}

// -----

// The producer stores short numbers alone, and its own readers in f32 see them rounded.
// CHECK-LABEL: func.func @producer
func.func @producer(%x: tensor<8x16xf32>) -> (tensor<8x16xbf16>, tensor<8x16xf32>) {
  // CHECK: nn.kernel
  // CHECK: %[[SHORT:.*]] = nn.convert %{{.*}} to bf16
  // CHECK-NEXT: %[[WIDE:.*]] = nn.convert %[[SHORT]] to f32
  // CHECK-NEXT: nn.exp %[[WIDE]]
  // CHECK-NOT: nn.kernel
  %short = nn.convert %x to bf16 : tensor<8x16xf32>
  %wide = nn.convert %short to f32 : tensor<8x16xbf16>
  %e = nn.exp %wide : tensor<8x16xf32>
  return %short, %e : tensor<8x16xbf16>, tensor<8x16xf32>
}

// -----

// A product in f32 needs the copy; the kernel beside it does without.
// CHECK-LABEL: func.func @product
func.func @product(%x: tensor<8x16xf16>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  // CHECK: %[[COPY:.*]] = nn.kernel {{.*}} %arg0 : tensor<8x16xf16>) -> (tensor<8x16xf32>)
  // CHECK: %[[PRODUCT:.*]] = nn.matmul %[[COPY]], %arg1
  // CHECK: nn.kernel {{.*}} = %[[PRODUCT]] : tensor<8x16xf32>, {{.*}} = %arg0 : tensor<8x16xf16>
  %wide = nn.convert %x to f32 : tensor<8x16xf16>
  %product = nn.matmul %wide, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %e = nn.exp %product : tensor<8x16xf32>
  %r = nn.mul %e, %wide : tensor<8x16xf32>, tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// Through other views, either way round.
// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<16xbf16>, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: nn.kernel 8 x 16 (%{{.*}} = %arg0 : tensor<16xbf16> at <*8, 16>, %{{.*}} = %arg1
  // CHECK-NOT: nn.kernel
  %wide = nn.convert %x to f32 : tensor<16xbf16>
  %a = nn.broadcast %wide to [8, 16] : tensor<16xf32>
  %short = nn.broadcast %x to [8, 16] : tensor<16xbf16>
  %b = nn.convert %short to f32 : tensor<8x16xbf16>
  %s = nn.add %a, %y : tensor<8x16xf32>, tensor<8x16xf32>
  %r = nn.mul %s, %b : tensor<8x16xf32>, tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// A kernel that reads a state through a conversion stays before the state's next write.
train.state parameter @w : tensor<64x64xbf16>
train.state optimizer @m : tensor<64xf32>
// CHECK-LABEL: train.entry @update
train.entry @update {
  // CHECK: %[[W:.*]] = train.get @w
  // CHECK: %[[READ:.*]] = nn.kernel {{.*}} = %[[W]] : tensor<64x64xbf16>
  // CHECK: nn.exp
  // CHECK: train.set @w
  // CHECK: train.set @m, %[[READ]]
  %w = train.get @w : tensor<64x64xbf16>
  %wide = nn.convert %w to f32 : tensor<64x64xbf16>
  %s = nn.reduce sum %wide over [1] : tensor<64x64xf32>
  %zero = nn.constant 0.0 : tensor<64x64xbf16>
  train.set @w, %zero : tensor<64x64xbf16>
  %e = nn.exp %s : tensor<64xf32>
  train.set @m, %e : tensor<64xf32>
}

// -----

// Only the rows of the table that are read are converted to f32.
// CHECK-LABEL: func.func @table
func.func @table(%table: tensor<50x64xbf16>, %ids: tensor<7xi32>) -> tensor<7x64xf32> {
  // CHECK: nn.kernel 7 x 64 ({{.*}} = %arg0 : tensor<50x64xbf16> table
  // CHECK: %[[ROWS:.*]] = nn.gather {{.*}} : tensor<50x64xbf16>, tensor<7xi32>
  // CHECK: %[[WIDE:.*]] = nn.convert %[[ROWS]] to f32
  // CHECK: nn.exp %[[WIDE]]
  // CHECK-NOT: nn.kernel
  %wide = nn.convert %table to f32 : tensor<50x64xbf16>
  %rows = nn.gather %wide at %ids : tensor<50x64xf32>, tensor<7xi32>
  %e = nn.exp %rows : tensor<7x64xf32>
  return %e : tensor<7x64xf32>
}
