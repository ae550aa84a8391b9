// Where the device is among its collectives.
#pragma once

#include "runtime/device/cuda/cuda_handles.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace trainc {

/// A word of the host's memory that the device writes before and after each collective, also those of graphs,
/// at no cost that a kernel would have. So the host can tell waiting for peers from computing, and say at
/// which instruction a run hangs.
class NcclWatch {
public:
  /// On the context that is current.
  static Result<NcclWatch> create();

  /// What runs on the stream between these two is the collective that `text` describes.
  Status begin(CUstream stream, std::string text);
  Status end(CUstream stream) const { return write(stream, kNone); }

  /// The number of the collective that the device is at; nothing while it is at none.
  std::optional<uint32_t> current() const;
  /// begin()'s text.
  const std::string &text(uint32_t number) const { return texts_[number - 1]; }

private:
  static constexpr uint32_t kNone = 0;

  explicit NcclWatch(PinnedMemory word) : word_(std::move(word)) {}
  Status write(CUstream stream, uint32_t number) const;

  PinnedMemory word_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> numbers_; ///< of texts, from 1 on
};

} // namespace trainc
