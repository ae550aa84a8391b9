#include "runtime/data/tokenizer/oniguruma.h"

#include "base/plain_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

namespace trainc {

namespace {

/// Letters and numbers added by Unicode 15 and 16, for a PCRE2 with Unicode 14.
constexpr std::string_view kNewLetters =
    R"(\x{1C89}-\x{1C8A}\x{A7CB}-\x{A7CD}\x{A7DA}-\x{A7DC}\x{105C0}-\x{105F3}\x{10D4A}-\x{10D65}\x{10D6F}-\x{10D85})"
    R"(\x{10EC2}-\x{10EC4}\x{1123F}-\x{11240}\x{11380}-\x{11389}\x{1138B}\x{1138E}\x{11390}-\x{113B5}\x{113B7}\x{113D1})"
    R"(\x{113D3}\x{11BC0}-\x{11BE0}\x{11F02}\x{11F04}-\x{11F10}\x{11F12}-\x{11F33}\x{1342F}\x{13441}-\x{13446})"
    R"(\x{13460}-\x{143FA}\x{16100}-\x{1611D}\x{16D40}-\x{16D6C}\x{18CFF}\x{1B132}\x{1B155}\x{1DF25}-\x{1DF2A})"
    R"(\x{1E030}-\x{1E06D}\x{1E4D0}-\x{1E4EB}\x{1E5D0}-\x{1E5ED}\x{1E5F0}\x{2B739}\x{2EBF0}-\x{2EE5D}\x{31350}-\x{323AF})";
constexpr std::string_view kNewHan = R"(\x{2B739}\x{2EBF0}-\x{2EE5D}\x{31350}-\x{323AF})";
constexpr std::string_view kNewDigits =
    R"(\x{10D40}-\x{10D49}\x{116D0}-\x{116E3}\x{11BF0}-\x{11BF9}\x{11F50}-\x{11F59}\x{16130}-\x{16139}\x{16D70}-\x{16D79})"
    R"(\x{1CCF0}-\x{1CCF9}\x{1E4F0}-\x{1E4F9}\x{1E5F1}-\x{1E5FA})";
constexpr std::string_view kNewNumbersBesides = R"(\x{1D2C0}-\x{1D2D3})";

constexpr std::array<std::string_view, 37> kCategories = {
    "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N",  "Nd", "Nl",
    "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk",
    "So", "Z",  "Zs", "Zl", "Zp", "C",  "Cc", "Cf", "Cn", "Co", "Cs"};

/// Long names of categories and properties, and names of POSIX classes, in lower case and without underscores
/// (Oniguruma, doc/RE; Unicode's PropertyValueAliases.txt).
constexpr std::pair<std::string_view, std::string_view> kLongNames[] = {
    {"letter", "L"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"digit", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"punct", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"openpunctuation", "Ps"},
    {"closepunctuation", "Pe"},
    {"initialpunctuation", "Pi"},
    {"finalpunctuation", "Pf"},
    {"otherpunctuation", "Po"},
    {"symbol", "S"},
    {"mathsymbol", "Sm"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"other", "C"},
    {"control", "Cc"},
    {"cntrl", "Cc"},
    {"format", "Cf"},
    {"unassigned", "Cn"},
    {"privateuse", "Co"},
    {"surrogate", "Cs"},
    {"alpha", "Alphabetic"},
    {"alphabetic", "Alphabetic"},
    {"any", "Any"},
};

/// The short name of the category that `name` is a name of, in any case; else `name`.
std::string_view shortName(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (c != '_' && c != '-' && c != ' ')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view category : kCategories)
    if (std::ranges::equal(plain, category, {}, {}, [](unsigned char c) { return std::tolower(c); }))
      return category;
  const auto *const found = std::ranges::find(kLongNames, plain, [](const auto &row) { return row.first; });
  return found == std::end(kLongNames) ? name : found->second;
}

/// Whether `name`, a short one, is that of a script, if it is right.
bool isScript(std::string_view name) {
  return std::ranges::find(kCategories, name) == kCategories.end() && name != "Alphabetic" && name != "Any";
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isHexDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool isLetterOrDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Converts a pattern in one pass.
class Translation {
public:
  Translation(const std::string &where, std::string_view pattern, bool newCharacters)
      : where_(where), pattern_(pattern), newCharacters_(newCharacters) {}

  Result<std::string> run() {
    while (at_ < pattern_.size())
      TRAINC_RETURN_IF_ERROR(next());
    return std::move(out_);
  }

private:
  bool follows(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  char peek(size_t offset = 0) const {
    return at_ + offset < pattern_.size() ? pattern_[at_ + offset] : '\0';
  }
  void copy(size_t count) {
    out_ += pattern_.substr(at_, count);
    at_ += count;
  }

  Status unsupported(std::string_view construct) const {
    return invalidInput(
        "{}: the pattern {} has {} at byte {}, which is not supported; write it in another way", where_,
        printable(pattern_), printable(construct), at_);
  }

  /// Characters of \w. Outside of classes it includes numbers of Latin-1 that are not digits, a peculiarity
  /// of Oniguruma.
  std::string wordCharacters(bool inClass) const {
    return charactersOf("L") + R"(\p{Alphabetic}\p{M}\p{Pc})" + charactersOf("Nd") +
           (inClass ? "" : R"(\xB2\xB3\xB9\xBC-\xBE)");
  }

  /// The characters of a category or script, for use in a class. ASCII comes first, because it is looked up
  /// faster.
  std::string charactersOf(std::string_view name) const {
    std::string characters = (isScript(name) ? "\\p{sc:" : "\\p{") + std::string(name) + "}";
    if (name == "L" || name == "Alphabetic")
      characters.insert(0, "a-zA-Z");
    if (!newCharacters_)
      return characters;
    if (name == "L" || name == "Alphabetic")
      characters += kNewLetters;
    if (name == "N" || name == "Nd")
      characters += kNewDigits;
    if (name == "N")
      characters += kNewNumbersBesides;
    if (name == "Han")
      characters += kNewHan;
    return characters;
  }

  Status next() {
    switch (peek()) {
    case '(':
      return group();
    case ')':
      copy(1);
      if (!groups_.empty()) {
        atom_ = groups_.back();
        groups_.pop_back();
      }
      return {};
    case '*':
    case '+':
    case '?':
      return quantifier(1);
    case '{':
      return braces();
    }
    atom_ = out_.size();
    if (peek() == '[')
      return characterClass();
    if (peek() == '\\')
      return escape(/*inClass=*/false);
    copy(1);
    while ((static_cast<unsigned char>(peek()) & 0xC0) == 0x80) // the rest of a character
      copy(1);
    return {};
  }

  Status group() {
    constexpr std::array<std::string_view, 7> kOpenings = {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "("};
    if (follows("(?#"))
      return comment();
    if (follows("(*"))
      return unsupported("'(*'");
    const auto *opening =
        std::ranges::find_if(kOpenings, [&](std::string_view text) { return follows(text); });
    if (*opening == "(" && peek(1) == '?' && !isNamed())
      return options();
    groups_.push_back(out_.size());
    copy(opening->size());
    return {};
  }

  /// Whether (?<name> follows. It is treated like any other group; nothing can refer to it.
  bool isNamed() const { return follows("(?<") && isLetterOrDigit(peek(3)) && !isDigit(peek(3)); }

  Status comment() {
    const size_t end = pattern_.find(')', at_);
    at_ = end == std::string_view::npos ? pattern_.size() : end + 1;
    return {};
  }

  /// Converts (?i) at the start of the pattern, and (?i:...) anywhere; Oniguruma's m is PCRE2's s.
  Status options() {
    size_t end = at_ + 2;
    std::string flags;
    for (; end < pattern_.size() && (pattern_[end] == 'i' || pattern_[end] == 'm' || pattern_[end] == '-');
         ++end)
      flags += pattern_[end] == 'm' ? 's' : pattern_[end];
    const char last = end < pattern_.size() ? pattern_[end] : '\0';
    if (last != ':' && (last != ')' || at_ != 0))
      return unsupported("'" + std::string(pattern_.substr(at_, end + 1 - at_)) + "'");
    if (last == ':')
      groups_.push_back(out_.size());
    out_ += "(?" + flags + last;
    at_ = end + 1;
    return {};
  }

  /// Copies a quantifier of `size` bytes and a following ? or +, which make it lazy or possessive.
  Status quantifier(size_t size) {
    copy(size);
    if (peek() == '?' || peek() == '+')
      copy(1);
    return {};
  }

  /// Converts {n}, {n,}, {,m}, {n,m}; anything else in braces is literal.
  Status braces() {
    size_t end = at_ + 1;
    const size_t first = end;
    while (end < pattern_.size() && isDigit(pattern_[end]))
      ++end;
    const size_t comma = end;
    const bool hasComma = comma < pattern_.size() && pattern_[comma] == ',';
    if (hasComma)
      for (++end; end < pattern_.size() && isDigit(pattern_[end]);)
        ++end;
    const bool hasMax = hasComma && end > comma + 1;
    if (end >= pattern_.size() || pattern_[end] != '}' || (comma == first && !hasMax)) {
      atom_ = out_.size();
      out_ += "\\{";
      ++at_;
      return {};
    }
    const std::string minimum = comma == first ? "0" : std::string(pattern_.substr(first, comma - first));
    const std::string interval = "{" + minimum + std::string(pattern_.substr(comma, end + 1 - comma));
    const char after = end + 1 < pattern_.size() ? pattern_[end + 1] : '\0';
    if (after == '?' && !hasComma)
      return unsupported("'" + interval + "?'");
    at_ = end + 1;
    out_ += interval;
    if (after == '?')
      copy(1);
    if (after == '+') { // Oniguruma repeats the repetition; PCRE2 would make it possessive
      out_.insert(atom_, "(?:");
      out_ += ")";
    }
    return {};
  }

  Status characterClass() {
    copy(1);
    if (peek() == '^')
      copy(1);
    TRAINC_RETURN_IF_ERROR(members());
    if (at_ < pattern_.size())
      copy(1);
    return {}; // PCRE2 reports the missing end
  }

  /// Converts the members of a class up to its end. A class within it adds its members.
  Status members() {
    for (bool first = true; at_ < pattern_.size(); first = false) {
      if (peek() == ']' && !first)
        return {};
      if (peek() == '[')
        TRAINC_RETURN_IF_ERROR(innerClass());
      else if (follows("&&"))
        return unsupported("'&&' in a class");
      else if (peek() == '\\')
        TRAINC_RETURN_IF_ERROR(escape(/*inClass=*/true));
      else if (peek() == ']')
        TRAINC_RETURN_IF_ERROR(replace(1, "\\]"));
      else
        copy(1);
    }
    return {};
  }

  Status innerClass() {
    // A hyphen at an end would be a range with the members outside.
    const bool ranges = follows("[-") || (at_ > 0 && pattern_[at_ - 1] == '-');
    if (follows("[:") || follows("[^") || ranges || ++depth_ > kMaxDepth)
      return unsupported(follows("[:")   ? "'[:' in a class"
                         : follows("[^") ? "'[^' in a class"
                                         : "such a class within a class");
    ++at_;
    TRAINC_RETURN_IF_ERROR(members());
    if (at_ > 0 && at_ < pattern_.size() && pattern_[at_ - 1] == '-')
      return unsupported("'-]' in a class within a class");
    if (at_ < pattern_.size())
      ++at_;
    --depth_;
    return peek() == '-' && peek(1) != ']' ? unsupported("'-' after a class within a class") : Status();
  }

  Status escape(bool inClass) {
    const char letter = peek(1);
    constexpr std::string_view kSame = "nrtfae";
    constexpr std::string_view kPlaces = "AzZG";
    if (kSame.find(letter) != std::string_view::npos ||
        (!inClass && kPlaces.find(letter) != std::string_view::npos)) {
      copy(2);
      return {};
    }
    switch (letter) {
    case 's':
      return set(R"(\p{wspace})", inClass);
    case 'S':
      return set(R"(\P{wspace})", inClass);
    case 'd':
      return set(charactersOf("Nd"), inClass);
    case 'D':
      return inClass ? replace(2, R"(\P{Nd})") : complement(charactersOf("Nd"), inClass);
    case 'h':
      return set("0-9a-fA-F", inClass);
    case 'H':
      return complement("0-9a-fA-F", inClass);
    case 'w':
      return set(wordCharacters(inClass), inClass);
    case 'W':
      return complement(wordCharacters(inClass), inClass);
    case 'v':
      return replace(2, R"(\x0B)");
    case 'b':
    case 'B':
      return inClass ? replace(2, R"(\x08)") : wordBoundary(letter == 'b');
    case 'p':
    case 'P':
      return property(inClass);
    case 'x':
    case 'u':
      return codePoint();
    }
    if (isLetterOrDigit(letter) || letter == '\0')
      return unsupported("'" + std::string(pattern_.substr(at_, 2)) + "'");
    copy(2);
    return {};
  }

  Status replace(size_t count, std::string_view text) {
    out_ += text;
    at_ += count;
    return {};
  }
  Status set(const std::string &characters, bool inClass, size_t count = 2) {
    return replace(count, inClass ? characters : "[" + characters + "]");
  }
  Status complement(const std::string &characters, bool inClass) {
    if (inClass)
      return unsupported("'" + std::string(pattern_.substr(at_, 2)) + "' in a class");
    return replace(2, "[^" + characters + "]");
  }

  Status wordBoundary(bool boundary) {
    const std::string word = "[" + wordCharacters(/*inClass=*/false) + "]";
    const std::string at = "(?<=" + word + ")", notAt = "(?<!" + word + ")";
    const std::string before = "(?=" + word + ")", notBefore = "(?!" + word + ")";
    return replace(2, boundary ? "(?:" + at + notBefore + "|" + notAt + before + ")"
                               : "(?:" + at + before + "|" + notAt + notBefore + ")");
  }

  /// Converts \p{Name}, \P{Name} and \p{^Name}: a general category, or a script.
  Status property(bool inClass) {
    const size_t end = pattern_.find('}', at_);
    if (peek(2) != '{' || end == std::string_view::npos)
      return unsupported("'" + std::string(pattern_.substr(at_, 3)) + "'");
    std::string_view name = pattern_.substr(at_ + 3, end - at_ - 3);
    bool negative = peek(1) == 'P';
    if (name.starts_with('^')) {
      negative = !negative;
      name.remove_prefix(1);
    }
    name = shortName(name);
    if (!std::ranges::all_of(name, [](char c) { return isLetterOrDigit(c) || c == '_'; }))
      return unsupported("'" + std::string(pattern_.substr(at_, end + 1 - at_)) + "'");
    const size_t count = end + 1 - at_;
    if (!negative)
      return set(charactersOf(name), inClass, count);
    if (!inClass)
      return replace(count, "[^" + charactersOf(name) + "]");
    return replace(count,
                   // the negated class still contains the new characters
                   (isScript(name) ? "\\P{sc:" : "\\P{") + std::string(name) + "}");
  }

  /// Converts \xHH below 80, \x{H...} and \uHHHH.
  Status codePoint() {
    const bool braced = peek(1) == 'x' && peek(2) == '{';
    size_t end = at_ + (braced ? 3 : 2);
    const size_t begin = end;
    const size_t maximum = braced ? 8 : peek(1) == 'u' ? 4 : 2;
    while (end < pattern_.size() && end - begin < maximum && isHexDigit(pattern_[end]))
      ++end;
    const std::string digits(pattern_.substr(begin, end - begin));
    const bool complete = braced ? end < pattern_.size() && pattern_[end] == '}' && !digits.empty()
                                 : digits.size() == maximum && (maximum == 4 || digits[0] < '8');
    if (!complete)
      return unsupported("'" + std::string(pattern_.substr(at_, end + 1 - at_)) + "'");
    return replace(end + (braced ? 1 : 0) - at_, "\\x{" + digits + "}");
  }

  static constexpr int kMaxDepth = 16;

  const std::string &where_;
  std::string_view pattern_;
  bool newCharacters_;
  int depth_ = 0; ///< of classes within classes
  size_t at_ = 0; ///< in `pattern_`
  std::string out_;
  size_t atom_ = 0;            ///< offset in `out_` of the operand of a quantifier
  std::vector<size_t> groups_; ///< offsets in `out_` of the open groups
};

} // namespace

Result<std::string> pcre2Pattern(const std::string &where, std::string_view pattern, bool newCharacters) {
  return Translation(where, pattern, newCharacters).run();
}

bool mayHoldNewCharacters(std::string_view text) {
  constexpr std::array<char, 3> kLeads = {'\xE1', '\xEA', '\xF0'};
  return std::ranges::any_of(kLeads, [&](char lead) { return text.find(lead) != std::string_view::npos; });
}

} // namespace trainc
