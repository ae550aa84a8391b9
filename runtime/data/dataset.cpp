#include "runtime/data/dataset.h"

#include "plan/facts/dtype.h"
#include "runtime/data/file_patterns.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace trainc {

namespace {

/// Number of blocks hashed to identify data: a fixed number for one file, fewer per file for many files.
constexpr uint64_t kBlocksOfAFile = 64, kMinBlocksPerFile = 4, kMaxBlocks = 4096;

} // namespace

Result<Dataset> Dataset::open(const std::vector<std::string> &patterns, std::vector<ColumnSpec> columns,
                              std::optional<SafetensorsDType> dtype) {
  TRAINC_ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> paths, expandPatterns(patterns));
  TokenFileOptions options{dtype, 0};
  for (const ColumnSpec &spec : columns)
    if (spec.name == "tokens" || spec.name == "labels")
      options.vocabulary = std::max(options.vocabulary, spec.limit);
  Dataset dataset;
  dataset.columns_ = std::move(columns);
  for (const std::filesystem::path &path : paths) {
    TRAINC_ASSIGN_OR_RETURN(DataFile file, DataFile::open(path, dataset.columns_, options));
    dataset.firstSample_.push_back(dataset.samples() + file.samples());
    dataset.files_.push_back(std::move(file));
  }
  return dataset;
}

Result<std::vector<FileIdentity>> Dataset::identity() const {
  const uint64_t blocks = std::clamp<uint64_t>(kMaxBlocks / files_.size(), kMinBlocksPerFile, kBlocksOfAFile);
  std::vector<FileIdentity> each;
  for (const DataFile &file : files_) {
    TRAINC_ASSIGN_OR_RETURN(each.emplace_back(), file.identity(blocks));
  }
  return each;
}

std::optional<size_t> Dataset::findColumn(const ColumnSpec &spec) const {
  const auto found = std::ranges::find(columns_, spec);
  if (found == columns_.end())
    return std::nullopt;
  return static_cast<size_t>(found - columns_.begin());
}

size_t Dataset::fileOf(uint64_t sample) const {
  return std::ranges::upper_bound(firstSample_, sample) - firstSample_.begin() - 1;
}

Status Dataset::fill(size_t column, std::span<const uint64_t> samples,
                     std::span<std::byte> destination) const {
  const ColumnSpec &spec = columns_[column];
  const size_t rowBytes = spec.bytes();
  assert(samples.size() * rowBytes <= destination.size());
  std::byte *row = destination.data();
  for (size_t i = 0, run; i < samples.size(); i += run, row += run * rowBytes) {
    assert(samples[i] < this->samples());
    const size_t file = fileOf(samples[i]);
    run = 1; // consecutive samples of the file are read together
    while (i + run < samples.size() && samples[i + run] == samples[i] + run &&
           samples[i + run] < firstSample_[file + 1])
      ++run;
    TRAINC_RETURN_IF_ERROR(files_[file].readRows(column, samples[i] - firstSample_[file], run, row));
  }
  const size_t rest = destination.size() - samples.size() * rowBytes;
  if (spec.pads)
    fillIntegers(spec.ignore, rest / elementBytes(spec.dtype), spec.dtype, row);
  else
    std::memset(row, 0, rest);
  return {};
}

std::optional<std::string> Dataset::findNonFinite(size_t column, std::span<const uint64_t> samples,
                                                  std::span<const std::byte> rows) const {
  const ColumnSpec &spec = columns_[column];
  const std::optional<size_t> found =
      trainc::findNonFinite(spec.dtype, rows.first(samples.size() * spec.bytes()));
  if (!found)
    return std::nullopt;
  return describeElement(column, samples[*found / spec.elements()], *found % spec.elements());
}

std::string Dataset::describeElement(size_t column, uint64_t sample, uint64_t element) const {
  const size_t file = fileOf(sample);
  return files_[file].describeElement(column, sample - firstSample_[file], element);
}

namespace {

/// Whether a column holds classes of the model's output. Tokens are its input.
bool holdsClasses(const ColumnSpec &spec) {
  return spec.dtype == fb::DType::I32 && spec.limit > 0 && spec.name != "tokens";
}

/// Whether a column has one float for each class of `classes`, or one for each of its elements and classes.
bool isMaskOf(const ColumnSpec &classes, const ColumnSpec &spec) {
  return spec.dtype == fb::DType::F32 &&
         (spec.elements() == classes.limit || spec.elements() == classes.elements() * classes.limit);
}

template <typename T> T elementAt(std::span<const std::byte> rows, uint64_t element) {
  T value;
  std::memcpy(&value, rows.data() + element * sizeof(T), sizeof(T));
  return value;
}

/// Returns the first element of `classes` whose class `mask` has at -infinity, counted over all samples.
std::optional<uint64_t> findMasked(const ColumnSpec &classes, std::span<const std::byte> classRows,
                                   const ColumnSpec &mask, std::span<const std::byte> maskRows,
                                   uint64_t samples) {
  for (uint64_t i = 0; i < samples * classes.elements(); ++i) {
    const auto label = elementAt<int32_t>(classRows, i);
    if (label < 0 || static_cast<uint64_t>(label) >= classes.limit || label == classes.ignore)
      continue;
    const uint64_t row = mask.elements() == classes.limit ? i / classes.elements() : i;
    if (elementAt<float>(maskRows, row * classes.limit + static_cast<uint64_t>(label)) == -HUGE_VALF)
      return i;
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string>
Dataset::findMaskedClass(std::span<const uint64_t> samples,
                         const std::function<std::span<const std::byte>(size_t column)> &rows) const {
  for (size_t column = 0; column < columns_.size(); ++column)
    for (size_t other = 0; other < columns_.size(); ++other) {
      const ColumnSpec &classes = columns_[column], &mask = columns_[other];
      if (!holdsClasses(classes) || !isMaskOf(classes, mask) || rows(column).empty() || rows(other).empty())
        continue;
      const auto found = findMasked(classes, rows(column), mask, rows(other), samples.size());
      if (found)
        return fmt::format(
            "{}, a class that the column '{}' has at -inf in this sample: the loss of such a target "
            "is infinite",
            describeElement(column, samples[*found / classes.elements()], *found % classes.elements()),
            mask.name);
    }
  return std::nullopt;
}

} // namespace trainc
