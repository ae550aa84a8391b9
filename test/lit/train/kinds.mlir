// RUN: trainc-opt %s | trainc-opt | FileCheck %s

// If the name of a state is the name of its kind, the kind is not printed; otherwise it follows `as`.

// CHECK: train.state scalar to_device @lr : tensor<f32>
train.state scalar to_device @lr : tensor<f32>
// CHECK: train.state scalar from_device @total as loss : tensor<f32>
train.state scalar from_device @total as loss : tensor<f32>
// CHECK: train.state scalar @loss : tensor<f32>
train.state scalar @loss : tensor<f32>

// CHECK: train.entry @update {
train.entry @update {}
// CHECK: train.entry @first as micro_step {
train.entry @first as micro_step {}
// CHECK: plan.entry @eval flops 4 {
plan.entry @eval as eval flops 4 {}
