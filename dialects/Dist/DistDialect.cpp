// Registration and verifiers of the dist dialect.
#include "dialects/Dist/Dist.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trainc::dist;

#include "dialects/Dist/DistDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/DistAttributes.cpp.inc"

void DistDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Dist/DistAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Dist/DistOps.cpp.inc"
      >();
}

// --- Placements ---

using trainc::Along;

/// Number of a dimension, or below 0 one of the other kinds.
static int64_t codeOf(Along along) {
  return along.kind == Along::Sharded ? along.dim : along.kind == Along::Partial ? -1 : -2;
}
static Along alongOf(int64_t code) {
  return code >= 0 ? Along::sharded(code) : code == -1 ? Along{Along::Partial} : Along{Along::Own};
}

PlacementAttr PlacementAttr::get(MLIRContext *context, ArrayRef<std::pair<StringRef, Along>> along) {
  SmallVector<Attribute> axes;
  SmallVector<int64_t> codes;
  for (auto [axis, how] : along)
    if (how.kind != Along::Replicated) {
      axes.push_back(StringAttr::get(context, axis));
      codes.push_back(codeOf(how));
    }
  return get(context, ArrayAttr::get(context, axes), codes);
}

Along PlacementAttr::along(StringRef axis) const {
  for (auto [name, code] : llvm::zip(getAxes().getAsValueRange<StringAttr>(), getCodes()))
    if (name == axis)
      return alongOf(code);
  return {};
}

ArrayAttr PlacementAttr::axesOfDim(int64_t dim) const {
  SmallVector<Attribute> axes;
  for (auto [name, code] : llvm::zip(getAxes(), getCodes()))
    if (code == dim)
      axes.push_back(name);
  return ArrayAttr::get(getContext(), axes);
}

SmallVector<int64_t> PlacementAttr::shardedDims() const {
  return llvm::filter_to_vector(getCodes(),
                                [](int64_t code) { return alongOf(code).kind == Along::Sharded; });
}

LogicalResult PlacementAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayAttr axes,
                                    ArrayRef<int64_t> codes) {
  if (axes.size() != codes.size() ||
      llvm::SmallDenseSet<Attribute>(axes.begin(), axes.end()).size() != axes.size())
    return emitError() << "placement names an axis twice";
  return success();
}

/// Parses `<shard = 0, tensor = partial>`.
Attribute PlacementAttr::parse(AsmParser &parser, Type) {
  SmallVector<Attribute> axes;
  SmallVector<int64_t> codes;
  auto parseAxis = [&]() -> ParseResult {
    StringRef name, word;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(name));
    const SMLoc where = parser.getCurrentLocation();
    int64_t dim = 0;
    if (OptionalParseResult number = parser.parseOptionalInteger(dim); number.has_value()) {
      codes.push_back(dim);
      return dim < 0 ? parser.emitError(where) << "expected a dimension, found " << dim : *number;
    }
    if (parser.parseKeyword(&word))
      return failure();
    if (word != "partial" && word != "own")
      return parser.emitError(where) << "expected the number of a dimension, `partial` or `own`, found '"
                                     << word << "'";
    codes.push_back(codeOf({word == "partial" ? Along::Partial : Along::Own}));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseAxis))
    return {};
  return parser.getChecked<PlacementAttr>(parser.getContext(), parser.getBuilder().getArrayAttr(axes),
                                          ArrayRef<int64_t>(codes));
}

void PlacementAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(llvm::zip(getAxes().getAsValueRange<StringAttr>(), getCodes()), printer,
                        [&](auto axis) {
                          auto [name, code] = axis;
                          printer << name << " = ";
                          if (code >= 0)
                            printer << code;
                          else
                            printer << (alongOf(code).kind == Along::Partial ? "partial" : "own");
                        });
  printer << '>';
}

LogicalResult DistDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != trainc::dist::kPlacementAttr || !isa<PlacementAttr>(attribute.getValue()))
    return op->emitOpError("has the unknown attribute ") << attribute.getName();
  const auto placement = cast<PlacementAttr>(attribute.getValue());
  const auto type = op->getAttrOfType<TypeAttr>("type"); // of a state; values have the result's type
  const auto tensor =
      dyn_cast_if_present<RankedTensorType>(type                       ? type.getValue()
                                            : op->getNumResults() == 1 ? op->getResult(0).getType()
                                                                       : Type());
  if (!tensor)
    return op->emitOpError("has a placement, and declares no tensor");
  for (int64_t dim : placement.shardedDims())
    if (dim >= tensor.getRank())
      return op->emitOpError("is sharded along dimension ")
             << dim << "; expected a dimension below " << tensor.getRank() << " of " << tensor;
  auto module = op->getParentOfType<ModuleOp>();
  if (!module || module.getOps<MeshOp>().empty()) // the mesh may come later
    return success();
  const trainc::Mesh mesh = trainc::dist::meshOf(module);
  for (StringRef axis : placement.getAxes().getAsValueRange<StringAttr>())
    if (!mesh.find(std::string_view(axis)))
      return op->emitOpError("has a placement along the axis '")
             << axis << "'; the module's mesh is " << mesh.text();
  return success();
}

PlacementAttr trainc::dist::placementOf(Operation *op) {
  return op->getAttrOfType<PlacementAttr>(kPlacementAttr);
}

bool trainc::dist::isSharded(Operation *state) {
  const PlacementAttr placement = placementOf(state);
  return placement && llvm::is_contained(placement.shardedDims(), 0);
}

void trainc::dist::shardState(Operation *state) {
  state->setAttr(kPlacementAttr, PlacementAttr::get(state->getContext(), {{kShardAxis, Along::sharded(0)}}));
}

using trainc::DerivedPlacement;

static bool isAmong(StringRef axis, ArrayAttr axes) {
  return llvm::is_contained(axes.getAsValueRange<StringAttr>(), axis);
}

DerivedPlacement WaitOp::derivePlacement(StringRef, ArrayRef<Along> operands) { return {operands[0]}; }

DerivedPlacement PartOp::derivePlacement(StringRef axis, ArrayRef<Along> operands) {
  const Along whole = operands[0];
  if (!isAmong(axis, getAxes()))
    return {whole};
  if (whole.kind != Along::Replicated)
    return {Along::sharded(0),
            "takes the part of a value that is " + whole.text() + "; expected one that is replicated"};
  return {Along::sharded(0)};
}

/// Returns the placement of a flat tensor or of its member.
static DerivedPlacement placeMembers(ArrayRef<Along> operands) {
  Along common;
  for (const Along operand : operands)
    if (operand.kind != Along::Replicated)
      common = operand;
  if (common.kind == Along::Sharded)
    return {common, "places members in a flat tensor of which each rank holds a shard; expected a whole one"};
  return {common};
}

DerivedPlacement PackOp::derivePlacement(StringRef, ArrayRef<Along> operands) {
  return placeMembers(operands);
}
DerivedPlacement MemberOp::derivePlacement(StringRef, ArrayRef<Along> operands) {
  return placeMembers(operands);
}

// --- Ops ---

/// Parses `[replica = 2, shard = 4]`.
static ParseResult parseAxisSizes(OpAsmParser &parser, ArrayAttr &names, DenseI64ArrayAttr &sizes) {
  SmallVector<Attribute> axes;
  SmallVector<int64_t> ranks;
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual() || parser.parseInteger(ranks.emplace_back()))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseAxis))
    return failure();
  names = parser.getBuilder().getArrayAttr(axes);
  sizes = parser.getBuilder().getDenseI64ArrayAttr(ranks);
  return success();
}

static void printAxisSizes(OpAsmPrinter &printer, Operation *, ArrayAttr names, DenseI64ArrayAttr sizes) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(names.getAsValueRange<StringAttr>(), sizes.asArrayRef()), printer,
                        [&](auto axis) { printer << std::get<0>(axis) << " = " << std::get<1>(axis); });
  printer << ']';
}

#define GET_OP_CLASSES
#include "dialects/Dist/DistOps.cpp.inc"

static trainc::Mesh meshOf(MeshOp op) {
  std::vector<trainc::Axis> axes;
  for (auto [name, size] : llvm::zip(op.getNames().getAsValueRange<StringAttr>(), op.getSizes()))
    axes.push_back({name.str(), uint32_t(size)});
  return trainc::Mesh(std::move(axes));
}

trainc::Mesh trainc::dist::meshOf(ModuleOp module) {
  auto meshes = module.getOps<MeshOp>();
  return meshes.empty() ? Mesh() : ::meshOf(*meshes.begin());
}

std::optional<trainc::Axes> trainc::dist::findAxes(const Mesh &mesh, ArrayAttr names) {
  std::optional<Axes> axes;
  for (StringRef name : names.getAsValueRange<StringAttr>()) {
    const std::optional<uint8_t> axis = mesh.find(std::string_view(name));
    if (!axis || (axes && axes->end != *axis))
      return std::nullopt;
    axes = {axes ? axes->first : *axis, uint8_t(*axis + 1)};
  }
  return axes;
}

trainc::RankGroupShape trainc::dist::shapeOf(const Mesh &mesh, ArrayAttr names) {
  return mesh.shapeOf(*findAxes(mesh, names));
}

ArrayAttr trainc::dist::namesOf(const Mesh &mesh, MLIRContext *context) {
  Builder builder(context);
  return builder.getArrayAttr(llvm::map_to_vector(
      mesh.axes(), [&](const Axis &axis) -> Attribute { return builder.getStringAttr(axis.name); }));
}

LogicalResult MeshOp::verify() {
  if (getNames().size() != getSizes().size())
    return emitOpError("has ") << getSizes().size() << " sizes for " << getNames().size() << " axes";
  for (int64_t size : getSizes())
    if (size < 1 || size > trainc::kMaxRanks)
      return emitOpError("has an axis of ") << size << " ranks; expected 1 to " << trainc::kMaxRanks;
  if (trainc::Status status = trainc::checkMesh(::meshOf(*this)); !status.ok())
    return emitOpError() << status.message();
  auto module = dyn_cast<ModuleOp>((*this)->getParentOp());
  if (!module || *module.getOps<MeshOp>().begin() != *this)
    return emitOpError("is not the only mesh of a module");
  return success();
}

/// Verifies that the module's mesh has the axes, and that a tensor has `shards` shards along them.
static LogicalResult verifyAxes(Operation *op, ArrayAttr names, std::optional<int64_t> shards = {}) {
  auto module = op->getParentOfType<ModuleOp>();
  const trainc::Mesh mesh = module ? trainc::dist::meshOf(module) : trainc::Mesh();
  const std::optional<trainc::Axes> axes = trainc::dist::findAxes(mesh, names);
  if (!axes)
    return op->emitOpError("names ") << names << "; expected adjacent axes of the module's mesh, "
                                     << mesh.text();
  const int64_t members = mesh.shapeOf(*axes).members;
  if (shards && *shards != members)
    return op->emitOpError("has ") << *shards << " shards along " << mesh.textOf(*axes) << "; expected "
                                   << members;
  return success();
}

/// Verifies that the result of a start has one use, a dist.wait.
static LogicalResult verifyUse(Operation *op) {
  for (Operation *user : op->getUsers())
    if (!isa<WaitOp>(user)) {
      InFlightDiagnostic error =
          op->emitOpError("is still in flight where its value is used; expected a dist.wait between");
      error.attachNote(user->getLoc()) << "the use";
      return error;
    }
  if (!op->hasOneUse())
    return op->emitOpError("is waited for ")
           << op->getResult(0).getNumUses() << " times; expected one dist.wait";
  return success();
}

/// Verifies that `whole` consists of equal shards of type `part` along dimension 0. The element types are
/// equal, unless `widens`.
static LogicalResult verifyShards(Operation *op, Value whole, Value part, ArrayAttr axes,
                                  bool widens = false) {
  auto of = cast<RankedTensorType>(whole.getType()), type = cast<RankedTensorType>(part.getType());
  const bool fits = of.getRank() > 0 && of.getRank() == type.getRank() &&
                    (widens || of.getElementType() == type.getElementType()) && type.getDimSize(0) > 0 &&
                    of.getDimSize(0) % type.getDimSize(0) == 0 &&
                    of.getShape().drop_front() == type.getShape().drop_front();
  if (!fits)
    return op->emitOpError() << type << " is not an equal shard of " << of << " along dimension 0";
  return verifyAxes(op, axes, of.getDimSize(0) / type.getDimSize(0));
}

/// A reduce-scatter of bf16 or f16 may give its sums in f32.
LogicalResult trainc::dist::verifyStart(CollectiveOpInterface start, Held source, Held result) {
  Value from = start->getOperand(0), to = start->getResult(0);
  if (failed(verifyUse(start)))
    return failure();
  bool widens = false;
  if (start.getCollectiveKind() == CollectiveKind::reduce_scatter) {
    const Type sent = getElementTypeOrSelf(from), sums = getElementTypeOrSelf(to);
    widens = sums.isF32() && (sent.isBF16() || sent.isF16());
    if (sent != sums && !widens)
      return start->emitOpError() << "sums " << sent << " into " << sums << "; expected " << sent
                                  << ", or f32 for sums of bf16 or f16";
  }
  if (source == result)
    return verifyAxes(start, start.getAxesAttr());
  return source == Held::whole ? verifyShards(start, from, to, start.getAxesAttr(), widens)
                               : verifyShards(start, to, from, start.getAxesAttr());
}

LogicalResult PartOp::verify() { return verifyShards(*this, getWhole(), getPart(), getAxes()); }

LogicalResult WaitOp::verify() {
  if (!getPending().getDefiningOp<CollectiveOpInterface>())
    return emitOpError("waits for a value that is not the result of a collective's start");
  return success();
}

/// Verifies that `member` has the element type of `flat`, and that its elements fit into `flat` from `offset`
/// on.
static LogicalResult verifyMember(Operation *op, Value flat, Type member, int64_t offset) {
  auto type = cast<RankedTensorType>(flat.getType()), part = cast<RankedTensorType>(member);
  if (type.getRank() != 1 || type.getElementType() != part.getElementType())
    return op->emitOpError() << type << " is not a flat tensor with the elements of " << member;
  if (offset > type.getNumElements() - part.getNumElements())
    return op->emitOpError() << "puts " << part.getNumElements() << " elements at " << offset << " of "
                             << type;
  return success();
}

LogicalResult PackOp::verify() {
  if (getOffsets().size() != getMembers().size())
    return emitOpError("has ") << getOffsets().size() << " offsets for " << getMembers().size() << " tensors";
  int64_t end = 0;
  for (auto [type, offset] : llvm::zip(getMembers().getTypes(), getOffsets())) {
    if (offset < end)
      return emitOpError("puts a tensor at ") << offset << ", where the one before ends at " << end;
    if (failed(verifyMember(*this, getFlat(), type, offset)))
      return failure();
    end = offset + cast<RankedTensorType>(type).getNumElements();
  }
  return success();
}

LogicalResult MemberOp::verify() {
  if (int64_t(getOffset()) < 0)
    return emitOpError("begins before the first element");
  return verifyMember(*this, getFlat(), getValue().getType(), int64_t(getOffset()));
}

trainc::FlatOffset PartOp::getFlatOffset(unsigned) {
  return {.elementsPerRank = cast<RankedTensorType>(getPart().getType()).getNumElements(), .axes = getAxes()};
}

trainc::FlatOffset PackOp::getFlatOffset(unsigned operand) { return {.elements = getOffsets()[operand]}; }

trainc::FlatOffset MemberOp::getFlatOffset(unsigned) { return {.elements = int64_t(getOffset())}; }
