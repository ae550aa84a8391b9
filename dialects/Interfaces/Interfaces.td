// What an op knows about itself. Passes ask through these interfaces and never by op name.

#ifndef TRAINC_INTERFACES
#define TRAINC_INTERFACES

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    The vector-Jacobian product of an op on tensors. Ops without this interface are constants to autodiff.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the cotangents of the operands from those of the results.
      `resultCotangents` has one entry per result, null where it is zero. `operandCotangents` has one entry per
      operand, null on entry; set those whose `needed` flag is true, leave null what is zero. A cotangent has the type
      of its value.
    }],
    "void", "buildVjp",
    (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$resultCotangents,
         "::llvm::ArrayRef<bool>":$needed, "::llvm::MutableArrayRef<::mlir::Value>":$operandCotangents)>,
    InterfaceMethod<[{
      Whether no cotangent can be built for operand `operand`: a value that depends on a trained parameter is an error
      there.
    }],
    "bool", "isConstantOperand", (ins "unsigned":$operand), [{}], [{ return false; }]>];
}

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op whose every result element depends on the operands' elements at the same position only (operands of the
    result's shape), and on the position itself. It has one result.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the scalar computation in `arith` and `math` on lanes. `operands` holds one lane value per operand: a
      scalar, or a vector of as many lanes as `lanes` says. Use explicit `math.fma` where a fused product is meant.
      Returns a lane value of the result's element type.
    }],
    "::mlir::Value", "buildBody",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands, "const ::trainc::LaneContext &":$lanes)>];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    A composite op that is replaced by primitive ops (elementwise, reduce, broadcast, shape ops) before fusion.
  }];
  let methods = [InterfaceMethod<[{
      Builds the primitive ops and returns one value per result, of the same type.
    }],
    "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder)>];
}

def LayerOpInterface : OpInterface<"LayerOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op of the `model` phase that declares parameters or names a site of randomness in its scope, and is expanded into
    tensor ops when the model is instantiated.
  }];
  let methods = [InterfaceMethod<[{ The layer's name below its scope, for parameters and messages. }],
    "::llvm::StringRef", "getName", (ins)>, InterfaceMethod<[{
      Builds the layer's tensor ops on the concrete `operands` and returns its results; parameters are declared
      through `scope`. On bad shapes emits an error at the op, naming operands and dimensions, and fails.
    }],
    "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "expand",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands, "::trainc::LayerScope &":$scope)>];
}

def IncrementalOpInterface : OpInterface<"IncrementalOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op that mixes positions of a sequence, and so needs another form when generation feeds one token at a time
    (attention, positions). All other ops treat positions independently.
  }];
  let methods = [InterfaceMethod<[{
      Builds the op's form for generation and returns one value per result (null where unused). `caches` reads and
      writes the key-value cache. The sequence lies along the op's sequence dimensions.
    }],
    "::llvm::SmallVector<::mlir::Value>", "buildIncremental",
    (ins "::mlir::OpBuilder &":$builder, "::trainc::CacheScope &":$caches)>, InterfaceMethod<[{
      Along which dimensions of operands and results the op goes from position to position. Where no sequence of tokens lies
      along them, the op needs no other form.
    }], "::trainc::SequenceDims", "getSequenceDims", (ins)>, InterfaceMethod<[{
      Whether results depend on the elements of operand `operand`, and not on its sizes alone.
    }], "bool", "readsElements", (ins "unsigned":$operand), [{}], [{ return true; }]>];
}

def LossTermOpInterface : OpInterface<"LossTermOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op that yields a loss per target, some of which may be ignored or weighted.
  }];
  let methods = [InterfaceMethod<[{
      Builds the targets' weights (0 for ignored ones) from labels and constants alone, in the shape and type of result
      0. The loss is the sum of result 0 over the sum of these weights.
    }],
    "::mlir::Value", "buildTargetWeights", (ins "::mlir::OpBuilder &":$builder)>];
}

def LookupOpInterface : OpInterface<"LookupOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op that uses integers as indices, and so limits what a column of the data may hold.
  }];
  let methods = [InterfaceMethod<[{
      What operand `operand` may hold; none if it is not an index.
    }],
    "::std::optional<::trainc::IndexLimit>", "getIndexLimit", (ins "unsigned":$operand)>];
}

def IndexingOpInterface : OpInterface<"IndexingOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    How an op's dimensions correspond: which may be split (into chunks now, over ranks later) and where partial
    sums arise.
  }];
  let methods = [InterfaceMethod<[{
      One label per dimension of each operand and result. Equal labels are the same dimension. A label of operands that
      no result carries is summed over: splitting it makes the results partial sums. Label -1 cannot be split.
    }],
    "::trainc::IndexingRule", "getIndexingRule", (ins)>];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ The work of an op that dominates a step (matrix products, attention). }];
  let methods = [InterfaceMethod<[{
      Floating-point operations, multiply and add counted apart.
    }], "int64_t", "getFlops", (ins)>];
}

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    In which type an op on f32 tensors may compute if its program computes in bf16 or f16. Ops without this interface need f32: losses,
    statistics, functions whose slope is steep.
  }];
  let methods = [InterfaceMethod<[{ Keeps what it gets unless the op says something else. }],
    "::trainc::PrecisionClass", "getPrecisionClass", (ins), [{}], [{ return ::trainc::PrecisionClass::Keep; }]>];
}

def Fp8OpInterface : OpInterface<"Fp8OpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op that can take operands of fp8, each with a scale (a scalar of f32) that its numbers are multiplied by. }];
  let methods = [
    InterfaceMethod<[{ Which operands it takes in fp8; none if their types or sizes do not fit. }],
      "::llvm::SmallVector<unsigned>", "getFp8Operands", (ins)>,
    InterfaceMethod<[{
        Builds the same op on such operands, in the order of getFp8Operands(), with all that brings them into the layout that it needs.
        Returns its result, of the same type.
      }],
      "::mlir::Value", "buildOfFp8", (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::trainc::ScaledValue>":$operands)>];
}

def WideSumOpInterface : OpInterface<"WideSumOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op that adds up bf16 or f16 numbers in f32, and can give the sums as they are. }];
  let methods = [
    InterfaceMethod<[{ Has it give its sums in f32 instead of rounding them. }], "void", "keepSums", (ins)>,
    InterfaceMethod<[{
        Has it round the sums that it gives in f32 to `type` instead. False, and nothing is changed, if it cannot.
      }],
      "bool", "roundSums", (ins "::mlir::Type":$type)>];
}

def RecomputableOpInterface : OpInterface<"RecomputableOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op that takes little longer than reading its operands and writing its results, so that it may be better to compute it
    again than to keep the results in memory. Equal operands give equal bits.
  }];
}

def ExecutableOpInterface : OpInterface<"ExecutableOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op of the phase `scheduled` that becomes instructions of the plan. }];
  let methods = [
    InterfaceMethod<[{ Which generator or library executes it. }],
      "::trainc::KernelClass", "getKernelClass", (ins)>,
    InterfaceMethod<[{
        Index of the operand whose buffer result `result` overwrites (the op updates it in place), or -1.
      }],
      "int", "getInPlaceOperand", (ins "unsigned":$result), [{}], [{ return -1; }]>,
    InterfaceMethod<[{
        Of class Alias: where the result begins in operand 0. Of class Pack: where operand `operand` begins in the result.
      }],
      "::trainc::FlatOffset", "getFlatOffset", (ins "unsigned":$operand), [{}], [{ return {}; }]>];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op of class Collective: it has one operand, and one result that nothing but an op of class Wait uses. }];
  let methods = [InterfaceMethod<[{ What the ranks do with the operand. }],
    "::trainc::CollectiveKind", "getCollectiveKind", (ins)>, InterfaceMethod<[{ Which ranks meet. }],
    "::trainc::RankGroup", "getRankGroup", (ins)>, InterfaceMethod<[{ The number of the message in which it goes together with others; null if alone. }],
    "::mlir::IntegerAttr", "getMessageAttr", (ins)>, InterfaceMethod<[{ Sets it. }],
    "void", "setMessageAttr", (ins "::mlir::IntegerAttr":$message)>, InterfaceMethod<[{
      The parameters' state of whose gradients it is the sum; null if none.
    }], "::mlir::FlatSymbolRefAttr", "getOfAttr", (ins), [{}], [{ return {}; }]>];
}

def AccumulatingOpInterface : OpInterface<"AccumulatingOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op that can add a result to another tensor, which takes no pass over either of its own. }];
  let methods = [
    InterfaceMethod<[{ Whether result `result` can be added to something. }],
      "bool", "canAccumulate", (ins "unsigned":$result), [{}], [{ return true; }]>,
    InterfaceMethod<[{ What the result is added to; null if it is nothing. }],
      "::mlir::Value", "getAddend", (ins "unsigned":$result)>,
    InterfaceMethod<[{ Has the result added to `addend`, which is known before the op, instead. }],
      "void", "setAddend", (ins "unsigned":$result, "::mlir::Value":$addend)>];
}

def StridedCopyOpInterface : OpInterface<"StridedCopyOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op of class StridedCopy: its one result is made of boxes of its operands' elements, and of zeros.
  }];
  let methods = [InterfaceMethod<[{ Boxes that fill the result, each element once. }],
    "::llvm::SmallVector<::trainc::StridedBox>", "getBoxes", (ins)>];
}

def GemmOpInterface : OpInterface<"GemmOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op that is one (batched) matrix product. }];
  let methods = [InterfaceMethod<[{ The product's sizes and layouts; operands 0 and 1 are A and B, result 0 is C. }],
    "::trainc::GemmShape", "getGemmShape", (ins)>, InterfaceMethod<[{
      The scalars by which the sums are multiplied, as A and B are of fp8; none if they are not.
    }],
    "::std::optional<::trainc::GemmScales>", "getGemmScales", (ins), [{}], [{ return {}; }]>, InterfaceMethod<[{ What is done to C before it is written. }],
    "::trainc::GemmEpilogue", "getGemmEpilogue", (ins), [{}], [{ return {}; }]>, InterfaceMethod<[{
      Builds the same product that also does these steps, with results in the order of GemmEpilogue's. Null if there is no such op.
    }],
    "::mlir::Operation *", "buildWithEpilogue",
    (ins "::mlir::OpBuilder &":$builder, "const ::trainc::ProductSteps<::mlir::Value> &":$steps), [{}],
    [{ return nullptr; }]>];
}

def EpilogueOpInterface : OpInterface<"EpilogueOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op that a library's matrix product can do on the way: to its result before it writes it, or to a factor. }];
  let methods = [InterfaceMethod<[{
      What the op does to operand `operand`; none if a product cannot do it.
    }],
    "::std::optional<::trainc::EpilogueStep>", "getEpilogueStep", (ins "unsigned":$operand)>];
}

#endif
