// The target of x86-64 CPUs.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// Creates the target of x86-64 CPUs; `levels` has the syntax of the word `cpu` of train.program.
std::unique_ptr<Target> createCpuTarget(Fp32Products products = Fp32Products::Fma,
                                        LibraryCalls libraryCalls = {}, llvm::StringRef levels = "all");

} // namespace trainc::codegen
