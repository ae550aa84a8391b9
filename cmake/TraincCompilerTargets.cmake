# Targets that see MLIR: one shared precompiled header, the shared MLIR library, tablegen per dialect.
add_library(trainc_mlir INTERFACE)
target_link_libraries(trainc_mlir INTERFACE trainc_flags MLIR LLVM)
target_include_directories(trainc_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(trainc_mlir INTERFACE -fno-rtti)
endif()
target_compile_options(trainc_mlir INTERFACE -fno-exceptions ${TRAINC_COVERAGE})
if(TRAINC_FUZZ) # it compiles in half the time so, and runs for one fuzzer alone
  target_compile_options(trainc_mlir INTERFACE -O0)
endif()

# The heavy headers of MLIR and of the dialects, compiled once and reused by every compiler library.
file(WRITE ${PROJECT_BINARY_DIR}/mlir_pch.cpp "")
add_library(trainc_mlir_pch OBJECT ${PROJECT_BINARY_DIR}/mlir_pch.cpp)
target_link_libraries(trainc_mlir_pch PUBLIC trainc_mlir)
set(TRAINC_MLIR_HEADERS
  <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/OpImplementation.h>
  <mlir/IR/PatternMatch.h> <mlir/Pass/Pass.h> <mlir/Interfaces/InferTypeOpInterface.h>
  <mlir/Interfaces/SideEffectInterfaces.h> <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/LLVMIR/LLVMDialect.h> <mlir/Dialect/LLVMIR/NVVMDialect.h>
  <mlir/Dialect/SCF/IR/SCF.h> <mlir/Dialect/Vector/IR/VectorOps.h>
  <mlir/Bytecode/BytecodeOpInterface.h> <llvm/ADT/TypeSwitch.h>
  ${PROJECT_SOURCE_DIR}/dialects/Dist/Dist.h ${PROJECT_SOURCE_DIR}/dialects/NN/Builders.h ${PROJECT_SOURCE_DIR}/dialects/Plan/Plan.h
  ${PROJECT_SOURCE_DIR}/plan/settings/settings.h ${PROJECT_SOURCE_DIR}/dialects/Train/Train.h)
target_precompile_headers(trainc_mlir_pch PRIVATE ${TRAINC_MLIR_HEADERS})
add_custom_target(trainc_tablegen)
add_dependencies(trainc_mlir_pch trainc_tablegen)

# The same for the compiler's tests, which are not optimised, as those of the runtime.
file(WRITE ${PROJECT_BINARY_DIR}/mlir_test_pch.cpp "")
add_library(trainc_mlir_test_pch OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/mlir_test_pch.cpp)
target_link_libraries(trainc_mlir_test_pch PRIVATE trainc_mlir GTest::gmock)
target_compile_options(trainc_mlir_test_pch PRIVATE -O0)
target_precompile_headers(trainc_mlir_test_pch PRIVATE <gmock/gmock.h> <gtest/gtest.h> ${TRAINC_MLIR_HEADERS})
add_dependencies(trainc_mlir_test_pch trainc_tablegen)

# trainc_compiler_library(name SOURCES a.cpp ... LINK libs ...): one folder of dialects/ or lib/.
function(trainc_compiler_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC trainc_mlir ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM trainc_mlir_pch)
  if(TARGET trainc_tablegen)
    add_dependencies(${name} trainc_tablegen)
  endif()
endfunction()

# trainc_compiler_tool(name SOURCES a.cpp ... LINK libs ...): a program in bin/ that sees MLIR.
function(trainc_compiler_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE trainc_mlir ${ARG_LINK})
  target_compile_options(${name} PRIVATE -fPIC) # as the precompiled header was, which a program's -fPIE would reject
  target_precompile_headers(${name} REUSE_FROM trainc_mlir_pch)
endfunction()

# trainc_pass_library(Phase SOURCES ... LINK ...): a folder lib/<Phase> with passes described in its Passes.td.
function(trainc_pass_library phase)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name Trainc${phase})
  string(TOLOWER ${phase} lower)
  add_public_tablegen_target(trainc_${lower}_passes_tablegen)
  add_dependencies(trainc_tablegen trainc_${lower}_passes_tablegen)
  trainc_compiler_library(lib_${lower} ${ARGN})
endfunction()

# trainc_dialect(folder dialect): declarations and definitions of a dialect's operations, types and attributes,
# from <folder>Ops.td, into <folder>{Dialect,Ops,Types,Attributes}.{h,cpp}.inc; its own enums, from <folder>Enums.td, if it has some.
function(trainc_dialect folder dialect)
  set(LLVM_TARGET_DEFINITIONS ${folder}Ops.td)
  mlir_tablegen(${folder}Ops.h.inc -gen-op-decls)
  mlir_tablegen(${folder}Ops.cpp.inc -gen-op-defs)
  mlir_tablegen(${folder}Dialect.h.inc -gen-dialect-decls -dialect=${dialect})
  mlir_tablegen(${folder}Dialect.cpp.inc -gen-dialect-defs -dialect=${dialect})
  mlir_tablegen(${folder}Types.h.inc -gen-typedef-decls -typedefs-dialect=${dialect})
  mlir_tablegen(${folder}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${dialect})
  mlir_tablegen(${folder}Attributes.h.inc -gen-attrdef-decls -attrdefs-dialect=${dialect})
  mlir_tablegen(${folder}Attributes.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${dialect})
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}Enums.td)
    set(LLVM_TARGET_DEFINITIONS ${folder}Enums.td)
    mlir_tablegen(${folder}Enums.h.inc -gen-enum-decls)
    mlir_tablegen(${folder}Enums.cpp.inc -gen-enum-defs)
  endif()
  add_public_tablegen_target(trainc_${dialect}_tablegen)
  add_dependencies(trainc_${dialect}_tablegen plan_schema_generate) # cases of enums
  add_dependencies(trainc_tablegen trainc_${dialect}_tablegen)
endfunction()

include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${MLIR_INCLUDE_DIRS})
