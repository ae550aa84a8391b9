#include "plan/cost/cluster_file.h"

#include "base/json_text.h"
#include "base/nearest_word.h"
#include "base/plain_text.h"

#include <algorithm>
#include <cstdio>

namespace trainc {

namespace {

using Json = nlohmann::json;

/// Allowed range of a number.
enum class Kind { Rate, Share, Seconds };

/// A number of the file.
struct Field {
  const char *section, *name;
  double Machine::*member;
  Kind kind;
  bool isOptional = false;
};

constexpr Field kFields[] = {
    {"device", "peak_flops_per_second", &Machine::peakFlopsPerSecond, Kind::Rate},
    {"device", "f32_flops_per_second", &Machine::flopsPerSecond, Kind::Rate},
    {"device", "arithmetic_per_second", &Machine::arithmeticPerSecond, Kind::Rate, true},
    {"device", "tf32_flops_per_second", &Machine::tf32FlopsPerSecond, Kind::Rate},
    {"device", "bf16_flops_per_second", &Machine::bf16FlopsPerSecond, Kind::Rate},
    {"device", "f16_flops_per_second", &Machine::f16FlopsPerSecond, Kind::Rate, true},
    {"device", "fp8_flops_per_second", &Machine::fp8FlopsPerSecond, Kind::Rate, true},
    {"device", "unaligned_share", &Machine::unalignedShare, Kind::Share, true},
    {"device", "side_sum_share", &Machine::sideSumShare, Kind::Share, true},
    {"device", "f32_attention_flops_per_second", &Machine::f32AttentionFlopsPerSecond, Kind::Rate, true},
    {"device", "attention_flops_per_second", &Machine::attentionFlopsPerSecond, Kind::Rate},
    {"device", "library_attention_flops_per_second", &Machine::libraryAttentionFlopsPerSecond, Kind::Rate},
    {"device", "library_attention_grad_flops_per_second", &Machine::libraryAttentionGradFlopsPerSecond,
     Kind::Rate},
    {"device", "bytes_per_second", &Machine::bytesPerSecond, Kind::Rate},
    {"device", "thread_bytes_per_second", &Machine::threadBytesPerSecond, Kind::Rate, true},
    {"device", "access_seconds", &Machine::accessSeconds, Kind::Seconds, true},
    {"device", "launch_seconds", &Machine::launchSeconds, Kind::Seconds},
    {"node", "bytes_per_second", &Machine::linkBytesPerSecond, Kind::Rate},
    {"node", "share_beside_compute", &Machine::linkShareBesideCompute, Kind::Share},
    {"node", "meet_seconds", &Machine::meetSeconds, Kind::Seconds},
    {"node", "hop_seconds", &Machine::linkHopSeconds, Kind::Seconds, true},
    {"network", "bytes_per_second", &Machine::networkBytesPerSecond, Kind::Rate, true},
    {"network", "hop_seconds", &Machine::networkHopSeconds, Kind::Seconds, true},
    {"host", "bytes_per_second", &Machine::hostBytesPerSecond, Kind::Rate, true},
    {"host", "compute_bytes_per_second", &Machine::hostComputeBytesPerSecond, Kind::Rate, true},
    {"host", "arithmetic_per_second", &Machine::hostArithmeticPerSecond, Kind::Rate, true},
    {"host", "launch_seconds", &Machine::hostLaunchSeconds, Kind::Seconds, true},
    {"disk", "read_bytes_per_second", &Machine::diskReadBytesPerSecond, Kind::Rate, true},
    {"disk", "write_bytes_per_second", &Machine::diskWriteBytesPerSecond, Kind::Rate, true},
    {"disk", "access_seconds", &Machine::diskAccessSeconds, Kind::Seconds, true},
    {"disk", "compute_seconds", &Machine::diskComputeSeconds, Kind::Seconds, true},
};

/// Members other than kFields; the section of the file itself is "".
constexpr std::pair<const char *, const char *> kOthers[] = {{"", "trainc_cluster"},
                                                             {"", "name"},
                                                             {"", "source"},
                                                             {"", "gpu"},
                                                             {"", "compute_capability"},
                                                             {"", "device"},
                                                             {"", "node"},
                                                             {"", "network"},
                                                             {"", "host"},
                                                             {"", "disk"},
                                                             {"device", "name"},
                                                             {"device", "memory_bytes"},
                                                             {"host", "memory_bytes"},
                                                             {"device", "shared_by_ranks"},
                                                             {"device", "packs_factors"},
                                                             {"node", "ranks"}};

constexpr uint32_t kMaxNodeRanks = 1U << 20;

/// A value as text, "12" or "\"x\"", truncated.
std::string found(const Json &value) {
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  return text.size() > 40 ? text.substr(0, 40) + "..." : text;
}

class Reader {
public:
  Reader(const std::string &file, const Json &json) : file_(file), json_(json) {}

  Result<Cluster> read() {
    if (!json_.is_object() || json_.value("trainc_cluster", Json()) != 1)
      return invalidInput("{}: expected a cluster file, an object with \"trainc_cluster\": 1, found {}; see "
                          "examples/clusters and docs/reference/cluster-files.md",
                          file_, found(json_.is_object() ? json_.value("trainc_cluster", Json()) : json_));
    TRAINC_RETURN_IF_ERROR(checkMembers("", json_));
    for (const char *section : {"device", "node", "network", "host", "disk"})
      TRAINC_RETURN_IF_ERROR(checkSection(section));
    TRAINC_RETURN_IF_ERROR(readText("", "name", cluster_.name));
    TRAINC_RETURN_IF_ERROR(readText("device", "name", cluster_.machine.name));
    if (json_.contains("gpu"))
      TRAINC_RETURN_IF_ERROR(readText("", "gpu", cluster_.gpu));
    TRAINC_RETURN_IF_ERROR(readCapability());
    for (const Field &field : kFields)
      TRAINC_RETURN_IF_ERROR(readField(field));
    TRAINC_RETURN_IF_ERROR(readSizes());
    return std::move(cluster_);
  }

private:
  /// "device.name", or "name" for the file itself.
  static std::string path(std::string_view section, std::string_view name) {
    return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
  }

  template <typename... Args>
  Status wrong(const std::string &field, const Json *value, fmt::format_string<Args...> expected,
               Args &&...args) const {
    return invalidInput("{}: {}: expected {}, found {}", file_, field,
                        fmt::format(expected, std::forward<Args>(args)...),
                        value ? found(*value) : "no such field");
  }

  const Json *get(std::string_view section, const char *name) const {
    const Json *within = &json_;
    if (!section.empty()) {
      const auto held = json_.find(section);
      if (held == json_.end())
        return nullptr;
      within = &*held;
    }
    const auto value = within->find(name);
    return value == within->end() ? nullptr : &*value;
  }

  /// Rejects unknown members: a misspelt one would be silently ignored.
  Status checkMembers(std::string_view section, const Json &object) const {
    std::vector<std::string> known;
    for (const Field &field : kFields)
      if (section == field.section)
        known.push_back(field.name);
    for (const auto &[of, name] : kOthers)
      if (section == of)
        known.push_back(name);
    for (const auto &[name, value] : object.items())
      if (std::ranges::find(known, name) == known.end())
        return invalidInput("{}: {}: {}", file_, printable(path(section, name)),
                            describeUnknownWord(printable(name), known));
    return {};
  }

  Status checkSection(const char *section) const {
    const Json *value = get("", section);
    const bool isNeeded = std::string_view(section) == "device" || std::string_view(section) == "node";
    if (!value && !isNeeded)
      return {};
    if (!value || !value->is_object())
      return wrong(section, value, "an object");
    return checkMembers(section, *value);
  }

  Status readText(std::string_view section, const char *name, std::string &text) const {
    const Json *value = get(section, name);
    if (!value || !value->is_string() || value->get_ref<const std::string &>().empty())
      return wrong(path(section, name), value, "a text");
    text = printable(value->get_ref<const std::string &>());
    return {};
  }

  /// Reads a number, or {"value": a number, "share": the fraction of it that is reached, "source": a text}.
  Status readNumber(std::string_view section, const char *name, Kind kind, double &number) const {
    const Json *value = get(section, name);
    const std::string field = path(section, name);
    double share = 1;
    if (value && value->is_object()) {
      for (const auto &[member, inner] : value->items())
        if (member != "value" && member != "share" && member != "source")
          return wrong(fmt::format("{}.{}", field, printable(member)), &inner,
                       "value, share and source alone");
      if (const auto held = value->find("share"); held != value->end()) {
        if (!held->is_number() || !inRange(held->get<double>(), Kind::Share))
          return wrong(field + ".share", &*held, "a number above 0 and at most 1");
        share = held->get<double>();
      }
      const auto held = value->find("value");
      value = held == value->end() ? nullptr : &*held;
    }
    if (!value || !value->is_number() || !inRange(value->get<double>(), kind))
      return wrong(field, value, "{}",
                   kind == Kind::Rate    ? "a number from 1 to 1e30"
                   : kind == Kind::Share ? "a number above 0 and at most 1"
                                         : "seconds from 0 to 1000");
    number = share * value->get<double>();
    return {};
  }

  static bool inRange(double number, Kind kind) {
    switch (kind) {
    case Kind::Rate:
      return number >= 1 && number <= 1e30;
    case Kind::Share:
      return number > 1e-6 && number <= 1;
    case Kind::Seconds:
      break;
    }
    return number >= 0 && number <= 1000;
  }

  Status readField(const Field &field) {
    if (field.isOptional && !get(field.section, field.name))
      return {};
    return readNumber(field.section, field.name, field.kind, cluster_.machine.*field.member);
  }

  Status readFlag(std::string_view section, const char *name, bool &flag) const {
    const Json *value = get(section, name);
    if (value && !value->is_boolean())
      return wrong(path(section, name), value, "true or false");
    flag = value ? value->get<bool>() : flag;
    return {};
  }

  Status readCapability() {
    const Json *value = get("", "compute_capability");
    if (!value && cluster_.gpu.empty()) {
      cluster_.machine.copiesOutlastEntries = true; // a CPU
      return {};
    }
    const std::string text = value && value->is_string() ? value->get<std::string>() : "";
    if (std::sscanf(text.c_str(), "%2d.%1d", &cluster_.major, &cluster_.minor) != 2)
      return wrong("compute_capability", value, "a text as \"9.0\"");
    return {};
  }

  Status readMemory(const char *section, uint64_t &memory) {
    if (!get(section, "memory_bytes"))
      return {};
    double bytes = 0;
    TRAINC_RETURN_IF_ERROR(readNumber(section, "memory_bytes", Kind::Rate, bytes));
    memory = static_cast<uint64_t>(std::min(bytes, 0x1p62));
    return {};
  }

  Status readSizes() {
    TRAINC_RETURN_IF_ERROR(readMemory("device", cluster_.machine.memoryBytes));
    TRAINC_RETURN_IF_ERROR(readMemory("host", cluster_.machine.hostMemoryBytes));
    TRAINC_RETURN_IF_ERROR(readFlag("device", "shared_by_ranks", cluster_.ranksShareDevice));
    TRAINC_RETURN_IF_ERROR(readFlag("device", "packs_factors", cluster_.machine.packsFactors));
    const Json *ranks = get("node", "ranks");
    if (!ranks && cluster_.ranksShareDevice)
      return {};
    if (!ranks || !ranks->is_number_unsigned() || ranks->get<uint64_t>() == 0 ||
        ranks->get<uint64_t>() > kMaxNodeRanks)
      return wrong("node.ranks", ranks, "a whole number from 1 to {}", kMaxNodeRanks);
    cluster_.machine.nodeRanks = ranks->get<uint32_t>();
    return {};
  }

  const std::string &file_;
  const Json &json_;
  Cluster cluster_;
};

} // namespace

Result<Cluster> parseCluster(const std::string &file, std::string_view text) {
  std::string repeated;
  TRAINC_ASSIGN_OR_RETURN(const Json json, parseJson(file, text, &repeated));
  if (!repeated.empty())
    return invalidInput("{}: {}: expected each field once, found it twice; leave one out", file,
                        printable(repeated));
  return Reader(file, json).read();
}

} // namespace trainc
