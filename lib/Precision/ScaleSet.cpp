#include "lib/Precision/ScaleSet.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/OperandScales.h"

#include <map>

using namespace mlir;

namespace trainc {

void ScaleSet::add(Value value, std::string operandName) {
  const int64_t columns = nn::shapeOf(value).back();
  operands.insert({value, {value, std::move(operandName), nn::tensorType(value).getNumElements() / columns}});
}

/// Operands with equally many rows keep the program order.
void ScaleSet::sortByRows() {
  std::map<int64_t, SmallVector<Fp8Operand>> byRows;
  for (auto &[value, operand] : operands.takeVector())
    byRows[operand.rows].push_back(std::move(operand));
  for (auto &[rows, group] : byRows)
    for (Fp8Operand &operand : group)
      operands.insert({operand.value, std::move(operand)});
}

void ScaleSet::declare(ModuleOp module, train::EntryOp init, train::EntryOp entry) {
  sortByRows();
  const Type f32 = Float32Type::get(module.getContext());
  const auto flat = RankedTensorType::get({int64_t(operands.size()) * train::kScaleStride}, f32);
  auto state = [&](StringRef prefix, StringRef memberPrefix, RankedTensorType member, double value) {
    OpBuilder builder(init);
    std::string stateName = (prefix + name).str();
    auto declared =
        train::StateOp::create(builder, module.getLoc(), stateName, train::StateRole::optimizer, flat);
    SmallVector<Attribute> members;
    for (auto &[value, operand] : operands)
      members.push_back(train::MemberAttr::get(module.getContext(), (memberPrefix + operand.name).str(),
                                               int64_t(members.size()) * train::kScaleStride, member));
    declared.setMembersAttr(builder.getArrayAttr(members));
    builder.setInsertionPointToEnd(&init.getBody().front());
    Value filled = nn::TensorBuilder(builder, module.getLoc()).constant(value, flat);
    train::SetOp::create(builder, module.getLoc(), stateName, filled);
    return stateName;
  };
  scalesState = state(train::kScalesState, train::kScaleName, RankedTensorType::get({}, f32), initial);
  historiesState = state(train::kHistoriesState, train::kMagnitudesName,
                         RankedTensorType::get({train::kMagnitudeSteps}, f32), 0);
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.getBody().front());
  scales = train::GetOp::create(builder, module.getLoc(), flat, scalesState);
  inverses = nn::TensorBuilder(builder, module.getLoc()).create<nn::ReciprocalOp>(scales).getResult();
}

ScaledValue ScaleSet::convert(OpBuilder &builder, Value value, bool recomputed) {
  auto *found = operands.find(value);
  assert(found != operands.end() && "a value of the set");
  const int64_t offset = (found - operands.begin()) * train::kScaleStride;
  const Location loc = value.getLoc();
  const auto scalar = RankedTensorType::get({}, builder.getF32Type());
  auto member = [&](Value flat) -> Value {
    return dist::MemberOp::create(builder, loc, scalar, flat, offset);
  };
  nn::TensorBuilder build(builder, loc);
  if (recomputed) // a parameter, whose fp8 numbers are not kept for the backward
    value = nn::BarrierOp::create(builder, loc, value);
  else
    found->second.rowMaxima =
        build.reduce(nn::ReduceKind::max, build.create<nn::AbsOp>(value).getResult(),
                     {nn::tensorType(value).getRank() - 1}, false, builder.getF32Type());
  Value wide = build.convert(value, builder.getF32Type());
  Value inverse = build.broadcastTo(member(inverses), nn::shapeOf(value));
  return {build.convert(build.mul(wide, inverse), type), member(scales)};
}

/// Returns the maximum magnitude of each operand; all operands have equally many rows.
Value ScaleSet::largestOf(nn::TensorBuilder &build, ArrayRef<Fp8Operand> group) {
  const int64_t stride = int64_t(llvm::alignTo(group.front().rows, train::kScaleStride));
  const int64_t count = int64_t(group.size());
  SmallVector<Value> maxima;
  SmallVector<int64_t> offsets;
  for (const Fp8Operand &operand : group) {
    offsets.push_back(int64_t(maxima.size()) * stride);
    maxima.push_back(operand.rowMaxima);
  }
  auto flat = nn::typeLike(maxima.front(), {count * stride});
  Value packed = build.create<dist::PackOp>(flat, maxima, offsets).getResult();
  return build.reduce(nn::ReduceKind::max, build.reshape(packed, {count, stride}), {1});
}

void ScaleSet::report(train::EntryOp entry) {
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  nn::TensorBuilder build(builder, entry.getLoc());
  auto all = llvm::map_to_vector(operands, [](const auto &each) { return each.second; });
  SmallVector<Value> groups;
  for (ArrayRef<Fp8Operand> rest = all; !rest.empty();) {
    auto *end = llvm::find_if(rest, [&](const Fp8Operand &o) { return o.rows != rest.front().rows; });
    groups.push_back(largestOf(build, rest.take_front(end - rest.begin())));
    rest = rest.drop_front(end - rest.begin());
  }
  Value largest = groups.size() == 1 ? groups.front() : build.concat(groups, 0);
  train::MagnitudesOp::create(builder, entry.getLoc(), largest, scalesState, historiesState,
                              APFloat::getLargest(type.getFloatSemantics()));
}

} // namespace trainc
