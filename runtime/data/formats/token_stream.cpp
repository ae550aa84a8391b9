#include "runtime/data/formats/token_stream.h"

#include "base/hash.h"
#include "runtime/data/formats/foreign_file.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc {

namespace {

/// Bytes read at a time to compare a file's checksum.
constexpr size_t kHashedBytes = size_t{1} << 20;

/// Whether a token stream provides the column: tokens or labels, with sequences of equal length.
bool isSequence(const ColumnSpec &spec, const std::vector<ColumnSpec> &columns) {
  return (spec.name == "tokens" || spec.name == "labels") && spec.shape.size() == 1 && spec.elements() > 0 &&
         spec.elements() == columns.front().elements();
}

/// Sequence length of a token stream, or an error that says what the file is instead.
Result<uint64_t> sequenceLength(const DataSource &source, const std::vector<ColumnSpec> &columns) {
  const auto other =
      std::ranges::find_if(columns, [&](const ColumnSpec &spec) { return !isSequence(spec, columns); });
  if (other == columns.end())
    return columns.empty() ? 0 : columns.front().elements();
  std::vector<std::string> needed;
  for (const ColumnSpec &spec : columns)
    needed.push_back(fmt::format("{} {}", spec.name, describe(spec)));
  const auto foreign = findForeignKind(source.path.extension().string(), source.head);
  const std::string found =
      foreign ? fmt::format("found {}; {}", foreign->name, foreign->forColumns)
              : "found a file of tokens, which gives the columns tokens [samples, length] and "
                "labels of the same shape (the tokens shifted by one)";
  return invalidInput("{}: expected a .safetensors file with the plan's columns {}, {}", source.path.string(),
                      fmt::join(needed, ", "), found);
}

class TokenReader : public DataReader {
public:
  explicit TokenReader(DataSource source) : DataReader(std::move(source)) {}

  Status bind(const std::vector<ColumnSpec> &columns, const TokenStream &stream, uint64_t length) {
    if (length == 0)
      return invalidInput("{}: the plan takes no data", path());
    if (stream.count < length + 1)
      return invalidInput(
          "{}: expected at least {} tokens ({} bytes) for one sample of length {} and its last label, "
          "found {} tokens; give more text, or compile with a shorter --seq-len",
          path(), length + 1, (length + 1) * elementBytes(stream.dtype), length, stream.count);
    samples_ = (stream.count - 1) / length;
    content_ = stream.content;
    warning_ = stream.warning;
    for (const ColumnSpec &spec : columns)
      TRAINC_RETURN_IF_ERROR(bindColumn(spec, stream, length));
    return checkContent();
  }

  std::string explain(const FileColumn &column, std::string_view) const override {
    if (column.limitName != FileColumn().limitName)
      return "; the two do not belong together: tokenize again, or delete the JSON file";
    return fmt::format("; was the file made with another tokenizer, or with another --data-dtype than {}?",
                       tokenDTypeName(column.dtype));
  }

private:
  Status bindColumn(const ColumnSpec &spec, const TokenStream &stream, uint64_t length) {
    const uint64_t shift = spec.name == "labels" ? elementBytes(stream.dtype) : 0;
    FileColumn column{spec, stream.dtype, stream.fileOffset + shift, length, length};
    if (stream.vocabulary && spec.limit > 0 && *stream.vocabulary > spec.limit)
      warning_ = fmt::format(
          "{}: its tokenizer has {} ids, as {} says, the model takes those below {}; the run ends at "
          "the first token beyond: make the model's vocabulary as large",
          path(), *stream.vocabulary, sidecarPath(path()).string(), spec.limit);
    if (stream.vocabulary && (spec.limit == 0 || *stream.vocabulary < spec.limit)) {
      column.spec.limit = *stream.vocabulary;
      column.limitName = fmt::format("the vocabulary that {} says,", sidecarPath(path()).string());
    }
    return addColumn(std::move(column));
  }

  /// Fails if the file is not the one whose checksum the JSON beside it records. Larger files would delay the
  /// start of a run; their size alone is compared.
  Status checkContent() const {
    constexpr uint64_t kMaxBytes = uint64_t{64} << 20;
    if (!content_ || file().size() > kMaxBytes)
      return {};
    std::vector<std::byte> piece(std::min<uint64_t>(kHashedBytes, file().size()));
    StreamHash hash;
    for (uint64_t begin = 0; begin < file().size(); begin += piece.size()) {
      const std::span<std::byte> bytes =
          std::span(piece).first(std::min<uint64_t>(piece.size(), file().size() - begin));
      TRAINC_RETURN_IF_ERROR(file().read(begin, bytes));
      hash.update(bytes);
    }
    if (hash.digest() == *content_)
      return {};
    return invalidInput(
        "{}: expected the checksum {:016x}, as {} says, found {:016x}; the file is damaged or "
        "another one: copy or tokenize it again, or delete the JSON file",
        path(), *content_, sidecarPath(path()).string(), hash.digest());
  }
};

} // namespace

Result<std::unique_ptr<DataReader>> openTokens(DataSource source, const std::vector<ColumnSpec> &columns,
                                               const TokenFileOptions &options, FindTokens *find) {
  TRAINC_ASSIGN_OR_RETURN(const uint64_t length, sequenceLength(source, columns));
  TRAINC_ASSIGN_OR_RETURN(const TokenStream stream,
                          find(source.path, source.head, source.file.size(), options));
  auto reader = std::make_unique<TokenReader>(std::move(source));
  TRAINC_RETURN_IF_ERROR(reader->bind(columns, stream, length));
  return std::unique_ptr<DataReader>(std::move(reader));
}

} // namespace trainc
