// Options of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// Value of RunOptions::profile for a table without a file.
inline constexpr const char *kProfileTable = "table";

/// Options of a run, named like trainrun's command-line options. An optional value, text or list is empty if
/// not given.
struct RunOptions {
  std::string plan; ///< path of the plan file, for messages

  std::vector<std::string> data, evalData;
  std::string dataDType, tokenizer;

  std::optional<uint64_t> steps, seed;
  std::optional<double> epochs; ///< passes over the training data, instead of steps
  std::string onNonFinite = "stop";
  std::vector<std::string> init;        ///< files and folders whose tensors are put together
  std::vector<std::string> rename;      ///< rules "PATTERN=REPLACEMENT" for names of tensors of --init
  std::vector<std::string> initMissing; ///< patterns of parameters that --init may lack
  std::vector<std::string> initIgnore;  ///< patterns of tensors of --init that are left out
  bool noConfigCheck = false;           ///< takes weights of a config.json that differs from the plan's
  bool noShuffle = false;
  std::optional<uint64_t> evalEvery;

  std::string checkpointDir, resume;
  std::optional<uint64_t> checkpointEvery, keepLast;
  bool allowChanges = false; ///< whether a resumed run may continue with other data, seed or sample order

  std::vector<std::string> generate; ///< prompts
  std::string prompts;               ///< file with a prompt in each line
  std::string generated;             ///< file for the generated texts, as JSON lines
  std::optional<uint64_t> maxTokens, topK;
  std::optional<double> temperature, topP, minP, repetitionPenalty;
  std::string endToken;

  std::string metrics;
  std::optional<double> peakFlops;
  std::string profile; ///< "table", or the path of a JSON file; empty: none
  std::string trace;   ///< path of the trace file
  std::optional<uint64_t> traceSteps;

  /// The profile's file; empty: none.
  std::string profileFile() const { return profile == kProfileTable ? "" : profile; }

  /// Whether to generate text.
  bool generates() const { return !generate.empty() || !prompts.empty(); }
  /// Whether to train: there is data, and it is not given only for --generate.
  bool trains() const { return !data.empty() && (steps || epochs || !generates()); }
};

/// Requests to stop a run after the current step, evaluation batch or token. Either function may be empty.
struct StopRequests {
  /// Called before the first poll.
  std::function<void()> listen = {};
  /// Returns the origin of a stop request, such as a signal's name, or null.
  std::function<const char *()> reason = {};

  bool requested() const { return reason && reason() != nullptr; }
  /// Origin of the stop after some rank's run has stopped.
  const char *by() const { return requested() ? reason() : "a signal to another rank"; }
};

} // namespace trainc
