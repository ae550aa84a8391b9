// RUN: trainc-opt %s -verify-diagnostics -split-input-file

// Exports are JSON files of checkpoints.

// expected-error @below {{export "x.json": expected values that JSON can represent (booleans, integers of 64 bits, finite numbers, strings in UTF-8, [...], {...} and unit), found a = dense<0> : tensor<1000000000000xi64>}}
nn.model @m(%x: tensor<?x4xf32>) export "x.json" {a = dense<0> : tensor<1000000000000xi64>} {
  nn.loss "loss" %x
}

// -----

// expected-error @below {{export "x.json": expected values that JSON can represent (booleans, integers of 64 bits, finite numbers, strings in UTF-8, [...], {...} and unit), found b = @foo}}
nn.model @m(%x: tensor<?x4xf32>) export "x.json" {b = @foo} {
  nn.loss "loss" %x
}

// -----

// expected-error @below {{export "x.json": expected values that JSON can represent (booleans, integers of 64 bits, finite numbers, strings in UTF-8, [...], {...} and unit), found c = 0x7FF0000000000000 : f64}}
nn.model @m(%x: tensor<?x4xf32>) export "x.json" {c = 0x7FF0000000000000 : f64} {
  nn.loss "loss" %x
}

// -----

// expected-error @below {{export "x.json": expected values that JSON can represent (booleans, integers of 64 bits, finite numbers, strings in UTF-8, [...], {...} and unit), found c = d = 99999999999999999999 : i256}}
nn.model @m(%x: tensor<?x4xf32>) export "x.json" {c = [1, {d = 99999999999999999999 : i256}]} {
  nn.loss "loss" %x
}

// -----

// expected-error @below {{export "x.json": expected values that JSON can represent (booleans, integers of 64 bits, finite numbers, strings in UTF-8, [...], {...} and unit), found f = f32}}
nn.model @m(%x: tensor<?x4xf32>) export "x.json" {f = f32} {
  nn.loss "loss" %x
}

// -----

// expected-error @below {{export "x.json": expected values that JSON can represent (booleans, integers of 64 bits, finite numbers, strings in UTF-8, [...], {...} and unit), found g = affine_map<(d0) -> (d0)>}}
nn.model @m(%x: tensor<?x4xf32>) export "x.json" {g = affine_map<(d0)->(d0)>} {
  nn.loss "loss" %x
}

// -----

// expected-error @below {{export "x.json": expected values that JSON can represent (booleans, integers of 64 bits, finite numbers, strings in UTF-8, [...], {...} and unit), found s = a string that is not UTF-8}}
nn.model @m(%x: tensor<?x4xf32>) export "x.json" {s = "\FF"} {
  nn.loss "loss" %x
}

// -----

// expected-error @below {{export "x.json": expected values that JSON can represent (booleans, integers of 64 bits, finite numbers, strings in UTF-8, [...], {...} and unit), found a key that is not UTF-8}}
nn.model @m(%x: tensor<?x4xf32>) export "x.json" {"\FF" = 1} {
  nn.loss "loss" %x
}

// -----

// expected-error @below {{export "x.json": expected values that JSON can represent (booleans, integers of 64 bits, finite numbers, strings in UTF-8, [...], {...} and unit), found h = 18446744073709551616 : ui65}}
nn.model @m(%x: tensor<?x4xf32>) export "x.json" {h = 18446744073709551616 : ui65} {
  nn.loss "loss" %x
}

// -----

// expected-error @below {{export: expected a plain file name of at most 255 bytes, found 300 bytes}}
train.program @p { model @m optimizer sgd export "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" {} }

// -----

// expected-error @below {{export: expected a plain file name of at most 255 bytes, found other bytes}}
train.program @p { model @m optimizer sgd export "a\FF" {} }

// -----

// expected-error @below {{found a = a number of type bf16 (write it without the type)}}
train.program @p { model @m optimizer sgd export "x.json" { a = 1.0009 : bf16 } }

// -----

// expected-error @below {{found b = a number of type f16 (write it without the type)}}
train.program @p { model @m optimizer sgd export "x.json" { b = 1.0e5 : f16 } }
