// Unforgeable handles: not valid addresses, never reused, and of one kind.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace trainc::emulator {

/// Live objects of one kind, by the handles given to callers.
template <typename Handle, typename Object> class HandleTable {
public:
  /// `kind` distinguishes the handles of different tables; `noun` is for messages.
  HandleTable(uint8_t kind, std::string_view noun) : first_(kBase | uint64_t{kind} << 40), noun_(noun) {}

  Handle add(std::shared_ptr<Object> object) {
    const uint64_t number = first_ + (++given_ << 4);
    live_.emplace(number, std::move(object));
    return reinterpret_cast<Handle>(number);
  }
  /// Null if no live object has the handle.
  std::shared_ptr<Object> find(Handle handle) const {
    const auto found = live_.find(reinterpret_cast<uint64_t>(handle));
    return found == live_.end() ? nullptr : found->second;
  }
  void remove(Handle handle) { live_.erase(reinterpret_cast<uint64_t>(handle)); }
  template <typename Predicate> void removeIf(Predicate predicate) {
    std::erase_if(live_, [&](const auto &entry) { return predicate(*entry.second); });
  }

  bool empty() const { return live_.empty(); }
  std::string_view noun() const { return noun_; }
  /// Why find() returns null, for messages.
  std::string whyNot(Handle handle) const {
    const auto number = reinterpret_cast<uint64_t>(handle);
    const std::string noun(noun_);
    if (number == 0)
      return "the " + noun + " is null";
    if (number > first_ && number <= first_ + (given_ << 4) && number % 16 == 0)
      return "the " + noun + " was destroyed before";
    return "the " + noun + "'s handle is none that the driver gave";
  }

private:
  /// High bits that no user-space address has: dereferencing a handle ends the process.
  static constexpr uint64_t kBase = uint64_t{0xe0} << 56;

  uint64_t first_, given_ = 0;
  std::string_view noun_;
  std::map<uint64_t, std::shared_ptr<Object>> live_;
};

} // namespace trainc::emulator
