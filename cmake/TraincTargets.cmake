# Targets of the runtime and settings shared with the compiler.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

add_library(trainc_flags INTERFACE)
target_include_directories(trainc_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_options(trainc_flags INTERFACE -Wall -Wextra -Werror -Wno-unused-parameter)
# GCC collects its garbage more seldom, which saves a tenth of the time.
target_compile_options(trainc_flags INTERFACE "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=2000000>")
# GCC 12 reports accesses past short strings in its own library that never happen (GCC bug 105651).
target_compile_options(trainc_flags INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>")
# Precompiled headers that hold no times are equal in each clone, so that ccache finds what was compiled with them.
target_compile_options(trainc_flags INTERFACE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
target_link_libraries(trainc_flags INTERFACE fmt::fmt)
target_compile_definitions(trainc_flags INTERFACE TRAINC_VERSION="${PROJECT_VERSION}")
if(TRAINC_SANITIZE)
  target_compile_options(trainc_flags INTERFACE -fsanitize=${TRAINC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:Clang>:-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/unsanitized.txt>)
  target_link_options(trainc_flags INTERFACE -fsanitize=${TRAINC_SANITIZE})
endif()
set(TRAINC_COVERAGE "") # coverage instrumentation for fuzzers: of libraries, not of the runtime's tests
if(TRAINC_FUZZ)
  set(TRAINC_COVERAGE -fsanitize=fuzzer-no-link)
endif()

# The heaviest headers of the runtime, compiled once and reused by its libraries.
file(WRITE ${PROJECT_BINARY_DIR}/runtime_pch.cpp "")
add_library(trainc_runtime_pch OBJECT ${PROJECT_BINARY_DIR}/runtime_pch.cpp)
target_link_libraries(trainc_runtime_pch PRIVATE trainc_flags nlohmann_json::nlohmann_json)
target_compile_options(trainc_runtime_pch PRIVATE ${TRAINC_COVERAGE})
set(TRAINC_RUNTIME_HEADERS <algorithm> <functional> <map> <optional> <string> <vector> <fmt/format.h> <nlohmann/json.hpp>
                           ${PROJECT_BINARY_DIR}/plan/schema/plan_generated.h)
target_precompile_headers(trainc_runtime_pch PRIVATE ${TRAINC_RUNTIME_HEADERS})
add_dependencies(trainc_runtime_pch plan_schema_generate)

# trainc_registered_sources(variable registry.def folder): the sources in a folder that the entries MACRO(SOURCE, ...) of a registry name.
function(trainc_registered_sources variable registry folder)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${registry})
  file(STRINGS ${registry} entries REGEX "^TRAINC_[A-Z_]+\\(")
  list(TRANSFORM entries REPLACE "^[A-Z_]+\\(([A-Za-z_0-9]+).*" "${folder}/\\1.cpp")
  list(REMOVE_DUPLICATES entries)
  set(${variable} ${entries} PARENT_SCOPE)
endfunction()

# trainc_registered_folders(registry.def name header.h sources ...): adds the folder of each entry MACRO(FOLDER, ...) of a registry, and defines the
# library NAME_kinds of the registry's table, which links the libraries NAME_FOLDER. The header says by TRAINC_BUILT_FOLDER which exist.
function(trainc_registered_folders registry name header)
  trainc_registered_sources(sources ${registry} .)
  set(built "")
  set(libraries "")
  foreach(source ${sources})
    get_filename_component(folder ${source} NAME_WE)
    add_subdirectory(${folder})
    if(TARGET ${name}_${folder})
      list(APPEND libraries ${name}_${folder})
      string(APPEND built "#define TRAINC_BUILT_${folder} true\n")
    else()
      string(APPEND built "#define TRAINC_BUILT_${folder} false\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${header} CONTENT "${built}")
  trainc_runtime_library(${name}_kinds SOURCES ${ARGN} LINK ${libraries} ${name})
endfunction()

# trainc_runtime_library(name SOURCES a.cpp ... LINK libs ...): one folder of runtime/, free of LLVM.
function(trainc_runtime_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC trainc_flags ${ARG_LINK} Threads::Threads)
  target_compile_options(${name} PRIVATE ${TRAINC_COVERAGE})
  target_precompile_headers(${name} REUSE_FROM trainc_runtime_pch)
endfunction()

# trainc_tool_library(...): a runtime library of tools/. Parsing options and writing reports takes no time, so g++ optimises them less and
# takes a third less time; clang requires the level that the precompiled header has.
function(trainc_tool_library name)
  trainc_runtime_library(${name} ${ARGN})
  target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-O1>)
endfunction()

add_custom_target(runtime_tests COMMENT "All unit tests of the runtime")

# Headers of the runtime's tests, compiled once; the compiler's tests share its own precompiled header. Matchers compile in a third
# of the time without optimisation; the tested code is optimised.
file(WRITE ${PROJECT_BINARY_DIR}/test_pch.cpp "")
add_library(trainc_test_pch OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_pch.cpp)
target_link_libraries(trainc_test_pch PRIVATE trainc_flags nlohmann_json::nlohmann_json GTest::gmock)
target_compile_options(trainc_test_pch PRIVATE -O0)
target_precompile_headers(trainc_test_pch PRIVATE <gmock/gmock.h> <gtest/gtest.h> ${TRAINC_RUNTIME_HEADERS})
add_dependencies(trainc_test_pch plan_schema_generate)

# trainc_unit_test(name SOURCES a.cpp ... LINK libs ... [LABELS label] [EMULATED] [ENVIRONMENT N=V ...]): a GoogleTest program, one ctest
# test per case, labelled `runtime` if the name begins with `base`, `plan` or `runtime`, else `fast`. EMULATED: the program also runs as a whole on the emulated
# device, twice.
function(trainc_unit_test name)
  cmake_parse_arguments(ARG "EMULATED" "" "SOURCES;LINK;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
    if(name MATCHES "^(base|plan|runtime)_")
      set(ARG_LABELS runtime)
    endif()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE trainc_flags ${ARG_LINK} GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE -fPIC) # as the precompiled headers were
  # Alone, a test takes hardly longer to compile than among others, and then compile_alone.sh need not compile it.
  if(NOT TRAINC_SANITIZE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  if(name MATCHES "^(base|plan|runtime)_")
    target_compile_options(${name} PRIVATE -O0)
    target_precompile_headers(${name} REUSE_FROM trainc_test_pch)
    add_dependencies(runtime_tests ${name})
  else()
    target_compile_options(${name} PRIVATE -O0)
    target_precompile_headers(${name} REUSE_FROM trainc_mlir_test_pch)
  endif()
  gtest_discover_tests(${name} NO_PRETTY_VALUES PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300 ENVIRONMENT "${ARG_ENVIRONMENT}")
  if(ARG_EMULATED)
    foreach(seed 1 2)
      add_test(NAME ${name}_emulated_${seed} COMMAND ${name} --gtest_brief=1)
      set_tests_properties(${name}_emulated_${seed} PROPERTIES
        LABELS "${ARG_LABELS}" TIMEOUT 300 ENVIRONMENT "TRAINC_TEST_SEED=${seed}")
    endforeach()
  endif()
endfunction()

# trainc_fuzzer(NAME [SECONDS n] SOURCES a.cpp LINK libs PRECOMPILED target): the libFuzzer program NAME_fuzzer, with the target's precompiled
# header, and a test that runs it for ten seconds, or n, from the seeds in corpus/NAME; built when TRAINC_FUZZ is set.
function(trainc_fuzzer name)
  cmake_parse_arguments(ARG "" "PRECOMPILED;SECONDS" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_SECONDS)
    set(ARG_SECONDS 10)
  endif()
  add_executable(${name}_fuzzer ${ARG_SOURCES})
  target_link_libraries(${name}_fuzzer PRIVATE trainc_flags ${ARG_LINK})
  target_compile_options(${name}_fuzzer PRIVATE -fPIC -O0) # as the precompiled headers were
  target_precompile_headers(${name}_fuzzer REUSE_FROM ${ARG_PRECOMPILED})
  target_link_options(${name}_fuzzer PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name}_fuzzer)
  set(found ${CMAKE_CURRENT_BINARY_DIR}/found/${name})
  file(MAKE_DIRECTORY ${found})
  add_test(NAME fuzz_${name} COMMAND ${name}_fuzzer -seed=1 -max_total_time=${ARG_SECONDS} -timeout=20 -rss_limit_mb=4096 -print_final_stats=1
           -artifact_prefix=${found}/ ${found} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  # The MLIR library is not instrumented: its containers look overflown and its bump allocator poisoned to AddressSanitizer.
  set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT 120
                       ENVIRONMENT "ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0:allow_user_poisoning=0")
endfunction()
