#include "lib/Offload/Groups.h"

#include "dialects/Dist/Dist.h"
#include "dialects/NN/Builders.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Offload/KernelPieces.h"
#include "lib/Support/StoredElement.h"
#include "plan/schema/limits.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace trainc {

/// Alignment of kernel arguments in bytes.
static constexpr int64_t kArgumentAlignment = 64;

/// Returns the number of positions per piece. It is a multiple of the pieces' granule such that pieces of
/// states begin at disk blocks, and all other tensors are aligned for kernels. Pieces have at most
/// `groupBytes` where possible. Returns none if one piece has everything.
static std::optional<int64_t> positionsOfPieces(const Group &group, int64_t groupBytes, nn::KernelOp kernel,
                                                const KernelPieces &pieces) {
  int64_t granule = pieces.granule(), fetched = 0, stored = 0;
  const auto add = [&](Value inner, bool isState, int64_t &bytes) {
    if (!pieces.isCut(inner))
      return;
    auto type = cast<RankedTensorType>(inner.getType());
    const int64_t alignment = isState ? int64_t(kDiskAlignment) : kArgumentAlignment,
                  elements = alignment / std::gcd(alignment, elementBytes(type.getElementType()));
    granule = std::lcm(granule, elements * (pieces.positions() / type.getNumElements()));
    bytes += isState ? tensorBytes(type) : 0;
  };
  Block &body = kernel.getBody().front();
  for (auto [inner, input] : llvm::zip(body.getArguments(), kernel.getInputs()))
    add(inner, llvm::is_contained(group.gets, input.getDefiningOp<train::GetOp>()), fetched);
  for (auto [inner, result] : llvm::zip(body.getTerminator()->getOperands(), kernel->getResults()))
    add(inner, llvm::any_of(group.sets, [&](train::SetOp set) { return set.getValue() == result; }), stored);
  const int64_t bytes = std::max({fetched, stored, int64_t{1}});
  const int64_t maximum = int64_t(double(groupBytes) / double(bytes) * double(pieces.positions()));
  const int64_t piece = std::max(maximum / granule, int64_t{1}) * granule;
  if (piece >= pieces.positions())
    return std::nullopt;
  const int64_t count = llvm::divideCeil(pieces.positions(), piece);
  return llvm::alignTo(llvm::divideCeil(pieces.positions(), count), granule);
}

namespace {

/// Replaces a group's kernel by pieces of it.
class GroupCutter {
public:
  GroupCutter(const Group &group, nn::KernelOp kernel, const KernelPieces &pieces)
      : group_(group), kernel_(kernel), pieces_(pieces), builder_(kernel), parts_(kernel.getNumResults()),
        offsets_(kernel.getNumResults()) {}

  SmallVector<Group> run(int64_t positions) {
    SmallVector<Group> made;
    for (Value input : kernel_.getInputs()) // before all pieces, because they are views of one tensor
      flat_.push_back(flatten(input));
    for (int64_t begin = 0; begin < pieces_.positions(); begin += positions)
      members_.push_back(membersFrom(begin, std::min(positions, pieces_.positions() - begin)));
    for (auto [index, members] : llvm::enumerate(members_)) {
      const int64_t begin = int64_t(index) * positions;
      made.push_back(addPiece(begin, std::min(positions, pieces_.positions() - begin), members));
    }
    for (OpResult result : kernel_->getResults())
      replace(result);
    eraseWhole();
    return made;
  }

private:
  Value innerOf(OpResult result) const {
    return nn::KernelOp(kernel_).getBody().front().getTerminator()->getOperand(result.getResultNumber());
  }
  bool isFetched(Value input) const {
    return llvm::is_contained(group_.gets, input.getDefiningOp<train::GetOp>());
  }

  Value flatten(Value input) {
    const int64_t elements = nn::tensorType(input).getNumElements();
    const bool isView = nn::tensorType(input).getRank() > 1 && !isFetched(input) && !isZero(input);
    return isView ? nn::TensorBuilder(builder_, kernel_.getLoc()).reshape(input, {elements}) : input;
  }

  /// Returns the operands of a piece; null for those that the piece fetches.
  SmallVector<Value> membersFrom(int64_t begin, int64_t positions) {
    SmallVector<Value> members;
    for (auto [inner, input, flat] :
         llvm::zip(kernel_.getBody().front().getArguments(), kernel_.getInputs(), flat_)) {
      if (!pieces_.isCut(inner))
        members.push_back(input);
      else if (isFetched(input))
        members.push_back({});
      else if (isZero(input))
        members.push_back(
            nn::TensorBuilder(builder_, kernel_.getLoc()).zero(pieces_.pieceType(inner, positions)));
      else
        members.push_back(dist::MemberOp::create(builder_, kernel_.getLoc(),
                                                 pieces_.pieceType(inner, positions), flat,
                                                 pieces_.elementsIn(inner, begin)));
    }
    return members;
  }

  /// Creates the piece's own fetches where `members` is null. Returns all operands.
  SmallVector<Value> fetch(int64_t begin, int64_t positions, ArrayRef<Value> members, Group &made) {
    SmallVector<Value> operands(members);
    for (auto [inner, input, operand] :
         llvm::zip(kernel_.getBody().front().getArguments(), kernel_.getInputs(), operands)) {
      if (operand)
        continue;
      auto whole = input.getDefiningOp<train::GetOp>();
      auto get = train::GetOp::create(builder_, whole.getLoc(), pieces_.pieceType(inner, positions),
                                      whole.getState(), pieces_.elementsIn(inner, begin));
      made.gets.push_back(get);
      operand = get.getResult();
    }
    return operands;
  }

  Group addPiece(int64_t begin, int64_t positions, ArrayRef<Value> members) {
    Group made;
    nn::KernelOp piece = pieces_.build(builder_, positions, fetch(begin, positions, members, made));
    made.op = piece;
    for (OpResult result : kernel_->getResults()) {
      const int64_t offset = pieces_.isCut(innerOf(result)) ? pieces_.elementsIn(innerOf(result), begin) : 0;
      parts_[result.getResultNumber()].push_back(piece->getResult(result.getResultNumber()));
      offsets_[result.getResultNumber()].push_back(offset);
    }
    for (train::SetOp set : group_.sets) {
      auto result = cast<OpResult>(set.getValue());
      if (pieces_.isCut(innerOf(result)))
        made.sets.push_back(train::SetOp::create(builder_, set.getLoc(), set.getState(),
                                                 piece->getResult(result.getResultNumber()),
                                                 offsets_[result.getResultNumber()].back()));
    }
    return made;
  }

  /// Users that do not store the pieces get the whole result.
  void replace(OpResult result) {
    for (train::SetOp set : group_.sets)
      if (set.getValue() == result && pieces_.isCut(innerOf(result))) {
        set->dropAllReferences(); // replaced by stores of the pieces
        stored_.push_back(set);
      }
    ArrayRef<Value> parts = parts_[result.getResultNumber()];
    if (result.use_empty())
      return;
    if (!pieces_.isCut(innerOf(result)))
      return result.replaceAllUsesWith(parts.front());
    const RankedTensorType type = nn::tensorType(result);
    Value whole = dist::PackOp::create(builder_, kernel_.getLoc(), type.clone({type.getNumElements()}), parts,
                                       offsets_[result.getResultNumber()]);
    result.replaceAllUsesWith(
        type.getRank() == 1 ? whole
                            : nn::TensorBuilder(builder_, kernel_.getLoc()).reshape(whole, type.getShape()));
  }

  void eraseWhole() {
    for (train::SetOp set : stored_)
      set->erase();
    kernel_->erase();
    for (train::GetOp get : group_.gets)
      if (get->use_empty())
        get->erase();
  }

  const Group &group_;
  nn::KernelOp kernel_;
  const KernelPieces &pieces_;
  OpBuilder builder_;
  SmallVector<Value> flat_;                   ///< by operand
  SmallVector<SmallVector<Value>> members_;   ///< by piece: its operands
  SmallVector<SmallVector<Value>> parts_;     ///< by result: value of each piece
  SmallVector<SmallVector<int64_t>> offsets_; ///< by result: offset of each piece, in elements
  SmallVector<train::SetOp> stored_;          ///< stores of the whole result, to be erased
};

} // namespace

SmallVector<Group> cutGroup(const Group &group, int64_t bytes) {
  auto kernel = dyn_cast<nn::KernelOp>(group.op);
  const std::optional<KernelPieces> pieces = kernel ? KernelPieces::of(kernel) : std::nullopt;
  const std::optional<int64_t> positions =
      pieces ? positionsOfPieces(group, bytes, kernel, *pieces) : std::nullopt;
  return positions ? GroupCutter(group, kernel, *pieces).run(*positions) : SmallVector<Group>{group};
}

} // namespace trainc
