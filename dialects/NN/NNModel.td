// The model's text: blocks, the model, layers that declare parameters, outputs and losses. Phase `model` only.

#ifndef TRAINC_NN_MODEL
#define TRAINC_NN_MODEL

include "dialects/NN/NNBase.td"
include "mlir/IR/OpAsmInterface.td"

// A region whose arguments have types in its signature. In the body they are deferred.
class NN_SignatureOp<string mnemonic> : NN_Op<mnemonic, [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let regions = (region SizedRegion<1>:$body);
}

def NN_BlockOp : NN_SignatureOp<"block"> {
  let summary = "a reusable part of a model, used by nn.apply or nn.repeat";
  let description = [{
    ```mlir
    nn.block @mlp(%x: tensor<?x?x768xf32>) {
      %h = nn.linear "c_fc" %x to 3072
      %g = nn.gelu %h approximate tanh
      %y = nn.linear "c_proj" %g to 768
      nn.return %y
    }
    ```
    The declared argument types are checked against the values it is applied to; `?` fits any size. Blocks are the units of sharding and of
    activation checkpointing.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeArrayAttr:$argument_types);
  let extraClassDeclaration = [{
    /// The name without the values of parameters: `layer` of a block @"layer<window = 512>", which the language expands from
    /// `nn.block @layer<window>`.
    ::llvm::StringRef getPlainName() {
      const auto [name, values] = getSymName().split('<');
      return values.contains(" = ") && values.ends_with(">") ? name : getSymName();
    }
  }];
}

def NN_ModelOp : NN_SignatureOp<"model"> {
  let summary = "a model from a batch's columns to outputs and a loss";
  let description = [{
    Arguments are columns of the data, by name (`%tokens`, `%labels`, `%segments`, any feature); their first dimension is the batch. A
    second open dimension is the sequence length. `export "config.json" {...}` after the arguments writes a
    dictionary as a JSON file beside checkpoints.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeArrayAttr:$argument_types, StrArrayAttr:$columns,
                       OptionalAttr<DictionaryAttr>:$exports);
}

def NN_ReturnOp : NN_Op<"return", [Pure]> {
  let summary = "a block's results; the last op of a block";
  let arguments = (ins Variadic<NN_Deferred>:$values);
  let assemblyFormat = "$values attr-dict";
  let hasVerifier = 1;
}

def NN_OutputOp : NN_Op<"output"> {
  let summary = "names a value that evaluation and generation return (`logits`)";
  let arguments = (ins StrAttr:$name, NN_Deferred:$value);
  let assemblyFormat = "$name $value attr-dict";
}

def NN_LossOp : NN_Op<"loss"> {
  let summary = "adds the mean of per-target losses over the global batch to the training objective";
  let description = [{
    The mean is over the targets that are not ignored, across micro-batches and ranks (weighted where the loss op
    weights targets). Several losses are added, each times its `scale`.
  }];
  let arguments = (ins StrAttr:$name, NN_Deferred:$value, DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let assemblyFormat = "$name $value (`scale` custom<Number>($scale)^)? attr-dict";
  let hasVerifier = 1;
}

// Ops that use a block; its existence and the counts of values are verified.
class NN_BlockUserOp<string mnemonic> : NN_Op<mnemonic, [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                                         DeclareOpInterfaceMethods<BlockUserOpInterface>]> {
  let results = (outs Variadic<NN_Deferred>:$outputs);
  let hasCustomAssemblyFormat = 1;
}

def NN_ApplyOp : NN_BlockUserOp<"apply"> {
  let summary = "applies a block once: `%y = nn.apply @mlp \"mlp\" (%x)`; parameters are named below the scope";
  let arguments = (ins FlatSymbolRefAttr:$block, StrAttr:$scope, Variadic<NN_Deferred>:$inputs);
}

def NN_RepeatOp : NN_BlockUserOp<"repeat"> {
  let summary = "applies a block n times in sequence, in scopes `scope.0` to `scope.n-1`: `%h = nn.repeat @layer \"h\" times 12 (%x)`";
  let description = [{
    The block's results are its first arguments in the next iteration. Further arguments are the same in every iteration. Several blocks take
    turns: with `@local, @local, @global`, iterations 2, 5, 8, ... apply `@global`.

    ```mlir
    %h = nn.repeat @local, @local, @global "layers" times 12 (%x, %positions)
    ```
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$blocks, StrAttr:$scope, I64Attr:$times, Variadic<NN_Deferred>:$inputs);
}

// An initialiser as `init normal(0.02)`; kinds: zeros, ones, constant(v), normal(std), uniform(low, high).
def NN_Init : AttrDef<NN_Dialect, "Init"> {
  let mnemonic = "init";
  let summary = "initial values of a parameter";
  let parameters = (ins StringRefParameter<"kind">:$kind, "::mlir::FloatAttr":$a, "::mlir::FloatAttr":$b);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

class NN_LayerOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, traits # [DeclareOpInterfaceMethods<LayerOpInterface>]>;

def NN_ParameterOp : NN_LayerOp<"parameter"> {
  let summary = "a parameter on its own: `%g = nn.parameter \"gain\" tensor<768xf32> init ones`";
  let arguments = (ins StrAttr:$name, TypeAttrOf<AnyRankedTensor>:$type, OptionalAttr<NN_Init>:$init);
  let results = (outs NN_Deferred:$result);
  let assemblyFormat = "$name $type (`init` custom<InitSpec>($init)^)? attr-dict";
}

def NN_UseOp : NN_LayerOp<"use"> {
  let summary = "a parameter declared elsewhere, by its full name: `%w = nn.use \"wte.weight\"`";
  let arguments = (ins StrAttr:$name);
  let results = (outs NN_Deferred:$result);
  let assemblyFormat = "$name attr-dict";
}

def NN_LinearOp : NN_LayerOp<"linear"> {
  let summary = "x W + b along the last dimension, with parameters `name.weight` and `name.bias`";
  let description = [{
    The weight is [in, out] (`layout in_out`, GPT-2's Conv1D) or [out, in] (`layout out_in`, torch.nn.Linear, the default).
    The default initialiser of weights is normal(0.02); biases are initialised to zeros.
    `tied "wte.weight"` uses an existing parameter, [out, in], and declares no weight.
  }];
  let arguments = (ins StrAttr:$name, NN_Deferred:$x, OptionalAttr<I64Attr>:$features, OptionalAttr<StrAttr>:$tied,
                       UnitAttr:$in_out, UnitAttr:$no_bias, OptionalAttr<NN_Init>:$init);
  let hasVerifier = 1;
  let results = (outs NN_Deferred:$result);
  let assemblyFormat = [{
    $name $x
    oilist(`to` custom<Whole>($features) | `tied` $tied | `layout` custom<Layout>($in_out) | `no_bias` $no_bias | `init` custom<InitSpec>($init))
    attr-dict
  }];
}

def NN_EmbeddingOp : NN_LayerOp<"embedding"> {
  let summary = "rows of the parameter `name.weight` [count, features]: `%x = nn.embedding \"wte\" %tokens of 50257 by 768`";
  let arguments = (ins StrAttr:$name, NN_Deferred:$ids, I64Attr:$count, I64Attr:$features, OptionalAttr<NN_Init>:$init);
  let hasVerifier = 1;
  let results = (outs NN_Deferred:$result);
  let assemblyFormat = [{
    $name $ids `of` custom<Whole>($count) `by` custom<Whole>($features) (`init` custom<InitSpec>($init)^)? attr-dict
  }];
}

def NN_RelativeBiasOp : NN_LayerOp<"relative_bias"> {
  let summary = "T5's biases for nn.attention, [heads, 2n - 1] for sequences of n tokens: rows of the parameter `name.weight` [buckets, heads] by distance";
  let description = [{
    ```mlir
    %bias = nn.relative_bias "relative_attention_bias" heads 8 buckets 32 max_distance 128
    %y, %lse = nn.attention %q, %k, %v heads 8 scale 1 bias %bias
    ```
    The distance d of a key is the number of positions that it is before the query. With `causal`, later keys have d = 0, and c = buckets;
    otherwise later keys have buckets of their own, the second half, for |d|, and c = buckets/2. With e = c/2, rounded
    down, a distance below e has its own bucket. Bucket e + i begins at the distance e (max_distance/e)^(i/(c - e)), and the last one has no end
    (Raffel et al. 2020, as `relative_attention_num_buckets` and `relative_attention_max_distance` of Hugging Face's T5). Layers may share one bias.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$heads, I64Attr:$buckets, I64Attr:$max_distance, UnitAttr:$causal, OptionalAttr<NN_Init>:$init);
  let hasVerifier = 1;
  let results = (outs NN_Deferred:$result);
  let assemblyFormat = [{
    $name `heads` custom<Whole>($heads) `buckets` custom<Whole>($buckets) `max_distance` custom<Whole>($max_distance)
    oilist(`causal` $causal | `init` custom<InitSpec>($init)) attr-dict
  }];
}

def NN_LayerNormOp : NN_LayerOp<"layer_norm"> {
  let summary = "layer norm over the last dimension, with parameters `name.weight` and `name.bias`";
  let arguments = (ins StrAttr:$name, NN_Deferred:$x, DefaultValuedAttr<F64Attr, "1e-5">:$eps, UnitAttr:$no_bias);
  let hasVerifier = 1;
  let results = (outs NN_Deferred:$result);
  let assemblyFormat = "$name $x oilist(`eps` custom<Number>($eps) | `no_bias` $no_bias) attr-dict";
}

def NN_RmsNormOp : NN_LayerOp<"rms_norm"> {
  let summary = "RMSNorm over the last dimension, with parameter `name.weight`";
  let description = [{
    With `heads`, each of as many parts of the last dimension is normalised alone, and all are scaled by one weight of a part's width: the norms
    of queries and keys in Qwen3 and Gemma 3. With `zero_centered`, numbers are scaled by 1 + weight, and the weight is initialised to zeros
    (Gemma).
  }];
  let arguments = (ins StrAttr:$name, NN_Deferred:$x, DefaultValuedAttr<F64Attr, "1e-5">:$eps, OptionalAttr<I64Attr>:$heads,
                       UnitAttr:$zero_centered);
  let hasVerifier = 1;
  let results = (outs NN_Deferred:$result);
  let assemblyFormat = [{
    $name $x oilist(`eps` custom<Number>($eps) | `heads` custom<Whole>($heads) | `zero_centered` $zero_centered) attr-dict
  }];
}

def NN_DropoutOp : NN_LayerOp<"dropout"> {
  let summary = "zeroes elements with probability p and scales the others by 1/(1-p), in training only";
  let arguments = (ins StrAttr:$name, NN_Deferred:$x, F64Attr:$p);
  let hasVerifier = 1;
  let results = (outs NN_Deferred:$result);
  let assemblyFormat = "$name $x `p` custom<Number>($p) attr-dict";
}

def NN_DropoutKeyOp : NN_LayerOp<"dropout_key"> {
  let summary = "tensor<4xi32> that keys the dropout of nn.attention: random in training; zeros otherwise, with which nothing is dropped";
  let description = [{
    The first three numbers have 24 bits each, from nn.random, keyed by the seed, the op's name in its scope and the optimizer step. The last
    is the number of the micro-batch, so that the mask does not depend on how the samples of a step are distributed over ranks and micro-batches.
    Each attention needs a key of its own: attentions with the same key drop the same weights.
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs NN_Deferred:$result);
  let assemblyFormat = "$name attr-dict";
}

#endif
