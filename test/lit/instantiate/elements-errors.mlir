// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file

// expected-error @below {{has a tensor of type 'tensor<2x3xi33>'; models compute with f32, i32, i64 and i1}}
nn.model @odd(%tokens: tensor<?x3xi33>) {
  %x = nn.embedding "e" %tokens of 8 by 4
  nn.loss "loss" %x
}
train.program @p {
  model @odd
  optimizer sgd(lr 0.1)
  schedule constant
  batch 2
}

// -----

nn.model @half(%x: tensor<?x4xf32>) {
  // expected-error @below {{has a tensor of type 'tensor<2x4xbf16>'; models compute with f32, i32, i64 and i1}}
  %h = nn.convert %x to bf16
  nn.loss "loss" %h
}
train.program @p {
  model @half
  optimizer sgd(lr 0.1)
  schedule constant
  batch 2
}
