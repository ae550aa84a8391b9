// What a user decides of a run; everything else is the plan's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// RunOptions::profile without a file.
inline constexpr const char *kProfileTable = "table";

/// What a run is asked for, in the words of trainrun's command line. An optional value that was not given is
/// empty, a text or list likewise.
struct RunOptions {
  std::string plan; ///< the plan's file, for messages

  std::vector<std::string> data, evalData;
  std::string dataDType, tokenizer;

  std::optional<uint64_t> steps, seed;
  std::string init, onNonFinite = "stop";
  std::vector<std::string> initMissing; ///< patterns of parameters that --init need not have
  bool noShuffle = false;
  std::optional<uint64_t> evalEvery;

  std::string checkpointDir, resume;
  std::optional<uint64_t> checkpointEvery, keepLast;
  bool allowChanges = false; ///< a resumed run may go on with other data, another seed or order

  std::optional<std::string> generate;
  std::optional<uint64_t> maxTokens, topK;
  std::optional<double> temperature;

  std::string metrics;
  std::optional<double> peakFlops;
  std::string profile; ///< "table", or also a file of JSON; empty: none
  std::string trace;   ///< file
  std::optional<uint64_t> traceSteps;

  /// The file that the profile goes to; empty: none.
  std::string profileFile() const { return profile == kProfileTable ? "" : profile; }

  /// Whether to run training steps: there is data, and it is not only there for --generate.
  bool trains() const { return !data.empty() && (steps || !generate); }
};

/// How a run is asked to stop, after the step, evaluation batch or token in progress. Either function may be
/// empty.
struct StopRequests {
  /// Called when the run is about to ask for the first time.
  std::function<void()> listen = {};
  /// Who asked for a stop, such as a signal's name, or null.
  std::function<const char *()> reason = {};

  bool requested() const { return reason && reason() != nullptr; }
  /// Who did, once some rank's run has stopped.
  const char *by() const { return requested() ? reason() : "a signal to another rank"; }
};

} // namespace trainc
