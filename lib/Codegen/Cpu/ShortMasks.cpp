// Rewrites masked loads and stores of i16 in LLVM's own IR, as only some levels need it.
#include "lib/Codegen/Cpu/ShortMasks.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <numeric>

using namespace llvm;

namespace {

/// One masked access. Its mask has the lanes below some count, which may be none or all.
class ShortAccess {
public:
  explicit ShortAccess(IntrinsicInst &access)
      : access(access), isLoad(access.getIntrinsicID() == Intrinsic::masked_load), build(&access),
        pointer(access.getArgOperand(isLoad ? 0 : 1)), mask(access.getArgOperand(isLoad ? 1 : 2)),
        type(cast<FixedVectorType>(isLoad ? access.getType() : access.getArgOperand(0)->getType())),
        lanes(type->getNumElements()) {}

  /// `aside` is memory for one number, for accesses without a number that is in no pair.
  void expand(Value *aside) {
    Value *bits = build.CreateBitCast(mask, build.getIntNTy(lanes));
    Value *count =
        build.CreateZExtOrTrunc(build.CreateUnaryIntrinsic(Intrinsic::ctpop, bits), build.getInt32Ty());
    pairs = build.CreateICmpSLT(iota<uint32_t>(lanes / 2),
                                build.CreateVectorSplat(lanes / 2, build.CreateLShr(count, 1)));
    isOdd = build.CreateTrunc(count, build.getInt1Ty());
    last = build.CreateAnd(build.CreateSub(count, build.getInt32(1)), lanes - 1);
    Value *inPlace = build.CreateGEP(build.getInt16Ty(), pointer, last);
    lastPointer = build.CreateSelect(isOdd, inPlace, aside);
    if (isLoad)
      load();
    else
      store();
    access.eraseFromParent();
  }

private:
  void load() {
    Value *words =
        build.CreateMaskedLoad(pairType(), pointer, Align(2), pairs, Constant::getNullValue(pairType()));
    Value *number = build.CreateAlignedLoad(build.getInt16Ty(), lastPointer, Align(2));
    Value *lane = build.CreateTrunc(build.CreateSelect(isOdd, last, build.getInt32(~0U)), build.getInt16Ty());
    Value *isLast = build.CreateICmpEQ(iota<uint16_t>(lanes), build.CreateVectorSplat(lanes, lane));
    access.replaceAllUsesWith(
        build.CreateSelect(isLast, build.CreateVectorSplat(lanes, number), build.CreateBitCast(words, type)));
  }

  void store() {
    Value *numbers = access.getArgOperand(0);
    build.CreateMaskedStore(build.CreateBitCast(numbers, pairType()), pointer, Align(2), pairs);
    build.CreateAlignedStore(build.CreateExtractElement(numbers, last), lastPointer, Align(2));
  }

  Type *pairType() { return FixedVectorType::get(build.getInt32Ty(), lanes / 2); }

  template <typename Lane> Constant *iota(unsigned count) {
    SmallVector<Lane> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return ConstantDataVector::get(build.getContext(), numbers);
  }

  IntrinsicInst &access;
  bool isLoad;
  IRBuilder<> build;
  Value *pointer, *mask;
  FixedVectorType *type;
  unsigned lanes;
  Value *pairs = nullptr, *isOdd = nullptr, *last = nullptr, *lastPointer = nullptr;
};

} // namespace

static bool isShortAccess(const IntrinsicInst &access) {
  const bool isLoad = access.getIntrinsicID() == Intrinsic::masked_load;
  if (!isLoad && access.getIntrinsicID() != Intrinsic::masked_store)
    return false;
  auto *type = cast<FixedVectorType>(isLoad ? access.getType() : access.getArgOperand(0)->getType());
  return type->getElementType()->isIntegerTy(16) && type->getNumElements() % 2 == 0;
}

void trainc::codegen::expandShortMasks(Module &module) {
  for (Function &function : module) {
    SmallVector<IntrinsicInst *> found;
    for (Instruction &instruction : instructions(function))
      if (auto *access = dyn_cast<IntrinsicInst>(&instruction); access && isShortAccess(*access))
        found.push_back(access);
    if (found.empty())
      continue;
    IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
    Value *aside = entry.CreateAlloca(entry.getInt16Ty());
    for (IntrinsicInst *access : found)
      ShortAccess(*access).expand(aside);
  }
}
