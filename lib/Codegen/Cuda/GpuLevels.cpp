#include "lib/Codegen/Cuda/GpuLevels.h"

#include "dialects/Train/ProgramSettings.h"
#include "lib/Codegen/Cuda/Ptxas.h"
#include "plan/schema/cuda_levels.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr StringLiteral kNoGpuLevels = "none";

static SmallVector<StringRef> split(StringRef words) {
  SmallVector<StringRef> given;
  words.split(given, ',');
  return given;
}

std::vector<StringRef> trainc::codegen::chooseGpuLevels(StringRef words) {
  const SmallVector<StringRef> given = split(words);
  const bool isAll = llvm::is_contained(given, kAllGpuLevels);
  std::vector<StringRef> levels;
  for (const CudaLevel &level : kCudaLevels)
    if (const StringRef name(level.name); !level.isPtx && (isAll || llvm::is_contained(given, name)))
      levels.push_back(name);
  return levels;
}

/// Reports levels without fp8 products if the plan needs such products.
static LogicalResult expectF8Products(train::ProgramOp program, StringRef words) {
  if (train::kProductType.given(program) != train::ProductType::fp8 ||
      llvm::is_contained(split(words), kAllGpuLevels))
    return success();
  for (StringRef name : chooseGpuLevels(words))
    if (const CudaLevel *level = findCudaLevel(name); !hasF8Products(level->major, level->minor))
      return program.emitError("gpu_levels (--gpu-levels) ")
             << name << ": product_type (--product-type) fp8 needs compute capability " << kF8Major << "."
             << kF8Minor << " or higher; leave that level out, or choose bf16";
  return success();
}

LogicalResult trainc::codegen::resolveGpuLevels(train::ProgramOp program) {
  const StringRef words = train::kGpuLevels.of(program);
  if (words == kAllGpuLevels || words == kNoGpuLevels)
    return success();
  if (llvm::is_contained(split(words), kNoGpuLevels))
    return program.emitError("gpu_levels (--gpu-levels): expected levels, or none alone, found ") << words;
  if (failed(expectF8Products(program, words)))
    return failure();
  if (!hasPtxas())
    return program.emitError("gpu_levels (--gpu-levels) ")
           << words
           << ": expected ptxas, which makes machine code of PTX, in $CUDA_PATH/bin, /usr/local/cuda/bin or "
              "on "
              "the PATH, found none; install CUDA's compiler, or choose none: the driver compiles PTX when a "
              "run starts";
  train::setValue(program, train::kGpuLevels, llvm::join(chooseGpuLevels(words), ","));
  return success();
}
