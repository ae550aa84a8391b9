// Description of a plan, for people.
#pragma once

#include "runtime/exec/executor.h"

namespace trainc {

/// One line: "gpt2: 124M parameters, 2.61 GiB planned (parameters 475 MiB, ...), and 1.84 MiB for the blocks
/// of kernels on 2 threads".
std::string summary(const Executor &executor);

/// Several lines: arenas with their bytes by role, entries with their inputs, settings of training and
/// generation.
std::string details(const Executor &executor);

} // namespace trainc
