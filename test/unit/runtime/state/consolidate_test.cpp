#include "runtime/state/consolidate.h"

#include "base/hash.h"
#include "test/unit/runtime/state/support.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace trainc {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T> OwnedTensor tensorOf(std::string name, fb::DType dtype, const std::vector<T> &values) {
  return {std::move(name), dtype, {values.size()}, values};
}

/// Bytes of a source, as 16-bit words.
std::vector<uint16_t> words(const SafetensorsTensor &tensor) {
  std::vector<uint16_t> result(tensor.bytes.size() / 2);
  std::memcpy(result.data(), tensor.bytes.data(), tensor.bytes.size());
  return result;
}

class ConsolidateTest : public testing::Test {
protected:
  /// Writes the tensors as the source.
  void save(const std::vector<OwnedTensor> &tensors) { ASSERT_TRUE(saveTensors(input, tensors).ok()); }

  /// Checksums of the source's tensor "a", in blocks of so many bytes.
  FileChecksums checksums(uint64_t blockBytes) const {
    const auto file = SafetensorsView::open(input);
    FileChecksums recorded{.blockBytes = blockBytes};
    auto bytes = file->find("a")->bytes;
    while (!bytes.empty()) {
      const auto block = bytes.first(std::min<uint64_t>(bytes.size(), blockBytes));
      recorded.tensors["a"].push_back(xxh3(block));
      bytes = bytes.subspan(block.size());
    }
    return recorded;
  }

  Status run(SafetensorsDType dtype, const FileChecksums &recorded = {}) {
    TRAINC_ASSIGN_OR_RETURN(WeightSource source, openWeightSource(input));
    source.recorded = recorded;
    return consolidate(
        source, output, dtype,
        {.warn = [this](const std::string &text) { warnings.push_back(text); }, .progress = progress});
  }
  /// The file that comes of the source.
  SafetensorsView result(SafetensorsDType dtype) {
    const Status status = run(dtype);
    EXPECT_TRUE(status.ok()) << status.message();
    auto file = SafetensorsView::open(output);
    EXPECT_TRUE(file.ok()) << file.status().message();
    return std::move(*file);
  }
  /// The message of a failure, after which the output is as it was.
  std::string refusal(SafetensorsDType dtype, int exitCode, const FileChecksums &recorded = {}) {
    writeFile(output, "before");
    const Status status = run(dtype, recorded);
    EXPECT_EQ(status.exitCode(), exitCode);
    EXPECT_EQ(readFile(output), "before");
    const std::filesystem::directory_iterator folder(root.path());
    EXPECT_EQ(std::distance(begin(folder), end(folder)), 2) << "left behind";
    return status.message();
  }

  TempFolder root;
  std::filesystem::path input = root / "in.safetensors", output = root / "out.safetensors";
  std::function<bool(uint64_t, uint64_t)> progress;
  std::vector<std::string> warnings;
};

TEST_F(ConsolidateTest, EveryFloatBecomesTheDtype) {
  save({tensorOf<float>("f32", fb::DType::F32, {1, -2.5F}),
        tensorOf<double>("f64", fb::DType::F64, {1, 1 + 0x1p-8 + 0x1p-40}),
        tensorOf<uint16_t>("f16", fb::DType::F16, {0x3c00, 0xc100}),
        tensorOf<uint16_t>("bf16", fb::DType::BF16, {0x3f80, 0xc020})});
  const SafetensorsView bf16 = result(SafetensorsDType::kBF16);
  EXPECT_EQ(bf16.names(), "bf16, f16, f32, f64");
  for (const char *name : {"f32", "f16", "bf16"})
    EXPECT_THAT(words(*bf16.find(name)), ElementsAre(0x3f80, 0xc020)) << name;
  EXPECT_THAT(words(*bf16.find("f64")), ElementsAre(0x3f80, 0x3f81)) << "rounded once, not twice";
  const SafetensorsView f16 = result(SafetensorsDType::kF16);
  for (const char *name : {"f32", "f16", "bf16"})
    EXPECT_THAT(words(*f16.find(name)), ElementsAre(0x3c00, 0xc100)) << name;
  const SafetensorsView f32 = result(SafetensorsDType::kF32);
  for (const char *name : {"f32", "f16", "bf16"}) {
    EXPECT_EQ(describe(*f32.find(name)), "F32 [2]");
    EXPECT_THAT(words(*f32.find(name)), ElementsAre(0, 0x3f80, 0, 0xc020)) << name;
  }
  EXPECT_THAT(f32.metadata(), ElementsAre(testing::Pair("format", "pt")));
}

TEST_F(ConsolidateTest, OtherNumbersStayAsTheyAre) {
  save({tensorOf<int64_t>("i64", fb::DType::I64, {-5}),
        tensorOf<uint8_t>("u8", fb::DType::U8, {1, 2, 3}),
        {"scalar", fb::DType::F32, {}, std::vector<float>{2}},
        {"empty", fb::DType::F32, {0, 3}, std::vector<float>{}}});
  const SafetensorsView file = result(SafetensorsDType::kF16);
  EXPECT_EQ(describe(*file.find("i64")), "I64 [1]");
  EXPECT_THAT(words(*file.find("i64")), ElementsAre(0xfffb, 0xffff, 0xffff, 0xffff));
  EXPECT_THAT(file.find("u8")->bytes, ElementsAre(std::byte{1}, std::byte{2}, std::byte{3}));
  EXPECT_THAT(words(*file.find("scalar")), ElementsAre(0x4000));
  EXPECT_EQ(describe(*file.find("empty")), "F16 [0, 3]");
}

TEST_F(ConsolidateTest, QuantizedFloatsAreRefused) {
  const std::string header = R"({"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})";
  writeFile(input, std::string{static_cast<char>(header.size()), 0, 0, 0, 0, 0, 0, 0} + header + "xy");
  EXPECT_THAT(refusal(SafetensorsDType::kF32, 2), HasSubstr("tensor 'a': expected floats of 16, 32 or 64 "
                                                            "bits, found F8_E4M3 [2]"));
}

TEST_F(ConsolidateTest, NumbersThatAreTooLargeAreNamed) {
  std::vector<float> values(200'000, 65504);
  save({tensorOf("a", fb::DType::F32, values)});
  EXPECT_THAT(words(*result(SafetensorsDType::kF16).find("a")), testing::Each(0x7bff));
  values[150'000] = -65520;
  values[160'000] = 1e6F;
  save({tensorOf("a", fb::DType::F32, values)});
  EXPECT_THAT(refusal(SafetensorsDType::kF16, 2),
              HasSubstr("in.safetensors: tensor 'a', element 150000: -65520 does not fit F16, whose numbers "
                        "reach 65504; use a --dtype of a larger range"));
  EXPECT_TRUE(run(SafetensorsDType::kBF16).ok());
  save({tensorOf<double>("a", fb::DType::F64, {1e39})});
  for (const auto dtype : {SafetensorsDType::kF32, SafetensorsDType::kBF16})
    EXPECT_THAT(refusal(dtype, 2), HasSubstr("element 0: 1e+39 does not fit "));
}

TEST_F(ConsolidateTest, InfinityAndNanStay) {
  save({tensorOf<float>("a", fb::DType::F32, {kInfinity, -kInfinity, std::nanf("")})});
  EXPECT_THAT(words(*result(SafetensorsDType::kF16).find("a")), ElementsAre(0x7c00, 0xfc00, 0x7e00));
  EXPECT_THAT(words(*result(SafetensorsDType::kBF16).find("a")), ElementsAre(0x7f80, 0xff80, 0x7fc0));
}

TEST_F(ConsolidateTest, NanAndInfinityAreTold) {
  std::vector<float> values(700'000, 1);
  save({tensorOf("a", fb::DType::F32, values)});
  result(SafetensorsDType::kF32);
  EXPECT_THAT(warnings, testing::IsEmpty());
  values[600'000] = -kInfinity;
  values[650'000] = kInfinity;
  save({tensorOf("a", fb::DType::F32, values)});
  for (const auto dtype : {SafetensorsDType::kF32, SafetensorsDType::kBF16}) {
    warnings.clear();
    result(dtype);
    EXPECT_THAT(warnings, ElementsAre(HasSubstr(
                              "in.safetensors: tensor 'a', element 600000 is -inf; they stay as they are")));
  }
  warnings.clear();
  save({tensorOf<float>("b", fb::DType::F32, {std::nanf("")}), tensorOf("a", fb::DType::F32, values),
        tensorOf<float>("c", fb::DType::F32, {0})});
  result(SafetensorsDType::kF16);
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("tensor 'a', element 600000 is -inf, and 1 more tensors hold such;")));
}

TEST_F(ConsolidateTest, DamageIsFoundInBlocksOfAnySize) {
  const std::vector<float> values(700'000, 0.5F); // more than two blocks of 1 MiB
  for (const uint64_t blockBytes :
       {uint64_t{1'000'003}, kChecksumBlockBytes, FileChecksums::kWholeTensors, uint64_t{2'800'000}}) {
    save({tensorOf("a", fb::DType::F32, values)});
    const FileChecksums recorded = checksums(blockBytes);
    const Status status = run(SafetensorsDType::kF16, recorded);
    EXPECT_TRUE(status.ok()) << status.message();
    const std::string good = readFile(input);
    for (const size_t at : {size_t{200}, good.size() / 2, good.size() - 1}) {
      std::string bad = good;
      bad[at] ^= 64; // some of them become too large for f16
      writeFile(input, bad);
      EXPECT_THAT(refusal(SafetensorsDType::kF16, 2, recorded),
                  AllOf(HasSubstr("in.safetensors: byte "),
                        HasSubstr("tensor 'a' does not have the checksum recorded in trainer_state.json; the "
                                  "checkpoint is damaged, use another one")));
    }
  }
}

TEST_F(ConsolidateTest, AChecksumTooManyOrTooFewIsDamage) {
  save({tensorOf("a", fb::DType::F32, std::vector<float>(700'000))});
  FileChecksums recorded = checksums(kChecksumBlockBytes);
  recorded.tensors["a"].push_back(0);
  EXPECT_THAT(refusal(SafetensorsDType::kF32, 2, recorded), HasSubstr("damaged"));
  recorded.tensors["a"].resize(2);
  EXPECT_THAT(refusal(SafetensorsDType::kF32, 2, recorded), HasSubstr("damaged"));
}

TEST_F(ConsolidateTest, AFullDisk) {
  save({tensorOf("a", fb::DType::F32, std::vector<float>(10'000))});
  const FullDisk full(10'000);
  EXPECT_THAT(refusal(SafetensorsDType::kF32, 1),
              AllOf(HasSubstr("out.safetensors"), HasSubstr("File too large")));
}

TEST_F(ConsolidateTest, ProgressComesToAllAndMayEndTheWork) {
  save({tensorOf("a", fb::DType::F32, std::vector<float>(200'000)),
        tensorOf<float>("b", fb::DType::F32, {1})});
  uint64_t last = 0;
  progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, 800'004);
    EXPECT_GT(done, std::exchange(last, done));
    return true;
  };
  EXPECT_TRUE(run(SafetensorsDType::kBF16).ok());
  EXPECT_EQ(last, 800'004);
  progress = [](uint64_t, uint64_t) { return false; };
  EXPECT_EQ(refusal(SafetensorsDType::kBF16, 1),
            output.string() + ": not written: stopped after 262144 of 800004 bytes of weights");
}

} // namespace
} // namespace trainc
