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
  code numberDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return ::trainc::nn::verifyNumber(*this); }
  }];
  let extraClassDefinition = inferDefinition # indexingDefinition;
}

// Differentiable; computes in the operands' type, which may be bf16 or f16.
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

// In a model's text one of the last two operands may be a number: `nn.mul %x, 0.5`. Both operands are then %x; `number_first` says that the
// number is the first of the two. When the model is instantiated, a constant with the element type of %x becomes that operand.
defvar NN_NumberAttributes = (ins OptionalAttr<F64Attr>:$number, UnitAttr:$number_first);

// When the model is instantiated, operands of unequal shapes are broadcast (right-aligned, as in NumPy). Afterwards shapes are equal.
class NN_BinaryOp<string mnemonic, string what, list<Trait> traits = [DeclareOpInterfaceMethods<DifferentiableOpInterface>]>
    : NN_ElementwiseOp<mnemonic, traits> {
  let summary = what;
  let description = "One of the operands may be a number, which takes the element type of the other: `nn." # mnemonic # " %x, 2`.";
  let arguments = !con((ins NN_Tensor:$lhs, NN_Tensor:$rhs), NN_NumberAttributes);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "custom<Pair>($lhs, $rhs, $number, $number_first) attr-dict `` custom<Types>(type($lhs), type($rhs))";
  let builders = [
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs),
              [{ build($_builder, $_state, lhs, rhs, ::mlir::FloatAttr(), ::mlir::UnitAttr()); }]>,
    OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$lhs, "::mlir::Value":$rhs),
              [{ build($_builder, $_state, type, lhs, rhs, ::mlir::FloatAttr(), ::mlir::UnitAttr()); }]>];
  let hasVerifier = 1;
  let extraClassDefinition = inferDefinition # indexingDefinition # numberDefinition # [{
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
def NN_Log1pOp : NN_UnaryOp<"log1p", "log(1 + x), accurate where x is small">;
def NN_SqrtOp : NN_UnaryOp<"sqrt", "square root">;
def NN_RsqrtOp : NN_UnaryOp<"rsqrt", "1/sqrt(x)">;
def NN_ReciprocalOp : NN_UnaryOp<"reciprocal", "1/x">;
def NN_SinOp : NN_UnaryOp<"sin", "sine">;
def NN_CosOp : NN_UnaryOp<"cos", "cosine">;
def NN_TanhOp : NN_UnaryOp<"tanh", "hyperbolic tangent">;
def NN_ErfOp : NN_UnaryOp<"erf", "error function">;
def NN_SigmoidOp : NN_UnaryOp<"sigmoid", "1/(1+e^-x)">;
def NN_LogSigmoidOp : NN_UnaryOp<"log_sigmoid", "log(sigmoid(x)), accurate where sigmoid(x) is close to 0 or 1">;
def NN_SoftplusOp : NN_UnaryOp<"softplus", "log(1 + e^x), which is -log_sigmoid(-x)">;
def NN_ReluOp : NN_UnaryOp<"relu", "max(x, 0)", NN_KeepsPrecision>;
def NN_SiluOp : NN_UnaryOp<"silu", "x sigmoid(x)">;
def NN_SquareOp : NN_UnaryOp<"square", "x x">;

def NN_PowerOfTwoOp : NN_UnaryOp<"power_of_two", "the largest power of two that is at most |x|; x is f32", [NN_Generated]> {
  let description = [{
    Exact: x with its sign and mantissa cleared. It is 0 for subnormal x, and infinite for infinities and NaN.
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

def NN_GeluGradOp : NN_ElementwiseOp<"gelu_grad", [NN_Generated, DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                                     DeclareOpInterfaceMethods<EpilogueOpInterface>]> {
  let summary = "gradient of nn.gelu: dout times the slope of nn.gelu at x";
  let arguments = (ins NN_Tensor:$dout, NN_Tensor:$x, UnitAttr:$approximate);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$dout `at` $x (`approximate` $approximate^ `tanh`)? attr-dict `` custom<Types>(type($dout), type($x))";
}

def NN_AddOp : NN_BinaryOp<"add", "x + y", NN_KeepsPrecision # [DeclareOpInterfaceMethods<EpilogueOpInterface>]> { let hasFolder = 1; }
def NN_SubOp : NN_BinaryOp<"sub", "x - y", NN_KeepsPrecision> { let hasFolder = 1; }
def NN_MulOp : NN_BinaryOp<"mul", "x y", NN_KeepsPrecision> { let hasFolder = 1; }
def NN_DivOp : NN_BinaryOp<"div", "x / y; integers round towards zero, and x / 0 is 0"> { let hasFolder = 1; }
def NN_MaxOp : NN_BinaryOp<"max", "the larger operand; NaN if either is", NN_KeepsPrecision>;
def NN_MinOp : NN_BinaryOp<"min", "the smaller operand; NaN if either is", NN_KeepsPrecision>;

def NN_CompareOp : NN_BinaryOp<"compare", "x <predicate> y as i1; false if either is NaN, except ne", [PrecisionOpInterface]> {
  let description = "One of the operands may be a number, which takes the element type of the other: `nn.compare gt %x, 0`.";
  let arguments = !con((ins NN_Predicate:$predicate, NN_Tensor:$lhs, NN_Tensor:$rhs), NN_NumberAttributes);
  let assemblyFormat = [{
    $predicate custom<Pair>($lhs, $rhs, $number, $number_first) attr-dict `` custom<Types>(type($lhs), type($rhs))
  }];
  let builders = [OpBuilder<(ins "::trainc::nn::Predicate":$predicate, "::mlir::Value":$lhs, "::mlir::Value":$rhs),
                            [{ build($_builder, $_state, predicate, lhs, rhs, ::mlir::FloatAttr(), false); }]>];
  let extraClassDefinition = inferDefinition # indexingDefinition # numberDefinition;
}

class NN_LogicalOp<string mnemonic, string what> : NN_ElementwiseOp<mnemonic> {
  let summary = what;
  let arguments = (ins NN_Tensor:$lhs, NN_Tensor:$rhs);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `` custom<Types>(type($lhs), type($rhs))";
  let extraClassDefinition = inferDefinition # indexingDefinition # [{
    ::llvm::FailureOr<::llvm::SmallVector<::mlir::Type>> $cppClass::inferTypes(
        Adaptor adaptor, ::trainc::nn::InferError error) {
      return ::trainc::nn::inferLogical(adaptor.getOperands(), error);
    }
  }];
}

def NN_AndOp : NN_LogicalOp<"and", "whether x and y are both true; both are i1, as results of nn.compare">;
def NN_OrOp : NN_LogicalOp<"or", "whether x or y is true; both are i1">;
def NN_NotOp : NN_LogicalOp<"not", "whether x is false; x is i1"> {
  let arguments = (ins NN_Tensor:$x);
  let assemblyFormat = "$x attr-dict `` custom<Types>(type($x))";
}

def NN_SelectOp : NN_ElementwiseOp<"select", NN_KeepsPrecision> {
  let summary = "condition ? x : y";
  let description = "x or y may be a number, which takes the element type of the other: `nn.select %mask, %x, -inf`.";
  let arguments = !con((ins NN_Tensor:$condition, NN_Tensor:$lhs, NN_Tensor:$rhs), NN_NumberAttributes);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $condition `,` custom<Pair>($lhs, $rhs, $number, $number_first) attr-dict
    `` custom<Types>(type($condition), type($lhs), type($rhs))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$condition, "::mlir::Value":$lhs, "::mlir::Value":$rhs),
                            [{ build($_builder, $_state, condition, lhs, rhs, ::mlir::FloatAttr(), ::mlir::UnitAttr()); }]>];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDefinition = inferDefinition # indexingDefinition # numberDefinition;
}

def NN_ConvertOp : NN_ElementwiseOp<"convert", [DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                                DeclareOpInterfaceMethods<EpilogueOpInterface>,
                                                DeclareOpInterfaceMethods<ReadThroughOpInterface, ["isReadThrough"]>]> {
  let summary = "x converted to another element type";
  let description = [{
    Floats round to nearest even. Conversions to `f8E4M3FN` and `f8E5M2` saturate at 448 and 57344; fp8 converts only from and to f32, bf16
    and f16. Floats convert to integers by truncation; they saturate at the integers' range, and NaN becomes 0. Integers that do not fit
    keep their low bits.
  }];
  let arguments = (ins NN_Tensor:$x, TypeAttr:$to);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x `to` $to attr-dict `` custom<Types>(type($x))";
  let hasFolder = 1;
  let extraClassDeclaration = inferDeclaration # countDeclaration # [{
    /// Whether the operand is bf16 or f16 and the result type represents all its numbers.
    bool isWidening();
  }];
}

// Ops whose text gives their type. In a model the result is deferred nevertheless.
class NN_TypedOp<string mnemonic, list<Trait> traits = []> : NN_ElementwiseOp<mnemonic, traits> {
  let extraClassDeclaration = inferDeclaration # countDeclaration # [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
      return inferred == actual || ::llvm::isa<::trainc::nn::DeferredType>(actual.front());
    }
  }];
}

def NN_ConstantOp : NN_TypedOp<"constant", [ConstantLike]> {
  let summary = "a tensor whose elements all equal one number";
  let description = [{
    In a model the type is optional: `%half = nn.constant 0.5` is an f32 scalar that broadcasts. Integers need a type: `%two = nn.constant 2
    : tensor<i32>`. Floating-point constants may be `inf` and `-inf`.
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
  let assemblyFormat = "custom<Whole>($dim) attr-dict `:` $type";
}

def NN_TableOp : NN_TypedOp<"table", [NN_Generated]> {
  let summary = "numbers of a list: the element at position i of dimension `dim` is number i";
  let arguments = (ins I64Attr:$dim, DenseF64ArrayAttr:$numbers, TypeAttrOf<AnyRankedTensor>:$type);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "custom<Whole>($dim) `` custom<Numbers>($numbers) attr-dict `:` $type";
}

def NN_RandomOp : NN_ElementwiseOp<"random", [NN_Generated]> {
  let summary = "uniform random numbers in [0, 1), or standard normal random numbers";
  let description = [{
    Philox4x32-10 (Salmon et al. 2011), keyed by `seed` and `stream`, at counter (step, offset*elements + position). Sharding, accumulation
    and recomputation do not change the numbers. `seed`, `step` and `offset` are i64 scalars; `offset` is the number of tensors of this
    shape that precede this one in the optimizer step (the micro-batch).
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

def NN_StochasticRoundOp : NN_ElementwiseOp<"stochastic_round", [NN_Generated]> {
  let summary = "f32 x, rounded at random to one of its two neighbours in bf16";
  let description = [{
    A number between two neighbours is rounded up with probability (x - lower) / (upper - lower), so that the mean of many roundings is x.
    bf16 numbers, infinities and NaN do not change. Beyond the largest bf16 number, x is rounded to nearest even, as by nn.convert, and may
    become infinite.

    The random numbers are Philox4x32-10's (see nn.random), keyed by `seed`, at counter (step, position), so that they do not depend on
    threads or ranks. `seed` and `step` are i64 scalars. The position is 256 * chunk + i mod 256, where `chunks` holds each element's chunk
    number, and i is the element's row-major position in x. x must begin at a chunk boundary, so that no two elements share a position.
    In detail: the key's words are (low, high) of seed; the counter's are (low, high) of position, then (low, high) of step. The four words
    that are drawn are eight 16-bit numbers, the low half of each word first. `draw` selects one of them, so that up to eight values of an
    element share one draw. The number is added to the bits of x, and the upper 16 bits are the result.
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$chunks, NN_Tensor:$seed, NN_Tensor:$step, I64Attr:$draw);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $x `in` $chunks `draw` $draw `seed` $seed `step` $step attr-dict
    `` custom<Types>(type($x), type($chunks), type($seed), type($step))
  }];
}

#endif
