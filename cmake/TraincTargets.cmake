# Targets of the runtime and settings shared with the compiler.
find_package(Threads REQUIRED)

add_library(trainc_flags INTERFACE)
target_include_directories(trainc_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_options(trainc_flags INTERFACE -Wall -Wextra -Werror -Wno-unused-parameter)
target_compile_definitions(trainc_flags INTERFACE TRAINC_VERSION="${PROJECT_VERSION}")
if(TRAINC_SANITIZE)
  target_compile_options(trainc_flags INTERFACE -fsanitize=${TRAINC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(trainc_flags INTERFACE -fsanitize=${TRAINC_SANITIZE})
endif()
if(TRAINC_FUZZ)
  target_compile_options(trainc_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# trainc_runtime_library(name SOURCES a.cpp ... LINK libs ...): one folder of runtime/, free of LLVM.
function(trainc_runtime_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC trainc_flags ${ARG_LINK} Threads::Threads)
endfunction()

# trainc_unit_test(name SOURCES a.cpp ... LINK libs ... [LABELS fast]): a GoogleTest program, one ctest test per case.
function(trainc_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE trainc_flags ${ARG_LINK} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 120)
endfunction()

# trainc_fuzzer(name SOURCES a.cpp LINK libs): a libFuzzer program in bin/, built when TRAINC_FUZZ is set.
function(trainc_fuzzer name)
  if(NOT TRAINC_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE trainc_flags ${ARG_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()
