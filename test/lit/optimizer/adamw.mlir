// RUN: trainc-opt %s --optimizer | FileCheck %s

// AdamW with clipping, without accumulation: all of it stands at the end of the micro-step.

train.program @p { model @m optimizer adamw(lr 1e-3, beta1 0.75, beta2 0.5, weight_decay 0.125) schedule constant clip 2.0 batch 2 }
train.state parameter @w : tensor<4x3xf32>
train.state parameter @b : tensor<3xf32>
train.state scalar from_device @loss : tensor<f32>

// CHECK: train.state scalar from_device @grad_norm : tensor<f32>
// CHECK: train.state scalar from_device @finite : tensor<f32>
// CHECK: train.state optimizer @bias_correction1 : tensor<f32>
// CHECK: train.state optimizer @bias_correction2 : tensor<f32>
// CHECK: train.state optimizer @exp_avg.w : tensor<4x3xf32>
// CHECK: train.state optimizer @exp_avg_sq.w : tensor<4x3xf32>
// CHECK: train.state scalar to_device @lr : tensor<f32>
// CHECK: train.state optimizer @exp_avg.b : tensor<3xf32>
// CHECK: train.state optimizer @exp_avg_sq.b : tensor<3xf32>

// CHECK-LABEL: train.entry @init
// CHECK: %[[Z:.*]] = nn.constant 0 : tensor<f32>
// CHECK: train.set @bias_correction1, %[[Z]]
// CHECK: train.set @exp_avg.w
// CHECK: train.set @exp_avg_sq.b

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[GW:.*]] = train.input "gw"
  %gw = train.input "gw" micro : tensor<4x3xf32>
  // CHECK: %[[GB:.*]] = train.input "gb"
  %gb = train.input "gb" micro : tensor<3xf32>
  train.gradient @w, %gw : tensor<4x3xf32>
  train.gradient @b, %gb : tensor<3xf32>
}
// The norm is that of all gradients before clipping.
// CHECK-NOT: train.gradient
// CHECK: %[[SW:.*]] = nn.square %[[GW]]
// CHECK: %[[NW:.*]] = nn.reduce sum %[[SW]] over [0, 1]
// CHECK: %[[SB:.*]] = nn.square %[[GB]]
// CHECK: %[[NB:.*]] = nn.reduce sum %[[SB]] over [0]
// CHECK: %[[N2:.*]] = nn.add %[[NW]], %[[NB]]
// CHECK: %[[NORM:.*]] = nn.sqrt %[[N2]]
// The step counts only if norm and loss are finite.
// CHECK: %[[LOSS:.*]] = train.get @loss
// CHECK: nn.abs %[[NORM]]
// CHECK: nn.compare le
// CHECK: nn.abs %[[LOSS]]
// CHECK: nn.compare le
// CHECK: %[[FINITE:.*]] = nn.select
// CHECK: train.set @grad_norm, %[[NORM]]
// CHECK: train.set @finite, %[[FINITE]]
// min(1, clip/(norm + 1e-6))
// CHECK: %[[CLIP:.*]] = nn.constant 2 : tensor<f32>
// CHECK: %[[EPS:.*]] = nn.constant 1e-06
// CHECK: %[[SUM:.*]] = nn.add %[[NORM]], %[[EPS]]
// CHECK: %[[QUOTIENT:.*]] = nn.div %[[CLIP]], %[[SUM]]
// CHECK: %[[FACTOR:.*]] = nn.min %[[QUOTIENT]]
// 1 - beta^t, advanced before it is used.
// CHECK: %[[C:.*]] = train.get @bias_correction1
// CHECK: %[[BETA:.*]] = nn.constant 0.75
// CHECK: %[[CB:.*]] = nn.mul %[[C]], %[[BETA]]
// CHECK: %[[C1:.*]] = nn.add %[[CB]]
// CHECK: %[[KEPT:.*]] = nn.select %{{.*}}, %[[C1]], %[[C]]
// CHECK: train.set @bias_correction1, %[[KEPT]]
// CHECK: train.set @bias_correction2
// CHECK: %[[INVERSE:.*]] = nn.reciprocal %[[C1]]
// CHECK: %[[ROOT:.*]] = nn.rsqrt
// The matrix is decayed.
// CHECK: %[[W:.*]] = train.get @w
// CHECK: %[[FW:.*]] = nn.broadcast %[[FACTOR]] to [4, 3]
// CHECK: %[[G:.*]] = nn.mul %[[GW]], %[[FW]]
// CHECK: %[[M:.*]] = train.get @exp_avg.w
// CHECK: %[[M1:.*]] = nn.add
// CHECK: %[[MKEPT:.*]] = nn.select %{{.*}}, %[[M1]], %[[M]]
// CHECK: train.set @exp_avg.w, %[[MKEPT]]
// CHECK: nn.square %[[G]]
// CHECK: %[[V1:.*]] = nn.add
// CHECK: train.set @exp_avg_sq.w
// CHECK: nn.sqrt %[[V1]]
// CHECK: nn.broadcast %[[ROOT]] to [4, 3]
// CHECK: nn.constant 1e-08
// CHECK: %[[DIRECTION:.*]] = nn.div %[[M1]]
// CHECK: %[[LR:.*]] = train.get @lr
// CHECK: %[[RATE:.*]] = nn.mul %[[LR]], %[[INVERSE]]
// CHECK: %[[STEP:.*]] = nn.mul %[[DIRECTION]]
// CHECK: nn.constant 0.125
// CHECK: %[[LD:.*]] = nn.mul %[[LR]]
// CHECK: %[[KEEP:.*]] = nn.sub %{{.*}}, %[[LD]]
// CHECK: nn.broadcast %[[KEEP]] to [4, 3]
// CHECK: %[[DECAYED:.*]] = nn.mul %[[W]]
// CHECK: %[[NEW:.*]] = nn.sub %[[DECAYED]], %[[STEP]]
// CHECK: %[[WKEPT:.*]] = nn.select %{{.*}}, %[[NEW]], %[[W]]
// CHECK: train.set @w, %[[WKEPT]]
// The vector is not.
// CHECK: %[[B:.*]] = train.get @b
// CHECK: train.set @exp_avg_sq.b
// CHECK: %[[BNEW:.*]] = nn.sub %[[B]], %
// CHECK: nn.select %{{.*}}, %[[BNEW]], %[[B]]
// CHECK: train.set @b
