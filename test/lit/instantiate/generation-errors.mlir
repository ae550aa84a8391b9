// RUN: trainc-opt %s --instantiate -split-input-file -verify-diagnostics | FileCheck %s

// A model with tokens and logits can generate, unless positions depend on each other in a way that `decode`, which computes one
// position at a time, cannot reproduce. Then a remark gives the reason, and training does not change.

// Attention to later tokens.

// CHECK:     train.program @p attributes {likelihood, model_checksum = {{-?[0-9]+}} : i64, no_generation = "{{.*}}:[[#@LINE+6]]: 'nn.attention' op is not causal, which generation needs"}
// CHECK-NOT: @prefill
// CHECK-NOT: @position
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  // expected-remark @+1 {{this plan cannot generate text (it gets no prefill and decode): 'nn.attention' op is not causal, which generation needs}}
  %a, %l = nn.attention %x, %x, %x heads 2
  %logits = nn.linear "head" %a to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }

// -----

// Attention by hand: decode would see no other position than its own.

// CHECK-LABEL: train.program @by_hand attributes
// CHECK-NOT:   @decode
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  // expected-remark @+1 {{positions of a sequence are combined here; in a model that generates text only causal nn.attention and nn.positions along the sequence may do that}}
  %s = nn.matmul %x, %x transposed
  %p = nn.softmax %s
  %a = nn.matmul %p, %x
  %logits = nn.linear "head" %a to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @by_hand { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }

// -----

// A softmax over positions instead of features.

nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %t = nn.transpose %x by [0, 2, 1]
  // expected-remark @+1 {{positions of a sequence are combined here}}
  %s = nn.softmax %t
  %y = nn.transpose %s by [0, 2, 1]
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @transposed { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 5 }

// -----

// The mean of a whole sequence at each of its positions.

nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  // expected-remark @+1 {{positions of a sequence are combined here}}
  %mean = nn.reduce mean %x over [1] keep
  %y = nn.add %x, %mean
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @pooled { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }

// -----

// A parameter of the sequence's length.

nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %wpe = nn.parameter "wpe" tensor<4x8xf32>
  // expected-remark @+1 {{this plan cannot generate text (it gets no prefill and decode): 'nn.add' op operands 'tensor<1x2x8xf32>', 'tensor<4x8xf32>' have no common shape: dimension 1 is 2 in one and 4 in another}}
  %y = nn.add %x, %wpe
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @fixed_length { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }

// -----

// A parameter of two positions: a single one would broadcast to both.

nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %wpe = nn.parameter "wpe" tensor<2x8xf32>
  // expected-remark @+1 {{this plan cannot generate text (it gets no prefill and decode): for another sequence length, this computation differs}}
  %y = nn.add %x, %wpe
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %other = nn.linear "other" %x to 10
  %nll, %lse = nn.cross_entropy %other, %labels
  nn.loss "loss" %nll
}
train.program @two_positions { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 2 }

// -----

// A batch of two in the text.

nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  // expected-remark @+1 {{nn.reshape: x, 'tensor<1x4x8xf32>', has 32 elements, which do not fit the shape [2, 4, 2, 4]}}
  %split = nn.reshape %x to [2, 4, 2, 4]
  %y = nn.reshape %split to [0, 0, 8]
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @fixed_batch { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }

// -----

// A model that is no language model needs no remark.

// CHECK-LABEL: train.program @classes attributes {likelihood, model_checksum = {{-?[0-9]+}} : i64} {
nn.model @m(%features: tensor<?x8xf32>, %labels: tensor<?xi32>) {
  %logits = nn.linear "head" %features to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @classes { model @m optimizer sgd(lr 0.1) schedule constant batch 2 }

// -----

// A column of numbers beside the tokens, as of pictures.

// CHECK-LABEL: train.program @pictures attributes {likelihood, model_checksum = {{-?[0-9]+}} : i64, no_generation
// CHECK-SAME:  [[#@LINE+3]]: the logits depend on column 'pictures' of 'f32', and only tokens are known while text is generated"
// CHECK-NOT:   @prefill
// expected-remark @+1 {{the logits depend on column 'pictures' of 'f32', and only tokens are known while text is generated}}
nn.model @m(%tokens: tensor<?x?xi32>, %pictures: tensor<?x8xf32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %p = nn.reshape %pictures to [-1, 1, 8]
  %y = nn.add %x, %p
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @pictures { model @m optimizer sgd(lr 0.1) batch 2 x 16 }

// -----

// A length that stands in the text: decode sees one token at a time.

// CHECK-LABEL: train.program @p attributes {likelihood, model_checksum = {{-?[0-9]+}} : i64, no_generation
// CHECK-NOT:   @prefill
// expected-remark @+1 {{column 'tokens' is 'tensor<?x16xi32>'; for other lengths than 16 its second dimension must be `?`}}
nn.model @m(%tokens: tensor<?x16xi32>, %segments: tensor<?x16xi32>, %labels: tensor<?x16xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %positions = nn.positions %tokens
  %r = nn.rope %x positions %positions heads 2 theta 10000
  %a, %l = nn.attention %r, %r, %x heads 2 causal segments %segments
  %logits = nn.linear "head" %a to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd(lr 0.1) batch 2 }

// -----

// Positions that come with the data under another name than `positions`.

// CHECK-LABEL: train.program @p attributes {likelihood, model_checksum = {{-?[0-9]+}} : i64, no_generation
// CHECK-NOT:   @prefill
// expected-remark @+1 {{the logits depend on column 'offsets', and only tokens are known while text is generated}}
nn.model @m(%tokens: tensor<?x?xi32>, %offsets: tensor<?x?xi32>, %segments: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %r = nn.rope %x positions %offsets heads 2 theta 10000
  %a, %l = nn.attention %r, %r, %x heads 2 causal segments %segments
  %logits = nn.linear "head" %a to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd(lr 0.1) batch 2 x 16 }

// -----

// Segments are known where attention alone sees them: a text is one.

// expected-remark @+1 {{the logits depend on column 'segments', and only tokens are known while text is generated}}
nn.model @m(%tokens: tensor<?x?xi32>, %segments: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %s = nn.embedding "wse" %segments of 10 by 8
  %r = nn.add %x, %s
  %a, %l = nn.attention %r, %r, %x heads 2 causal segments %segments
  %logits = nn.linear "head" %a to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd(lr 0.1) batch 2 x 16 }

// -----

// The mean of a batch, used at each of its samples: a generated text has no other samples.

// CHECK-LABEL: train.program @batch_mean attributes {{{.*}}no_generation
// CHECK-NOT:   @decode
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  // expected-remark @+2 {{evaluation leaves out the samples of an incomplete last batch}}
  // expected-remark @+1 {{this plan cannot generate text (it gets no prefill and decode): samples of a batch are combined here, but text is generated for a single sample}}
  %mean = nn.reduce mean %x over [0] keep
  %y = nn.sub %x, %mean
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @batch_mean { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }

// -----

// A sample's number in its batch.
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %rows = nn.transpose %tokens by [1, 0]
  // expected-remark @+1 {{samples of a batch are combined here}}
  %number = nn.positions %rows
  %e = nn.embedding "e" %number of 10 by 8
  %column = nn.reshape %e to [-1, 1, 8]
  %y = nn.add %x, %column
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @numbered { model @m optimizer sgd(lr 0.1) schedule constant batch 3 x 4 }

// -----

// Attention over the samples of a batch, position by position.
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %t = nn.transpose %x by [1, 0, 2]
  // expected-remark @+1 {{samples of a batch are combined here}}
  %a, %l = nn.attention %t, %t, %t heads 2 causal
  %y = nn.transpose %a by [1, 0, 2]
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @across { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }

// -----

// As many rows as the batch has samples: their sum depends on how many there are.
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %zero = nn.constant 0
  %zeros = nn.mul %x, %zero
  %gain = nn.parameter "gain" tensor<1x1x8xf32>
  %rows = nn.add %zeros, %gain
  // expected-remark @+1 {{samples of a batch are combined here}}
  %sum = nn.reduce sum %rows over [0] keep
  %y = nn.mul %x, %sum
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @counted { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }

// -----

// Eight numbers at each position, counted on from position to position.
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %flat = nn.reshape %x to [0, -1]
  // expected-remark @+1 {{positions of a sequence are combined here}}
  %count = nn.positions %flat
  %number = nn.convert %count to f32
  %moved = nn.add %flat, %number
  %y = nn.reshape %moved to [0, -1, 8]
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @counted { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }

// -----

// Rows of eight elements read as columns: another position's.
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  // expected-remark @+1 {{positions of a sequence are combined here}}
  %columns = nn.reshape %x to [0, 8, -1]
  %most = nn.reduce max %columns over [1]
  %row = nn.reshape %most to [0, -1, 1]
  %y = nn.add %x, %row
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @columns { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }

// -----

// A parameter for each position.

// CHECK-LABEL: train.program @a_gain_for_each_position attributes
// CHECK-NOT:   @decode
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %t = nn.transpose %x by [0, 2, 1]
  // expected-remark @+1 {{parameter "ln.weight": expected 'tensor<4xf32>', as for training, found 'tensor<2xf32>' for another number of samples or positions, on which no parameter's size may depend}}
  %n = nn.layer_norm "ln" %t
  %u = nn.transpose %n by [0, 2, 1]
  %logits = nn.linear "head" %u to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @a_gain_for_each_position { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }

// -----

// Several texts at once: caches are of one sequence for each text.

// CHECK-LABEL: train.program @several_sequences attributes
// CHECK-NOT:   @decode
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %parts = nn.reshape %x to [1, -1, 2, 4]
  %turned = nn.transpose %parts by [0, 2, 1, 3]
  %heads = nn.reshape %turned to [2, -1, 4]
  // expected-remark @+1 {{a sample has 2 sequences here, and then generation continues one text at a time; leave generate_batch (--generate-batch) out}}
  %a, %l = nn.attention %heads, %heads, %heads heads 1 causal
  %back = nn.reshape %a to [1, 2, -1, 4]
  %rows = nn.transpose %back by [0, 2, 1, 3]
  %y = nn.reshape %rows to [1, -1, 8]
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
// expected-warning @+1 {{generate_batch (--generate-batch) does nothing, because this plan cannot generate text}}
train.program @several_sequences { model @m optimizer sgd(lr 0.1) schedule constant batch 1 x 4 generate_batch 2 }

// -----

// CHECK-LABEL: train.program @one_token attributes
// CHECK-NOT:   @decode
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %logits = nn.linear "head" %x to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
// expected-warning @+2 {{generate_batch (--generate-batch) does nothing, because this plan cannot generate text}}
// expected-remark @+1 {{this plan cannot generate text (it gets no prefill and decode): generate_batch (--generate-batch) 2 needs a sequence length above 1}}
train.program @one_token { model @m optimizer sgd(lr 0.1) schedule constant batch 1 x 1 generate_batch 2 }
