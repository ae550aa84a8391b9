// trainer_state.json: where a checkpoint stands and what its files must contain.
#pragma once

#include "runtime/base/file_identity.h"
#include "runtime/base/status.h"
#include "runtime/state/file_checksums.h"

#include <string_view>

namespace trainc {

/// The position of a run, and the checksums of its checkpoint's files. Holds nothing that differs between two
/// runs that must be equal (no times, no thread counts), so that equal runs write equal bytes.
struct TrainerState {
  std::string plan;          ///< Plan.name
  uint64_t step = 0;         ///< steps done
  uint64_t skippedSteps = 0; ///< of them, those whose gradients overflowed; earlier versions recorded none
  uint64_t seed = 0;
  bool shuffle = true;            ///< whether samples come in an order that the seed decides
  uint64_t samples = 0;           ///< samples taken from the data so far: the data position
  uint64_t tokens = 0;            ///< tokens trained on so far
  uint64_t dataSamples = 0;       ///< samples the training data held
  std::vector<FileIdentity> data; ///< its files, in their order; earlier versions recorded none
  std::map<std::string, std::string> environment; ///< what went in besides plan and data
  std::map<std::string, FileChecksums> files;     ///< by name inside the checkpoint

  bool operator==(const TrainerState &) const = default;

  /// The JSON text, ending in its own checksum.
  std::string toJson() const;
  /// Reads what toJson() wrote. Errors (kInvalidInput) name `path` and say what is damaged or missing.
  static Result<TrainerState> fromJson(const std::string &path, std::string_view text);
};

} // namespace trainc
