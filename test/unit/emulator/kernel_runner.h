// Runs PTX on the emulated GPU for tests.
#pragma once

#include "test/emulator/ptx/launch.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

namespace trainc::emulator {

/// A module, memory, and launches of its kernels.
class KernelRunner {
public:
  explicit KernelRunner(const std::string &text);

  /// Parse error of the module; "" if there is none.
  const std::string &parseError() const { return parseError_; }

  template <typename T> uint64_t upload(const std::vector<T> &values) {
    const uint64_t address = memory_.allocate(values.size() * sizeof(T));
    std::memcpy(memory_.bytes(address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
    memory_.noteWritten(address, values.size() * sizeof(T));
    return address;
  }
  /// Unwritten memory.
  uint64_t allocate(uint64_t bytes) { return memory_.allocate(bytes); }
  template <typename T> std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(memory_.isWritten(address, count * sizeof(T)));
    std::memcpy(values.data(), memory_.bytes(address, count * sizeof(T)), count * sizeof(T));
    return values;
  }
  DeviceMemory &memory() { return memory_; }

  /// With 64-bit arguments.
  Status launch(const std::string &kernel, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block,
                const std::vector<uint64_t> &arguments, uint64_t seed = 1, uint32_t dynamicSharedBytes = 0);
  /// The message of a launch of one block; "": it went well.
  std::string fault(const std::string &kernel, uint32_t threads, const std::vector<uint64_t> &arguments,
                    uint64_t seed = 1);

private:
  PtxModule module_;
  std::string parseError_;
  DeviceMemory memory_{uint64_t{1} << 28};
};

/// A text of one kernel `k` with so many 64-bit parameters in %a0, %a1 ..., with registers %p, %h (16 bits),
/// %r (32) and %x (64), with the thread's index in %tid0, with the index in the grid in %i and `declarations`
/// before.
std::string kernelOf(const std::string &body, unsigned parameters, const std::string &declarations = "");

/// Runs `body` for each element of the inputs, which are in %h0, %r0 or %x0 by their size, %h1 ...; the
/// result is in %h9, %r9 or %x9.
std::string elementwiseKernel(const std::string &body, std::span<const size_t> inputBytes,
                              size_t resultBytes);

template <typename To, typename... From>
std::vector<To> evaluate(const std::string &body, const std::vector<From> &...inputs) {
  const size_t bytes[] = {sizeof(From)...};
  KernelRunner runner(elementwiseKernel(body, bytes, sizeof(To)));
  EXPECT_EQ(runner.parseError(), "");
  if (!runner.parseError().empty())
    return {};
  const size_t count = std::get<0>(std::tie(inputs...)).size();
  const uint64_t result = runner.allocate(count * sizeof(To));
  const Status status = runner.launch("k", {static_cast<uint32_t>((count + 255) / 256), 1, 1}, {256, 1, 1},
                                      {result, count, runner.upload(inputs)...});
  EXPECT_TRUE(status.ok()) << status.message();
  return runner.download<To>(result, count);
}

} // namespace trainc::emulator
