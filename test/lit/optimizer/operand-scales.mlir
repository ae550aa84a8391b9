// RUN: trainc-opt %s --split-input-file --optimizer | FileCheck %s

// Magnitudes of what is rounded to fp8 become the scales of the next step, if the step is finite and they are.

train.program @p { model @m  optimizer sgd(lr 0.1)  schedule constant  batch 2  precision bf16 product_type fp8 }
train.state parameter @w : tensor<4xf32>
train.state optimizer @fp8_scales.values : tensor<32xf32>
train.state optimizer @fp8_amaxes.values : tensor<32xf32>

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[LARGEST:.*]] = train.input "m"
// CHECK: %[[NORM:.*]] = nn.sqrt
// CHECK: %[[ALL:.*]] = nn.reduce max %[[LARGEST]] over [0] : tensor<2xf32>
// CHECK: nn.abs %[[NORM]]
// CHECK: nn.abs %[[ALL]]
// CHECK: train.set @finite, %[[FINITE:.*]] : tensor<f32>
// CHECK: %[[HISTORY:.*]] = train.get @fp8_amaxes.values
// CHECK: %[[OLD:.*]] = train.get @fp8_scales.values
// CHECK: %[[ROWS:.*]] = nn.reshape %[[HISTORY]] to [2, 16]
// CHECK: %[[KEPT:.*]] = nn.slice %[[ROWS]] dim 1 from 1 size 15
// CHECK: %[[COLUMN:.*]] = nn.reshape %[[LARGEST]] to [2, 1]
// CHECK: %[[LATER:.*]] = nn.concat dim 1 %[[KEPT]], %[[COLUMN]]
// CHECK: %[[PEAKS:.*]] = nn.reduce max %[[LATER]] over [1]
// CHECK: %[[LIMIT:.*]] = nn.constant 448 : tensor<2xf32>
// CHECK: %[[ROOM:.*]] = nn.div %[[LIMIT]], %[[PEAKS]]
// CHECK: %[[FACTORS:.*]] = nn.power_of_two %[[ROOM]]
// CHECK: nn.min %[[FACTORS]]
// CHECK: nn.max
// CHECK: %[[SCALES:.*]] = nn.reciprocal
// CHECK: %[[NEXT:.*]] = nn.select %{{.*}}, %{{.*}}, %[[OLD]]
// CHECK: nn.select %{{.*}}, %{{.*}}, %[[HISTORY]]
// CHECK: train.set @fp8_amaxes.values
// CHECK: nn.select %{{.*}}, %[[NEXT]], %[[OLD]]
// CHECK: train.set @fp8_scales.values
// CHECK-NOT: train.magnitudes
train.entry @init {
}
train.entry @micro_step {
  %g = train.input "g" micro : tensor<4xf32>
  %m = train.input "m" micro : tensor<2xf32>
  train.gradient @w, %g : tensor<4xf32>
  train.magnitudes %m of @fp8_scales.values history @fp8_amaxes.values limit 448 : tensor<2xf32>
}

// -----

// Micro-batches share a state, which begins a step as zero; the last one's ranks agree.

// CHECK-LABEL: train.program @ranks
train.program @ranks { model @m  optimizer sgd(lr 0.1)  schedule constant  batch 2  accumulate 2  ranks 2  precision bf16 product_type fp8 }
train.state parameter @w : tensor<4xf32>
train.state optimizer @fp8_scales.values : tensor<32xf32>
train.state optimizer @fp8_amaxes.values : tensor<32xf32>
// CHECK: train.state gradient @grad.fp8_amaxes.values : tensor<2xf32>
// CHECK-LABEL: train.entry @begin_step
// CHECK: train.set @grad.fp8_amaxes.values

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[M:.*]] = train.input "m"
// CHECK: %[[BEFORE:.*]] = train.get @grad.fp8_amaxes.values
// CHECK: %[[MAX:.*]] = nn.max %[[BEFORE]], %[[M]]
// CHECK: train.set @grad.fp8_amaxes.values, %[[MAX]]
// CHECK-NOT: train.max_over_ranks

// CHECK-LABEL: train.entry @last_micro_step
// CHECK: %[[MAX:.*]] = nn.max
// CHECK: %[[AGREED:.*]] = train.max_over_ranks %[[MAX]] : tensor<2xf32>
// CHECK: nn.reduce max %[[AGREED]]
train.entry @init {
}
train.entry @begin_step {
}
train.entry @micro_step {
  %g = train.input "g" micro : tensor<4xf32>
  %m = train.input "m" micro : tensor<2xf32>
  train.gradient @w, %g : tensor<4xf32>
  train.magnitudes %m of @fp8_scales.values history @fp8_amaxes.values limit 448 : tensor<2xf32>
}
