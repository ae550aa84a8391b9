// What compiled steps consist of beside tensor math: fused kernels, loops over chunks, barriers.

#ifndef TRAINC_NN_FUSION
#define TRAINC_NN_FUSION

include "dialects/Interfaces/Enums.td"
include "dialects/NN/NNBase.td"

// Where a value of a kernel stands: `#nn.pattern<16, *64>` has an element for each of 16 rows.
def NN_RepeatPattern : AttrDef<NN_Dialect, "RepeatPattern"> {
  let mnemonic = "pattern";
  let summary = "how a value of a kernel repeats over rows and columns";
  let description = [{
    The row-major positions of a kernel's rows x columns as runs, from the slowest to the fastest. Along a run the value varies, or, with
    `*`, it repeats. The value's elements are row-major, too, so the pattern says which of them is meant at each row and column. Of 16
    rows x 64 columns:

    | pattern | the value has |
    |---|---|
    | `<1024>` | an element for each row and column |
    | `<16, *64>` | an element for each row |
    | `<*16, 64>` | an element for each column |
    | `<*1024>` | one element |
    | `<*2, 512>` | an element for each column of 8 rows, which repeat twice |
  }];
  let parameters = (ins ArrayRefParameter<"::trainc::nn::RepeatPattern::Run">:$runs);
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "const ::trainc::nn::RepeatPattern &":$pattern), "return $_get($_ctxt, pattern.getRuns());">];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = "RepeatPattern getPattern() const;";
}

def NN_KernelOp : NN_Op<"kernel", [Pure, IsolatedFromAbove, SingleBlock, DeclareOpInterfaceMethods<ExecutableOpInterface>]> {
  let summary = "primitive ops that become one generated kernel";
  let description = [{
    Block arguments stand for the operands; the region holds primitive ops on whole tensors and ends in nn.yield. The kernel is a loop
    over `rows` x `columns`. Of each value in it a pattern says which element is meant at a row and column:
    `at <...>` behind an input, `nn.pattern` on an op. Without one the value has an element for each row and column. The table of an
    nn.gather has no pattern: ids say which of its rows is meant.

    ```mlir
    %r = nn.kernel 16 x 64 (%a = %x : tensor<16x64xf32>, %b = %bias : tensor<64xf32> at <*16, 64>) -> (tensor<16xf32>) {
      %c = nn.broadcast %b to [16, 64] : tensor<64xf32>
      %d = nn.add %a, %c : tensor<16x64xf32>, tensor<16x64xf32>
      %e = nn.reduce sum %d over [1] {nn.pattern = #nn.pattern<16, *64>} : tensor<16x64xf32>
      nn.yield %e : tensor<16xf32>
    }
    ```

    The patterns of an op's operands and result fit the op, and its columns are all kept or all repeated. A reduction goes over all
    columns or all rows. One over rows is complete when all rows are done, so it may only be yielded. Other yielded values have
    an element for each row, or one.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$rows, I64Attr:$columns, ArrayAttr:$patterns);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// On ops inside: a RepeatPatternAttr.
    static constexpr ::llvm::StringLiteral kPatternAttr = "nn.pattern";
    /// True for ops that can stand in a kernel: elementwise, reduce, broadcast, reshape, gather, on tensors of known sizes.
    static bool canHold(::mlir::Operation *op);
    /// Whether a value inside is the table of a gather.
    bool isTable(::mlir::Value value);
    /// Elements that are read of input `input`: of a table those of the rows that gathers pick, and all at most.
    int64_t readElements(unsigned input);
    /// How a value inside, which is no table, repeats over rows and columns.
    RepeatPattern patternOf(::mlir::Value value);
    /// Sets the pattern of an op inside.
    static void setPattern(::mlir::Operation *op, const RepeatPattern &pattern);
  }];
}

def NN_ProductOp : NN_TensorOp<"product", [DeclareOpInterfaceMethods<CostOpInterface>,
                                           DeclareOpInterfaceMethods<ExecutableOpInterface, ["getInPlaceOperand"]>,
                                           DeclareOpInterfaceMethods<GemmOpInterface, ["getGemmEpilogue"]>,
                                           AttrSizedOperandSegments]> {
  let summary = "a matrix product with its epilogue, as a library computes it";
  let description = [{
    activation(nn.matmul + bias): `bias` is one row, added to all. With `before`, a second result is what the activation is
    applied to, which its gradient needs. The gradient of an activation multiplies by its slope `at` another tensor. With `sum`, the last
    result is the gradient of a bias: the sums of the result's columns, of the rows of op(lhs) (`a`), or of the columns of op(rhs) (`b`).
    All is computed in f32, and rounded once, to the result's type. The pass `fuse-epilogues` makes it, for targets that leave products
    to libraries.
  }];
  let arguments = (ins NN_Tensor:$lhs, NN_Tensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, UnitAttr:$reduce_batch,
                       OptionalAttr<TypeAttr>:$to, Optional<NN_Tensor>:$accumulate, Optional<NN_Tensor>:$bias,
                       DefaultValuedAttr<Activation, "Activation::none">:$activation, Optional<NN_Tensor>:$auxiliary,
                       UnitAttr:$before, DefaultValuedAttr<SideSum, "SideSum::none">:$side_sum);
  let results = (outs Variadic<NN_Tensor>:$results);
  let assemblyFormat = [{
    $lhs (`transposed` $transpose_lhs^)? `,` $rhs (`transposed` $transpose_rhs^)? (`reduce_batch` $reduce_batch^)? (`to` $to^)?
    (`accumulate` $accumulate^ `` custom<Types>(type($accumulate)))? (`bias` $bias^ `` custom<Types>(type($bias)))?
    (`activation` $activation^)? (`at` $auxiliary^ `` custom<Types>(type($auxiliary)))? (`before` $before^)?
    (`sum` $side_sum^)? attr-dict `` custom<Types>(type($lhs), type($rhs))
  }];
  let extraClassDeclaration = inferDeclaration # [{
    static size_t resultCount(Adaptor op) { return 1 + op.getBefore() + (op.getSideSum() != SideSum::none); }
  }];
}

def NN_ChunksOp : NN_Op<"chunks", [Pure, IsolatedFromAbove, SingleBlock,
                                   DeclareOpInterfaceMethods<AccumulatingOpInterface, ["canAccumulate"]>,
                                   DeclareOpInterfaceMethods<ExecutableOpInterface, ["getInPlaceOperand"]>]> {
  let summary = "a counted loop over slices of tensors";
  let description = [{
    Runs the region `count` times in order. An input with split dimension d >= 0 is cut into `count` equal slices along d, and
    iteration i sees the i-th. With d = -1 every iteration sees all of it. With d = -2 it is carried: iteration 0 sees the
    operand, each later one what the previous one yielded. A result with dimension d >= 0 is the concatenation along d of what the
    iterations yield. Results with dimension -2 are the last values of the carried inputs, in
    the same order.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$count, DenseI64ArrayAttr:$input_dims, DenseI64ArrayAttr:$result_dims);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What input_dims and result_dims hold beside dimensions.
    static constexpr int64_t kWhole = -1, kCarried = -2;
    bool isCarriedInput(unsigned input) { return getInputDims()[input] == kCarried; }
    bool isCarriedResult(unsigned result) { return getResultDims()[result] == kCarried; }
    /// What an iteration sees of a tensor that is split along `dim` (all of it where dim is negative).
    static ::mlir::Type sliceType(::mlir::Type type, int64_t dim, int64_t count);
  }];
}

def NN_BarrierOp : NN_Op<"barrier", [Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<IndexingOpInterface>,
                                       DeclareOpInterfaceMethods<ExecutableOpInterface>]> {
  let summary = "x, kept in memory, for ops that are computed again from it";
  let description = [{
    The same bytes. An op that reads them behind a barrier is another one than an equal op that reads `x`: no pass makes one of the two.
    No kernel reaches over the barrier, so each is computed in its place.
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = [{
    ::trainc::IndexingRule $cppClass::getIndexingRule() { return elementwiseIndexing(*this); }
    ::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::Alias; }
  }];
}

def NN_YieldOp : NN_Op<"yield", [Pure, Terminator]> {
  let summary = "the results of a kernel or of an iteration over chunks";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "$values attr-dict (`:` type($values)^)?";
}

#endif
