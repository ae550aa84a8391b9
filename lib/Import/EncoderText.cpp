#include "lib/Import/EncoderText.h"

#include "lib/Import/LayerText.h"

#include <algorithm>

namespace trainc::importer {

int64_t Encoder::parameters() const {
  return vocabulary * width + (positions ? positions->count * width : 0) +
         (types ? types->count * width : 0) + (embeddingNorm.empty() ? 0 : normParameters()) +
         layerParameters() + (finalNorm.empty() ? 0 : normParameters()) + head.parameters(*this);
}

namespace {

/// Writes the text of one encoder.
class EncoderWriter {
public:
  EncoderWriter(const Encoder &encoder, const nlohmann::json &config) : encoder_(encoder), config_(config) {}

  std::string write();

private:
  void model();
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

void EncoderWriter::model() {
  const bool hasTypes = encoder_.types && encoder_.types->areColumn;
  text_.line("nn.model @{}(%tokens: tensor<?x?xi32>,{} %segments: tensor<?x?xi32>, %labels: {})",
             symbolOf(encoder_.family), hasTypes ? " %token_types: tensor<?x?xi32>," : "",
             encoder_.head.labelsType());
  text_.line("    export \"config.json\" {{");
  text_.raw(exportText(config_, 6));
  text_.line("    }} {{");
  text_.indent();
  if (encoder_.usesRope() || encoder_.positions)
    text_.line("%positions = nn.positions %tokens");
  text_.line("%x = nn.embedding \"{}\" %tokens of {} by {}{}", encoder_.embedding, encoder_.vocabulary,
             encoder_.width, layers_.init());
  std::string x = "%x";
  if (encoder_.types)
    x = addTypes(x);
  if (encoder_.positions)
    x = layers_.addPositions(*encoder_.positions, x);
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
  text_.line("batch 16 x {}", std::min(encoder_.maxPositions, kUsualLength));
  text_.line("steps 100");
  text_.dedent();
  text_.line("}}");
}

std::string EncoderWriter::write() {
  layers_.heading(encoder_.architecture, encoder_.parameters(),
                  fmt::format("vocabulary {}", encoder_.vocabulary));
  text_.line(
      "// Each row is one text from position 0. Its tokens have one number in `segments`, and padding has");
  text_.line("// another, so that no token of the text sees it. Labels of -100 are ignored.");
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
