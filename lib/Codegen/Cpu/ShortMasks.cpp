// Rewrites masked loads and stores of i16 in LLVM IR, because only some levels need it.
#include "lib/Codegen/Cpu/ShortMasks.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <numeric>

using namespace llvm;

namespace {

/// One masked access. Its mask selects the lanes below some count, possibly none or all.
class ShortAccess {
public:
  ShortAccess(CallInst &access, bool isLoad)
      : access(access), isLoad(isLoad), build(&access), pointer(access.getArgOperand(isLoad ? 0 : 1)),
        mask(access.getArgOperand(isLoad ? 1 : 2)),
        type(cast<FixedVectorType>(isLoad ? access.getType() : access.getArgOperand(0)->getType())),
        lanes(type->getNumElements()) {}

  /// `aside` is dummy memory for the single element if all elements have a pair.
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

  CallInst &access;
  bool isLoad;
  IRBuilder<> build;
  Value *pointer, *mask;
  FixedVectorType *type;
  unsigned lanes;
  Value *pairs = nullptr, *isOdd = nullptr, *last = nullptr, *lastPointer = nullptr;
};

} // namespace

/// Whether all calls of an intrinsic are masked accesses of an even number of i16.
static bool isShort(const Function &intrinsic, bool isLoad) {
  if (intrinsic.getIntrinsicID() != (isLoad ? Intrinsic::masked_load : Intrinsic::masked_store))
    return false;
  auto *type = cast<FixedVectorType>(isLoad ? intrinsic.getReturnType() : intrinsic.getArg(0)->getType());
  return type->getElementType()->isIntegerTy(16) && type->getNumElements() % 2 == 0;
}

void trainc::codegen::expandShortMasks(Module &module) {
  DenseMap<Function *, Value *> aside;
  for (Function &intrinsic : module)
    for (bool isLoad : {true, false}) {
      if (!isShort(intrinsic, isLoad))
        continue;
      for (User *user : make_early_inc_range(intrinsic.users())) {
        auto &access = *cast<CallInst>(user);
        Value *&memory = aside[access.getFunction()];
        if (!memory) {
          IRBuilder<> entry(&*access.getFunction()->getEntryBlock().getFirstInsertionPt());
          memory = entry.CreateAlloca(entry.getInt16Ty());
        }
        ShortAccess(access, isLoad).expand(memory);
      }
    }
}
