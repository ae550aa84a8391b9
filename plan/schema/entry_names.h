// Names of a plan's entries: the words of fb::EntryKind.
#pragma once

#include "plan/schema/enum_words.h"

#include <array>
#include <initializer_list>
#include <string_view>

namespace trainc {

inline constexpr std::string_view kInitEntry = wordOf(fb::EntryKind::Init),
                                  kBeginStepEntry = wordOf(fb::EntryKind::BeginStep),
                                  kMicroStepEntry = wordOf(fb::EntryKind::MicroStep),
                                  kLastMicroStepEntry = wordOf(fb::EntryKind::LastMicroStep),
                                  kUpdateEntry = wordOf(fb::EntryKind::Update),
                                  kEvalEntry = wordOf(fb::EntryKind::Eval),
                                  kPrefillEntry = wordOf(fb::EntryKind::Prefill),
                                  kDecodeEntry = wordOf(fb::EntryKind::Decode),
                                  kRefreshEntry = wordOf(fb::EntryKind::Refresh);

/// All names, in the order of fb::EntryKind.
inline constexpr auto kEntryNames = [] {
  std::array<std::string_view, static_cast<size_t>(fb::EntryKind::MAX) + 1> names;
  for (size_t i = 0; i < names.size(); ++i)
    names[i] = wordOf(static_cast<fb::EntryKind>(i));
  return names;
}();

/// Entries that a training step may run; a plan has some of them.
inline constexpr std::initializer_list<std::string_view> kStepEntries = {kBeginStepEntry, kMicroStepEntry,
                                                                         kLastMicroStepEntry, kUpdateEntry};

} // namespace trainc
