// RUN: trainc-opt %s --instantiate -verify-diagnostics

// A model with tokens and logits generates, which attention to later tokens rules out.

nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  // expected-error @+1 {{'nn.attention' op is not causal, so the model cannot generate; add `causal`, or give no output the name "logits"}}
  %a, %l = nn.attention %x, %x, %x heads 2
  %logits = nn.linear "head" %a to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 4 }
