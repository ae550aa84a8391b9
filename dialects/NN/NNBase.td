// The dialect, its types and the base classes of its ops.

#ifndef TRAINC_NN_BASE
#define TRAINC_NN_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/NN/NNEnums.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::trainc::nn";
  let summary = "Tensor math of models on logical shapes";
  let description = [{
    Models are written in this dialect (phase `model`): blocks, layers that declare parameters where they are used, and
    tensor ops. Values have the type `!nn.deferred`, which is never spelled. Shapes are given for arguments of blocks and models, and all
    other types are inferred when batch and length are bound. From the phase `step` on, every value is a static `tensor`, layers are
    expanded, and only tensor ops remain.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Reports an unknown op of the dialect, with the closest name.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef opName) const override;
  }];
}

class NN_Type<string cppName, string typeMnemonic> : TypeDef<NN_Dialect, cppName> {
  let mnemonic = typeMnemonic;
}

def NN_Deferred : NN_Type<"Deferred", "deferred"> {
  let summary = "A tensor whose type is inferred when the model is instantiated";
}

def NN_Tensor : AnyTypeOf<[AnyRankedTensor, NN_Deferred], "tensor">;

// The compiler makes the op; in a model's file it is an error.
def NN_Generated : NativeOpTrait<"Generated"> {
  let cppNamespace = "::trainc::nn";
}

// An op of the dialect. If an operand is deferred, so are the results.
class NN_Op<string mnemonic, list<Trait> traits = []> : Op<NN_Dialect, mnemonic, traits>;

// A pure op on tensors whose result types are inferred from operands and attributes. Its class declares
//   static FailureOr<SmallVector<Type>> inferTypes(Adaptor, InferError)
//   static size_t resultCount(Adaptor)   (1 unless overridden)
class NN_TensorOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, traits # [Pure, InferTypeOpAdaptor]> {
  code inferDeclaration = [{
    static ::llvm::FailureOr<::llvm::SmallVector<::mlir::Type>> inferTypes(
        Adaptor adaptor, ::trainc::nn::InferError error);
  }];
  code countDeclaration = [{
    static size_t resultCount(Adaptor) { return 1; }
  }];
  let extraClassDeclaration = inferDeclaration # countDeclaration;
  code inferDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context,
        std::optional<::mlir::Location> location, Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::trainc::nn::inferOrDefer<$cppClass>(context, location, adaptor, types);
    }
  }];
  let extraClassDefinition = inferDefinition;
}

#endif
