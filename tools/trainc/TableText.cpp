#include "tools/trainc/TableText.h"

#include <fmt/format.h>

namespace trainc {

namespace {

class TextVisitor : public flatbuffers::IterationVisitor {
public:
  void Field(size_t, size_t, flatbuffers::ElementaryType, bool isVector, const flatbuffers::TypeTable *type,
             const char *name, const uint8_t *value) override {
    name_ = name;
    if (!value && !isVector && type && type->st == flatbuffers::ST_ENUM)
      add(type->names[0]);
  }
  void StartSequence() override {
    if (depth_++)
      addWord(fmt::format("{}(", name_));
  }
  void EndSequence() override {
    if (--depth_)
      text += ')';
  }
  void StartVector() override { ++vectors_; }
  void EndVector() override { --vectors_; }

  void Bool(bool value) override {
    if (value)
      addWord(name_);
  }
  void UType(uint8_t value, const char *word) override { word ? add(word) : add(value); }
  void Char(int8_t value, const char *word) override { word ? add(word) : add(value); }
  void UChar(uint8_t value, const char *word) override { word ? add(word) : add(value); }
  void Short(int16_t value, const char *word) override { word ? add(word) : add(value); }
  void UShort(uint16_t value, const char *word) override { word ? add(word) : add(value); }
  void Int(int32_t value, const char *word) override { word ? add(word) : add(value); }
  void UInt(uint32_t value, const char *word) override { word ? add(word) : add(value); }
  void Long(int64_t value) override { add(value); }
  void ULong(uint64_t value) override { add(value); }
  void Float(float value) override { add(value); }
  void Double(double value) override { add(value); }
  void String(const flatbuffers::String *value) override { add(value->c_str()); }

  std::string text;

private:
  template <typename Value> void add(Value value) {
    if (!vectors_)
      addWord(fmt::format("{}={}", name_, value));
  }
  void addWord(std::string_view word) {
    if (!text.empty() && text.back() != '(')
      text += ' ';
    text += word;
  }

  const char *name_ = "";
  int depth_ = 0, vectors_ = 0;
};

} // namespace

std::string textOfTable(const uint8_t *table, const flatbuffers::TypeTable *type) {
  TextVisitor visitor;
  flatbuffers::IterateObject(table, type, &visitor);
  return visitor.text;
}

} // namespace trainc
