#include "runtime/log/metrics.h"

#include "base/input_file.h"
#include "base/json_text.h"
#include "base/output_file.h"
#include "runtime/log/metrics_keys.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trainc {

namespace {

/// A line under construction on the stack, so that a step does not allocate.
using Line = fmt::basic_memory_buffer<char, 1024>;

/// Writes a number. JSON has no non-finite ones.
template <typename T> void put(Line &line, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      fmt::format_to(std::back_inserter(line), "null");
      return;
    }
  }
  fmt::format_to(std::back_inserter(line), "{}", value);
}

template <typename Metrics>
void putLine(Line &line, std::span<const MetricsKey<Metrics>> keys, const Metrics &metrics) {
  for (const MetricsKey<Metrics> &key : keys)
    if (const std::optional<MetricsValue> value = key.value(metrics)) {
      fmt::format_to(std::back_inserter(line), "{}\"{}\": ", line.size() == 0 ? "{" : ", ", key.name);
      std::visit([&line](auto number) { put(line, number); }, *value);
    }
  line.append(std::string_view("}\n"));
}

/// Prefix of every line.
constexpr std::string_view kBeginning = "{\"step\": ";
/// Upper bound of the length of a first line of metrics.
constexpr uint64_t kLongestLine = 4096;

/// Whether a line was written by write(), rather than by another program that counts steps.
bool isMetrics(std::string_view line) {
  const nlohmann::json json = tryParseJson(line);
  if (!line.starts_with(kBeginning) || !json.is_object())
    return false;
  return json.contains("eval_loss") || (json.contains("grad_norm") && json.contains("step_seconds"));
}

/// Whether a file holds metrics, judged by its first line. Also true for an empty file, and for a prefix of
/// the first line that a killed run left.
bool holdsMetrics(std::string_view text) {
  const size_t end = text.find('\n');
  if (end != std::string_view::npos)
    return isMetrics(text.substr(0, end));
  return text.size() < kLongestLine && (text.starts_with(kBeginning) || kBeginning.starts_with(text));
}

/// The step that a line of metrics says; nothing if it is no such line.
std::optional<uint64_t> stepOf(std::string_view line) {
  const nlohmann::json json = tryParseJson(line);
  const auto step = json.is_object() ? json.find("step") : json.end();
  return step != json.end() && step->is_number_unsigned() ? std::optional(step->get<uint64_t>())
                                                          : std::nullopt;
}

/// The prefix of a file that a resumed run keeps.
struct Kept {
  uint64_t bytes = 0;
  uint64_t lines = 0;
  bool isCut = false;        ///< the line after it is incomplete
  uint64_t lineOfNoStep = 0; ///< number of the first line that says no step; 0: each one does
};

/// Finds the prefix of `text` up to the first line of a step after `lastStep`, or up to an incomplete last
/// line. A line that only lacks its newline is complete.
Kept findKept(std::string_view text, uint64_t lastStep) {
  Kept kept;
  while (kept.bytes < text.size()) {
    const size_t end = std::min(text.find('\n', kept.bytes), text.size());
    const std::string_view line = text.substr(kept.bytes, end - kept.bytes);
    kept.isCut = end == text.size() && !tryParseJson(line).is_object();
    const std::optional<uint64_t> step = stepOf(line);
    if (kept.isCut || step > lastStep)
      break;
    kept.bytes = std::min(end + 1, text.size());
    ++kept.lines;
    if (!step && kept.lineOfNoStep == 0)
      kept.lineOfNoStep = kept.lines;
  }
  return kept;
}

/// A file system may fill the end of a file with zeros after a failure of the machine.
void dropZerosAtEnd(std::string &text) { text.resize(text.find_last_not_of('\0') + 1); }

/// Locks the regular file `path`, open as `fd`, and truncates it to the lines that remain. Returns a warning
/// if a line was lost or is none of metrics.
Result<std::string> prepare(int fd, const std::filesystem::path &path, std::optional<uint64_t> resumeStep) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 &&
      errno == EWOULDBLOCK) // other errors: the file system has no locks
    return invalidInput(
        "--metrics={}: another trainrun writes its metrics there; stop it or give another name",
        path.string());
  TRAINC_ASSIGN_OR_RETURN(const InputFile file, InputFile::open(path));
  const auto begin = [&](uint64_t bytes) -> Result<std::string> {
    std::string text(std::min(file.size(), bytes), '\0');
    TRAINC_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(text))));
    dropZerosAtEnd(text);
    return text;
  };
  // Only a prefix is read, because a file of another kind may be large.
  TRAINC_ASSIGN_OR_RETURN(std::string text, begin(kLongestLine));
  if (!holdsMetrics(text))
    return invalidInput("--metrics={}: the file holds something else than metrics, which would be lost; give "
                        "another name, or delete it",
                        path.string());
  Kept kept;
  if (resumeStep) {
    TRAINC_ASSIGN_OR_RETURN(text, begin(file.size()));
    kept = findKept(text, *resumeStep);
  }
  const auto size = static_cast<off_t>(kept.bytes);
  if (::ftruncate(fd, size) != 0 || ::lseek(fd, size, SEEK_SET) != size)
    return invalidInput("--metrics={}: cannot drop the lines of later steps: {}", path.string(),
                        std::strerror(errno));
  if (size > 0 && text[kept.bytes - 1] != '\n' && ::write(fd, "\n", 1) != 1)
    return invalidInput("--metrics={}: cannot write: {}", path.string(), std::strerror(errno));
  std::string warning;
  if (kept.lineOfNoStep > 0)
    warning =
        fmt::format("line {} is not a line of metrics; it stays, and programs that read the file may fail "
                    "there",
                    kept.lineOfNoStep);
  if (kept.isCut)
    warning +=
        fmt::format("{}the last line was cut off, as by a machine that failed; its {} bytes are dropped, "
                    "and the lines of its step may be missing",
                    warning.empty() ? "" : "; ", text.size() - kept.bytes);
  return warning.empty() ? warning : fmt::format("--metrics={}: {}", path.string(), warning);
}

} // namespace

Result<MetricsWriter> MetricsWriter::open(const std::filesystem::path &path,
                                          std::optional<uint64_t> resumeStep) {
  TRAINC_ASSIGN_OR_RETURN(Descriptor file, openForWriting("--metrics=", path));
  struct stat info{};
  std::string warning;
  if (::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode)) {
    TRAINC_ASSIGN_OR_RETURN(warning, prepare(file.get(), path, resumeStep));
  }
  return MetricsWriter(path, std::move(file), std::move(warning));
}

Status MetricsWriter::write(const StepMetrics &metrics) {
  Line line;
  putLine(line, stepMetricsKeys(), metrics);
  return append({line.data(), line.size()});
}

Status MetricsWriter::write(const EvalMetrics &metrics) {
  Line line;
  putLine(line, evalMetricsKeys(), metrics);
  return append({line.data(), line.size()});
}

Status MetricsWriter::append(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(file_.get(), line.data(), line.size());
    if (written < 0 && errno != EINTR)
      return failed("--metrics={}: cannot write: {}", path_.string(), std::strerror(errno));
    if (written > 0)
      line.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

} // namespace trainc
