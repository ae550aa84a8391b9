// Test cases of kernels: a plan whose entry `eval` computes functions, their arguments, and the expected
// results.
#pragma once

#include "base/status.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace trainc::cases {

/// Expected result. Each number may deviate by its slack (the possible effect of rounding) plus the case's
/// bound, which is relative to the number or, for magnitudes below 1, absolute.
struct ExpectedResult {
  std::vector<double> numbers, slack;
};

/// A function of the plan. Its arguments are the states stateName(name, kArgument, 0), ...; its results are
/// the states of kResult.
struct Case {
  std::string name;
  double bound = 0;
  std::vector<std::vector<std::byte>> arguments; ///< as raw bytes
  std::vector<ExpectedResult> results;
};

enum class Part { kArgument, kResult };
std::string stateName(std::string_view function, Part part, size_t index);

/// Maximum error of a result beyond its slack, to be compared with a bound. Infinity if a number is missing,
/// or is finite where a non-finite one is expected.
double errorOf(std::span<const double> actual, const ExpectedResult &expected);

/// Writes FOLDER/NAME.plan and FOLDER/NAME.safetensors.
Status write(const std::filesystem::path &folder, const std::string &name, std::span<const uint8_t> payload,
             std::span<const Case> cases);
/// Reads the cases of a plan from the .safetensors file of the same name.
Result<std::vector<Case>> read(const std::filesystem::path &plan);

} // namespace trainc::cases
