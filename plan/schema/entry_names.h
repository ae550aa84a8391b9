// Names of a plan's entries, which are documented beside Entry in plan.fbs.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>

namespace trainc {

inline constexpr std::string_view kInitEntry = "init", kBeginStepEntry = "begin_step",
                                  kMicroStepEntry = "micro_step", kLastMicroStepEntry = "last_micro_step",
                                  kUpdateEntry = "update", kEvalEntry = "eval", kPrefillEntry = "prefill",
                                  kDecodeEntry = "decode", kRefreshEntry = "refresh";

inline constexpr std::array kEntryNames = {kInitEntry,          kBeginStepEntry, kMicroStepEntry,
                                           kLastMicroStepEntry, kUpdateEntry,    kEvalEntry,
                                           kPrefillEntry,       kDecodeEntry,    kRefreshEntry};
/// Entries that a training step may run; a plan has some of them.
inline constexpr std::initializer_list<std::string_view> kStepEntries = {kBeginStepEntry, kMicroStepEntry,
                                                                         kLastMicroStepEntry, kUpdateEntry};

} // namespace trainc
