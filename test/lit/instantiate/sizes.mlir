// RUN: trainc compile %s --micro-batch=2 --seq-len=3 --accumulate=4 --eval-batch=5 --compile-to=model | trainc-opt --instantiate | FileCheck %s
// RUN: trainc-opt %s --instantiate | FileCheck %s --check-prefix=PROGRAM

// Options are written over the program before any pass; the first open dimension is the batch, the second the length.
nn.model @m(%tokens: tensor<?x?xi32>, %x: tensor<?x7x?xf32>) {
  %e = nn.embedding "e" %tokens of 10 by 1
  %s = nn.reduce mean %x over [1]
  %r = nn.reshape %s to [0, 0, 1]
  %d = nn.sub %e, %r
  %q = nn.square %d
  nn.loss "loss" %q
}
train.program @p { model @m optimizer sgd batch 6 x 8 }

// CHECK:         batch 2 x 3
// CHECK-NEXT:    accumulate 4
// CHECK-NEXT:    eval_batch 5
// CHECK-LABEL: train.entry @begin_step
// A loss that is no loss op is a mean over elements: 4 * 2 * 3.
// CHECK:         %[[COUNT:.*]] = nn.constant 24 : tensor<f32>
// CHECK:         train.set @targets, %[[COUNT]]
// CHECK-LABEL: train.entry @micro_step
// CHECK:         train.input "tokens" micro limit 10 ignore 0 : tensor<2x3xi32>
// CHECK:         train.input "x" micro : tensor<2x7x3xf32>
// CHECK-LABEL: train.entry @eval
// CHECK:         train.input "tokens" micro limit 10 ignore 0 : tensor<5x3xi32>

// PROGRAM:       batch 6 x 8
// PROGRAM-NEXT:  eval_batch 6
// PROGRAM-LABEL: train.entry @micro_step
// PROGRAM:       train.input "tokens" micro limit 10 ignore 0 : tensor<6x8xi32>
