// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file | FileCheck %s

// The program keeps its own exports beside the model's.
// CHECK: train.program @p attributes {model_checksum = {{-?[0-9]+}} : i64} {
// CHECK-DAG: export "a.json" {n = 1 : i64}
// CHECK-DAG: export "b.json" {n = 2 : i64}
nn.model @m(%x: tensor<?x4xf32>) export "a.json" {n = 1} {
  nn.loss "loss" %x
}
train.program @p { model @m optimizer sgd batch 2 export "b.json" {n = 2} }

// -----

// expected-note @below {{the model is here}}
nn.model @m(%x: tensor<?x4xf32>) export "a.json" {n = 1} {
  nn.loss "loss" %x
}
// expected-error @below {{'export "a.json"' is given by the model as well}}
train.program @p { model @m optimizer sgd batch 2 export "a.json" {n = 2} }
