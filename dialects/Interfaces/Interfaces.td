// Op interfaces. Passes query ops through them and never by op name.

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
      Builds the cotangents of the operands from the cotangents of the results.
      `resultCotangents` has one entry per result; null means zero. `operandCotangents` has one entry per operand, null on entry. Set the
      entries whose `needed` flag is true; null means zero. A cotangent has the type of its value.
    }],
    "void", "buildVjp",
    (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$resultCotangents,
         "::llvm::ArrayRef<bool>":$needed, "::llvm::MutableArrayRef<::mlir::Value>":$operandCotangents)>,
    InterfaceMethod<[{
      Whether no cotangent can be built for operand `operand`. Autodiff fails if the operand depends on a trained parameter.
    }],
    "bool", "isConstantOperand", (ins "unsigned":$operand), [{}], [{ return false; }]>];
}

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op with one result, each element of which depends only on its position and on the operands' elements at the same position. The
    operands have the result's shape.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the scalar computation in `arith` and `math` on lanes. `operands` holds one lane value per operand: a scalar, or a vector of
      `lanes.lanes` elements. A fused multiply-add must be an explicit `math.fma`. Returns a lane value of the result's element type.
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

def BlockUserOpInterface : OpInterface<"BlockUserOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op of the `model` phase that uses blocks, once or several times in a row. The blocks take turns.
  }];
  let methods = [InterfaceMethod<[{ Names of the blocks; use `i` applies the name at `i` modulo their number. }],
    "::llvm::SmallVector<::mlir::FlatSymbolRefAttr>", "getUsedBlocks", (ins)>,
    InterfaceMethod<[{ Number of uses. }], "uint64_t", "getUses", (ins)>,
    InterfaceMethod<[{ The scope of use `use`, relative to that of the op. }], "::std::string", "getScopeOf", (ins "uint64_t":$use)>];
}

def LayerOpInterface : OpInterface<"LayerOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op of the `model` phase that declares parameters or names a site of randomness in its scope, and is expanded into
    tensor ops when the model is instantiated.
  }];
  let methods = [InterfaceMethod<[{ The layer's name below its scope, for parameters and messages. }],
    "::llvm::StringRef", "getName", (ins)>, InterfaceMethod<[{
      Builds the layer's tensor ops on the concrete `operands` and returns its results. Parameters are declared through `scope`. On invalid
      shapes it fails with an error at the op that names operands and dimensions.
    }],
    "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "expand",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands, "::trainc::LayerScope &":$scope)>];
}

def IncrementalOpInterface : OpInterface<"IncrementalOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op that combines positions of a sequence (attention, position embeddings). It needs another form for generation, which feeds one
    token at a time. All other ops treat positions independently.
  }];
  let methods = [InterfaceMethod<[{
      Builds the op's form for generation and returns one value per result; none, after an error at the op, if it has no such
      form. `caches` reads and writes the key-value cache. The sequence lies along the op's sequence dimensions.
    }],
    "::llvm::SmallVector<::mlir::Value>", "buildIncremental",
    (ins "::mlir::OpBuilder &":$builder, "::trainc::CacheScope &":$caches)>, InterfaceMethod<[{
      Dimensions of operands and results along which the op combines positions. If no token sequence runs along these dimensions, the op
      needs no other form.
    }], "::trainc::SequenceDims", "getSequenceDims", (ins)>, InterfaceMethod<[{
      Whether results depend on the elements of operand `operand`, and not only on its shape.
    }], "bool", "readsElements", (ins "unsigned":$operand), [{}], [{ return true; }]>];
}

def LossTermOpInterface : OpInterface<"LossTermOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op that yields one loss per target. Targets may be ignored or weighted.
  }];
  let methods = [InterfaceMethod<[{
      Builds the targets' weights (0 for ignored targets) from labels and constants alone, in the shape and type of result 0. The loss is
      the sum of result 0 divided by the sum of the weights.
    }],
    "::mlir::Value", "buildTargetWeights", (ins "::mlir::OpBuilder &":$builder)>];
}

def LookupOpInterface : OpInterface<"LookupOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op that uses integers as indices, and so limits the valid values of a data column.
  }];
  let methods = [InterfaceMethod<[{
      Valid values of operand `operand`; none if it is not an index.
    }],
    "::std::optional<::trainc::IndexLimit>", "getIndexLimit", (ins "unsigned":$operand)>];
}

def IndexingOpInterface : OpInterface<"IndexingOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    Correspondence of an op's dimensions: which can be partitioned (into chunks), and where partial sums arise.
  }];
  let methods = [InterfaceMethod<[{
      One label per dimension of each operand and result. Equal labels are the same dimension. A label that only operands have is summed
      over: if it is partitioned, the results are partial sums. A dimension with label -1 cannot be partitioned.
    }],
    "::trainc::IndexingRule", "getIndexingRule", (ins)>];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ Work of the ops that dominate a step: matrix products and attention. }];
  let methods = [InterfaceMethod<[{
      Floating-point operations; a multiply-add counts as two.
    }], "int64_t", "getFlops", (ins)>];
}

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    The element type in which an op on f32 tensors may compute if the program computes in bf16 or f16. Ops without this interface need f32:
    losses, means and variances, functions with a large derivative.
  }];
  let methods = [InterfaceMethod<[{ The default is the operands' type. }],
    "::trainc::PrecisionClass", "getPrecisionClass", (ins), [{}], [{ return ::trainc::PrecisionClass::Keep; }]>,
    InterfaceMethod<[{ Whether operand `operand` may be f32 while the others are bf16 or f16. }],
    "bool", "mayStayF32", (ins "unsigned":$operand), [{}], [{ return false; }]>];
}

def Fp8OpInterface : OpInterface<"Fp8OpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op that can take fp8 operands, each with an f32 scalar by which its elements are multiplied. }];
  let methods = [
    InterfaceMethod<[{ Operands that the op can take in fp8; none if types or sizes do not fit. }],
      "::llvm::SmallVector<unsigned>", "getFp8Operands", (ins)>,
    InterfaceMethod<[{
        Builds the same op on fp8 operands, in the order of getFp8Operands(), and the ops that bring the operands into the required layout.
        Returns the op's result, of the same type.
      }],
      "::mlir::Value", "buildOfFp8", (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::trainc::ScaledValue>":$operands)>];
}

def WideSumOpInterface : OpInterface<"WideSumOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op that sums bf16 or f16 numbers in f32, and can give the sums unrounded. }];
  let methods = [
    InterfaceMethod<[{ Changes the result to the unrounded f32 sums. }], "void", "keepSums", (ins)>,
    InterfaceMethod<[{
        Rounds the f32 sums to `type`. Returns false and changes nothing if the op cannot.
      }],
      "bool", "roundSums", (ins "::mlir::Type":$type)>];
}

def RecomputableOpInterface : OpInterface<"RecomputableOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    A bandwidth-bound op whose results may be recomputed instead of kept in memory. Equal operands give equal bits.
  }];
}

def ReadThroughOpInterface : OpInterface<"ReadThroughOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op with one operand and one result. Kernels may read the operand in place of the result, and repeat or convert its elements themselves.
  }];
  let methods = [InterfaceMethod<[{ Whether the operand may be read in place of the result. }],
    "bool", "isReadThrough", (ins), [{}], [{ return true; }]>];
}

def PlacementOpInterface : OpInterface<"PlacementOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op with one result, whose placement on the ranks follows from those of the operands by a rule of its own. }];
  let methods = [InterfaceMethod<[{
      The placement of the result along `axis` of the mesh. `operands` has one placement per operand.
    }],
    "::trainc::DerivedPlacement", "derivePlacement", (ins "::llvm::StringRef":$axis, "::llvm::ArrayRef<::trainc::Along>":$operands)>];
}

def ExecutableOpInterface : OpInterface<"ExecutableOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op of the phase `scheduled` that becomes instructions of the plan. }];
  let methods = [
    InterfaceMethod<[{ Generator or library that executes the op. }],
      "::trainc::KernelClass", "getKernelClass", (ins)>,
    InterfaceMethod<[{
        Index of the operand that result `result` updates in place, or -1.
      }],
      "int", "getInPlaceOperand", (ins "unsigned":$result), [{}], [{ return -1; }]>,
    InterfaceMethod<[{
        For class Alias, the offset of the result in operand 0. For class Pack, the offset of operand `operand` in the result.
      }],
      "::trainc::FlatOffset", "getFlatOffset", (ins "unsigned":$operand), [{}], [{ return {}; }]>];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op of class Collective: it has one operand, and one result that only an op of class Wait uses. }];
  let methods = [InterfaceMethod<[{ Kind of the collective. }],
    "::trainc::CollectiveKind", "getCollectiveKind", (ins)>, InterfaceMethod<[{ Names of the axes of the mesh along which ranks take part. }],
    "::mlir::ArrayAttr", "getAxesAttr", (ins)>, InterfaceMethod<[{ Number of the message that the collective shares with others; null if it is sent alone. }],
    "::mlir::IntegerAttr", "getMessageAttr", (ins)>, InterfaceMethod<[{ Sets the number of the message. }],
    "void", "setMessageAttr", (ins "::mlir::IntegerAttr":$message)>, InterfaceMethod<[{
      The parameter state whose gradients the collective sums; null if it sums no gradients.
    }], "::mlir::FlatSymbolRefAttr", "getOfAttr", (ins), [{}], [{ return {}; }]>];
}

def AccumulatingOpInterface : OpInterface<"AccumulatingOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op that can add another tensor to a result without a further pass over memory. }];
  let methods = [
    InterfaceMethod<[{ Whether a tensor can be added to result `result`. }],
      "bool", "canAccumulate", (ins "unsigned":$result), [{}], [{ return true; }]>,
    InterfaceMethod<[{ The tensor that is added to the result; null if there is none. }],
      "::mlir::Value", "getAddend", (ins "unsigned":$result)>,
    InterfaceMethod<[{ Adds `addend`, which must dominate the op, to the result. }],
      "void", "setAddend", (ins "unsigned":$result, "::mlir::Value":$addend)>];
}

def StridedCopyOpInterface : OpInterface<"StridedCopyOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{
    An op of class StridedCopy: its one result consists of boxes of its operands' elements, and of zeros.
  }];
  let methods = [InterfaceMethod<[{ Boxes that fill the result, each element once. }],
    "::llvm::SmallVector<::trainc::StridedBox>", "getBoxes", (ins)>];
}

def GemmOpInterface : OpInterface<"GemmOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op that is one (batched) matrix product. }];
  let methods = [InterfaceMethod<[{ The product's sizes and layouts; operands 0 and 1 are A and B, result 0 is C. }],
    "::trainc::GemmShape", "getGemmShape", (ins)>, InterfaceMethod<[{
      The scales of A and B if they are fp8 tensors; none otherwise.
    }],
    "::std::optional<::trainc::GemmScales>", "getGemmScales", (ins), [{}], [{ return {}; }]>, InterfaceMethod<[{ Epilogue that is applied to C before it is written. }],
    "::trainc::GemmEpilogue", "getGemmEpilogue", (ins), [{}], [{ return {}; }]>, InterfaceMethod<[{
      Builds the same product with these epilogue steps and the results that GemmEpilogue lists. Returns null if there is no such op.
    }],
    "::mlir::Operation *", "buildWithEpilogue",
    (ins "::mlir::OpBuilder &":$builder, "const ::trainc::ProductSteps<::mlir::Value> &":$steps), [{}],
    [{ return nullptr; }]>];
}

def EpilogueOpInterface : OpInterface<"EpilogueOpInterface"> {
  let cppNamespace = "::trainc";
  let description = [{ An op that a library's matrix product can apply in its epilogue, or to a factor. }];
  let methods = [InterfaceMethod<[{
      The epilogue step that the op applies to operand `operand`; none if a product cannot apply it.
    }],
    "::std::optional<::trainc::EpilogueStep>", "getEpilogueStep", (ins "unsigned":$operand)>];
}

#endif
