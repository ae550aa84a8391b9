#pragma once
#include <flatbuffers/minireflect.h>
#include <string>

namespace trainc {

std::string textOfTable(const uint8_t *table, const flatbuffers::TypeTable *type);

/// The enums of a table, and its other fields that differ from their defaults, each as `name=value`; of a
/// flag its name alone, and of a table in it `name(...)`. Vectors are left out.
template <typename Table> std::string textOfTable(const Table &table) {
  return textOfTable(reinterpret_cast<const uint8_t *>(&table), Table::MiniReflectTypeTable());
}

} // namespace trainc
