// RUN: trainc-opt %s --summarise-kernels --generate-kernels | FileCheck %s

train.state parameter @a : tensor<40x100xf32>
train.state parameter @b : tensor<40x100xf32>
train.state parameter @c : tensor<100xf32>

// CHECK-LABEL: train.entry @init
train.entry @init {
  // A result may take the place of an input that it is read with at the same position.
  // CHECK: nn.kernel 1 x 4000
  // CHECK: plan.launches = [#plan.launch_spec<@[[EXP:rows_[0-9a-f]+]]{{.*}}plan.may_alias = [array<i64: 0, 0>]
  %a = train.get @a : tensor<40x100xf32>
  %0 = nn.kernel 1 x 4000 (%x = %a : tensor<40x100xf32>) -> (tensor<40x100xf32>) {
    %e = nn.exp %x : tensor<40x100xf32>
    nn.yield %e : tensor<40x100xf32>
  }
  train.set @a, %0 : tensor<40x100xf32>

  // Equal kernels exist once.
  // CHECK: nn.kernel 1 x 4000
  // CHECK: plan.launches = [#plan.launch_spec<@[[EXP]]
  %b = train.get @b : tensor<40x100xf32>
  %1 = nn.kernel 1 x 4000 (%x = %b : tensor<40x100xf32>) -> (tensor<40x100xf32>) {
    %e = nn.exp %x : tensor<40x100xf32>
    nn.yield %e : tensor<40x100xf32>
  }
  train.set @b, %1 : tensor<40x100xf32>

  // Few rows are one tile, which writes the sum over rows itself.
  // CHECK: nn.kernel 40 x 100
  // CHECK-NOT: plan.scratch
  // CHECK: plan.launches = [#plan.launch_spec<@rows_
  %2 = nn.kernel 40 x 100 (%x = %0 : tensor<40x100xf32>) -> (tensor<100xf32>) {
    %s = nn.reduce sum %x over [0] {nn.pattern = #nn.pattern<*40, 100>} : tensor<40x100xf32>
    nn.yield %s : tensor<100xf32>
  }
  train.set @c, %2 : tensor<100xf32>
}

// CHECK-LABEL: train.entry @eval
train.entry @eval {
  // Many rows: a scratch buffer of partial sums, and a second launch that adds them up.
  // CHECK: nn.kernel 4000 x 100
  // CHECK: plan.launches = [#plan.launch_spec<@[[PART:rows_[0-9a-f]+]]{{.*}}, #plan.launch_spec<@[[SUM:finish_[0-9a-f]+]]{{.*}}plan.scratch = [tensor<1300xf32>]
  %x = train.input "x" micro : tensor<4000x100xf32>
  %0 = nn.kernel 4000 x 100 (%a = %x : tensor<4000x100xf32>) -> (tensor<100xf32>) {
    %s = nn.reduce sum %a over [0] {nn.pattern = #nn.pattern<*4000, 100>} : tensor<4000x100xf32>
    nn.yield %s : tensor<100xf32>
  }
  train.set @c, %0 : tensor<100xf32>
}

// CHECK-LABEL: train.entry @begin_step
train.entry @begin_step {
  // Zeros around moved elements are tiles of their own.
  // CHECK: nn.pad
  // CHECK-SAME: #plan.launch_spec<@[[COPY:copy_[0-9a-f]+]](0, 1)>, #plan.launch_spec<@[[LOW:fill_[0-9a-f]+]](1)>, #plan.launch_spec<@[[HIGH:fill_[0-9a-f]+]](1)>
  %b = train.get @b : tensor<40x100xf32>
  %0 = nn.pad %b dim 0 low 1000 high 2000 : tensor<40x100xf32>
  %1 = nn.slice %0 dim 0 from 0 size 40 : tensor<3040x100xf32>
  train.set @b, %1 : tensor<40x100xf32>
}

// CHECK-LABEL: train.entry @update
train.entry @update {
  // The same elements move, to and from tensors of other sizes: two kernels.
  // CHECK: nn.pad
  // CHECK-SAME: #plan.launch_spec<@[[WIDEN:copy_[0-9a-f]+]](0, 1)>
  // CHECK: nn.slice
  // CHECK-SAME: #plan.launch_spec<@[[NARROW:copy_[0-9a-f]+]](0, 1)>
  %a = train.get @a : tensor<40x100xf32>
  %0 = nn.pad %a dim 0 low 0 high 2 : tensor<40x100xf32>
  %1 = nn.slice %0 dim 0 from 0 size 40 : tensor<42x100xf32>
  train.set @a, %1 : tensor<40x100xf32>
}

// CHECK: plan.kernel @[[EXP]] {{.*}}#plan.param<write, f32, 16000 may_alias[0]>
// CHECK: plan.kernel @[[PART]]
// CHECK: plan.kernel @[[SUM]]
// CHECK: plan.kernel @[[COPY]] {{.*}}grid 1
// CHECK: plan.kernel @[[LOW]] {{.*}}grid 4
// CHECK: plan.kernel @[[HIGH]] {{.*}}grid 7
// CHECK: plan.kernel @[[WIDEN]] {{.*}}<read, f32, 16000>, #plan.param<write, f32, 16800>
// CHECK: plan.kernel @[[NARROW]] {{.*}}<read, f32, 16800>, #plan.param<write, f32, 16000>
// CHECK: module @kernels
// CHECK: func.func @[[EXP]](%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
