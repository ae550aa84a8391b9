// Registration of the dialect; symbol uses.
#include "dialects/NN/Syntax.h"
#include "dialects/Train/OperandScales.h"
#include "dialects/Train/Parameters.h"
#include "dialects/Train/Train.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

#include "dialects/Train/TrainDialect.cpp.inc"
#include "dialects/Train/TrainEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Train/TrainAttributes.cpp.inc"

void TrainDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Train/TrainOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Train/TrainAttributes.cpp.inc"
      >();
}

std::optional<Dialect::ParseOpHook> TrainDialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(trainc::reportUnknownOp);
}

#define GET_OP_CLASSES
#include "dialects/Train/TrainOps.cpp.inc"

StateOp trainc::train::findScalar(ModuleOp module, HostScalar scalar) {
  for (auto state : module.getOps<StateOp>())
    if (state.getScalar() == scalar)
      return state;
  return {};
}

EntryOp trainc::train::declareEntry(ModuleOp module, EntryKind kind, Operation *after) {
  if (auto made = findEntry<EntryOp>(module, kind))
    return made;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(after);
  auto entry = EntryOp::create(builder, module.getLoc(), kind);
  entry.getBody().emplaceBlock();
  return entry;
}

/// Verifies that a value has its state's type.
static LogicalResult verifyStateUse(Operation *op, FlatSymbolRefAttr name, Type type,
                                    SymbolTableCollection &symbols) {
  auto state = symbols.lookupNearestSymbolFrom<StateOp>(op, name);
  if (!state)
    return op->emitOpError("no train.state named ") << name;
  if (state.getType() != type)
    return op->emitOpError("state ") << name << " is " << state.getType() << ", the value is " << type;
  return success();
}

LogicalResult StateOp::verify() {
  if (getRole() == StateRole::parameter && !getMembers() && isReservedName(getSymName()))
    return emitOpError("a parameter cannot be named '")
           << getSymName() << "', which is a reserved name; rename it";
  if (getRole() == StateRole::activation && getSpace() == plan::Space::device)
    return emitOpError("has the role 'activation', of offloaded values; expected 'on disk' or 'on host'");
  return success();
}

/// Verifies that the state exists and has the value's type. For an offloaded state the value may also be the
/// piece that begins at element `offset`.
static LogicalResult verifyPieceUse(Operation *op, FlatSymbolRefAttr name, int64_t offset, Type type,
                                    SymbolTableCollection &symbols) {
  auto state = symbols.lookupNearestSymbolFrom<StateOp>(op, name);
  if (!state || (offset == 0 && state.getType() == type))
    return verifyStateUse(op, name, type, symbols);
  auto whole = dyn_cast<RankedTensorType>(state.getType()), piece = cast<RankedTensorType>(type);
  const bool fits = whole && whole.hasStaticShape() && piece.hasStaticShape() &&
                    whole.getElementType() == piece.getElementType() && offset >= 0 &&
                    piece.getNumElements() <= whole.getNumElements() &&
                    offset <= whole.getNumElements() - piece.getNumElements();
  if (state.getSpace() == plan::Space::device)
    return offset == 0 ? verifyStateUse(op, name, type, symbols)
                       : op->emitOpError("begins at element ") << offset << " of state " << name
                                                               << ", which the device's memory holds; "
                                                                  "expected all of it";
  return fits ? success()
              : op->emitOpError("state ") << name << " is " << state.getType() << ", the value is " << type
                                          << " at element " << offset << " and no piece of it";
}

LogicalResult GetOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyPieceUse(*this, getStateAttr(), int64_t(getOffset()), getResult().getType(), symbols);
}

LogicalResult SetOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyPieceUse(*this, getStateAttr(), int64_t(getOffset()), getValue().getType(), symbols);
}

/// Gradients may be f32 whatever their parameter's type is.
LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = cast<RankedTensorType>(getValue().getType());
  auto state = symbols.lookupNearestSymbolFrom<StateOp>(*this, getParameterAttr());
  if (state && type.getElementType().isF32() &&
      type.getShape() == cast<RankedTensorType>(state.getType()).getShape())
    return success();
  return verifyStateUse(*this, getParameterAttr(), type, symbols);
}

/// Both states have 16 elements of each magnitude.
LogicalResult MagnitudesOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = cast<RankedTensorType>(getLargest().getType());
  if (type.getRank() != 1 || !type.getElementType().isF32())
    return emitOpError("has one number of f32 of each scale, found ") << type;
  const auto flat = type.clone({type.getNumElements() * kScaleStride});
  for (FlatSymbolRefAttr state : {getScalesAttr(), getHistoryAttr()})
    if (failed(verifyStateUse(*this, state, flat, symbols)))
      return failure();
  return success();
}
