// RUN: trainc-opt %s --summarise-kernels -split-input-file -verify-diagnostics

train.program @p { model @m  optimizer sgd  batch 1  target cuda }
train.entry @micro_step {
  %x = train.input "x" micro : tensor<1x4x2000xbf16>
  // expected-error @below {{expected heads of which 16 queries and 16 keys take at most 101376 bytes of a block's memory on target cuda, found heads of 2000 and 2000 elements of 'bf16', which take}}
  %o, %lse = nn.attention %x, %x, %x heads 1 : tensor<1x4x2000xbf16>, tensor<1x4x2000xbf16>, tensor<1x4x2000xbf16>
}
