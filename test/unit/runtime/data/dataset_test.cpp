#include "runtime/data/dataset.h"

#include "base/hash.h"
#include "test/unit/runtime/data/support.h"

#include <cmath>
#include <fmt/ranges.h>

namespace trainc {
namespace {

using namespace test;

ColumnSpec tokens(uint64_t length, uint64_t limit = 100) {
  return {"tokens", fb::DType::I32, {length}, limit, -100};
}
ColumnSpec labels(uint64_t length, uint64_t limit = 100, bool pads = false) {
  return {"labels", fb::DType::I32, {length}, limit, -100, pads};
}

/// The given samples of a column.
template <typename T>
std::vector<T> read(const Dataset &dataset, size_t column, const std::vector<uint64_t> &samples,
                    size_t rows) {
  std::vector<std::byte> bytes(rows * dataset.columns()[column].bytes(), std::byte{0x55});
  const Status status = dataset.fill(column, samples, bytes);
  EXPECT_TRUE(status.ok()) << status.message();
  return valuesOf<T>(bytes);
}

std::vector<uint16_t> counting(uint16_t first, size_t count) {
  std::vector<uint16_t> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<uint16_t>(first + i);
  return values;
}

TEST(ColumnSpec, ComesFromThePlansInput) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<uint64_t> shape = {8, 3, 5};
  const auto add = [&](const char *column, fb::BatchExtent extent) {
    return fb::CreateInputDirect(builder, column, 0, fb::DType::F64, &shape, extent, 7, -3);
  };
  const std::vector<flatbuffers::Offset<fb::Input>> inputs = {
      add("x", fb::BatchExtent::Micro), add("x", fb::BatchExtent::Step), add("y", fb::BatchExtent::Step)};
  const std::vector<flatbuffers::Offset<fb::Instruction>> none;
  builder.Finish(fb::CreateEntryDirect(builder, "e", &inputs, &none));
  const auto *entry = flatbuffers::GetRoot<fb::Entry>(builder.GetBufferPointer());
  const auto columns = distinctColumns({entry->inputs()->begin(), entry->inputs()->end()});
  EXPECT_THAT(columns, testing::ElementsAre(ColumnSpec{"x", fb::DType::F64, {3, 5}, 7, -3},
                                            ColumnSpec{"y", fb::DType::F64, {3, 5}, 7, -3}));
  EXPECT_EQ(columns[0].elements(), 15U);
  EXPECT_EQ(columns[0].bytes(), 120U);
}

TEST(Dataset, OtherFilesHaveOtherIdentities) {
  const Folder folder;
  std::vector<uint16_t> values = counting(0, 9000);
  const auto identity = [&](const char *name) {
    folder.write(name, bytesOf(values));
    return Dataset::open({folder / name}, {tokens(4, 10000), labels(4, 10000)})->identity()->front();
  };
  const FileIdentity first = identity("1.bin");
  EXPECT_EQ(first.bytes, 18000U);
  EXPECT_TRUE(identity("2.bin").matches(first)) << "whatever the name";
  for (const size_t at : {size_t{0}, size_t{4500}, values.size() - 1}) {
    std::swap(values[at], values[7]);
    EXPECT_FALSE(identity("3.bin").matches(first)) << at;
    std::swap(values[at], values[7]);
  }
  values.resize(8999);
  EXPECT_FALSE(identity("4.bin").matches(first));
}

TEST(Dataset, BlocksOfAnIdentityAreSpreadOverTheFile) {
  const Folder folder;
  std::vector<uint16_t> values(1 << 20); // 2 MiB, of which 64 blocks of 4 KiB are read
  const auto identity = [&] {
    folder.write("x.bin", bytesOf(values));
    return Dataset::open({folder / "x.bin"}, {tokens(4, 10000), labels(4, 10000)})->identity()->front();
  };
  const FileIdentity zeros = identity();
  size_t found = 0;
  constexpr size_t kRun = 16384; // elements: about the distance of two blocks
  for (size_t begin = 0; begin < values.size(); begin += kRun) {
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(begin), kRun, uint16_t{1});
    found += identity().matches(zeros) ? 0 : 1;
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(begin), kRun, uint16_t{0});
  }
  EXPECT_EQ(found, values.size() / kRun);
}

TEST(Dataset, AChecksumOfTheWholeContentTellsMore) {
  const FileIdentity unknown{10, 3}, one{10, 3, 7}, other{10, 3, 8};
  EXPECT_TRUE(one.matches(unknown) && unknown.matches(one) && one.matches(one));
  EXPECT_FALSE(one.matches(other));
}

TEST(Dataset, ATokenFileHasTheChecksumOfTheJsonBesideIt) {
  const Folder folder;
  const auto open = [&](const std::string &content, uint64_t checksum) {
    const std::string path = folder.write("t.bin", content);
    EXPECT_TRUE(
        writeTokenSidecar(path, {{"bytes", 0}, 100, SafetensorsDType::kU16, content.size() / 2, checksum})
            .ok());
    return Dataset::open({path}, {tokens(4), labels(4)});
  };
  std::string content = bytesOf(counting(0, 90));
  content.insert(0, size_t{3} << 20, '\0'); // read in several pieces
  const uint64_t checksum = xxh3(asBytes(content));
  ASSERT_OK(open(content, checksum));
  content.back() ^= 1;
  EXPECT_INVALID(
      open(content, checksum),
      fmt::format("{0}: expected the checksum {1:016x}, as {0}.json says, found {2:016x}; the file is "
                  "damaged or another one: copy or tokenize it again, or delete the JSON file",
                  folder / "t.bin", checksum, xxh3(asBytes(content))));
  content.resize((size_t{64} << 20) + 2);
  ASSERT_OK(open(content, checksum)) << "too large to be read at the start of a run";
}

TEST(Dataset, CutsTokenFilesIntoWindows) {
  const Folder folder;
  folder.write("1.bin", bytesOf(counting(0, 9)));  // two samples of length 4
  folder.write("2.bin", bytesOf(counting(20, 8))); // one
  const auto dataset = Dataset::open({folder / "*.bin"}, {tokens(4), labels(4)});
  ASSERT_OK(dataset);
  EXPECT_EQ(dataset->samples(), 3U);
  EXPECT_THAT(read<int32_t>(*dataset, 0, {0, 1, 2}, 3),
              testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23));
  EXPECT_THAT(read<int32_t>(*dataset, 1, {2, 1}, 2), testing::ElementsAre(21, 22, 23, 24, 5, 6, 7, 8));
}

/// Rows longer than the read buffer, in any order.
TEST(Dataset, ReadsLongRowsAndRuns) {
  const Folder folder;
  constexpr size_t kLength = 20000;
  folder.write("1.bin", bytesOf(counting(0, 2 * kLength + 1)));
  folder.write("2.bin", bytesOf(counting(7, kLength + 1)));
  const auto dataset = Dataset::open({folder / "*.bin"}, {tokens(kLength, 65536), labels(kLength, 65536)});
  ASSERT_OK(dataset);
  for (const std::vector<uint64_t> &samples : {std::vector<uint64_t>{0, 1, 2}, {1, 2}, {2, 1, 0}, {0, 0}})
    for (size_t column = 0; column < 2; ++column) {
      std::vector<int32_t> expected;
      for (const uint64_t sample : samples)
        for (size_t i = 0; i < kLength; ++i)
          expected.push_back(static_cast<int32_t>((sample == 2 ? 7 : sample * kLength) + i + column));
      EXPECT_EQ(read<int32_t>(*dataset, column, samples, samples.size()), expected);
    }
  const auto bad = Dataset::open({folder / "1.bin"}, {tokens(kLength, 39000), labels(kLength, 39000)});
  ASSERT_OK(bad);
  std::vector<std::byte> bytes(bad->columns()[0].bytes() * 2);
  const std::vector<uint64_t> both = {0, 1};
  EXPECT_THAT(bad->fill(0, both, bytes).message(),
              testing::HasSubstr("byte 78000: sample 1, column 'tokens', element 19000: 39000 is not below"));
}

TEST(Dataset, NamesNumbersAsTheyAre) {
  const Folder folder;
  const auto error = [&](const char *dtype, const std::string &value) {
    folder.write("a.safetensors", safetensors({{"labels", dtype, "[1]", value}}));
    const auto dataset = Dataset::open({folder / "a.safetensors"}, {{"labels", fb::DType::I32, {}, 8, -100}});
    EXPECT_TRUE(dataset.ok());
    std::array<std::byte, 4> row{};
    const uint64_t sample = 0;
    return dataset->fill(0, std::span(&sample, 1), row).message();
  };
  EXPECT_THAT(error("I32", bytesOf<int32_t>({-5})),
              testing::HasSubstr("element 0: -5 is negative (and not the ignored -100)"));
  EXPECT_THAT(error("U64", bytesOf<uint64_t>({~uint64_t{0}})),
              testing::HasSubstr("element 0: 18446744073709551615 is not below the model's limit 8"));
}

/// Labels of one number a sample would all be ignored.
TEST(Dataset, OnlySequencesAreShifted) {
  const Folder folder;
  folder.write("a.safetensors", safetensors({{"tokens", "I32", "[2]", bytesOf<int32_t>({1, 2})}}));
  folder.write("b.safetensors", safetensors({{"tokens", "I32", "[2,1]", bytesOf<int32_t>({1, 2})}}));
  for (const auto &[file, shape] :
       {std::pair("a.safetensors", std::vector<uint64_t>{}), {"b.safetensors", {1}}})
    EXPECT_THAT(
        Dataset::open({folder / file}, {{"labels", fb::DType::I32, shape, 8, -100}}).status().message(),
        testing::HasSubstr("the plan needs the column 'labels'"));
}

TEST(Dataset, PadsMissingRows) {
  const Folder folder;
  const std::string path = folder.write("1.bin", bytesOf(counting(1, 5)));
  const auto dataset = Dataset::open({path}, {tokens(2), labels(2, 100, true), labels(2)});
  ASSERT_OK(dataset);
  EXPECT_THAT(read<int32_t>(*dataset, 0, {1}, 2), testing::ElementsAre(3, 4, 0, 0));
  EXPECT_THAT(read<int32_t>(*dataset, 1, {1}, 2), testing::ElementsAre(4, 5, -100, -100));
  EXPECT_THAT(read<int32_t>(*dataset, 2, {1}, 2), testing::ElementsAre(4, 5, 0, 0));
}

TEST(Dataset, ReadsColumnsOfSafetensors) {
  const Folder folder;
  const std::string path = folder.write(
      "d.safetensors", safetensors({{"odd", "U8", "[1]", "x"}, // makes the following tensor unaligned
                                    {"features", "F32", "[2,3]", bytesOf<float>({1, 2, 3, 4, 5, 6})},
                                    {"labels", "I64", "[2]", bytesOf<int64_t>({9, -100})},
                                    {"half", "BF16", "[2,1]", bytesOf<uint16_t>({0x3fc0, 0xc000})}}));
  const auto dataset = Dataset::open({path}, {{"features", fb::DType::F32, {3}},
                                              {"labels", fb::DType::I32, {}, 10, -100},
                                              {"half", fb::DType::F64, {1}}});
  ASSERT_OK(dataset);
  EXPECT_EQ(dataset->samples(), 2U);
  EXPECT_THAT(read<float>(*dataset, 0, {1, 0}, 2), testing::ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_THAT(read<int32_t>(*dataset, 1, {0, 1}, 2), testing::ElementsAre(9, -100));
  EXPECT_THAT(read<double>(*dataset, 2, {0, 1}, 2), testing::ElementsAre(1.5, -2.0));
}

/// The message about samples 1 and 0 of two, whose labels are 2 and, in the second sample, 0 and `label`.
template <typename T>
std::optional<std::string> maskedClass(const std::vector<T> &mask, const std::vector<uint64_t> &shape,
                                       int64_t label) {
  const bool isFloat = std::is_same_v<T, float>;
  const Folder folder;
  const std::string path = folder.write(
      "d.safetensors", safetensors({{"mask", isFloat ? "F32" : "I64",
                                     fmt::format("[2,{}]", fmt::join(shape, ",")), bytesOf(mask)},
                                    {"labels", "I64", "[2,2]", bytesOf<int64_t>({2, 2, 0, label})}}));
  const auto dataset = Dataset::open({path}, {{"mask", isFloat ? fb::DType::F32 : fb::DType::I32, shape},
                                              {"labels", fb::DType::I32, {2}, 3, -100}});
  EXPECT_TRUE(dataset.ok()) << dataset.status().message();
  const std::vector<uint64_t> samples = {1, 0};
  std::vector<std::vector<std::byte>> rows;
  for (size_t column = 0; column < 2; ++column) {
    rows.emplace_back(2 * dataset->columns()[column].bytes());
    EXPECT_TRUE(dataset->fill(column, samples, rows.back()).ok());
  }
  return dataset->findMaskedClass(samples,
                                  [&](size_t column) { return std::span<const std::byte>(rows[column]); });
}

TEST(Dataset, NamesATargetInAMaskedClass) {
  const float no = -HUGE_VALF;
  // One mask a sample.
  const std::vector<float> each = {no, no, 0, 0, no, 0};
  EXPECT_EQ(maskedClass(each, {3}, 2), std::nullopt);
  EXPECT_EQ(maskedClass(each, {3}, -100), std::nullopt);
  const auto found = maskedClass(each, {3}, 1);
  ASSERT_TRUE(found);
  EXPECT_THAT(*found,
              testing::AllOf(testing::HasSubstr("sample 1, column 'labels', element 1 is 1, a class that the "
                                                "column 'mask' has at -inf in this sample"),
                             testing::HasSubstr("d.safetensors: byte ")));
  // One mask a target.
  const std::vector<float> all = {0, 0, 0, 0, 0, 0, 0, no, no, no, 0, 0};
  EXPECT_EQ(maskedClass(all, {2, 3}, 2), std::nullopt);
  EXPECT_THAT(maskedClass<float>({0, 0, 0, 0, 0, 0, 0, no, no, no, 0, no}, {2, 3}, 2).value_or(""),
              testing::HasSubstr("sample 1, column 'labels', element 1 is 2"));
  EXPECT_THAT(maskedClass<float>({0, 0, 0, 0, 0, no, 0, no, no, no, 0, 0}, {2, 3}, 2).value_or(""),
              testing::HasSubstr("sample 0, column 'labels', element 1 is 2"));
}

TEST(Dataset, NamesATargetThatAFiniteMaskExcludes) {
  EXPECT_THAT(maskedClass<float>({-1e9F, -1e9F, 0, 0, -1e9F, 0}, {3}, 1).value_or(""),
              testing::HasSubstr(
                  "class that the column 'mask' has at -1e+09 in this sample: the loss of such a target "
                  "is about 1e+09, and its probability 0"));
  EXPECT_THAT(maskedClass<float>({-3.4e38F, 0, 0, 0, -3.4e38F, 0}, {3}, 1).value_or(""),
              testing::HasSubstr("is about 3.4e+38"));
  EXPECT_EQ(maskedClass<float>({-1e9F, -1e9F, 0, 0, -1e9F, 0}, {3}, 2), std::nullopt);
  EXPECT_EQ(maskedClass<float>({-5, -5, 0, 0, -5, 0}, {3}, 1), std::nullopt) << "a bias";
}

/// Masks that a model compares with 0, or takes the logarithm of.
TEST(Dataset, NamesATargetThatAMaskOfZerosAndOnesExcludes) {
  const auto check = [](auto one) {
    using T = decltype(one);
    const std::vector<T> allowed = {0, 0, 1, 1, 0, 1}, excluded = {1, 1, 0, 0, 1, 0};
    for (const auto &[mask, number, other] : {std::tuple(allowed, 0, 1), std::tuple(excluded, 1, 0)}) {
      EXPECT_EQ(maskedClass<T>(mask, {3}, 2), std::nullopt);
      EXPECT_EQ(maskedClass<T>(mask, {3}, -100), std::nullopt);
      EXPECT_THAT(
          maskedClass<T>(mask, {3}, 1).value_or(""),
          testing::HasSubstr(fmt::format("sample 1, column 'labels', element 1 is 1, a class that the "
                                         "column 'mask' has at {} in this sample, and most targets at "
                                         "{}: the loss",
                                         number, other)));
    }
    EXPECT_EQ(maskedClass<T>({0, 0, 1, 2, 0, 1}, {3}, 1), std::nullopt) << "counts are not a mask";
  };
  check(1.0F);
  check(int64_t{1});
}

TEST(Dataset, MakesMissingLabelsFromTokens) {
  const Folder folder;
  const std::string path = folder.write(
      "d.safetensors", safetensors({{"tokens", "U16", "[2,3]", bytesOf<uint16_t>({1, 2, 3, 4, 5, 6})}}));
  const auto dataset = Dataset::open({path}, {tokens(3), labels(3)});
  ASSERT_OK(dataset);
  EXPECT_THAT(read<int32_t>(*dataset, 1, {0, 1}, 2), testing::ElementsAre(2, 3, -100, 5, 6, -100));
}

TEST(Dataset, NamesColumnsThatTheModelDoesNotRead) {
  const Folder folder;
  const std::string ids = bytesOf<uint16_t>({1, 2, 3, 4, 5, 6});
  const auto warningOf = [&](const std::string &name, const std::string &further) {
    const std::string path = folder.write(
        "d.safetensors", safetensors({{"tokens", "U16", "[2,3]", ids},
                                      {name, "U16", "[2,3]", ids},
                                      {further, "U16", "[2,3]", bytesOf<uint16_t>({1, 1, 0, 1, 0, 0})}}));
    const auto dataset = Dataset::open({path}, {tokens(3), labels(3)});
    EXPECT_TRUE(dataset.ok());
    return dataset->files().front().warning().substr(path.size());
  };
  EXPECT_EQ(warningOf("label", "segments"),
            ": the model does not read label, segments; the labels are the tokens shifted by one");
  EXPECT_EQ(warningOf("labels", "attention_mask"),
            ": the model does not read attention_mask; all positions count: write -100 as the label of those "
            "that are not to");
}

TEST(Dataset, DoubtsLabelsThatAreTheTokens) {
  const Folder folder;
  const auto doubtOf = [&](const std::vector<int32_t> &ids, const std::vector<int32_t> &targets) {
    const std::string path =
        folder.write("d.safetensors", safetensors({{"tokens", "I32", "[3,4]", bytesOf<int32_t>(ids)},
                                                   {"labels", "I32", "[3,4]", bytesOf<int32_t>(targets)}}));
    const auto dataset = Dataset::open({path}, {tokens(4), labels(4)});
    EXPECT_TRUE(dataset.ok());
    return dataset->doubtOfLabels();
  };
  const std::vector<int32_t> ids = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_THAT(doubtOf(ids, ids),
              testing::StartsWith("the labels of the first 3 samples are the tokens themselves"));
  EXPECT_THAT(doubtOf(ids, {-100, 2, 3, 4, -100, 6, 7, 8, -100, 10, 11, -100}),
              testing::HasSubstr("themselves"));
  EXPECT_EQ(doubtOf(ids, {2, 3, 4, -100, 6, 7, 8, -100, 10, 11, 12, -100}), "");
  EXPECT_EQ(doubtOf(ids, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13}), "");
  const std::vector<int32_t> same(12, 7); // whose next tokens they are as well
  EXPECT_EQ(doubtOf(same, same), "");
}

TEST(Dataset, SaysWhatInputIdsAreCalled) {
  const Folder folder;
  const std::string path = folder.write(
      "d.safetensors", safetensors({{"input_ids", "U16", "[2,3]", bytesOf<uint16_t>({1, 2, 3, 4, 5, 6})}}));
  EXPECT_INVALID(Dataset::open({path}, {labels(3), tokens(3)}),
                 path +
                     ": the plan needs the column 'tokens' I32 [samples, 3]; the file has: input_ids; what "
                     "Hugging Face calls input_ids is called tokens here: rename it in the file");
}

TEST(Dataset, FindsColumns) {
  const Folder folder;
  const std::string path = folder.write("1.bin", bytesOf(counting(1, 5)));
  const auto dataset = Dataset::open({path}, {tokens(2), labels(2)});
  ASSERT_OK(dataset);
  EXPECT_EQ(dataset->findColumn(labels(2)), 1U);
  EXPECT_EQ(dataset->findColumn(labels(3)), std::nullopt);
}

TEST(Dataset, NamesTheOffsetOfATokenBeyondTheVocabulary) {
  const Folder folder;
  const std::string path = folder.write("t.bin", bytesOf<uint16_t>({1, 2, 3, 100, 5}));
  const auto dataset = Dataset::open({path}, {tokens(2), labels(2)});
  ASSERT_OK(dataset);
  std::vector<std::byte> row(8);
  EXPECT_TRUE(dataset->fill(0, std::vector<uint64_t>{0}, row).ok());
  EXPECT_INVALID(
      dataset->fill(0, std::vector<uint64_t>{1}, row),
      path +
          ": byte 6: sample 1, column 'tokens', element 1: 100 is not below the model's limit 100; was the "
          "file made with another tokenizer, or with another --data-dtype than uint16?");
  EXPECT_INVALID(
      dataset->fill(1, std::vector<uint64_t>{1}, row),
      path +
          ": byte 6: sample 1, column 'labels', element 0: 100 is not below the model's limit 100 (and not "
          "the ignored -100); was the file made with another tokenizer, or with another --data-dtype than "
          "uint16?");
}

TEST(Dataset, ChecksValuesOfColumns) {
  const Folder folder;
  const std::string path = folder.write(
      "d.safetensors", safetensors({{"tokens", "I64", "[1,2]", bytesOf<int64_t>({-100, 1})},
                                    {"big", "U64", "[1]", bytesOf<uint64_t>({~uint64_t{0}})},
                                    {"wide", "I64", "[1]", bytesOf<int64_t>({int64_t{1} << 31})}}));
  const size_t data = std::filesystem::file_size(path) - 32;
  const auto dataset =
      Dataset::open({path}, {tokens(2), {"big", fb::DType::I64, {}}, {"wide", fb::DType::I32, {}}});
  ASSERT_OK(dataset);
  std::vector<std::byte> row(8);
  const std::vector<uint64_t> first = {0};
  EXPECT_INVALID(dataset->fill(0, first, row), // -100 is not a token: it would be an address
                 fmt::format("{}: byte {}: sample 0, column 'tokens', element 0: -100 is negative; was "
                             "the file made with another tokenizer?",
                             path, data));
  EXPECT_INVALID(
      dataset->fill(1, first, row),
      fmt::format(
          "{}: byte {}: sample 0, column 'big', element 0: 18446744073709551615 does not fit the plan's I64",
          path, data + 16));
  EXPECT_INVALID(
      dataset->fill(2, first, std::span(row).first(4)),
      fmt::format("{}: byte {}: sample 0, column 'wide', element 0: 2147483648 does not fit the plan's I32",
                  path, data + 24));
}

TEST(Dataset, RefusesTooShortTokenFiles) {
  const Folder folder;
  const std::string shortFile = folder.write("short.bin", bytesOf(counting(0, 4)));
  const std::string empty = folder.write("empty.bin", "");
  EXPECT_INVALID(Dataset::open({shortFile}, {tokens(4)}),
                 shortFile + ": expected at least 5 tokens (10 bytes) for one sample "
                             "of length 4 and its last label, found 4 tokens; give more text, or compile "
                             "with a shorter --seq-len");
  EXPECT_INVALID(Dataset::open({empty}, {tokens(4)}),
                 empty + ": expected at least 5 tokens (10 bytes) for one sample of length 4 and its last "
                         "label, found 0 tokens; give more text, or compile with a shorter --seq-len");
}

TEST(Dataset, RefusesColumnsThatATokenFileHasNot) {
  const Folder folder;
  const std::string path = folder.write("t.bin", bytesOf(counting(0, 40)));
  EXPECT_INVALID(
      Dataset::open({path}, {tokens(4), {"segments", fb::DType::I32, {4}}}),
      path +
          ": expected a .safetensors file with the plan's columns tokens I32 [samples, 4], segments I32 "
          "[samples, 4], found a file of tokens, which gives the columns tokens [samples, length] and labels "
          "of the same shape (the tokens shifted by one)");
  // A model of features and classes, whose plan knows no sequence length.
  const std::vector<ColumnSpec> classifier = {{"labels", fb::DType::I32, {}},
                                              {"features", fb::DType::F32, {20}}};
  EXPECT_INVALID(
      Dataset::open({path}, classifier),
      path + ": expected a .safetensors file with the plan's columns labels I32 [samples], features F32 "
             "[samples, 20], found a file of tokens, which gives the columns tokens [samples, length] and "
             "labels "
             "of the same shape (the tokens shifted by one)");
  EXPECT_INVALID(Dataset::open({path}, {}), path + ": the plan takes no data");
  EXPECT_INVALID(Dataset::open({path}, {{"tokens", fb::DType::F32, {4}}}),
                 path + ": column 'tokens' is U16, the plan needs F32; convert the file");
}

TEST(Dataset, RefusesWrongColumns) {
  const Folder folder;
  const std::string path = folder.write(
      "d.safetensors", safetensors({{"tokens", "I32", "[2,3]", bytesOf<int32_t>({1, 2, 3, 4, 5, 6})},
                                    {"weights", "F32", "[1]", bytesOf<float>({1})},
                                    {"none", "F32", "[0]", ""}}));
  EXPECT_INVALID(
      Dataset::open({path}, {tokens(3), {"segments", fb::DType::I32, {3}}}),
      path + ": the plan needs the column 'segments' I32 [samples, 3]; the file has: none, tokens, weights");
  EXPECT_INVALID(
      Dataset::open({path}, {{"weight", fb::DType::F32, {}}}),
      path + ": the plan needs the column 'weight' F32 [samples]; the file has: none, tokens, weights; "
             "if 'weights' is meant, rename it in one of the two, file or model");
  EXPECT_INVALID(Dataset::open({path}, {tokens(4)}),
                 path + ": column 'tokens' is I32 [2, 3], the plan needs I32 [samples, 4]; "
                        "compile for this length (--seq-len) or convert the file");
  EXPECT_INVALID(
      Dataset::open({path}, {tokens(3), {"weights", fb::DType::F32, {}}}),
      path + ": column 'weights' has 1 samples, column 'tokens' has 2; all columns need the same number");
  EXPECT_INVALID(Dataset::open({path}, {{"weights", fb::DType::I32, {}}}),
                 path + ": column 'weights' is F32, the plan needs I32; convert the file");
  EXPECT_INVALID(Dataset::open({path}, {{"none", fb::DType::F32, {}}}),
                 path + ": expected at least one sample, found columns with none (none, tokens, weights)");
  EXPECT_INVALID(Dataset::open({path}, {}), path + ": the plan takes no data");
  EXPECT_INVALID(Dataset::open({folder / "absent"}, {tokens(3)}),
                 folder / "absent" + ": no such file, and no file matches it as a pattern");
}

} // namespace
} // namespace trainc
