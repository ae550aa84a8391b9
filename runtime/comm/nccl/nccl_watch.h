// Tracks which collective the device is executing.
#pragma once

#include "runtime/cuda/cuda_handles.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace trainc {

/// A word of host memory that the device writes before and after each collective, also within graphs, without
/// a kernel launch. The host can so tell waiting for peers from computing, and name the instruction at which
/// a run hangs.
class NcclWatch {
public:
  /// Creates a watch on the current context.
  static Result<NcclWatch> create();

  /// Marks the begin of the collective that `text` describes; end() marks its end on the same stream.
  Status begin(CUstream stream, std::string text);
  Status end(CUstream stream) const { return write(stream, kNone); }

  /// Number of the collective that the device is executing; nothing if it executes none.
  std::optional<uint32_t> current() const;
  /// The text passed to begin().
  const std::string &text(uint32_t number) const { return texts_[number - 1]; }

private:
  static constexpr uint32_t kNone = 0;

  explicit NcclWatch(PinnedMemory word) : word_(std::move(word)) {}
  Status write(CUstream stream, uint32_t number) const;

  PinnedMemory word_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> numbers_; ///< number of each text, from 1 on
};

} // namespace trainc
