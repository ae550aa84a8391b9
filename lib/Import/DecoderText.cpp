#include "lib/Import/DecoderText.h"

#include "lib/Import/DecoderSizes.h"
#include "lib/Import/LayerText.h"

#include <algorithm>

namespace trainc::importer {

int64_t Decoder::parameters() const {
  const int64_t ofHead = classifier ? classifier->parameters(*this)
                                    : (isTied ? 0 : vocabulary * width) + (hasHeadBias ? vocabulary : 0);
  return vocabulary * width + (positions ? positions->count * width : 0) + layerParameters() +
         normParameters() * (embeddingNorm.empty() ? 1 : 2) + ofHead;
}

namespace {

/// Writes the text of one decoder.
class DecoderWriter {
public:
  DecoderWriter(const Decoder &decoder, const nlohmann::json &config) : decoder_(decoder), config_(config) {}

  std::string write();

private:
  std::string arguments() const;
  void model();
  void nextTokens();
  void program();

  const Decoder &decoder_;
  const nlohmann::json &config_;
  Text text_;
  LayerText layers_{decoder_, text_};
};

} // namespace

/// Writes the logits of the next tokens, computed from the normed hidden states `%n`, and the loss.
void DecoderWriter::nextTokens() {
  std::string logits = "%logits";
  if (decoder_.isTied)
    text_.line("%logits = nn.linear \"{}\" %n tied \"{}.weight\"{}", decoder_.head, decoder_.embedding,
               decoder_.hasHeadBias ? "" : " no_bias");
  else
    text_.line("%logits = {}",
               layers_.linear(decoder_.head, "%n", decoder_.vocabulary, decoder_.hasHeadBias));
  layers_.scale(logits, "%logits", decoder_.logitsScale, "div");
  if (decoder_.logitsSoftcap) {
    text_.line("%cap = nn.constant {}", numberText(*decoder_.logitsSoftcap));
    text_.line("%shares = nn.div {}, %cap", logits);
    text_.line("%bounded = nn.tanh %shares");
    text_.line("%capped = nn.mul %bounded, %cap");
    logits = "%capped";
  }
  text_.line("nn.output \"logits\" {}", logits);
  text_.line("%nll, %lse = nn.cross_entropy {}, %labels", logits);
  text_.line("nn.loss \"loss\" %nll");
}

/// Columns of the data.
std::string DecoderWriter::arguments() const {
  return fmt::format("%tokens: tensor<?x?xi32>,{}{} %labels: {}",
                     decoder_.attention.hasSegments ? " %segments: tensor<?x?xi32>," : "",
                     decoder_.positionsAreColumn ? " %positions: tensor<?x?xi32>," : "",
                     decoder_.classifier ? decoder_.classifier->labelsType() : "tensor<?x?xi32>");
}

void DecoderWriter::model() {
  const auto &classifier = decoder_.classifier;
  text_.line("nn.model @{}({})", decoder_.family, arguments());
  text_.line("    export \"config.json\" {{");
  text_.raw(exportText(config_, 6));
  text_.line("    }} {{");
  text_.indent();
  std::string x = "%x";
  if (!decoder_.positionsAreColumn && (decoder_.usesRope() || decoder_.positions || classifier))
    text_.line("%positions = nn.positions %tokens");
  text_.line("%x = nn.embedding \"{}\" %tokens of {} by {}{}", decoder_.embedding, decoder_.vocabulary,
             decoder_.width, layers_.init());
  layers_.scale(x, "%x", decoder_.embeddingScale);
  if (!decoder_.embeddingNorm.empty()) {
    text_.line("%xn = {}", layers_.norm(decoder_.embeddingNorm, x));
    x = "%xn";
  }
  if (decoder_.positions)
    x = layers_.addPositions(*decoder_.positions, x);
  x = layers_.dropout("drop", x, decoder_.dropout.embedding);
  layers_.apply(x);
  text_.line("%n = {}", layers_.norm(decoder_.finalNorm, "%h"));
  if (classifier)
    classifier->write(layers_, decoder_.width, text_, "%n");
  else
    nextTokens();
  text_.dedent();
  text_.line("}}");
  text_.blank();
}

/// Writes a program that fine-tunes the model. Users change it, or override it by options.
void DecoderWriter::program() {
  constexpr int64_t kUsualLength = 1024;
  text_.line("train.program @finetune {{");
  text_.indent();
  text_.line("model @{}", decoder_.family);
  text_.line("optimizer adamw(lr 2e-5, beta2 0.95, weight_decay 0.1)");
  text_.line("schedule cosine(warmup 10, minimum 2e-6)");
  text_.line("clip 1.0");
  text_.line("batch 1 x {}", std::min(decoder_.maxPositions, kUsualLength));
  text_.line("steps 100");
  text_.dedent();
  text_.line("}}");
}

std::string DecoderWriter::write() {
  layers_.heading(decoder_.architecture, decoder_.parameters(),
                  fmt::format("vocabulary {}", decoder_.vocabulary));
  if (!decoder_.partOf.empty())
    text_.line("// It is the decoder of texts of a {}, without its parts for pictures.", decoder_.partOf);
  if (decoder_.classifier)
    text_.line("// Each row is one text from position 0, then padding: tokens {}.",
               decoder_.classifier->padToken);
  if (decoder_.attention.hasSegments)
    text_.line("// A row holds several texts. Tokens see those of their own segment{}.",
               decoder_.positionsAreColumn ? ", and positions count from 0 in each text" : "");
  text_.blank();
  layers_.blocks();
  model();
  program();
  return text_.take();
}

std::string decoderText(const Decoder &decoder, const nlohmann::json &config) {
  return sizesOf(decoder).apply(DecoderWriter(decoder, config).write());
}

} // namespace trainc::importer
