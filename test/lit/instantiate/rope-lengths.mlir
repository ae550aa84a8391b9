// RUN: sed 's/LENGTH/12/' %s | trainc-opt --instantiate | FileCheck %s --check-prefix=SHORT
// RUN: sed 's/LENGTH/13/' %s | trainc-opt --instantiate | FileCheck %s --check-prefix=LONG
// RUN: sed 's/ x LENGTH//; s/<?x?x/<?x13x/g' %s | trainc-opt --instantiate 2>/dev/null | FileCheck %s --check-prefix=FIXED

// The sequence length of the program, or that of fixed columns, decides between the two lists of longrope. It does so for all entries:
// training, evaluation, prefill and decode, which reads one token. A model of fixed columns has no prefill and decode.

// SHORT-COUNT-4: nn.rope {{.*}} scaling longrope(factors [1, 1.5], attention_factor 1.25)
// LONG-COUNT-4:  nn.rope {{.*}} scaling longrope(factors [1, 4], attention_factor 1.25)
// FIXED-COUNT-2: nn.rope {{.*}} scaling longrope(factors [1, 4], attention_factor 1.25)
nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %r = nn.rope %x positions %positions heads 2 theta 10000 scaling longrope(short [1, 1.5], long [1, 4], original 12, attention_factor 1.25)
  %a, %l = nn.attention %r, %r, %x heads 2 causal
  nn.return %a
}
nn.model @lm(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %e = nn.embedding "e" %tokens of 40 by 8
  %a = nn.apply @layer "h" (%e, %positions)
  %logits = nn.linear "head" %a to 40
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @lm optimizer sgd batch 2 x LENGTH }
