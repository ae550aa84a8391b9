// RUN: trainc-opt %s | FileCheck %s
// RUN: trainc-opt %s | trainc-opt | FileCheck %s
// RUN: trainc-opt %s --mlir-print-op-generic | trainc-opt | FileCheck %s

// The syntax of blocks, layers and composite ops, where types are deferred.

// CHECK-LABEL: nn.block @b(%{{.*}}: tensor<?x?x8xf32>, %{{.*}}: tensor<?xi32>) {
nn.block @b(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  // CHECK: nn.layer_norm "ln" %{{.*}} eps 1e-06 no_bias
  %n = nn.layer_norm "ln" %x eps 1e-6 no_bias
  // CHECK: nn.rms_norm "rms" %{{[0-9]+$}}
  %r = nn.rms_norm "rms" %n
  // CHECK: nn.rms_norm "heads" %{{.*}} eps 1e-06 heads 4 zero_centered
  %by_head = nn.rms_norm "heads" %r zero_centered heads 4 eps 1e-6
  // CHECK: %{{.*}}:3 = nn.split %{{.*}} into [4, 3, 1]
  %a4, %a3, %a1 = nn.split %by_head into [4, 3, 1]
  // CHECK: nn.rope %{{.*}} positions %{{.*}} heads 1 theta 10000 rotary 2 interleaved scaling llama3(factor 8, low 1, high 4, original 8192)
  %llama = nn.rope %a4 positions %positions heads 1 theta 1e4 scaling llama3(high 4, low 1, factor 8, original 8192) interleaved rotary 2
  // CHECK: nn.rope %{{.*}} scaling yarn(factor 4, original 4096, attention_factor 1.2, untruncated) inverse
  %yarn = nn.rope %llama positions %positions heads 1 theta 1e4 scaling yarn(untruncated, factor 4, original 4096, attention_factor 1.2) inverse
  // CHECK: nn.rope %{{.*}} scaling longrope(factors [1, 2.5], attention_factor 1.19)
  %long = nn.rope %yarn positions %positions heads 1 theta 1e4 scaling longrope(factors [1, 2.5], attention_factor 1.19)
  // CHECK: nn.rope %{{.*}} scaling longrope(short [1, 1], long [1, 2.5], original 4096)
  %either = nn.rope %yarn positions %positions heads 1 theta 1e4 scaling longrope(original 4096, long [1, 2.5], short [1, 1])
  // CHECK: nn.attention %{{.*}} heads 1 causal window 4096 softcap 50 scale 0.5{{$}}
  %seen, %lse = nn.attention %long, %long, %long heads 1 softcap 50 window 4096 scale 0.5 causal
  // CHECK: %[[SINKS:.*]] = nn.parameter "sinks" tensor<1xf32>
  %sinks = nn.parameter "sinks" tensor<1xf32>
  // CHECK: %[[KEY:.*]] = nn.dropout_key "weights"
  %key = nn.dropout_key "weights"
  // CHECK: nn.attention %{{.*}} heads 1 causal alibi 0.5 dropout 0.1 sinks %[[SINKS]] dropout_key %[[KEY]]{{$}}
  %biased, %lse1 = nn.attention %long, %long, %long heads 1 causal dropout_key %key sinks %sinks dropout 0.1 alibi 0.5
  // CHECK: %[[BIAS:.*]] = nn.relative_bias "relative" heads 1 buckets 32 max_distance 128 causal init normal(0.5)
  %bias = nn.relative_bias "relative" heads 1 buckets 32 max_distance 128 init normal(0.5) causal
  // CHECK: nn.attention %{{.*}} heads 1 causal bias %[[BIAS]]{{$}}
  %relative, %lse2 = nn.attention %long, %long, %long heads 1 bias %bias causal
  // CHECK: %{{.*}}:2 = nn.split %{{.*}} into 2 dim 0
  %a, %c = nn.split %r into 2 dim 0
  // CHECK: nn.rope %{{.*}} positions %{{.*}} heads 2 theta 10000
  %rope = nn.rope %a positions %positions heads 2 theta 1e4
  // CHECK: nn.dropout "drop" %{{.*}} p 0.1
  %d = nn.dropout "drop" %rope p 0.1
  // CHECK: nn.return %{{.*}}
  nn.return %d
}

// CHECK-LABEL: nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "a.json" {n = 1 : i64} {
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "a.json" {n = 1} {
  // CHECK: %[[POSITIONS:.*]] = nn.positions %tokens
  %positions = nn.positions %tokens
  // CHECK: nn.embedding "wte" %tokens of 100 by 8 init normal(0.01)
  %x = nn.embedding "wte" %tokens of 100 by 8 init normal(1e-2)
  // CHECK: nn.parameter "gain" tensor<8xf32> init uniform(-1, 1)
  %gain = nn.parameter "gain" tensor<8xf32> init uniform(-1, 1)
  // CHECK: nn.use "gain"
  %again = nn.use "gain"
  // CHECK: nn.apply @b "once" (%{{.*}}, %[[POSITIONS]])
  %y = nn.apply @b "once" (%x, %positions)
  // CHECK: nn.repeat @b "h" times 3 (%{{.*}}, %[[POSITIONS]])
  %z = nn.repeat @b "h" times 3 (%y, %positions)
  // CHECK: nn.linear "up" %{{.*}} to 16 layout in_out init zeros
  %up = nn.linear "up" %z to 16 layout in_out init zeros
  // CHECK: nn.linear "head" %{{.*}} tied "wte.weight" no_bias
  %logits = nn.linear "head" %z tied "wte.weight" no_bias
  // CHECK: nn.output "logits" %{{.*}}
  nn.output "logits" %logits
  // CHECK: %[[NLL:.*]], %{{.*}} = nn.cross_entropy %{{.*}}, %labels ignore -1 smoothing 0.1
  %nll, %lse = nn.cross_entropy %logits, %labels ignore -1 smoothing 0.1
  // CHECK: nn.loss "main" %[[NLL]] scale 0.5
  nn.loss "main" %nll scale 0.5
  // CHECK: nn.loss "z" %{{.*}}
  nn.loss "z" %lse
}

// A file's name is printed so that it is read again.
// CHECK-LABEL: nn.model @quoted
// CHECK-SAME: export "a\22b" {n = 1 : i64}
nn.model @quoted(%x: tensor<?x4xf32>) export "a\22b" {n = 1} {
}
