// What compiled steps consist of beside tensor math: fused kernels, loops over chunks, barriers.

#ifndef TRAINC_NN_FUSION
#define TRAINC_NN_FUSION

include "dialects/NN/NNBase.td"

def NN_KernelOp : NN_Op<"kernel", [Pure, IsolatedFromAbove, SingleBlock, DeclareOpInterfaceMethods<ExecutableOpInterface>]> {
  let summary = "primitive ops that become one generated kernel";
  let description = [{
    Block arguments stand for the operands; the region holds primitive ops on whole tensors and ends in nn.yield. All values
    fit one iteration space of `rows` x `columns` (see lib/Analysis/IterationSpace.h).
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$rows, I64Attr:$columns);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def NN_ChunksOp : NN_Op<"chunks", [Pure, IsolatedFromAbove, SingleBlock,
                                   DeclareOpInterfaceMethods<AccumulatingOpInterface, ["canAccumulate"]>,
                                   DeclareOpInterfaceMethods<ExecutableOpInterface, ["getInPlaceOperand"]>]> {
  let summary = "a counted loop over slices of tensors";
  let description = [{
    Runs the region `count` times in order. An input with split dimension d >= 0 is cut into `count` equal slices along
    d, of which iteration i sees the i-th; with d = -1 every iteration sees all of it; with d = -2 it is carried:
    iteration 0 sees the operand, each later one what the previous one yielded. A result with dimension d >= 0 is the
    concatenation along d of what the iterations yield; results with dimension -2 are the last values of the carried inputs, in
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

def NN_BarrierOp : NN_Op<"barrier", [Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<ExecutableOpInterface>]> {
  let summary = "x, kept in memory, for ops that are computed again from it";
  let description = [{
    The same bytes. An op that reads them behind a barrier is another one than an equal op that reads `x`: no pass makes one of the two,
    and no kernel reaches over the barrier, so that each is computed in its place.
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = "::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::Alias; }";
}

def NN_YieldOp : NN_Op<"yield", [Pure, Terminator]> {
  let summary = "the results of a kernel or of an iteration over chunks";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "$values attr-dict (`:` type($values)^)?";
}

#endif
