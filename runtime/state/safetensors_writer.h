// Writing safetensors files; see safetensors_view.h for the format.
#pragma once

#include "runtime/state/durable_file.h"
#include "runtime/state/state_tensor.h"

#include <map>

namespace trainc {

/// What was written, for verification when it is read again. Checksums are XXH3-64, seed 0.
struct FileChecksums {
  uint64_t bytes = 0;                      ///< size of the file
  uint64_t file = 0;                       ///< of the whole file
  uint64_t header = 0;                     ///< of all but tensors: a safetensors file's length and JSON
  std::map<std::string, uint64_t> tensors; ///< safetensors only: of each tensor's bytes

  bool operator==(const FileChecksums &) const = default;
};

/// Writes `tensors` in the order given, straight from their memory, to a new file; the caller closes it. The
/// data begin at a multiple of 64 bytes. The metadata says "format": "pt", which Hugging Face asks for.
/// Errors (kFailed) name path and reason.
Result<FileChecksums> writeSafetensors(DurableFile &file, std::span<const StateTensor> tensors);

} // namespace trainc
