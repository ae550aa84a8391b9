#include "runtime/log/metrics.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace trainc {

namespace {

/// A line under construction on the stack: a step writes it without allocating.
using Line = fmt::basic_memory_buffer<char, 1024>;

void addKey(Line &line, std::string_view key) {
  fmt::format_to(std::back_inserter(line), "{}\"{}\": ", line.size() == 0 ? "{" : ", ", key);
}

template <typename T> void add(Line &line, std::string_view key, T value) {
  addKey(line, key);
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) { // JSON has no such numbers
      fmt::format_to(std::back_inserter(line), "null");
      return;
    }
  }
  fmt::format_to(std::back_inserter(line), "{}", value);
}

void add(Line &line, std::string_view key, std::optional<double> value) {
  add(line, key, value.value_or(std::nan("")));
}

std::string_view finish(Line &line) {
  line.append(std::string_view("}\n"));
  return {line.data(), line.size()};
}

/// Bytes at the start of `text` that hold complete lines of steps up to `lastStep`.
size_t keptBytes(std::string_view text, uint64_t lastStep) {
  size_t kept = 0;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', kept)) {
    const std::string_view line = text.substr(kept, end - kept);
    const auto json = nlohmann::json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_unsigned() ||
        json["step"].get<uint64_t>() > lastStep)
      return kept;
    kept = end + 1;
  }
  return kept;
}

/// 0, or the errno of what failed.
int dropLaterSteps(int fd, const std::filesystem::path &path, uint64_t lastStep) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto kept = static_cast<off_t>(keptBytes(text, lastStep));
  return ::ftruncate(fd, kept) == 0 && ::lseek(fd, kept, SEEK_SET) == kept ? 0 : errno;
}

} // namespace

MetricsWriter::MetricsWriter(MetricsWriter &&other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

MetricsWriter::~MetricsWriter() {
  if (fd_ >= 0)
    ::close(fd_);
}

Result<MetricsWriter> MetricsWriter::open(const std::filesystem::path &path,
                                          std::optional<uint64_t> resumeStep) {
  const int truncate = resumeStep ? 0 : O_TRUNC;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | truncate, 0666);
  if (fd < 0)
    return invalidInput("--metrics={}: cannot open for writing: {}", path.string(), std::strerror(errno));
  MetricsWriter writer(path, fd);
  struct stat info{};
  const bool regular = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (const int error = resumeStep && regular ? dropLaterSteps(fd, path, *resumeStep) : 0)
    return invalidInput("--metrics={}: cannot drop the lines of later steps: {}", path.string(),
                        std::strerror(error));
  return writer;
}

Status MetricsWriter::write(const StepMetrics &metrics) {
  Line line;
  add(line, "step", metrics.step);
  add(line, "loss", metrics.loss);
  add(line, "lr", metrics.lr);
  add(line, "grad_norm", metrics.gradNorm);
  add(line, "tokens", metrics.tokens);
  add(line, "step_seconds", metrics.stepSeconds);
  add(line, "tokens_per_second", metrics.tokensPerSecond);
  add(line, "peak_bytes", metrics.peakBytes);
  add(line, "mfu", metrics.mfu);
  if (metrics.startSeconds)
    add(line, "start_seconds", *metrics.startSeconds);
  return append(finish(line));
}

Status MetricsWriter::write(const EvalMetrics &metrics) {
  Line line;
  add(line, "step", metrics.step);
  add(line, "eval_loss", metrics.loss);
  add(line, "perplexity", metrics.perplexity);
  add(line, "eval_samples", metrics.samples);
  add(line, "eval_seconds", metrics.seconds);
  return append(finish(line));
}

Status MetricsWriter::append(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(fd_, line.data(), line.size());
    if (written < 0 && errno != EINTR)
      return failed("--metrics={}: cannot write: {}", path_.string(), std::strerror(errno));
    if (written > 0)
      line.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

} // namespace trainc
