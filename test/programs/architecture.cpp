#include "test/programs/architecture.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace trainc::programs;
using llvm::Twine;

namespace {

/// Work that the interpreter can do in seconds: multiplications of a forward, in small models and in those
/// whose tensors fill several tiles; and elements of a tensor.
constexpr int64_t kSmallWork = 50'000, kLargeWork = 2'000'000, kMaxElements = 40'000;

/// Writes one model.
class Architecture {
public:
  explicit Architecture(unsigned seed) : random_(seed) { drawForms(seed); }

  std::string write() {
    drawParts();
    drawSizes(chance(4) ? kLargeWork : kSmallWork);
    if (appliesFeedForward_)
      writeFeedForward();
    writeLayer();
    writeModel();
    text_ += ("train.program @p { model @m optimizer sgd(lr 1) batch " + Twine(batch_) +
              (isLanguage_ ? " x " + std::to_string(length_) : "") +
              (chance(6) ? " group \"h.0.*\" frozen" : "") + " }\n")
                 .str();
    return text_;
  }

private:
  unsigned pick(size_t end) { return unsigned(random_() % end); }
  bool chance(unsigned outOf) { return pick(outOf) == 0; }
  template <typename T> T oneOf(std::initializer_list<T> choices) {
    return choices.begin()[pick(choices.size())];
  }

  // --- Parts and sizes ---

  void drawParts() {
    isLanguage_ = !chance(4);
    norm_ = oneOf<const char *>({"layer_norm", "layer_norm", "rms_norm", "rms_norm", "none"});
    activation_ = oneOf<const char *>({"gelu", "silu", "relu", "tanh", "sigmoid", "square"});
    normsFirst_ = !chance(4);
    isGated_ = chance(2);
    isFused_ = chance(2);
    rotates_ = isLanguage_ && chance(2);
    hasPlaces_ = isLanguage_ && !rotates_ && chance(2);
    isCausal_ = !chance(3);
    hasSegments_ = isLanguage_ && chance(4);
    isParallel_ = chance(4);
    hasGain_ = chance(4);
    drops_ = chance(4);
    mixesSamples_ = !isLanguage_ && chance(4);
    appliesFeedForward_ = chance(2);
    suffix_ = std::string(chance(2) ? " layout in_out" : "") + (chance(2) ? " no_bias" : "");
  }

  /// Forms of attention. They have numbers of their own, so that other parts of the models of a seed do not
  /// change with them.
  void drawForms(unsigned seed) {
    std::seed_seq seeds{seed, 1U}; // other numbers than those of random_, which begins with `seed` alone
    std::mt19937 random(seeds);
    const auto chance = [&](unsigned outOf) { return random() % outOf == 0; };
    hasAlibi_ = chance(4);
    hasSinks_ = chance(4);
    dropsWeights_ = chance(4);
    hasWindow_ = chance(4);
    hasRelativeBias_ = chance(4);
  }

  /// Multiplications of a forward, about.
  int64_t work() const {
    const int64_t rows = batch_ * length_;
    return rows * (layers_ * (4 * width_ * width_ + 3 * width_ * hidden_ + 2 * length_ * width_) +
                   width_ * classes_);
  }

  int64_t largest() const {
    return std::max({batch_ * length_ * std::max({3 * width_, hidden_, classes_}), classes_ * width_,
                     hidden_ * width_, 3 * width_ * width_, batch_ * heads_ * length_ * length_});
  }

  /// Draws until the sizes fit, so that all are likely that may be.
  void drawSizes(int64_t maximum) {
    do {
      heads_ = oneOf<int64_t>({1, 2, 3, 4, 6});
      kvHeads_ = chance(2) ? heads_ : heads_ % 2 == 0 ? heads_ / 2 : 1;
      width_ = heads_ * oneOf<int64_t>({2, 4, 6, 8, 16, 32});
      hidden_ = oneOf<int64_t>({5, 16, 33, 64, 100, 128, 192});
      classes_ = oneOf<int64_t>({2, 7, 17, 50, 96, 257, 600});
      length_ = oneOf<int64_t>({1, 3, 6, 8, 16, 19, 32, 65, 130});
      batch_ = oneOf<int64_t>({1, 2, 3, 4, 7});
      layers_ = oneOf<int64_t>({1, 1, 2, 3});
    } while (work() > maximum || largest() > kMaxElements || (maximum == kLargeWork && work() < kSmallWork));
  }

  // --- Lines ---

  std::string op(const Twine &text) {
    std::string name = "%v" + std::to_string(values_++);
    text_ += ("  " + name + " = " + text + "\n").str();
    return name;
  }

  /// Writes an op with two results; returns the first.
  std::string firstOf(const Twine &text) {
    std::string name = "%v" + std::to_string(values_++);
    text_ += ("  " + name + ", " + name + "s = " + text + "\n").str();
    return name;
  }

  std::string norm(const Twine &name, const std::string &x) {
    if (norm_ == std::string("none"))
      return x;
    return op(Twine("nn.") + norm_ + " \"" + name + "\" " + x);
  }

  std::string linear(const Twine &name, const std::string &x, int64_t from, int64_t to) {
    return op("nn.linear \"" + name + "\" " + x + " to " + Twine(to) + suffix_ + " init normal(" +
              std::to_string(1 / std::sqrt(double(from))) + ")");
  }

  std::string streamType() const {
    return (Twine("tensor<?x") + (isLanguage_ ? "?" : std::to_string(length_)) + "x" + Twine(width_) +
            "xf32>")
        .str();
  }

  // --- Blocks ---

  void writeFeedForward() {
    text_ += "nn.block @ff(%x: " + streamType() + ") {\n";
    std::string h = op(Twine("nn.") + activation_ + " " + linear("up", "%x", width_, hidden_));
    if (isGated_)
      h = op("nn.mul " + h + ", " + linear("gate", "%x", width_, hidden_));
    text_ += "  nn.return " + linear("down", h, hidden_, width_) + "\n}\n";
  }

  std::string feedForward(const std::string &x) { return op("nn.apply @ff \"mlp\" (" + x + ")"); }

  std::string rotated(const std::string &x, int64_t heads) {
    const bool isEven = width_ / heads_ % 2 == 0;
    return rotates_ && isEven
               ? op("nn.rope " + x + " positions %positions heads " + Twine(heads) + " theta 10000")
               : x;
  }

  std::string attention(const std::string &x) {
    const int64_t kvWidth = width_ / heads_ * kvHeads_;
    std::string q, k, v;
    if (isFused_ && kvHeads_ == heads_) {
      const std::string all = linear("c_attn", x, width_, 3 * width_);
      q = "%v" + std::to_string(values_++), k = q + "k", v = q + "v";
      text_ += "  " + q + ", " + k + ", " + v + " = nn.split " + all + " into 3\n";
    } else {
      q = linear("q", x, width_, width_);
      k = linear("k", x, width_, kvWidth);
      v = linear("v", x, width_, kvWidth);
    }
    q = rotated(q, heads_);
    k = rotated(k, kvHeads_);
    std::string forms;
    if (hasWindow_)
      forms += " window 5";
    if (hasAlibi_ && isCausal_)
      forms += " alibi 0.5";
    if (hasSinks_)
      forms += " sinks " + op("nn.parameter \"sinks\" tensor<" + Twine(heads_) + "xf32> init ones");
    if (hasRelativeBias_ && isLanguage_)
      forms += " bias " + op("nn.relative_bias \"relative\" heads " + Twine(heads_) +
                             " buckets 8 max_distance 12" + (isCausal_ ? " causal" : ""));
    if (dropsWeights_)
      forms += " dropout 0.25 dropout_key " + op("nn.dropout_key \"weights\"");
    const std::string y =
        firstOf("nn.attention " + q + ", " + k + ", " + v + " heads " + Twine(heads_) +
                (kvHeads_ == heads_ ? "" : " kv_heads " + std::to_string(kvHeads_)) +
                (isCausal_ ? " causal" : "") + (hasSegments_ ? " segments %segments" : "") + forms);
    return linear("o", y, width_, width_);
  }

  /// Rows of features among each other, as MLP-Mixer has them, or each with the one before.
  std::string mixture(const std::string &x) {
    if (chance(2)) {
      const std::string kept = op("nn.slice " + x + " dim 1 from 0 size " + Twine(length_ - 1));
      const std::string moved = op("nn.pad " + kept + " dim 1 low 1 high 0");
      return linear("shift", op("nn.concat dim 2 " + x + ", " + moved), 2 * width_, width_);
    }
    const std::string turned = op("nn.transpose " + x + " by [0, 2, 1]");
    return op("nn.transpose " + linear("mix", turned, length_, length_) + " by [0, 2, 1]");
  }

  std::string centred(const std::string &x) {
    const std::string mean = op("nn.reduce mean " + x + " over [0, 1] keep");
    const std::string apart = op("nn.sub " + x + ", " + mean);
    const std::string variance = op("nn.reduce mean " + op("nn.square " + apart) + " over [0, 1] keep");
    const std::string shifted = op("nn.add " + variance + ", " + op("nn.constant 0.1"));
    return op("nn.mul " + apart + ", " + op("nn.rsqrt " + shifted));
  }

  /// A branch of a layer, added to the stream.
  std::string added(const Twine &name, const std::string &x, std::string branch) {
    if (drops_)
      branch = op("nn.dropout \"" + name + "_drop\" " + branch + " p 0.2");
    if (hasGain_)
      branch = op("nn.mul " + branch + ", " +
                  op("nn.parameter \"" + name + "_gain\" tensor<" + Twine(width_) + "xf32> init ones"));
    return op("nn.add " + x + ", " + branch);
  }

  void writeLayer() {
    text_ += "nn.block @layer(%x: " + streamType() + (rotates_ ? ", %positions: tensor<?xi32>" : "") +
             (hasSegments_ ? ", %segments: tensor<?x?xi32>" : "") + ") {\n";
    const bool attends = isLanguage_ || length_ == 1 || chance(2);
    auto mix = [&](const std::string &x) { return attends ? attention(x) : mixture(x); };
    auto rows = [&](const std::string &x) {
      if (appliesFeedForward_)
        return feedForward(x);
      return op(Twine("nn.") + activation_ + " " + linear("fc", x, width_, width_));
    };
    const std::string before = normsFirst_ ? norm("n1", "%x") : "%x";
    std::string y = added("mix", "%x", mix(mixesSamples_ ? centred(before) : before));
    if (!normsFirst_)
      y = norm("n1", y);
    y = added("rows", y, rows(isParallel_ ? before : normsFirst_ ? norm("n2", y) : y));
    text_ += "  nn.return " + (normsFirst_ ? y : norm("n2", y)) + "\n}\n";
  }

  // --- The model ---

  std::string layers(const std::string &x) {
    return op("nn.repeat @layer \"h\" times " + Twine(layers_) + " (" + x + (rotates_ ? ", %positions" : "") +
              (hasSegments_ ? ", %segments" : "") + ")");
  }

  void writeModel() {
    text_ += "nn.model @m(";
    if (isLanguage_)
      writeLanguageModel();
    else
      writeFeatureModel();
    text_ += "}\n";
  }

  std::string embedded() {
    std::string x = op("nn.embedding \"wte\" %tokens of " + Twine(classes_) + " by " + Twine(width_) +
                       " init normal(0.5)");
    if (rotates_ || hasPlaces_)
      text_ += "  %positions = nn.positions %tokens\n";
    if (hasPlaces_)
      x = op("nn.add " + x + ", " +
             op("nn.embedding \"wpe\" %positions of " + Twine(length_ + 3) + " by " + Twine(width_) +
                " init normal(0.5)"));
    return x;
  }

  void writeLanguageModel() {
    text_ += std::string("%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>") +
             (hasSegments_ ? ", %segments: tensor<?x?xi32>" : "") + ") {\n";
    const std::string h = norm("ln_f", layers(embedded()));
    const std::string logits = chance(2) ? op("nn.linear \"head\" " + h + " tied \"wte.weight\" no_bias")
                                         : linear("head", h, width_, classes_);
    text_ += "  nn.output \"logits\" " + logits + "\n";
    writeCrossEntropy(logits);
  }

  void writeCrossEntropy(const std::string &logits) {
    const std::string nll = firstOf("nn.cross_entropy " + logits + ", %labels" +
                                    oneOf<const char *>({"", " ignore 0", " ignore 1"}) +
                                    oneOf<const char *>({"", "", " smoothing 0.1"}));
    text_ += "  nn.loss \"loss\" " + nll + "\n";
    if (chance(3))
      text_ += "  nn.loss \"z\" " + op("nn.square " + nll + "s") + " scale 0.01\n";
  }

  void writeFeatureModel() {
    const bool isClassifier = chance(2);
    const int64_t features = oneOf<int64_t>({1, 3, 8, 20});
    const std::string rows = "tensor<?x" + std::to_string(length_) + "x";
    text_ += "%features: " + rows + std::to_string(features) + "xf32>, " +
             (isClassifier ? std::string("%labels: tensor<?xi32>")
                           : "%target: " + rows + std::to_string(width_) + "xf32>") +
             ") {\n";
    const std::string h = norm("norm", layers(linear("in", "%features", features, width_)));
    if (isClassifier)
      return writeCrossEntropy(linear("head", op("nn.reduce mean " + h + " over [1]"), width_, classes_));
    text_ += "  nn.loss \"mse\" " + op("nn.mse " + h + ", %target") + "\n";
  }

  std::mt19937 random_;
  std::string text_, suffix_;
  int values_ = 0;
  const char *norm_ = "", *activation_ = "";
  bool isLanguage_, normsFirst_, isGated_, isFused_, rotates_, hasPlaces_, isCausal_, hasSegments_,
      isParallel_, hasGain_, drops_, mixesSamples_, appliesFeedForward_, hasAlibi_, hasSinks_,
      hasRelativeBias_, dropsWeights_, hasWindow_;
  int64_t heads_, kvHeads_, width_, hidden_, classes_, length_, batch_, layers_;
};

} // namespace

std::string trainc::programs::drawArchitecture(unsigned seed) { return Architecture(seed).write(); }
