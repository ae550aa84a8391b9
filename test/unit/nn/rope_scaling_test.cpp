// Frequencies of scaled rotary positions, compared with those of transformers.
#include "dialects/NN/RopeScaling.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace mlir;
using namespace trainc;

namespace {

struct Case {
  std::string scaling;
  double theta = 0, factor = 0;
  int64_t rotary = 0;
  std::vector<double> frequencies;
};

std::vector<Case> readCases() {
  std::ifstream file(TRAINC_GOLDEN_DIR "/rope_scaling.txt");
  std::vector<Case> cases;
  std::string head, factor, numbers;
  while (std::getline(file, head) && std::getline(file, factor) && std::getline(file, numbers)) {
    Case &each = cases.emplace_back();
    std::istringstream words(head), rest(numbers);
    words >> each.theta >> each.rotary;
    std::getline(words >> std::ws, each.scaling);
    each.factor = std::stod(factor);
    for (double number = 0; rest >> number;)
      each.frequencies.push_back(number);
  }
  return cases;
}

} // namespace

TEST(RopeScaling, FrequenciesAreThoseOfTransformers) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect>();
  const std::vector<Case> cases = readCases();
  EXPECT_GE(cases.size(), 8U);
  for (const Case &each : cases) {
    SCOPED_TRACE(each.scaling);
    auto scaling = dyn_cast_or_null<nn::RopeScalingAttr>(
        parseAttribute("#nn.rope_scaling<" + each.scaling + ">", &context));
    ASSERT_TRUE(scaling);
    const nn::RopeTable table = nn::ropeTable(each.theta, each.rotary, scaling);
    EXPECT_NEAR(table.factor, each.factor, 1e-12);
    ASSERT_EQ(table.frequencies.size(), each.frequencies.size());
    for (size_t i = 0; i < table.frequencies.size(); ++i) // transformers computes in float32
      EXPECT_NEAR(table.frequencies[i], each.frequencies[i], 2e-6 * each.frequencies[i]) << "pair " << i;
  }
}

TEST(RopeScaling, PrintsWhatItParses) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect>();
  for (const Case &each : readCases()) {
    const std::string text = "#nn.rope_scaling<" + each.scaling + ">";
    const Attribute scaling = parseAttribute(text, &context);
    ASSERT_TRUE(scaling) << text;
    std::string printed;
    llvm::raw_string_ostream(printed) << scaling;
    EXPECT_EQ(parseAttribute(printed, &context), scaling) << printed;
  }
}
