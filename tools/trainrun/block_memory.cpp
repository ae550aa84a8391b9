#include "tools/trainrun/block_memory.h"

#include "runtime/base/json_text.h"
#include "runtime/base/units.h"
#include "runtime/plan/view.h"
#include "runtime/schema/limits.h"

#include <charconv>

namespace trainc {

namespace {

using Json = nlohmann::json;

/// A member of an object; null of anything else.
const Json &member(const Json &object, const char *name) {
  static const Json kNone;
  return object.is_object() && object.contains(name) ? object[name] : kNone;
}

uint64_t numberOf(const Json &value) { return value.is_number_unsigned() ? value.get<uint64_t>() : 0; }

/// The bytes that the program or the command line allowed; nothing without a limit.
std::optional<uint64_t> memoryLimit(const Json &report) {
  for (const Json &setting : member(report, "settings")) {
    const Json &value = member(setting, "value");
    if (member(setting, "setting") != "memory_limit" || !value.is_string())
      continue;
    const auto &text = value.get_ref<const std::string &>();
    uint64_t bytes = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), bytes).ec == std::errc())
      return bytes; // else it says that there is none
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> beyondMemoryLimit(const fb::Plan &plan, BlockMemory blocks) {
  if (blocks.blocks <= kCountedThreads || blocks.bytes == 0)
    return std::nullopt;
  const Json report = tryParseJson(view(plan.report()));
  const std::optional<uint64_t> limit = memoryLimit(report);
  const Json &memory = member(report, "memory");
  const uint64_t counted = numberOf(member(memory, "peak")) + numberOf(member(memory, "unplanned"));
  const uint64_t needed = counted + (blocks.blocks - kCountedThreads) * blocks.bytes;
  if (!limit || counted > *limit || needed <= *limit)
    return std::nullopt;
  return fmt::format(
      "expected at most {} bytes, the memory limit that the plan was compiled with, found up to {} on "
      "{} threads, each of which has {} for the blocks of kernels; run with --threads={}, or compile "
      "with --memory-limit={}",
      *limit, needed, blocks.blocks, formatBytes(blocks.bytes),
      kCountedThreads + (*limit - counted) / blocks.bytes, needed);
}

} // namespace trainc
