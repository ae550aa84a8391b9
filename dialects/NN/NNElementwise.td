// Elementwise ops.

#ifndef TRAINC_NN_ELEMENTWISE
#define TRAINC_NN_ELEMENTWISE

include "dialects/NN/NNBase.td"

class NN_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : NN_TensorOp<mnemonic, traits # [
        DeclareOpInterfaceMethods<ElementwiseOpInterface>,
        DeclareOpInterfaceMethods<IndexingOpInterface>,
        RecomputableOpInterface]> {
  code indexingDefinition = [{
    ::trainc::IndexingRule $cppClass::getIndexingRule() { return ::trainc::nn::elementwiseIndexing(*this); }
  }];
  let extraClassDefinition = inferDefinition # indexingDefinition;
}

// Computes in bf16 or f16 if it gets such numbers, and has a gradient.
defvar NN_KeepsPrecision = [DeclareOpInterfaceMethods<DifferentiableOpInterface>, PrecisionOpInterface];

class NN_UnaryOp<string mnemonic, string what, list<Trait> traits = [DeclareOpInterfaceMethods<DifferentiableOpInterface>]>
    : NN_ElementwiseOp<mnemonic, traits> {
  let summary = what;
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x attr-dict `` custom<Types>(type($x))";
  let extraClassDefinition = inferDefinition # indexingDefinition # [{
    ::llvm::FailureOr<::llvm::SmallVector<::mlir::Type>> $cppClass::inferTypes(
        Adaptor adaptor, ::trainc::nn::InferError error) {
      return ::trainc::nn::inferUnary(adaptor.getX(), error);
    }
  }];
}

// Operands of unequal shapes are broadcast (right-aligned, as in NumPy) when the model is instantiated; from then on
// shapes are equal.
class NN_BinaryOp<string mnemonic, string what, list<Trait> traits = [DeclareOpInterfaceMethods<DifferentiableOpInterface>]>
    : NN_ElementwiseOp<mnemonic, traits> {
  let summary = what;
  let arguments = (ins NN_Tensor:$lhs, NN_Tensor:$rhs);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `` custom<Types>(type($lhs), type($rhs))";
  let extraClassDefinition = inferDefinition # indexingDefinition # [{
    ::llvm::FailureOr<::llvm::SmallVector<::mlir::Type>> $cppClass::inferTypes(
        Adaptor adaptor, ::trainc::nn::InferError error) {
      return ::trainc::nn::inferArithmetic(adaptor.getLhs(), adaptor.getRhs(), error);
    }
  }];
}

def NN_NegOp : NN_UnaryOp<"neg", "-x", NN_KeepsPrecision> { let hasFolder = 1; }
def NN_AbsOp : NN_UnaryOp<"abs", "|x|", NN_KeepsPrecision>;
def NN_ExpOp : NN_UnaryOp<"exp", "e^x">;
def NN_LogOp : NN_UnaryOp<"log", "natural logarithm">;
def NN_SqrtOp : NN_UnaryOp<"sqrt", "square root">;
def NN_RsqrtOp : NN_UnaryOp<"rsqrt", "1/sqrt(x)">;
def NN_ReciprocalOp : NN_UnaryOp<"reciprocal", "1/x">;
def NN_SinOp : NN_UnaryOp<"sin", "sine">;
def NN_CosOp : NN_UnaryOp<"cos", "cosine">;
def NN_TanhOp : NN_UnaryOp<"tanh", "hyperbolic tangent">;
def NN_ErfOp : NN_UnaryOp<"erf", "error function">;
def NN_SigmoidOp : NN_UnaryOp<"sigmoid", "1/(1+e^-x)">;
def NN_ReluOp : NN_UnaryOp<"relu", "max(x, 0)", NN_KeepsPrecision>;
def NN_SiluOp : NN_UnaryOp<"silu", "x sigmoid(x)">;
def NN_SquareOp : NN_UnaryOp<"square", "x x">;

def NN_PowerOfTwoOp : NN_UnaryOp<"power_of_two", "the largest power of two that is at most |x|, which is of f32", []> {
  let description = [{
    Exact: the exponent of x without its digits. It is 0 below the least normal number, and infinite for infinities and NaN.
  }];
  let extraClassDefinition = inferDefinition # indexingDefinition;
}

def NN_GeluOp : NN_UnaryOp<"gelu", "Gaussian error linear unit", [DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                                                  DeclareOpInterfaceMethods<EpilogueOpInterface>]> {
  let description = [{
    Exact: x/2 (1 + erf(x/sqrt 2)). With `approximate tanh` (Hendrycks and Gimpel 2016, as in GPT-2):
    x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
  }];
  let arguments = (ins NN_Tensor:$x, UnitAttr:$approximate);
  let assemblyFormat = "$x (`approximate` $approximate^ `tanh`)? attr-dict `` custom<Types>(type($x))";
}

def NN_GeluGradOp : NN_ElementwiseOp<"gelu_grad", [DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                                     DeclareOpInterfaceMethods<EpilogueOpInterface>]> {
  let summary = "cotangent of nn.gelu's x from that of its result: dout times the slope of nn.gelu at x";
  let arguments = (ins NN_Tensor:$dout, NN_Tensor:$x, UnitAttr:$approximate);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$dout `at` $x (`approximate` $approximate^ `tanh`)? attr-dict `` custom<Types>(type($dout), type($x))";
}

def NN_AddOp : NN_BinaryOp<"add", "x + y", NN_KeepsPrecision # [DeclareOpInterfaceMethods<EpilogueOpInterface>]> { let hasFolder = 1; }
def NN_SubOp : NN_BinaryOp<"sub", "x - y", NN_KeepsPrecision> { let hasFolder = 1; }
def NN_MulOp : NN_BinaryOp<"mul", "x y", NN_KeepsPrecision> { let hasFolder = 1; }
def NN_DivOp : NN_BinaryOp<"div", "x / y; of integers towards zero, and 0 where y is 0"> { let hasFolder = 1; }
def NN_MaxOp : NN_BinaryOp<"max", "the larger one; NaN where either is", NN_KeepsPrecision>;
def NN_MinOp : NN_BinaryOp<"min", "the smaller one; NaN where either is", NN_KeepsPrecision>;

def NN_CompareOp : NN_BinaryOp<"compare", "x <predicate> y as i1; false where either is NaN, except ne", [PrecisionOpInterface]> {
  let arguments = (ins NN_Predicate:$predicate, NN_Tensor:$lhs, NN_Tensor:$rhs);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `` custom<Types>(type($lhs), type($rhs))";
  let extraClassDefinition = inferDefinition # indexingDefinition;
}

def NN_SelectOp : NN_ElementwiseOp<"select", NN_KeepsPrecision> {
  let summary = "condition ? x : y";
  let arguments = (ins NN_Tensor:$condition, NN_Tensor:$lhs, NN_Tensor:$rhs);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $condition `,` $lhs `,` $rhs attr-dict `` custom<Types>(type($condition), type($lhs), type($rhs))
  }];
  let hasFolder = 1;
}

def NN_ConvertOp : NN_ElementwiseOp<"convert", [DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                                DeclareOpInterfaceMethods<EpilogueOpInterface>]> {
  let summary = "x as another element type";
  let description = [{
    Floats round to nearest even. Those beyond the largest number of `f8E4M3FN` (448) or `f8E5M2` (57344) become that number; fp8 is converted
    from and to f32, bf16 and f16 alone. A float becomes an integer by dropping its fraction; beyond the integers' range it is the nearest
    of them, and NaN is 0. Integers that do not fit keep their low bits.
  }];
  let arguments = (ins NN_Tensor:$x, TypeAttr:$to);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x `to` $to attr-dict `` custom<Types>(type($x))";
  let hasFolder = 1;
  let extraClassDeclaration = inferDeclaration # countDeclaration # [{
    /// Whether it gives bf16 or f16 numbers as a type that holds all of them.
    bool isWidening();
  }];
}

// Ops whose text has their type: in a model the result is deferred all the same.
class NN_TypedOp<string mnemonic, list<Trait> traits = []> : NN_ElementwiseOp<mnemonic, traits> {
  let extraClassDeclaration = inferDeclaration # countDeclaration # [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
      return inferred == actual || ::llvm::isa<::trainc::nn::DeferredType>(actual.front());
    }
  }];
}

def NN_ConstantOp : NN_TypedOp<"constant", [ConstantLike]> {
  let summary = "one number in every element";
  let description = [{
    In a model the type may be left out: `%half = nn.constant 0.5` is a scalar f32 that broadcasts, and
    `%two = nn.constant 2 : tensor<i32>` one that fits whole numbers. `inf` and `-inf` are numbers of floating-point types.
  }];
  let arguments = (ins F64Attr:$value, TypeAttrOf<AnyRankedTensor>:$type);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "custom<Number>($value) attr-dict `` custom<ConstantType>($type, type($result))";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def NN_IotaOp : NN_TypedOp<"iota"> {
  let summary = "the position along dimension `dim`";
  let arguments = (ins I64Attr:$dim, TypeAttrOf<AnyRankedTensor>:$type);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$dim attr-dict `:` $type";
}

def NN_RandomOp : NN_ElementwiseOp<"random"> {
  let summary = "uniform numbers in [0, 1), or standard normal ones";
  let description = [{
    Philox4x32-10 (Salmon et al. 2011), keyed by `seed` and `stream`, at counter (step, offset*elements + position): any
    sharding, accumulation or recomputation draws the same numbers. `seed`, `step` and `offset` are i64 scalars;
    offset counts tensors of this shape that precede this one in the step (the micro-batch).
    In detail: the key's words are (low, high) of `seed xor stream`; the counter's are (low, high) of
    offset*elements + position, then (low, high) of step. Of the four words drawn, the first two are used:
    u_i = (word_i >> 8) * 2^-24. Uniform is u_0; normal is sqrt(-2 ln(u_0 + 2^-24)) * cos(2 pi u_1) (Box-Muller).
  }];
  let arguments = (ins NN_Tensor:$seed, NN_Tensor:$step, NN_Tensor:$offset, UnitAttr:$normal, I64Attr:$stream,
                       TypeAttrOf<AnyRankedTensor>:$type);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    (`normal` $normal^)? `stream` $stream `seed` $seed `step` $step `offset` $offset attr-dict `:` $type
    `` custom<Types>(type($seed), type($step), type($offset))
  }];
}

def NN_StochasticRoundOp : NN_ElementwiseOp<"stochastic_round"> {
  let summary = "x, of f32, as one of its two neighbours in bf16: the nearer it is, the likelier";
  let description = [{
    A number between two neighbours becomes the upper one with the probability (x - lower) / (upper - lower), so that the mean of many
    roundings is x. Numbers of bf16 stay, and so do infinities. NaN stays NaN. Beyond the largest number of bf16 is no upper
    neighbour: there numbers are rounded to the nearest, and become infinite halfway to what the next number would be.

    The random numbers are Philox4x32-10's (see nn.random), keyed by `seed`, at counter (step, position): so that they depend on neither
    threads nor ranks. `seed` and `step` are i64 scalars. The position is 256 * chunk + i mod 256, where `chunks` holds the number of the
    chunk that each element belongs to, and i is the element's row-major position in x. Equal chunks must have unequal positions, so x
    begins with a chunk.
    In detail: the key's words are (low, high) of seed; the counter's are (low, high) of position, then (low, high) of step. The four words
    that are drawn are eight numbers of 16 bits, the low half of each word first. `draw` says which of them is used, so that several
    values of an element need one draw. It is added to the bits of x, of which the upper 16 are the result.
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$chunks, NN_Tensor:$seed, NN_Tensor:$step, I64Attr:$draw);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $x `in` $chunks `draw` $draw `seed` $seed `step` $step attr-dict
    `` custom<Types>(type($x), type($chunks), type($seed), type($step))
  }];
}

#endif
