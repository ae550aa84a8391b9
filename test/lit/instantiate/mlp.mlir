// RUN: trainc-opt %s --instantiate | FileCheck %s
// RUN: trainc-opt %s --instantiate | trainc-opt | FileCheck %s

nn.model @mlp(%features: tensor<?x4xf32>, %labels: tensor<?xi32>) export "config.json" {model_type = "mlp"} {
  %h = nn.linear "fc1" %features to 6
  %a = nn.relu %h
  %logits = nn.linear "fc2" %a to 3 layout in_out no_bias init uniform(-0.5, 0.25)
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll scale 0.5
}

// The program has all sizes, and the exports.
// CHECK-LABEL: train.program @fit attributes {model_checksum = {{-?[0-9]+}} : i64} {
// CHECK:         model @mlp
// CHECK:         batch 8
// CHECK-NEXT:    accumulate 2
// CHECK-NEXT:    eval_batch 16
// CHECK-NEXT:    eval_precision fp32
// CHECK-NEXT:    export "config.json" {model_type = "mlp"}
train.program @fit { model @mlp optimizer sgd(lr 0.1) batch 8 accumulate 2 eval_batch 16 }

// CHECK-DAG: train.state scalar to_device @lr : tensor<f32>
// CHECK-DAG: train.state scalar to_device @seed : tensor<i64>
// CHECK-DAG: train.state scalar from_device @loss : tensor<f32>
// CHECK-DAG: train.state scalar from_device @targets : tensor<f32>
// CHECK-DAG: train.state parameter @fc1.weight : tensor<6x4xf32>
// CHECK-DAG: train.state parameter @fc1.bias : tensor<6xf32>
// CHECK-DAG: train.state parameter @fc2.weight : tensor<6x3xf32>
// CHECK-NOT: @fc2.bias

// CHECK-LABEL: train.entry @init
// CHECK:         %[[NORMAL:.*]] = nn.random normal stream {{-?[0-9]+}} seed {{.*}} : tensor<6x4xf32>
// CHECK:         %[[STD:.*]] = nn.constant 0.02 : tensor<6x4xf32>
// CHECK:         %[[W1:.*]] = nn.mul %[[NORMAL]], %[[STD]]
// CHECK:         train.set @fc1.weight, %[[W1]]
// CHECK:         %[[ZERO:.*]] = nn.constant 0 : tensor<6xf32>
// CHECK:         train.set @fc1.bias, %[[ZERO]]
// CHECK:         %[[UNIFORM:.*]] = nn.random stream
// CHECK:         %[[WIDTH:.*]] = nn.constant 0.75 : tensor<6x3xf32>
// CHECK:         %[[SCALED:.*]] = nn.mul %[[UNIFORM]], %[[WIDTH]]
// CHECK:         %[[LOW:.*]] = nn.constant -0.5 : tensor<6x3xf32>
// CHECK:         %[[W2:.*]] = nn.add %[[SCALED]], %[[LOW]]
// CHECK:         train.set @fc2.weight, %[[W2]]

// The labels of both micro-batches, and nothing of the forward.
// CHECK-LABEL: train.entry @begin_step
// CHECK-NOT:     features
// CHECK-NOT:     nn.matmul
// CHECK:         train.input "labels" step limit 3 ignore -100 : tensor<16xi32>
// CHECK:         %[[TARGETS:.*]] = nn.reduce sum %{{.*}} over [0] : tensor<16xf32>
// CHECK:         train.set @targets, %[[TARGETS]]
// CHECK:         train.set @loss, %{{.*}} : tensor<f32>

// CHECK-LABEL: train.entry @micro_step
// CHECK:         %[[X:.*]] = train.input "features" micro : tensor<8x4xf32>
// CHECK:         %[[LABELS:.*]] = train.input "labels" micro limit 3 ignore -100 : tensor<8xi32>
// CHECK:         %[[W1:.*]] = train.get @fc1.weight
// CHECK:         %[[P1:.*]] = nn.matmul %[[X]], %[[W1]] transposed : tensor<8x4xf32>, tensor<6x4xf32>
// CHECK:         %[[B1:.*]] = train.get @fc1.bias
// CHECK:         %[[B1S:.*]] = nn.broadcast %[[B1]] to [8, 6]
// CHECK:         %[[H:.*]] = nn.add %[[P1]], %[[B1S]]
// CHECK:         %[[A:.*]] = nn.relu %[[H]]
// CHECK:         %[[W2:.*]] = train.get @fc2.weight
// CHECK:         %[[LOGITS:.*]] = nn.matmul %[[A]], %[[W2]] : tensor<8x6xf32>, tensor<6x3xf32>
// CHECK:         %[[NLL:.*]], %{{.*}} = nn.cross_entropy %[[LOGITS]], %[[LABELS]]
// CHECK:         %[[COUNT:.*]] = train.get @targets
// CHECK:         %[[SUM:.*]] = nn.reduce sum %[[NLL]] over [0]
// CHECK:         %[[ANY:.*]] = nn.compare gt %[[COUNT]]
// CHECK:         %[[SAFE:.*]] = nn.select %[[ANY]], %[[COUNT]]
// CHECK:         %[[MEAN:.*]] = nn.div %[[SUM]], %[[SAFE]]
// CHECK:         %[[HALF:.*]] = nn.constant 0.5 : tensor<f32>
// CHECK:         %[[SCALED:.*]] = nn.mul %[[MEAN]], %[[HALF]]
// CHECK:         %[[BEFORE:.*]] = train.get @loss
// CHECK:         %[[AFTER:.*]] = nn.add %[[BEFORE]], %[[SCALED]]
// CHECK:         train.set @loss, %[[AFTER]]
// CHECK:         train.minimize %[[SCALED]] : tensor<f32>

// CHECK-LABEL: train.entry @eval
// CHECK:         train.input "features" micro : tensor<16x4xf32>
// CHECK-NOT:     train.minimize
// CHECK:         train.set @eval_loss
// CHECK:         train.set @eval_targets

// Without tokens there is nothing to generate.
// CHECK-NOT:   train.entry
// CHECK-NOT:   nn.model
