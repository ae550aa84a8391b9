#include "lib/Import/EncoderText.h"

#include "lib/Import/LayerText.h"

#include <algorithm>

namespace trainc::importer {

int64_t Encoder::parameters() const {
  int64_t inputs = vocabulary;
  if (positions)
    inputs += positions->count;
  if (types)
    inputs += types->count;
  if (images) // weights and the bias of patches, the token of classes, and positions
    inputs = images->patchSize() + 1 + 1 + images->count() + 1;
  const int64_t norms = int64_t(!embeddingNorm.empty()) + int64_t(!finalNorm.empty());
  return inputs * width + norms * normParameters() + layerParameters() + head.parameters(*this);
}

namespace {

/// Writes the text of one encoder.
class EncoderWriter {
public:
  EncoderWriter(const Encoder &encoder, const nlohmann::json &config) : encoder_(encoder), config_(config) {}

  std::string write();

private:
  void model();
  std::string arguments() const;
  std::string embedTexts();
  std::string embedImages(const Images &images);
  std::string addTypes(const std::string &input);
  void program();

  const Encoder &encoder_;
  const nlohmann::json &config_;
  Text text_;
  LayerText layers_{encoder_, text_};
};

} // namespace

/// The symbol of a family's model: XLM-R's type has a dash, which symbols lack.
static std::string symbolOf(std::string family) {
  std::ranges::replace(family, '-', '_');
  return family;
}

/// Adds the rows of the tokens' types to `input`. Returns the sum.
std::string EncoderWriter::addTypes(const std::string &input) {
  const TokenTypes &types = *encoder_.types;
  if (types.areColumn) {
    text_.line("%t = nn.embedding \"{}\" %token_types of {} by {}{}", types.scope, types.count,
               encoder_.width, layers_.init());
  } else {
    text_.line("%types = nn.parameter \"{}.weight\" tensor<{}x{}xf32> init normal({})", types.scope,
               types.count, encoder_.width, numberText(encoder_.initialRange));
    text_.line("%t = nn.slice %types dim 0 from 0 size 1 // all tokens are of type 0");
  }
  text_.line("%xt = nn.add {}, %t", input);
  return "%xt";
}

/// Returns the states of a text's tokens before the first layer.
std::string EncoderWriter::embedTexts() {
  if (encoder_.usesRope() || encoder_.positions)
    text_.line("%positions = nn.positions %tokens");
  text_.line("%x = nn.embedding \"{}\" %tokens of {} by {}{}", encoder_.embedding, encoder_.vocabulary,
             encoder_.width, layers_.init());
  std::string x = "%x";
  if (encoder_.types)
    x = addTypes(x);
  if (encoder_.positions)
    x = layers_.addPositions(*encoder_.positions, x);
  return x;
}

/// Returns the states of an image's patches, after that of the token of classes. A convolution whose stride
/// is the size of its kernel is a product with the patches.
std::string EncoderWriter::embedImages(const Images &images) {
  const int64_t width = encoder_.width, count = images.count(), size = images.patchSize();
  const std::string init = fmt::format("init normal({})", numberText(encoder_.initialRange));
  text_.line("%cells = nn.reshape %pixel_values to [0, {}, {}, {}, {}, {}]", images.channels, images.rows(),
             images.patchHeight, images.columns(), images.patchWidth);
  text_.line("%by_patch = nn.transpose %cells by [0, 2, 4, 1, 3, 5]");
  text_.line("%patches = nn.reshape %by_patch to [0, {}, {}]", count, size);
  text_.line("%kernel = nn.parameter \"{}.weight\" tensor<{}x{}x{}x{}xf32> {}", images.patches, width,
             images.channels, images.patchHeight, images.patchWidth, init);
  text_.line("%matrix = nn.reshape %kernel to [{}, {}]", width, size);
  text_.line("%product = nn.matmul %patches, %matrix transposed");
  text_.line("%bias = nn.parameter \"{}.bias\" tensor<{}xf32>", images.patches, width);
  text_.line("%x = nn.add %product, %bias");
  text_.line("%after_first = nn.pad %x dim 1 low 1 high 0");
  text_.line("%class_token = nn.parameter \"{}\" tensor<1x1x{}xf32> {}", images.classToken, width, init);
  text_.line("%first = nn.pad %class_token dim 1 low 0 high {}", count);
  text_.line("%states = nn.add %after_first, %first");
  text_.line("%p = nn.parameter \"{}\" tensor<1x{}x{}xf32> {}", images.positions, count + 1, width, init);
  text_.line("%xp = nn.add %states, %p");
  return "%xp";
}

/// Columns before that of the labels.
std::string EncoderWriter::arguments() const {
  if (const auto &images = encoder_.images)
    return fmt::format("%pixel_values: tensor<?x{}x{}x{}xf32>", images->channels, images->height,
                       images->width);
  const bool hasTypes = encoder_.types && encoder_.types->areColumn;
  return fmt::format("%tokens: tensor<?x?xi32>,{} %segments: tensor<?x?xi32>",
                     hasTypes ? " %token_types: tensor<?x?xi32>," : "");
}

void EncoderWriter::model() {
  text_.line("nn.model @{}({}, %labels: {})", symbolOf(encoder_.family), arguments(),
             encoder_.head.labelsType());
  text_.line("    export \"config.json\" {{");
  text_.raw(exportText(config_, 6));
  text_.line("    }} {{");
  text_.indent();
  std::string x = encoder_.images ? embedImages(*encoder_.images) : embedTexts();
  if (!encoder_.embeddingNorm.empty()) {
    text_.line("%xn = {}", layers_.norm(encoder_.embeddingNorm, x));
    x = "%xn";
  }
  x = layers_.dropout("embeddings.dropout", x, encoder_.dropout.embedding);
  layers_.apply(x);
  std::string states = "%h";
  if (!encoder_.finalNorm.empty()) {
    text_.line("%n = {}", layers_.norm(encoder_.finalNorm, states));
    states = "%n";
  }
  text_.blank();
  encoder_.head.write(layers_, encoder_.width, text_, states);
  text_.dedent();
  text_.line("}}");
  text_.blank();
}

/// A program that fine-tunes: users change it, or give options.
void EncoderWriter::program() {
  constexpr int64_t kUsualLength = 128;
  text_.line("train.program @finetune {{");
  text_.indent();
  text_.line("model @{}", symbolOf(encoder_.family));
  text_.line("optimizer adamw(lr 2e-5, weight_decay 0.01)");
  text_.line("schedule linear(warmup 10)");
  text_.line("clip 1.0");
  if (encoder_.images)
    text_.line("batch 16");
  else
    text_.line("batch 16 x {}", std::min(encoder_.maxPositions, kUsualLength));
  text_.line("steps 100");
  text_.dedent();
  text_.line("}}");
}

std::string EncoderWriter::write() {
  if (const auto &images = encoder_.images) {
    layers_.heading(encoder_.architecture, encoder_.parameters(),
                    fmt::format("images of {} x {} in patches of {} x {}", images->height, images->width,
                                images->patchHeight, images->patchWidth));
    text_.line("// Pixels are scaled as the model's preprocessor_config.json says.");
  } else {
    layers_.heading(encoder_.architecture, encoder_.parameters(),
                    fmt::format("vocabulary {}", encoder_.vocabulary));
    text_.line(
        "// Each row is one text from position 0. Its tokens have one number in `segments`, and padding has");
    text_.line("// another, so that no token of the text sees it. Labels of -100 are ignored.");
  }
  text_.blank();
  layers_.blocks();
  model();
  program();
  return text_.take();
}

std::string encoderText(const Encoder &encoder, const nlohmann::json &config) {
  return EncoderWriter(encoder, config).write();
}

} // namespace trainc::importer
