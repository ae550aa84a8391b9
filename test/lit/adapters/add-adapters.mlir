// RUN: trainc-opt %s --instantiate --add-adapters | FileCheck %s

// Adapters of two layers, one of which stores its weight [in, out]; all other parameters are frozen, except the last layer's.
nn.model @mlp(%x: tensor<?x5xf32>, %y: tensor<?x2xf32>) {
  %a = nn.linear "body.fc1" %x to 3
  %b = nn.relu %a
  %c = nn.linear "body.fc2" %b to 4 no_bias layout in_out
  %p = nn.linear "head" %c to 2
  %d = nn.sub %p, %y
  %e = nn.square %d
  nn.loss "loss" %e
}
train.program @fit {
  model @mlp
  optimizer sgd(lr 0.1)
  batch 6
  lora "fc2"
  lora_rank 2
  lora_alpha 4
  lora_dropout 0.25
  lora_modules_to_save "head"
  group "*.lora_B.weight" lr_scale 16
}

// CHECK: export "adapter_config.json" {base_model_name_or_path, bias = "none", fan_in_fan_out = true, inference_mode = true
// CHECK-SAME: lora_alpha = 4 : i64, lora_dropout = 2.500000e-01 : f64, modules_to_save = ["head"], peft_type = "LORA", r = 2 : i64
// CHECK-SAME: target_modules = ["fc2"]
// CHECK: train.state parameter frozen @body.fc1.weight
// CHECK: train.state parameter frozen @body.fc1.bias
// CHECK: train.state parameter frozen @body.fc2.weight : tensor<3x4xf32>
// CHECK-NEXT: train.state parameter @body.fc2.lora_A.weight : tensor<2x3xf32>
// CHECK-NEXT: train.state parameter @body.fc2.lora_B.weight : tensor<4x2xf32>
// CHECK: train.state parameter @head.weight
// CHECK: train.state parameter @head.bias

// Uniform in [-1/sqrt(3), 1/sqrt(3)), and zeros.
// CHECK-LABEL: train.entry @init
// CHECK: %[[U:.*]] = nn.random stream {{.*}} : tensor<2x3xf32>
// CHECK: %[[WIDTH:.*]] = nn.constant 1.154700{{.*}} : tensor<2x3xf32>
// CHECK: %[[M:.*]] = nn.mul %[[U]], %[[WIDTH]]
// CHECK: %[[LOW:.*]] = nn.constant -0.577350{{.*}}
// CHECK: %[[A:.*]] = nn.add %[[M]], %[[LOW]]
// CHECK: train.set @body.fc2.lora_A.weight, %[[A]]
// CHECK: %[[ZERO:.*]] = nn.constant 0
// CHECK: train.set @body.fc2.lora_B.weight, %[[ZERO]]

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[X:.*]] = nn.relu
// CHECK: %[[W:.*]] = train.get @body.fc2.weight
// CHECK: %[[Y:.*]] = nn.matmul %[[X]], %[[W]] : tensor<6x3xf32>, tensor<3x4xf32>
// CHECK: %[[P:.*]] = nn.constant 0.25
// CHECK: %[[KEPT:.*]] = nn.compare ge %{{.*}}, %[[P]]
// CHECK: %[[F:.*]] = nn.select %[[KEPT]]
// CHECK: %[[DROPPED:.*]] = nn.mul %[[X]], %[[F]]
// CHECK: %[[A:.*]] = train.get @body.fc2.lora_A.weight
// CHECK: %[[L:.*]] = nn.matmul %[[DROPPED]], %[[A]] transposed : tensor<6x3xf32>, tensor<2x3xf32>
// CHECK: %[[S:.*]] = nn.constant 2 : tensor<6x2xf32>
// CHECK: %[[SCALED:.*]] = nn.mul %[[L]], %[[S]]
// CHECK: %[[B:.*]] = train.get @body.fc2.lora_B.weight
// CHECK: %[[D:.*]] = nn.matmul %[[SCALED]], %[[B]] transposed : tensor<6x2xf32>, tensor<4x2xf32>
// CHECK: %[[SUM:.*]] = nn.add %[[Y]], %[[D]]
// CHECK: %[[H:.*]] = train.get @head.weight
// CHECK: nn.matmul %[[SUM]], %[[H]] transposed

// Evaluation drops nothing.
// CHECK-LABEL: train.entry @eval
// CHECK-NOT: nn.random
// CHECK: train.get @body.fc2.lora_A.weight
