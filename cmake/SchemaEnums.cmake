# Writes the enums of the FlatBuffers schema SCHEMA in two forms, with enumerators in snake case ("CopyIn" is "copy_in"):
#   WORDS: a C++ header with a function wordOf(fb::Enum) for each enum;
#   CASES: a TableGen file with a record EnumCases for each enum, from which the dialects make enums with the schema's numbers.
# Element types are left out, because texts spell them as MLIR does. Run by cmake -P.
file(READ ${SCHEMA} schema)
string(REGEX REPLACE "//[^\n]*" "" schema "${schema}")
string(REGEX MATCHALL "enum [^}]*}" enums "${schema}")

set(words "// Generated from plan/schema/plan.fbs: the words of its enums, for texts.
#pragma once

#include \"plan/schema/plan_generated.h\"

namespace trainc {
")
set(cases "// Generated from plan/schema/plan.fbs: the cases of its enums.
include \"mlir/IR/EnumAttr.td\"

class SchemaCases<list<I32EnumAttrCase> all> { list<I32EnumAttrCase> cases = all; }
")
foreach(enum ${enums})
  if(NOT enum MATCHES "^enum ([A-Za-z]+) : ubyte {([A-Za-z0-9, \n]*)}$")
    message(FATAL_ERROR "${SCHEMA}: expected 'enum NAME : ubyte { WORD, ... }' without numbers, found '${enum}'")
  endif()
  set(name ${CMAKE_MATCH_1})
  if(name STREQUAL DType)
    continue()
  endif()
  string(REGEX MATCHALL "[A-Za-z0-9]+" enumerators "${CMAKE_MATCH_2}")
  set(quoted "")
  set(numbered "")
  foreach(enumerator ${enumerators})
    string(REGEX REPLACE "([a-z])([A-Z])" "\\1_\\2" word ${enumerator})
    string(TOLOWER ${word} word)
    list(LENGTH quoted number)
    list(APPEND quoted "\"${word}\"")
    list(APPEND numbered "I32EnumAttrCase<\"${word}\", ${number}>")
  endforeach()
  list(JOIN quoted ", " quoted)
  list(JOIN numbered ", " numbered)
  string(APPEND words "
constexpr const char *wordOf(fb::${name} value) {
  constexpr const char *words[] = {${quoted}};
  return value <= fb::${name}::MAX ? words[static_cast<size_t>(value)] : \"unknown\";
}
")
  string(APPEND cases "def ${name}Cases : SchemaCases<[${numbered}]>;\n")
endforeach()
file(WRITE ${WORDS} "${words}\n} // namespace trainc\n")
file(WRITE ${CASES} "${cases}")
