// RUN: trainc compile %s --compile-to=step --target=cuda --precision=bf16 | FileCheck %s --check-prefix=H100
// RUN: trainc compile %s --compile-to=step --target=cuda --precision=bf16 --gpu=a100 | FileCheck %s --check-prefix=A100
// RUN: trainc compile %s --compile-to=step --target=cuda | FileCheck %s --check-prefix=FEW
// RUN: trainc compile %s --compile-to=step --precision=bf16 | FileCheck %s --check-prefix=FEW

// Slices of a loss have so many rows that adding to the vocabulary's gradient takes little time compared with the products.
// H100: nn.chunks 2 (
// A100: nn.chunks 4 (
// FEW: nn.chunks 32 (
nn.model @m(%x: tensor<?x?x16xf32>, %labels: tensor<?x?xi32>) {
  %scores = nn.linear "head" %x to 16384
  %nll, %norm = nn.cross_entropy %scores, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m  optimizer sgd  batch 8 x 1024 }
