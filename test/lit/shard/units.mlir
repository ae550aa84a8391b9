// RUN: trainc-opt --flatten %s | FileCheck %s --check-prefix=BLOCKS
// RUN: sed 's/"blocks"/"mlp"/' %s | trainc-opt --flatten | FileCheck %s --check-prefix=MLP
// RUN: sed 's/"blocks"/"layer, mlp"/' %s | trainc-opt --flatten | FileCheck %s --check-prefix=BOTH
// RUN: sed 's/"blocks"/"3"/' %s | trainc-opt --flatten | FileCheck %s --check-prefix=THREE
// RUN: sed 's/"blocks"/"model"/' %s | trainc-opt --flatten | FileCheck %s --check-prefix=MODEL

// Units: each outermost use of a block; each use of the named one, or ones; the innermost with 3 elements or more; all in one.
// BLOCKS-DAG: {blocks = [#train.block<"h.0", "layer">], members = [#train.member<"h.0.a", {{.*}}, #train.member<"h.0.mlp.b"
// BLOCKS-DAG: members = [#train.member<"c", {{.*}}
// MLP-DAG: {blocks = [#train.block<"h.0", "layer">, #train.block<"h.0.mlp", "mlp">], members = [#train.member<"h.0.mlp.b", {{[^#]*}}]}
// MLP-DAG: members = [#train.member<"h.0.a", {{.*}}, #train.member<"c"
// BOTH-DAG: members = [#train.member<"h.0.a", {{[^#]*}}]}
// BOTH-DAG: members = [#train.member<"h.0.mlp.b", {{[^#]*}}]}
// BOTH-DAG: members = [#train.member<"c", {{[^#]*}}]}
// THREE-DAG: {blocks = [#train.block<"h.0", "layer">], members = [#train.member<"h.0.a", {{.*}}, #train.member<"h.0.mlp.b"
// MODEL-DAG: members = [#train.member<"h.0.a", {{.*}}, #train.member<"h.0.mlp.b", {{.*}}, #train.member<"c"
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 3 wrap "blocks" }
train.state parameter @h.0.a : tensor<2xf32> {blocks = [#train.block<"h.0", "layer">]}
train.state parameter @h.0.mlp.b : tensor<2xf32> {blocks = [#train.block<"h.0", "layer">, #train.block<"h.0.mlp", "mlp">]}
train.state parameter @c : tensor<2xf32>
train.entry @micro_step {
  %a = train.get @h.0.a : tensor<2xf32>
  train.gradient @h.0.a, %a : tensor<2xf32>
  train.gradient @h.0.mlp.b, %a : tensor<2xf32>
  train.gradient @c, %a : tensor<2xf32>
}
