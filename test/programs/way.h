// How a program is compiled and run.
#pragma once

#include "lib/Pipelines/CompileOptions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc::programs {

struct Way {
  CompileOptions options;
  std::optional<int64_t> otherStage; ///< which promises the same bits
  bool emulates = false;             ///< also on the emulated asynchronous device, with the same bits
  bool makesFp8 = false;             ///< also a plan for GPUs whose products are of fp8, which is not run
  unsigned lossScale = 1;            ///< of the step, in fp16
  unsigned threads = 1;              ///< of a rank; only the first of the runs has more than one
  std::string text;                  ///< settings as options of `trainc compile` and `trainrun`

  /// Gives `trainc compile` an option, by its word in train.program.
  void set(std::string_view word, std::string value);
};

/// The blocks of a program's text that have parameters, if each leads to the loss.
std::vector<std::string> wrapUnits(const std::string &program);

/// A way at random: on one rank for every second seed. `units` are blocks whose names `wrap` may be.
Way drawWay(unsigned seed, const std::vector<std::string> &units);

} // namespace trainc::programs
