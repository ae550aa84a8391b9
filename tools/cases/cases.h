// Cases of kernels: a plan whose entry `eval` computes functions, their arguments, and what must come out.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace trainc::cases {

/// What a result must be. A number may be off by its slack, which is what rounding may do to it, and besides
/// by the case's bound, relative to the number or, of numbers below 1, to 1.
struct ExpectedResult {
  std::vector<double> numbers, slack;
};

/// A function of the plan: its arguments are the states stateName(name, kArgument, 0), ..., its results those
/// of kResult.
struct Case {
  std::string name;
  double bound = 0;
  std::vector<std::vector<std::byte>> arguments; ///< as they lie in memory
  std::vector<ExpectedResult> results;
};

enum class Part { kArgument, kResult };
std::string stateName(std::string_view function, Part part, size_t index);

/// The largest error of a result over its slack, to be compared with a bound; infinite where a number is
/// missing, or finite and should not be.
double errorOf(std::span<const double> actual, const ExpectedResult &expected);

/// Writes FOLDER/NAME.plan and FOLDER/NAME.safetensors.
Status write(const std::filesystem::path &folder, const std::string &name, std::span<const uint8_t> payload,
             std::span<const Case> cases);
/// The cases beside a plan: in the file of its name that ends in .safetensors.
Result<std::vector<Case>> read(const std::filesystem::path &plan);

} // namespace trainc::cases
