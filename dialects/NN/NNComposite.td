// Composite ops. Each is replaced by primitive ops before fusion, and has its own gradient, which keeps few activations.

#ifndef TRAINC_NN_COMPOSITE
#define TRAINC_NN_COMPOSITE

include "dialects/NN/NNBase.td"

class NN_CompositeOp<string mnemonic, list<Trait> traits = []>
    : NN_TensorOp<mnemonic, traits # [
        DeclareOpInterfaceMethods<DecomposableOpInterface>,
        DeclareOpInterfaceMethods<DifferentiableOpInterface>,
        DeclareOpInterfaceMethods<IndexingOpInterface>]>;

def NN_StandardizeOp : NN_CompositeOp<"standardize"> {
  let summary = "(x - mean) / sqrt(variance + eps) along the last dimension, and the 1/sqrt factor (without that dimension)";
  let description = [{ The core of layer norm (Ba et al. 2016); the gradient needs only the results. }];
  let arguments = (ins NN_Tensor:$x, F64Attr:$eps);
  let results = (outs NN_Tensor:$result, NN_Tensor:$rstd);
  let assemblyFormat = "$x `eps` custom<Number>($eps) attr-dict `` custom<Types>(type($x))";
  let extraClassDeclaration = inferDeclaration # [{ static size_t resultCount(Adaptor) { return 2; } }];
}

def NN_RmsStandardizeOp : NN_CompositeOp<"rms_standardize"> {
  let summary = "x / sqrt(mean(x^2) + eps) along the last dimension, and the 1/sqrt factor (without that dimension)";
  let description = [{ The core of RMSNorm (Zhang and Sennrich 2019); the gradient needs only the results. }];
  let arguments = (ins NN_Tensor:$x, F64Attr:$eps);
  let results = (outs NN_Tensor:$result, NN_Tensor:$rstd);
  let assemblyFormat = "$x `eps` custom<Number>($eps) attr-dict `` custom<Types>(type($x))";
  let extraClassDeclaration = inferDeclaration # [{ static size_t resultCount(Adaptor) { return 2; } }];
}

def NN_SoftmaxOp : NN_CompositeOp<"softmax"> {
  let summary = "e^(x - max) / sum along the last dimension";
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x attr-dict `` custom<Types>(type($x))";
}

// A scaling as `linear(factor 8)`; RopeScaling.cpp has the table of kinds and keys.
def NN_RopeScaling : AttrDef<NN_Dialect, "RopeScaling"> {
  let mnemonic = "rope_scaling";
  let summary = "a scaling of rotary frequencies for contexts longer than those of pretraining";
  let description = [{
    With f = theta^(-2i/r), the frequency of pair i of r/2 is:

    | kind | frequency |
    |---|---|
    | `linear(factor F)` | f/F (Chen et al. 2023, position interpolation) |
    | `llama3(factor F, low L, high H, original N)` | f where N f/2pi is at least H; f/F where it is at most L; blended between (Llama 3.1) |
    | `yarn(factor F, original N, beta_fast 32, beta_slow 1, attention_factor A, untruncated)` | f for pairs that turn at least beta_fast times in N positions, f/F for those that turn at most beta_slow times, blended between in i (Peng et al. 2023); cosines and sines times A, by default 0.1 ln F + 1; the first and last blended pairs are rounded down and up, unless `untruncated` |
    | `longrope(short [..], long [..], original N, attention_factor A)` | f/short[i] if a program's sequences have at most N tokens, else f/long[i]; cosines and sines times A, by default 1 (Ding et al. 2024); `factors [..]` gives a single list in place of `short`, `long` and `original` |
    | `proportional(share P)` | f for the first int(P r/2) pairs, 0 for the others (Gemma 4) |

    Keys with defaults may be left out. Frequencies are computed in f64 and rounded once.
  }];
  let parameters = (ins StringRefParameter<"kind">:$kind, "::mlir::DictionaryAttr":$keys);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def NN_RopeOp : NN_CompositeOp<"rope"> {
  let summary = "rotary position embedding (Su et al. 2021) of the heads in the last dimension";
  let description = [{
    x is [batch, t, heads*d], `positions` i32 [batch, t] or [t]. The halves (x1, x2) of each head's first r = `rotary` numbers (default d, all)
    become (x1 cos a - x2 sin a, x2 cos a + x1 sin a); other numbers stay. Here a = position * theta^(-2i/r). This is the layout of Hugging
    Face's Llama. With `interleaved`, x1 and x2 are the even and the odd numbers, as in GPT-J. `scaling` changes the frequencies theta^(-2i/r)
    and may multiply cosines and sines, for long contexts. `inverse` rotates by -a (the gradient).
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$positions, I64Attr:$heads, F64Attr:$theta, OptionalAttr<I64Attr>:$rotary,
                       UnitAttr:$interleaved, OptionalAttr<NN_RopeScaling>:$scaling, UnitAttr:$inverse);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $x `positions` $positions `heads` custom<Whole>($heads) `theta` custom<Number>($theta)
    oilist(`rotary` custom<Whole>($rotary) | `interleaved` $interleaved | `scaling` custom<RopeScaling>($scaling) | `inverse` $inverse)
    attr-dict `` custom<Types>(type($x), type($positions))
  }];
  let extraClassDeclaration = inferDeclaration # countDeclaration # [{
    /// Number of rotated numbers of each head.
    int64_t rotaryWidth();
  }];
}

def NN_PositionsOp : NN_TensorOp<"positions", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                               DeclareOpInterfaceMethods<IndexingOpInterface>,
                                               DeclareOpInterfaceMethods<IncrementalOpInterface, ["readsElements"]>]> {
  let summary = "0, 1, 2, ... along the last dimension of the tokens, i32";
  let description = [{ With `from` (scalar i32; generation) counting starts at `from`. }];
  let arguments = (ins NN_Tensor:$tokens, Optional<NN_Tensor>:$from);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$tokens (`from` custom<Given>($from, type($from))^)? attr-dict `` custom<Types>(type($tokens))";
}

def NN_MseOp : NN_CompositeOp<"mse"> {
  let summary = "(x - y)^2, per element; nn.loss takes the mean";
  let description = [{ x and y have one shape. Unlike operands of elementwise ops, they are not broadcast. }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$y);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x `,` $y attr-dict `` custom<Types>(type($x), type($y))";
}

def NN_CrossEntropyOp : NN_CompositeOp<"cross_entropy", [DeclareOpInterfaceMethods<LossTermOpInterface>,
                                                        DeclareOpInterfaceMethods<LookupOpInterface>]> {
  let summary = "negative log-likelihood of labels under softmax(logits), per target, and the log-sum-exp";
  let description = [{
    logits [..., classes], labels integers [...]. A target whose label is `ignore` (default -100) or out of range yields 0.
    `smoothing` s: (1-s) nll + s/classes sum over classes, as in PyTorch. `weights` [classes]: each target's loss is scaled by its
    label's weight (with smoothing, each class's share by that class's weight, as in PyTorch). The weights are constants: they
    have no gradient, and must not depend on a trained parameter.
  }];
  let arguments = (ins NN_Tensor:$logits, NN_Tensor:$labels, Optional<NN_Tensor>:$weights,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore, DefaultValuedAttr<F64Attr, "0.0">:$smoothing);
  let results = (outs NN_Tensor:$nll, NN_Tensor:$lse);
  let assemblyFormat = [{
    $logits `,` $labels
    oilist(`ignore` custom<Whole>($ignore) | `smoothing` custom<Number>($smoothing) | `weights` custom<Given>($weights, type($weights)))
    attr-dict `` custom<Types>(type($logits), type($labels))
  }];
  let extraClassDeclaration = inferDeclaration # [{
    static size_t resultCount(Adaptor) { return 2; }
    bool isConstantOperand(unsigned operand);
  }];
}

#endif
