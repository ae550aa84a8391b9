#include "runtime/data/dataset.h"

#include "plan/facts/dtype.h"
#include "runtime/data/file_patterns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

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

/// Whether a column has one number for each class of `classes`, or one for each of its elements and classes.
bool isMaskOf(const ColumnSpec &classes, const ColumnSpec &spec) {
  const bool isNumber =
      spec.dtype == fb::DType::F32 || spec.dtype == fb::DType::F64 || spec.dtype == fb::DType::I32;
  return isNumber && &classes != &spec &&
         (spec.elements() == classes.limit || spec.elements() == classes.elements() * classes.limit);
}

template <typename T> T elementAt(std::span<const std::byte> rows, uint64_t element) {
  T value;
  std::memcpy(&value, rows.data() + element * sizeof(T), sizeof(T));
  return value;
}

double numberAt(fb::DType dtype, std::span<const std::byte> rows, uint64_t element) {
  switch (dtype) {
  case fb::DType::I32:
    return elementAt<int32_t>(rows, element);
  case fb::DType::F64:
    return elementAt<double>(rows, element);
  default:
    return elementAt<float>(rows, element);
  }
}

/// Columns of classes and of a mask, and the rows of some samples.
struct MaskedClasses {
  const ColumnSpec &classes, &mask;
  std::span<const std::byte> classRows, maskRows;
  uint64_t samples;

  /// Calls `see(element, number)` for each class that is not ignored: its element, counted over all samples,
  /// and the mask's number for it.
  template <typename See> void forEach(See see) const {
    for (uint64_t i = 0; i < samples * classes.elements(); ++i) {
      const auto label = elementAt<int32_t>(classRows, i);
      if (label < 0 || static_cast<uint64_t>(label) >= classes.limit || label == classes.ignore)
        continue;
      const uint64_t row = mask.elements() == classes.limit ? i / classes.elements() : i;
      see(i, numberAt(mask.dtype, maskRows, row * classes.limit + static_cast<uint64_t>(label)));
    }
  }

  /// Whether the mask consists of 0 and 1.
  bool isBinary() const {
    for (uint64_t i = 0; i < samples * mask.elements(); ++i)
      if (const double number = numberAt(mask.dtype, maskRows, i); number != 0 && number != 1)
        return false;
    return true;
  }
};

/// The first masked class, counted over all samples, and the mask's number for it.
struct MaskedClass {
  uint64_t element;
  double number;
};

/// Maximum of a mask's number that is added to a logit and makes its probability 0 in f32: e^-104 underflows,
/// and logits differ by less than the rest.
constexpr double kExcludes = -1e3;

/// A mask that is added to logits has -infinity or a number such as -1e9. One of 0 and 1 may select classes
/// either way; its number for most targets is that of allowed classes.
std::optional<MaskedClass> findMasked(const MaskedClasses &columns) {
  std::optional<MaskedClass> excluded, first[2];
  uint64_t counts[2] = {};
  columns.forEach([&](uint64_t element, double number) {
    if (number <= kExcludes && !excluded)
      excluded = {element, number};
    if (number == 0 || number == 1) {
      const auto side = static_cast<size_t>(number);
      if (counts[side]++ == 0)
        first[side] = {element, number};
    }
  });
  if (excluded || counts[0] == counts[1] || !columns.isBinary())
    return excluded;
  return counts[0] < counts[1] ? first[0] : first[1];
}

} // namespace

std::string Dataset::doubtOfLabels() const {
  constexpr uint64_t kSamples = 8;
  const auto tokens = std::ranges::find(columns_, "tokens", &ColumnSpec::name);
  const auto labels = std::ranges::find(columns_, "labels", &ColumnSpec::name);
  if (tokens == columns_.end() || labels == columns_.end() || tokens->dtype != fb::DType::I32 ||
      labels->dtype != fb::DType::I32 || tokens->shape != labels->shape || tokens->elements() < 2)
    return "";
  std::vector<uint64_t> first(std::min(kSamples, samples()));
  std::iota(first.begin(), first.end(), 0);
  std::vector<std::byte> rows[2];
  for (size_t i = 0; const auto column : {tokens, labels}) {
    rows[i].resize(first.size() * column->bytes());
    if (!fill(static_cast<size_t>(column - columns_.begin()), first, rows[i]).ok())
      return ""; // training reads them, and says so
    ++i;
  }
  uint64_t targets = 0, changes = 0; // changes: positions at which the next token would be another target
  for (uint64_t i = 0; i < first.size() * labels->elements(); ++i) {
    const auto label = elementAt<int32_t>(rows[1], i), token = elementAt<int32_t>(rows[0], i);
    if (label == labels->ignore)
      continue;
    if (label != token)
      return "";
    ++targets;
    if ((i + 1) % labels->elements() != 0)
      changes += elementAt<int32_t>(rows[0], i + 1) != token;
  }
  return targets < kSamples || changes == 0
             ? ""
             : fmt::format(
                   "the labels of the first {} samples are the tokens themselves, so that a model which "
                   "is to find the next token learns to copy; leave out the column 'labels', or "
                   "shift it by one",
                   first.size());
}

bool Dataset::hasMasks() const {
  return std::ranges::any_of(columns_, [&](const ColumnSpec &classes) {
    return holdsClasses(classes) &&
           std::ranges::any_of(columns_, [&](const ColumnSpec &mask) { return isMaskOf(classes, mask); });
  });
}

std::optional<std::string>
Dataset::findMaskedClass(std::span<const uint64_t> samples,
                         const std::function<std::span<const std::byte>(size_t column)> &rows) const {
  for (size_t column = 0; column < columns_.size(); ++column)
    for (size_t other = 0; other < columns_.size(); ++other) {
      const ColumnSpec &classes = columns_[column], &mask = columns_[other];
      if (!holdsClasses(classes) || !isMaskOf(classes, mask) || rows(column).empty() || rows(other).empty())
        continue;
      const auto found = findMasked({classes, mask, rows(column), rows(other), samples.size()});
      if (found)
        return fmt::format(
            "{}, a class that the column '{}' has at {:g} in this sample{}: the loss of such a target is {}",
            describeElement(column, samples[found->element / classes.elements()],
                            found->element % classes.elements()),
            mask.name, found->number,
            found->number <= kExcludes ? "" : fmt::format(", and most targets at {:g}", 1 - found->number),
            found->number > kExcludes      ? "infinite or very large"
            : std::isfinite(found->number) ? fmt::format("about {:g}, and its probability 0", -found->number)
                                           : "infinite");
    }
  return std::nullopt;
}

} // namespace trainc
