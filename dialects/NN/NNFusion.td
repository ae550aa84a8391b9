// Ops of compiled steps: fused kernels, products with epilogues, loops over chunks, barriers.

#ifndef TRAINC_NN_FUSION
#define TRAINC_NN_FUSION

include "dialects/Interfaces/Enums.td"
include "dialects/NN/NNBase.td"

// Pattern of a kernel's value: `#nn.pattern<16, *64>` has one element for each of 16 rows.
def NN_RepeatPattern : AttrDef<NN_Dialect, "RepeatPattern"> {
  let mnemonic = "pattern";
  let summary = "repetition of a kernel's value over rows and columns";
  let description = [{
    The row-major positions of a kernel's rows x columns as runs, from the slowest to the fastest. Along a run the value varies, or, with
    `*`, it repeats. The value's elements are row-major as well, so that the pattern selects one element for each row and column. Examples
    with 16 rows x 64 columns:

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

def NN_KernelOp : NN_Op<"kernel", [NN_Generated, Pure, IsolatedFromAbove, SingleBlock, DeclareOpInterfaceMethods<ExecutableOpInterface>]> {
  let summary = "primitive ops that are fused into one generated kernel";
  let description = [{
    Block arguments represent the operands. The region holds primitive ops on whole tensors and ends in nn.yield. The kernel is a loop over
    `rows` x `columns`. The pattern of a value selects the element for each row and column: `at <...>` after an input, `nn.pattern` on an
    op. A value without a pattern has an element for each row and column. The table of an nn.gather has no pattern; ids select its rows.

    ```mlir
    %r = nn.kernel 16 x 64 (%a = %x : tensor<16x64xf32>, %b = %bias : tensor<64xf32> at <*16, 64>) -> (tensor<16xf32>) {
      %c = nn.broadcast %b to [16, 64] : tensor<64xf32>
      %d = nn.add %a, %c : tensor<16x64xf32>, tensor<16x64xf32>
      %e = nn.reduce sum %d over [1] {nn.pattern = #nn.pattern<16, *64>} : tensor<16x64xf32>
      nn.yield %e : tensor<16xf32>
    }
    ```

    The patterns of operands and result must match the op, and columns are all kept or all repeated. A reduction covers all columns or all
    rows. A reduction over rows completes after the last row, so that it may only be yielded. Other yielded values have an element for each
    row, or one element.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$rows, I64Attr:$columns, ArrayAttr:$patterns);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Name of the RepeatPatternAttr on ops of the region.
    static constexpr ::llvm::StringLiteral kPatternAttr = "nn.pattern";
    /// Whether a kernel can contain the op: elementwise, reduce, broadcast, reshape or gather, on static tensors.
    static bool canHold(::mlir::Operation *op);
    /// Whether a value of the region is the table of a gather.
    bool isTable(::mlir::Value value);
    /// Maximum number of elements that are read from input `input`. Of a table only the gathered rows are read.
    int64_t readElements(unsigned input);
    /// Returns the pattern of a value of the region that is no table.
    RepeatPattern patternOf(::mlir::Value value);
    /// Sets the pattern of an op of the region.
    static void setPattern(::mlir::Operation *op, const RepeatPattern &pattern);
  }];
}

def NN_ProductOp : NN_TensorOp<"product", [NN_Generated, DeclareOpInterfaceMethods<CostOpInterface>,
                                           DeclareOpInterfaceMethods<ExecutableOpInterface, ["getInPlaceOperand"]>,
                                           DeclareOpInterfaceMethods<GemmOpInterface, ["getGemmEpilogue"]>,
                                           AttrSizedOperandSegments]> {
  let summary = "a matrix product with an epilogue, executed by a library";
  let description = [{
    activation(nn.matmul + bias): `bias` is one row that is added to every row. With `before`, the input of the activation is a second
    result; the activation's gradient needs it. The gradient of an activation multiplies by the slope `at` another tensor. With `sum`, the
    last result is the gradient of a bias: the sums of the result's columns (`result`), of the rows of op(lhs) (`a`), or of the columns of
    op(rhs) (`b`). All steps are computed in f32, and the result is rounded once. The pass `fuse-epilogues` creates this op for targets that
    execute products by a library.
  }];
  let arguments = (ins NN_Tensor:$lhs, NN_Tensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, UnitAttr:$reduce_batch,
                       OptionalAttr<TypeAttr>:$to, Optional<NN_Tensor>:$accumulate, Optional<NN_Tensor>:$bias,
                       DefaultValuedAttr<Activation, "Activation::none">:$activation, Optional<NN_Tensor>:$auxiliary,
                       UnitAttr:$before, DefaultValuedAttr<SideSum, "SideSum::none">:$side_sum);
  let results = (outs Variadic<NN_Tensor>:$results);
  let assemblyFormat = [{
    $lhs (`transposed` $transpose_lhs^)? `,` $rhs (`transposed` $transpose_rhs^)? (`reduce_batch` $reduce_batch^)? (`to` $to^)?
    (`accumulate` custom<Given>($accumulate, type($accumulate))^)? (`bias` custom<Given>($bias, type($bias))^)?
    (`activation` $activation^)? (`at` custom<Given>($auxiliary, type($auxiliary))^)? (`before` $before^)?
    (`sum` $side_sum^)? attr-dict `` custom<Types>(type($lhs), type($rhs))
  }];
  let extraClassDeclaration = inferDeclaration # [{
    static size_t resultCount(Adaptor op) { return 1 + op.getBefore() + (op.getSideSum() != SideSum::none); }
  }];
}

def NN_ChunksOp : NN_Op<"chunks", [NN_Generated, Pure, IsolatedFromAbove, SingleBlock,
                                   DeclareOpInterfaceMethods<AccumulatingOpInterface, ["canAccumulate"]>,
                                   DeclareOpInterfaceMethods<ExecutableOpInterface, ["getInPlaceOperand"]>]> {
  let summary = "a counted loop over slices of tensors";
  let description = [{
    Runs the region `count` times in order. An input with split dimension d >= 0 is cut into `count` equal slices along d; iteration i gets
    slice i. With d = -1 every iteration gets the whole input. With d = -2 the input is carried: iteration 0 gets the operand, and each
    later iteration gets the value that the previous one yielded. A result with dimension d >= 0 is the concatenation along d of the yielded
    values. Results with dimension -2 are the final values of the carried inputs, in the same order.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$count, DenseI64ArrayAttr:$input_dims, DenseI64ArrayAttr:$result_dims);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Special values of input_dims and result_dims.
    static constexpr int64_t kWhole = -1, kCarried = -2;
    bool isCarriedInput(unsigned input) { return getInputDims()[input] == kCarried; }
    bool isCarriedResult(unsigned result) { return getResultDims()[result] == kCarried; }
    /// Returns the type of one iteration's slice of a tensor that is split along `dim` (the whole tensor if `dim` is negative).
    static ::mlir::Type sliceType(::mlir::Type type, int64_t dim, int64_t count);
  }];
}

def NN_BarrierOp : NN_Op<"barrier", [NN_Generated, Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<IndexingOpInterface>,
                                       DeclareOpInterfaceMethods<ExecutableOpInterface>]> {
  let summary = "x, kept in memory as the input of recomputation";
  let description = [{
    The result shares the bytes of `x`. CSE does not merge an op that reads the result with an equal op that reads `x`, and no kernel is
    fused across the barrier. So recomputed ops run where they are placed.
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = [{
    ::trainc::IndexingRule $cppClass::getIndexingRule() { return elementwiseIndexing(*this); }
    ::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::Alias; }
  }];
}

def NN_YieldOp : NN_Op<"yield", [NN_Generated, Pure, Terminator]> {
  let summary = "the results of a kernel or of one iteration of nn.chunks";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "$values attr-dict (`:` type($values)^)?";
}

#endif
