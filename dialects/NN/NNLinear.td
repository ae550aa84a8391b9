// Matrix products, lookups and attention.

#ifndef TRAINC_NN_LINEAR
#define TRAINC_NN_LINEAR

include "dialects/NN/NNBase.td"

def NN_MatmulOp : NN_TensorOp<"matmul", [DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                         DeclareOpInterfaceMethods<IndexingOpInterface>,
                                         DeclareOpInterfaceMethods<CostOpInterface>,
                                         DeclareOpInterfaceMethods<AccumulatingOpInterface>,
                                         DeclareOpInterfaceMethods<ExecutableOpInterface, ["getInPlaceOperand"]>,
                                         DeclareOpInterfaceMethods<GemmOpInterface, ["getGemmScales", "buildWithEpilogue"]>,
                                         DeclareOpInterfaceMethods<PrecisionOpInterface, ["getPrecisionClass"]>,
                                         DeclareOpInterfaceMethods<Fp8OpInterface>,
                                         DeclareOpInterfaceMethods<WideSumOpInterface>,
                                         AttrSizedOperandSegments]> {
  let summary = "matrix product over the last two dimensions";
  let description = [{
    op(lhs) is [..., m, k]. op(rhs) is [..., k, n] with the same leading dimensions, or [k, n] for all of them. With `transposed`, op swaps
    the last two dimensions. With `reduce_batch`, both sides have the same leading dimensions and the products are summed over them: the
    gradient of a weight, [k, n] from [..., t, k] transposed and [..., t, n]. `accumulate` is added to the product, in place after
    scheduling.

    Products of bf16 or f16 factors are summed in f32. The sum is rounded once to the factors' type, or stays f32 with `to f32`.

    fp8 factors, `f8E4M3FN` or `f8E5M2`, represent their elements times `lhs_scale` and `rhs_scale`. The sums are multiplied by both scales
    before `accumulate` is added. At most one factor is `f8E5M2`, and the result is `to bf16` or `to f32`. Tensor cores require that the
    summed dimension is contiguous in both factors: lhs not transposed, rhs transposed, k and n multiples of 16.

    ```mlir
    %y = nn.matmul %x, %w transposed to bf16 scaled %sx, %sw : tensor<f32>, tensor<f32> : tensor<8x64xf8E4M3FN>, tensor<32x64xf8E4M3FN>
    ```
  }];
  let arguments = (ins NN_Tensor:$lhs, NN_Tensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, UnitAttr:$reduce_batch,
                       Optional<NN_Tensor>:$accumulate, Optional<NN_Tensor>:$lhs_scale, Optional<NN_Tensor>:$rhs_scale,
                       OptionalAttr<TypeAttr>:$to);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $lhs (`transposed` $transpose_lhs^)? `,` $rhs (`transposed` $transpose_rhs^)? (`reduce_batch` $reduce_batch^)? (`to` $to^)?
    (`scaled` $lhs_scale^ `,` $rhs_scale `` custom<Types>(type($lhs_scale), type($rhs_scale)))?
    (`accumulate` custom<Given>($accumulate, type($accumulate))^)? attr-dict
    `` custom<Types>(type($lhs), type($rhs))
  }];
  let extraClassDeclaration = inferDeclaration # countDeclaration # [{
    /// Required divisor of the sizes k and n of an fp8 product.
    static constexpr int64_t kFp8Multiple = 16;
  }];
  let hasCanonicalizeMethod = 1;
}

def NN_GatherOp : NN_TensorOp<"gather", [DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                         PrecisionOpInterface,
                                         DeclareOpInterfaceMethods<LookupOpInterface>,
                                         DeclareOpInterfaceMethods<IndexingOpInterface>]> {
  let summary = "rows of a table: result[..., :] = table[ids[...], :]; a row of zeros if the id is out of range";
  let arguments = (ins NN_Tensor:$table, NN_Tensor:$ids);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$table `at` $ids attr-dict `` custom<Types>(type($table), type($ids))";
}

def NN_ScatterAddOp : NN_TensorOp<"scatter_add", [DeclareOpInterfaceMethods<IndexingOpInterface>,
                                                  DeclareOpInterfaceMethods<AccumulatingOpInterface>,
                                                  DeclareOpInterfaceMethods<ExecutableOpInterface, ["getInPlaceOperand"]>]> {
  let summary = "table with rows added: result[ids[...], :] += updates[..., :], in the order of ids (on GPUs in pieces, each in that order); ids out of range are skipped";
  let description = [{ Updates may be bf16 or f16 if the table is f32. }];
  let arguments = (ins NN_Tensor:$table, NN_Tensor:$ids, NN_Tensor:$updates);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$updates `into` $table `at` $ids attr-dict `` custom<Types>(type($updates), type($table), type($ids))";
  let extraClassDeclaration = inferDeclaration # countDeclaration # [{
    /// Maximum number of table elements that are modified: each id may select a different row.
    int64_t touchedElements();
  }];
}

def NN_ScatterOp : NN_TensorOp<"scatter", [NN_Generated, PrecisionOpInterface, DeclareOpInterfaceMethods<IndexingOpInterface>,
                                           DeclareOpInterfaceMethods<ExecutableOpInterface, ["getInPlaceOperand"]>]> {
  let summary = "table with rows replaced: result[ids[...], :] = updates[..., :]; ids must differ, and ids out of range are skipped";
  let description = [{ Generation writes rows of caches and logits with it. The table is updated in place. }];
  let arguments = (ins NN_Tensor:$table, NN_Tensor:$ids, NN_Tensor:$updates);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$updates `into` $table `at` $ids attr-dict `` custom<Types>(type($updates), type($table), type($ids))";
}

def NN_AttentionOp : NN_TensorOp<"attention", [DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                               DeclareOpInterfaceMethods<IncrementalOpInterface>,
                                               DeclareOpInterfaceMethods<IndexingOpInterface>,
                                               DeclareOpInterfaceMethods<CostOpInterface>,
                                               DeclareOpInterfaceMethods<ExecutableOpInterface>,
                                               DeclareOpInterfaceMethods<PrecisionOpInterface, ["getPrecisionClass", "mayStayF32"]>,
                                               AttrSizedOperandSegments]> {
  let summary = "softmax(scale q k^T + mask) v per head";
  let description = [{
    q is [batch, t, heads*d], k is [batch, s, kv_heads*d], v is [batch, s, kv_heads*e]. Heads are contiguous in the last dimension. Query
    head h uses key head h*kv_heads/heads. `causal`: query i attends to keys j <= i + s - t. `segments` [batch, t] (with s = t): a query
    attends to keys of its own segment only. `limit` (scalar i32, or one for each sequence, [batch];
    generation): query i attends to keys j <= limit + i. A query without any
    key yields zeros. Scale is 1/sqrt(d) unless given.
    `window` w: with `causal` or `limit`, of the keys up to its last one, a query attends to the last w only: i + s - t - w < j <= i + s - t, as
    in Mistral, Gemma 2 and gpt-oss. Without both, query i attends to keys on both sides, |i + s - t - j| < w, as in ModernBERT with
    w = local_attention/2 + 1. Kernels skip blocks of keys before and after the window.
    `alibi` f (with `causal` or `limit`): f slope (j - p) is added to the scaled score of query i and key j, where p is the query's position,
    i + s - t, or limit + i. The slopes of n heads are those of Press et al. (2022), as in BLOOM: with c the largest power of two up to n,
    head h < c has 2^(-8(h + 1)/c), and head h >= c has 2^(-4(2(h - c) + 1)/c).
    `bias` [heads, 2n - 1], with n at least t and s: number n - 1 + p - j of a head's row is added to the scaled score of query i and key j, where
    p is the query's position as above. So a bias is one of distances, and takes no memory for pairs; nn.relative_bias makes that of T5. Its
    gradient is summed over the batch.
    `softcap` c: such a score x becomes c tanh(x/c), before the mask (Gemma 2).
    `sinks` [heads]: a score for each head that takes part in its softmax and has no key and no value (gpt-oss). Sinks are neither scaled nor
    biased nor capped, and every query has its head's. Biases and sinks are f32 or have the type of q.
    `dropout` p with `dropout_key`, a tensor<4xi32> from nn.dropout_key: each softmax weight is 0 with probability p, and 1/(1 - p) times
    itself otherwise. The log-sum-exp does not change. In detail: Philox4x32-10 (see nn.random) is keyed by words 0 and 1 of the key, and its
    counter for batch element b of B, head h, query i and key j is (j/4, i, (B*word 3 + b)*heads + h, word 2). Of the words drawn, word j mod 4
    decides: the weight is dropped if the word's upper 24 bits are below p 2^24. If all words of the key are 0, no weight is dropped or scaled.
    Give each attention a key of its own, since equal keys drop the same weights.
    Results: out [batch, t, heads*e], and the log-sum-exp of these scores, [batch, heads, t], minus infinity for a query
    without any key or sink. Both have gradients.
    If q, k and v are bf16 or f16, intermediates are f32; out is rounded once, and the log-sum-exp is f32. GPUs round the softmax weights to
    the type of v.
  }];
  let arguments = (ins NN_Tensor:$q, NN_Tensor:$k, NN_Tensor:$v, Optional<NN_Tensor>:$segments, Optional<NN_Tensor>:$limit,
                       Optional<NN_Tensor>:$sinks, Optional<NN_Tensor>:$dropout_key, Optional<NN_Tensor>:$bias,
                       I64Attr:$heads, OptionalAttr<I64Attr>:$kv_heads, UnitAttr:$causal, OptionalAttr<I64Attr>:$window,
                       OptionalAttr<F64Attr>:$softcap, OptionalAttr<F64Attr>:$scale, OptionalAttr<F64Attr>:$alibi,
                       OptionalAttr<F64Attr>:$dropout);
  let results = (outs NN_Tensor:$out, NN_Tensor:$lse);
  let assemblyFormat = [{
    $q `,` $k `,` $v `heads` custom<Whole>($heads)
    oilist(`kv_heads` custom<Whole>($kv_heads) | `causal` $causal | `window` custom<Whole>($window) | `softcap` custom<Number>($softcap)
           | `scale` custom<Number>($scale) | `alibi` custom<Number>($alibi) | `dropout` custom<Number>($dropout)
           | `segments` custom<Given>($segments, type($segments)) | `limit` custom<Given>($limit, type($limit))
           | `sinks` custom<Given>($sinks, type($sinks)) | `dropout_key` custom<Given>($dropout_key, type($dropout_key))
           | `bias` custom<Given>($bias, type($bias)))
    attr-dict `` custom<Types>(type($q), type($k), type($v))
  }];
  let extraClassDeclaration = inferDeclaration # [{
    static size_t resultCount(Adaptor) { return 2; }
    /// Number of key heads: kv_heads, or heads if it is not given.
    int64_t keyHeads() { return getKvHeads().value_or(getHeads()); }
    /// Factor of the scores: scale, or 1/sqrt(d) if it is not given.
    double scoreScale();
    /// Number of words of `dropout_key`.
    static constexpr int64_t kKeyWords = 4;
  }];
  let hasCanonicalizeMethod = 1;
}

def NN_AttentionGradOp : NN_TensorOp<"attention_grad", [NN_Generated, DeclareOpInterfaceMethods<CostOpInterface>,
                                                        DeclareOpInterfaceMethods<ExecutableOpInterface>,
                                                        AttrSizedOperandSegments]> {
  let summary = "cotangents of q, k, v and `bias` from those of attention's output and, with `dlse`, of its log-sum-exp";
  let description = [{
    Attributes and operands are those of nn.attention. Sinks take part through `lse` alone, so that the op does not need them.
  }];
  let arguments = (ins NN_Tensor:$q, NN_Tensor:$k, NN_Tensor:$v, NN_Tensor:$out, NN_Tensor:$lse, NN_Tensor:$dout,
                       Optional<NN_Tensor>:$segments, Optional<NN_Tensor>:$dlse, Optional<NN_Tensor>:$dropout_key, Optional<NN_Tensor>:$bias,
                       I64Attr:$heads, I64Attr:$kv_heads, UnitAttr:$causal, OptionalAttr<I64Attr>:$window, OptionalAttr<F64Attr>:$softcap,
                       F64Attr:$scale, OptionalAttr<F64Attr>:$alibi, OptionalAttr<F64Attr>:$dropout);
  let results = (outs NN_Tensor:$dq, NN_Tensor:$dk, NN_Tensor:$dv, Optional<NN_Tensor>:$dbias);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $out `,` $lse `,` $dout `heads` custom<Whole>($heads) `kv_heads` custom<Whole>($kv_heads) (`causal` $causal^)?
    (`window` custom<Whole>($window)^)? (`softcap` custom<Number>($softcap)^)? `scale` custom<Number>($scale)
    (`alibi` custom<Number>($alibi)^)? (`dropout` custom<Number>($dropout)^)?
    (`segments` custom<Given>($segments, type($segments))^)? (`dlse` custom<Given>($dlse, type($dlse))^)?
    (`dropout_key` custom<Given>($dropout_key, type($dropout_key))^)? (`bias` custom<Given>($bias, type($bias))^)? attr-dict
    `` custom<Types>(type($q), type($k), type($v), type($out), type($lse), type($dout))
  }];
  let extraClassDeclaration = inferDeclaration # [{
    static size_t resultCount(Adaptor adaptor) { return adaptor.getBias() ? 4 : 3; }
  }];
  let hasCanonicalizeMethod = 1;
}

#endif
