// RUN: trainc-opt %s --instantiate --add-adapters -split-input-file | FileCheck %s

// All linear layers except the last, which may have its weight from elsewhere; a table that is looked up is no linear layer.
nn.model @tied(%ids: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %ids of 7 by 4
  %y = nn.linear "h.0.fc" %x to 4
  %z = nn.linear "h.1.fc" %y to 4
  %logits = nn.linear "lm_head" %z tied "wte.weight" no_bias
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
// The square root of the rank, and a group that freezes a layer's adapter.
train.program @fit { model @tied  optimizer sgd(lr 0.1)  batch 2 x 3  lora "all-linear"  lora_rank 4  lora_rslora true  group "h.1.*" frozen }
// CHECK-LABEL: train.program @fit
// CHECK: target_modules = ["fc"], task_type, use_rslora = true
// CHECK: train.state parameter frozen @wte.weight
// CHECK: train.state parameter frozen @h.0.fc.weight
// CHECK-NEXT: train.state parameter @h.0.fc.lora_A.weight
// CHECK-NEXT: train.state parameter @h.0.fc.lora_B.weight
// CHECK: train.state parameter frozen @h.1.fc.weight
// CHECK-NEXT: train.state parameter frozen @h.1.fc.lora_A.weight
// CHECK: nn.constant 4 : tensor<2x3x4xf32>

// -----

// Whole paths where another parameter ends alike, and a group that trains the biases of the model.
nn.model @two(%x: tensor<?x4xf32>) {
  %a = nn.linear "one.fc" %x to 4
  %b = nn.linear "two.fc" %a to 4
  %c = nn.linear "head" %b to 1
  nn.loss "loss" %c
}
train.program @paths { model @two  optimizer sgd(lr 0.1)  batch 2  lora "one.*"  group "*.bias" trained }
// CHECK-LABEL: train.program @paths
// CHECK: target_modules = ["one.fc"]
// CHECK: train.state parameter @one.fc.bias
// CHECK: train.state parameter frozen @two.fc.weight
// CHECK-NEXT: train.state parameter @two.fc.bias

// -----

// Each use of a shared layer drops inputs of its own.
nn.model @shared(%x: tensor<?x4xf32>) {
  %w = nn.parameter "w.weight" tensor<4x4xf32>
  %a = nn.matmul %x, %w transposed
  %b = nn.matmul %a, %w transposed
  %c = nn.linear "head" %b to 1
  nn.loss "loss" %c
}
train.program @twice { model @shared  optimizer sgd(lr 0.1)  batch 2  lora "w"  lora_dropout 0.5 }
// CHECK-LABEL: train.program @twice
// CHECK-LABEL: train.entry @micro_step
// CHECK: nn.random stream [[ONE:[-0-9]+]] seed
// CHECK-NOT: stream [[ONE]] seed
// CHECK: nn.random stream {{[-0-9]+}} seed
// CHECK: train.minimize

// -----

// Groups that freeze the whole base model leave the adapter to train.
nn.model @mlp(%x: tensor<?x4xf32>) {
  %a = nn.linear "fc" %x to 1
  nn.loss "loss" %a
}
train.program @frozen { model @mlp  optimizer sgd(lr 0.1)  batch 2  lora "fc"  group "*" frozen  group "*.lora_*" trained }
// CHECK-LABEL: train.program @frozen
// CHECK-NOT: no_training
// CHECK: train.state parameter frozen @fc.weight
// CHECK-NEXT: train.state parameter @fc.lora_A.weight
// CHECK-NEXT: train.state parameter @fc.lora_B.weight
