// The index that Megatron writes beside a file of raw tokens.
#pragma once

#include "runtime/formats/safetensors_view.h"

#include <filesystem>
#include <optional>

namespace trainc {

/// Content of the index `NAME.idx` of the tokens in `NAME.bin`.
struct MegatronIndex {
  std::filesystem::path path;
  SafetensorsDType dtype; ///< kU8, kU16 or kU32
};

/// Returns the index beside the file `tokens`, which has `tokenBytes` bytes; nothing if there is none. Fails
/// (kInvalidInput) if the file of that name cannot be read, is no index, is damaged or belongs to other
/// tokens; the message names the byte, what was expected and what was found.
Result<std::optional<MegatronIndex>> findMegatronIndex(const std::filesystem::path &tokens,
                                                       uint64_t tokenBytes);

} // namespace trainc
