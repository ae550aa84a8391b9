#include "runtime/state/export_gguf.h"

#include "base/input_file.h"
#include "runtime/formats/gguf_config.h"
#include "runtime/formats/gguf_weights.h"
#include "runtime/formats/hugging_face_names.h"
#include "runtime/state/checkpoint_files.h"
#include "runtime/state/durable_file.h"
#include "runtime/state/export_pairs.h"
#include "runtime/state/float_rounding.h"
#include "runtime/state/model_config.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainc {

namespace {

namespace fs = std::filesystem;

const GgufTensorType &typeNamed(std::string_view name) { return *findGgufType(name); }

/// `general.file_type` of files whose matrices have the type, as llama.cpp numbers them.
uint32_t fileType(const GgufTensorType &type) {
  return type.name == "F32" ? 0 : type.name == "F16" ? 1 : type.name == "Q8_0" ? 7 : 32; // BF16
}

// --- Metadata ---

constexpr std::string_view kFileType = "general.file_type", kQuantization = "general.quantization_version";
constexpr uint32_t kQuantizationVersion = 2;

void addTypes(const GgufTensorType &type, GgufHeader &header) {
  header.addCount(kFileType, fileType(type));
  header.addCount(kQuantization, kQuantizationVersion);
}

/// The header as a file without tensors. `bytes` holds the file, and outlives it.
Result<GgufFile> parseHeader(const GgufHeader &header, const std::string &name, std::string &bytes) {
  TRAINC_ASSIGN_OR_RETURN(GgufLayout layout, header.layOut({}));
  bytes = std::move(layout.header);
  return GgufFile::parse(name, std::as_bytes(std::span(bytes)));
}

/// The text of the config.json beside the source's weights; empty if there is none.
Result<std::string> ownConfig(const WeightSource &source) {
  std::error_code error;
  const fs::path folder = fs::is_directory(source.path, error) ? source.path : source.path.parent_path();
  return fs::exists(folder / kConfigFile, error) ? readWholeFile(folder / kConfigFile) : std::string();
}

std::vector<std::byte> bytesOf(std::span<const float> numbers) {
  const auto bytes = std::as_bytes(numbers);
  return {bytes.begin(), bytes.end()};
}

Status addMetadataOfFile(const std::string &own, const GgufFile &file, const GgufTensorType &type,
                         GgufMetadata &metadata) {
  TRAINC_ASSIGN_OR_RETURN(const std::optional<std::string> config, configJsonOf(file));
  if (config && !own.empty())
    TRAINC_RETURN_IF_ERROR(compareGgufConfig(own, file.path(), *config).status());
  for (const GgufEntry &entry : file.metadata())
    if (entry.key != kFileType && entry.key != kQuantization && entry.key != "general.alignment")
      metadata.header.addEntry(entry);
  for (const GgufTensor &tensor : file.tensors())
    if (isComputedInGguf(tensor.name))
      metadata.computed.push_back(
          {{tensor.name, tensor.type, tensor.shape}, {tensor.bytes.begin(), tensor.bytes.end()}});
  addTypes(type, metadata.header);
  return {};
}

Status addMetadataOfFolder(const std::string &own, const fs::path &like, const GgufTensorType &type,
                           GgufMetadata &metadata) {
  GgufHeader &header = metadata.header;
  const fs::path path = like / kConfigFile;
  if (!own.empty())
    TRAINC_RETURN_IF_ERROR(compareConfigs(own, like).status());
  TRAINC_ASSIGN_OR_RETURN(const std::string config, readWholeFile(path));
  TRAINC_ASSIGN_OR_RETURN(const ConfigRest rest, addConfig(path.string(), config, header));
  const std::vector<float> &factors = rest.rotaryFactors;
  if (!factors.empty())
    metadata.computed.push_back(
        {{"rope_freqs.weight", &typeNamed("F32"), {factors.size()}}, bytesOf(factors)});
  std::string bytes;
  TRAINC_ASSIGN_OR_RETURN(const GgufFile file, parseHeader(header, path.string(), bytes));
  TRAINC_ASSIGN_OR_RETURN(const std::string said, wholeConfigOf(file));
  TRAINC_RETURN_IF_ERROR(requireSaidByGguf(path, rest.config, said, !factors.empty()));
  std::error_code error;
  if (const std::string name = fs::weakly_canonical(like, error).filename().string(); !error && !name.empty())
    header.addText("general.name", name);
  addTypes(type, header);
  return {};
}

// --- Tensors ---

/// A tensor of the output file.
struct GgufOutput {
  const WeightTensor *source;
  GgufChange change;
  GgufOutputTensor tensor;
};

/// Whether llama.cpp's converter leaves a tensor in F32, whatever the type of the file.
bool staysF32(const std::string &name, const std::vector<uint64_t> &shape) {
  return shape.size() < 2 || name == "position_embd.weight" || name == "token_types.weight";
}

/// Chooses names, shapes and types.
class OutputPlanner {
public:
  OutputPlanner(const GgufFile &header, const GgufTensorType &type) : header_(header), type_(type) {}

  Result<std::vector<GgufOutput>> plan(std::span<const ExportPair> pairs) {
    TRAINC_ASSIGN_OR_RETURN(const std::string_view architecture, header_.text("general.architecture"));
    family_ = findGgufFamily(architecture);
    if (!family_)
      return invalidInput("{}: expected a model of {}, found one of {}, whose names of tensors are not known",
                          header_.path(), ggufFamilies(), architecture);
    TRAINC_ASSIGN_OR_RETURN(heads_, ggufHeads(header_, architecture));
    std::set<const WeightTensor *> bodies; // all but heads
    for (const ExportPair &pair : pairs)
      if (!isHeadName(pair.like->name))
        bodies.insert(pair.source);
    std::vector<GgufOutput> outputs;
    for (const ExportPair &pair : pairs) {
      const bool isRepeated = isHeadName(pair.like->name) && bodies.contains(pair.source);
      if (isRepeated || isStoredBuffer(pair.like->name, pair.like->shape) || isOfPictures(pair.like->name))
        continue;
      TRAINC_ASSIGN_OR_RETURN(GgufOutput output, planTensor(pair));
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

  GgufHeads heads() const { return heads_; }

private:
  /// GGUF's name of a tensor; Hugging Face's files of base models lack a prefix.
  std::optional<GgufRename> renamed(const std::string &name) const {
    if (const auto found = ggufName(*family_, name))
      return found;
    for (const std::string &other : otherNames(name))
      if (const auto found = ggufName(*family_, other))
        return found;
    return std::nullopt;
  }

  Result<GgufOutput> planTensor(const ExportPair &pair) const {
    const std::string &name = pair.like->name;
    const WeightTensor &source = *pair.source;
    const std::optional<GgufRename> found = renamed(name);
    if (!found)
      return invalidInput(
          "tensor '{}': GGUF files of this architecture have no such tensor; convert the folder "
          "that trainc export writes with llama.cpp's convert_hf_to_gguf.py",
          name);
    if (!isRoundable(source.dtype))
      return invalidInput("{}: tensor '{}': expected floats of 16, 32 or 64 bits, found {}", source.file,
                          source.name, describe(source));
    const uint64_t parts = rowParts(found->change, heads_);
    if (parts > 1 && (source.shape.empty() || source.shape.front() % parts != 0))
      return invalidInput(
          "{}: tensor '{}': expected rows in {} equal parts, for {} heads of queries and {} of "
          "keys, found {}",
          source.file, source.name, parts, heads_.queries, heads_.keys, describe(source));
    if (found->change == GgufChange::kTransposed && source.shape.size() != 2)
      return invalidInput("{}: tensor '{}': expected a matrix, found {}", source.file, source.name,
                          describe(source));
    GgufOutput output{&source, found->change, {found->name, &type_, source.shape}};
    if (found->change == GgufChange::kTransposed)
      std::ranges::reverse(output.tensor.shape);
    if (staysF32(found->name, source.shape))
      output.tensor.type = &typeNamed("F32");
    else if (output.tensor.shape.back() % type_.blockElements != 0)
      output.tensor.type = &typeNamed("F16");
    return output;
  }

  const GgufFile &header_;
  const GgufTensorType &type_;
  const GgufFamily *family_ = nullptr;
  GgufHeads heads_;
};

// --- Elements ---

/// Elements of a tensor as f32.
class SourceElements {
public:
  explicit SourceElements(const WeightTensor &tensor) : tensor_(tensor) {}

  void read(uint64_t first, std::span<float> elements) {
    const uint64_t bytes = elementBytes(tensor_.dtype);
    const auto stored = tensor_.read(first * bytes, elements.size() * bytes, staging_);
    if (tensor_.dtype == SafetensorsDType::kF32)
      std::ranges::copy(stored, std::as_writable_bytes(elements).begin());
    else // numbers of F64 beyond F32 are found as infinities
      roundElements(tensor_.dtype, stored, SafetensorsDType::kF32, std::as_writable_bytes(elements).data());
  }

private:
  const WeightTensor &tensor_;
  std::vector<std::byte> staging_;
};

/// Number of elements that are converted at a time; a multiple of all block sizes.
constexpr uint64_t kPieceElements = uint64_t{1} << 18;

/// Writes the tensors of one file.
class GgufTensorWriter {
public:
  GgufTensorWriter(const WeightSource &source, const WeightWriterOptions &options, GgufHeads heads,
                   uint64_t totalBytes, ReplacingFile &file, std::string path)
      : source_(source), options_(options), heads_(heads), file_(file), path_(std::move(path)),
        total_(totalBytes) {}

  Status write(const GgufOutput &output, uint64_t offset) {
    TRAINC_RETURN_IF_ERROR(verify(*output.source));
    output_ = &output;
    offset_ = offset;
    elements_ = 0;
    SourceElements elements(*output.source);
    if (output.change == GgufChange::kTransposed)
      return writeTransposed(elements);
    return rowParts(output.change, heads_) > 1 ? writeRows(elements) : writeInOrder(elements);
  }

private:
  /// Compares a tensor with the checksums of a checkpoint. Its elements are read again in another order.
  Status verify(const WeightTensor &weight) {
    BlockVerifier verifier(source_.recorded, weight.name);
    std::vector<std::byte> staging;
    for (uint64_t begin = 0; begin < weight.bytes() && !source_.recorded.tensors.empty();
         begin += kHashChunkBytes)
      verifier.update(
          weight.read(begin, std::min<uint64_t>(kHashChunkBytes, weight.bytes() - begin), staging));
    if (source_.recorded.tensors.empty() || verifier.finish())
      return {};
    return invalidInput(
        "{}: byte {}: tensor '{}' does not have the checksum recorded in {}; the checkpoint is "
        "damaged, use another one",
        weight.file, weight.fileOffset, weight.name, kTrainerStateFile);
  }

  Status writeInOrder(SourceElements &elements) {
    const uint64_t count = output_->source->elements();
    for (uint64_t first = 0; first < count; first += kPieceElements) {
      piece_.resize(std::min(kPieceElements, count - first));
      elements.read(first, piece_);
      if (output_->change == GgufChange::kPlusOne)
        for (float &element : piece_)
          element += 1;
      TRAINC_RETURN_IF_ERROR(writePiece());
    }
    return {};
  }

  Status writeRows(SourceElements &elements) {
    const uint64_t rows = output_->source->shape.front(), columns = output_->source->elements() / rows;
    std::vector<uint64_t> sourceRows(rows);
    for (uint64_t row = 0; row < rows; ++row)
      sourceRows[storedRow(output_->change, heads_, rows, row)] = row;
    const uint64_t together = std::max<uint64_t>(1, kPieceElements / columns);
    for (uint64_t first = 0; first < rows; first += together) {
      piece_.resize(std::min(together, rows - first) * columns);
      for (uint64_t row = 0; row < piece_.size() / columns; ++row)
        elements.read(sourceRows[first + row] * columns, std::span(piece_).subspan(row * columns, columns));
      TRAINC_RETURN_IF_ERROR(writePiece());
    }
    return {};
  }

  Status writeTransposed(SourceElements &elements) {
    const uint64_t rows = output_->source->shape[0], columns = output_->source->shape[1];
    std::vector<float> whole(rows * columns);
    elements.read(0, whole);
    piece_.resize(whole.size());
    for (uint64_t row = 0; row < rows; ++row)
      for (uint64_t column = 0; column < columns; ++column)
        piece_[column * rows + row] = whole[row * columns + column];
    return writePiece();
  }

  /// Encodes `piece_`, the next elements of the output.
  Status writePiece() {
    const GgufTensorType &type = *output_->tensor.type;
    TRAINC_RETURN_IF_ERROR(checkRange(type));
    encoded_.resize(encodedBytes(type, piece_.size()));
    encodeGgufElements(type, piece_, encoded_);
    TRAINC_RETURN_IF_ERROR(file_.write(offset_ + encodedBytes(type, elements_), encoded_));
    elements_ += piece_.size();
    done_ += piece_.size() * elementBytes(output_->source->dtype);
    if (!options_.progress || options_.progress(done_, total_))
      return {};
    return failed("{}: not written: stopped after {} of {} bytes of weights", path_, done_, total_);
  }

  Status checkRange(const GgufTensorType &type) const {
    const SafetensorsDType scale = type.name == "F32"    ? SafetensorsDType::kF32
                                   : type.name == "BF16" ? SafetensorsDType::kBF16
                                                         : SafetensorsDType::kF16;
    // Q8_0 stores a 127th of the largest number of each block as F16.
    const double largest = largestFinite(scale) * (type.name == "Q8_0" ? 127 : 1);
    for (size_t i = 0; i < piece_.size(); ++i)
      if (!(std::abs(piece_[i]) <= largest))
        return invalidInput(
            "{}: tensor '{}': a number is {:.9g}, and {} holds finite ones of at most {:.9g}; "
            "{}",
            output_->source->file, output_->source->name, piece_[i], type.name, largest,
            std::isfinite(piece_[i]) ? "use --type=bf16 or f32" : "the weights have diverged or are damaged");
    return {};
  }

  const WeightSource &source_;
  const WeightWriterOptions &options_;
  GgufHeads heads_;
  ReplacingFile &file_;
  std::string path_; ///< of the file, for messages
  const GgufOutput *output_ = nullptr;
  uint64_t offset_ = 0;   ///< of the output in the file
  uint64_t elements_ = 0; ///< of the output that are written
  std::vector<float> piece_;
  std::vector<std::byte> encoded_;
  uint64_t total_, done_ = 0; ///< bytes of weights
};

/// Reads the written file's header, and compares it with what was to be written.
Status checkWritten(const fs::path &path, std::span<const GgufOutputTensor> tensors) {
  TRAINC_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(path));
  for (const GgufOutputTensor &tensor : tensors) {
    const GgufTensor *found = file.findTensor(tensor.name);
    if (!found || found->shape != tensor.shape || found->type != tensor.type)
      return failed("{}: tensor '{}' is not as it was written, but {}; the disk may be damaged",
                    path.string(), tensor.name, found ? describe(*found) : "absent");
  }
  return {};
}

} // namespace

const GgufTensorType &usualGgufType(const WeightFiles &like) {
  std::map<std::string, uint64_t> elements;
  if (const GgufFile *file = like.gguf())
    for (const GgufTensor &tensor : file->tensors())
      elements[std::string(tensor.type->name)] += tensor.elements();
  else
    for (const WeightTensor &tensor : like.tensors())
      elements[std::string(dtypeName(tensor.dtype))] += tensor.elements();
  const auto most = std::ranges::max_element(elements, {}, [](const auto &each) { return each.second; });
  const GgufTensorType *type = most == elements.end() ? nullptr : findGgufType(most->first);
  return type && isEncodable(*type) ? *type : typeNamed("F16");
}

Result<uint64_t> embeddingRows(const WeightFiles &like) {
  for (const WeightTensor &tensor : like.tensors())
    for (const std::string_view name :
         {"embed_tokens.weight", "wte.weight", "embed_in.weight", "word_embeddings.weight"})
      if (endsWithName(tensor.name, name) && tensor.shape.size() == 2)
        return tensor.shape.front();
  return invalidInput(
      "--like={}: expected an embedding of tokens, such as 'model.embed_tokens.weight', found none",
      like.path());
}

Status addModelMetadata(const WeightSource &source, const fs::path &like, const GgufTensorType &type,
                        GgufMetadata &metadata) {
  TRAINC_ASSIGN_OR_RETURN(const std::string own, ownConfig(source));
  if (!isGguf(like))
    return addMetadataOfFolder(own, like, type, metadata);
  TRAINC_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(like));
  return addMetadataOfFile(own, file, type, metadata);
}

Status exportGguf(const WeightSource &source, const fs::path &like, const fs::path &output,
                  const GgufMetadata &metadata, const GgufTensorType &type,
                  const WeightWriterOptions &options) {
  TRAINC_ASSIGN_OR_RETURN(const WeightFiles weights, WeightFiles::open(like));
  TRAINC_ASSIGN_OR_RETURN(const std::vector<ExportPair> pairs, pairTensors(source.weights, weights, like));
  std::string bytes;
  TRAINC_ASSIGN_OR_RETURN(const GgufFile header, parseHeader(metadata.header, like.string(), bytes));
  OutputPlanner planner(header, type);
  TRAINC_ASSIGN_OR_RETURN(const std::vector<GgufOutput> outputs, planner.plan(pairs));
  std::vector<GgufOutputTensor> tensors;
  uint64_t total = 0;
  for (const GgufOutput &each : outputs) {
    tensors.push_back(each.tensor);
    total += each.source->bytes();
  }
  for (const GgufComputedTensor &each : metadata.computed)
    tensors.push_back(each.tensor);
  TRAINC_ASSIGN_OR_RETURN(const GgufLayout layout, metadata.header.layOut(tensors));
  TRAINC_ASSIGN_OR_RETURN(ReplacingFile file, ReplacingFile::create(output, layout.bytes));
  TRAINC_RETURN_IF_ERROR(file.write(0, std::as_bytes(std::span(layout.header))));
  GgufTensorWriter writer(source, options, planner.heads(), total, file, output.string());
  for (size_t i = 0; i < outputs.size(); ++i)
    TRAINC_RETURN_IF_ERROR(writer.write(outputs[i], layout.offsets[i]));
  for (size_t i = 0; i < metadata.computed.size(); ++i)
    TRAINC_RETURN_IF_ERROR(file.write(layout.offsets[outputs.size() + i], metadata.computed[i].stored));
  TRAINC_RETURN_IF_ERROR(source.weights.check());
  TRAINC_RETURN_IF_ERROR(checkWritten(file.temporary(), tensors));
  return file.publish();
}

} // namespace trainc
