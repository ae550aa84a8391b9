// The target of NVIDIA GPUs.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// Settings of plans for GPUs.
struct CudaChoices {
  Fp32Products products = Fp32Products::Fma;
  LibraryCalls libraryCalls;
  std::string gpu;                    ///< as the word `gpu` of train.program; for predictions
  std::string levels = "all";         ///< levels of machine code, as the word `gpu_levels`
  bool reproducibleOverRanks = false; ///< whether sums over ranks follow the binary tree
};

/// Creates the target of NVIDIA GPUs from compute capability 8.0 on.
std::unique_ptr<Target> createCudaTarget(CudaChoices choices);

} // namespace trainc::codegen
