#include "lib/Import/Head.h"

namespace trainc::importer {

int64_t Head::parameters(const Layers &layers) const {
  const int64_t width = layers.width;
  int64_t count = (tied.empty() ? outputs * width : 0) + (hasBias ? outputs : 0);
  if (!dense.empty())
    count += width * width + (hasDenseBias ? width : 0);
  return count + (norm.empty() ? 0 : layers.normParameters());
}

std::string Head::labelsType() const {
  if (loss == CrossEntropy)
    return pooling == None ? "tensor<?x?xi32>" : "tensor<?xi32>";
  return outputs == 1 ? "tensor<?xf32>" : fmt::format("tensor<?x{}xf32>", outputs);
}

/// Returns the state of each sample.
std::string Head::pool(Text &text, int64_t width, const std::string &input) const {
  switch (pooling) {
  case None:
    return input;
  case First:
    text.line("%first_state = nn.slice {} dim 1 from 0 size 1", input);
    text.line("%pooled = nn.reshape %first_state to [0, {}]", width);
    break;
  case Mean:
    text.line("%first_segment = nn.slice %segments dim 1 from 0 size 1");
    text.line("%in_text = nn.compare eq %segments, %first_segment");
    text.line("%mask = nn.convert %in_text to f32");
    text.line("%mask_column = nn.reshape %mask to [0, 0, 1]");
    text.line("%masked = nn.mul {}, %mask_column", input);
    text.line("%sum = nn.reduce sum %masked over [1]");
    text.line("%count = nn.reduce sum %mask over [1] keep");
    text.line("%pooled = nn.div %sum, %count");
    break;
  case Last:
    text.line("%pad = nn.constant {} : tensor<i32>", padToken);
    text.line("%is_text = nn.compare ne %tokens, %pad");
    text.line("%in_text = nn.convert %is_text to i32");
    text.line("%text_positions = nn.mul %in_text, %positions");
    text.line("%last = nn.reduce max %text_positions over [1] keep");
    text.line("%is_last = nn.compare eq %positions, %last");
    text.line("%mask = nn.convert %is_last to f32");
    text.line("%mask_column = nn.reshape %mask to [0, 0, 1]");
    text.line("%masked = nn.mul {}, %mask_column", input);
    text.line("%pooled = nn.reduce sum %masked over [1]");
    break;
  }
  return "%pooled";
}

void Head::writeLoss(Text &text) const {
  switch (loss) {
  case CrossEntropy:
    text.line("%nll, %lse = nn.cross_entropy %logits, %labels");
    text.line("nn.loss \"loss\" %nll");
    break;
  case BinaryCrossEntropy: {
    // -y log sigmoid(z) - (1 - y) log sigmoid(-z)
    text.line("%both = nn.softplus %logits");
    text.line("%hit = nn.mul %logits, %labels");
    text.line("%bce = nn.sub %both, %hit");
    text.line("nn.loss \"loss\" %bce");
    break;
  }
  case SquaredError:
    if (outputs == 1)
      text.line("%target = nn.reshape %labels to [0, 1]");
    text.line("%error = nn.mse %logits, {}", outputs == 1 ? "%target" : "%labels");
    text.line("nn.loss \"loss\" %error");
    break;
  }
}

void Head::write(LayerText &layers, int64_t width, Text &text, std::string input) const {
  input = layers.dropout("head.dropout", pool(text, width, input), dropoutBefore);
  if (!dense.empty()) {
    text.line("%dense = {}", layers.linear(dense, input, width, hasDenseBias));
    text.line("%dense_act = {}", activationText(activation, "%dense"));
    input = "%dense_act";
  }
  if (!norm.empty()) {
    text.line("{}n = {}", input, layers.norm(norm, input));
    input += "n";
  }
  input = layers.dropout("output.dropout", input, dropout);
  if (tied.empty())
    text.line("%logits = {}", layers.linear(output, input, outputs, hasBias));
  else
    text.line("%logits = nn.linear \"{}\" {} tied \"{}\"{}", output, input, tied, hasBias ? "" : " no_bias");
  text.line("nn.output \"scores\" %logits");
  writeLoss(text);
}

} // namespace trainc::importer
