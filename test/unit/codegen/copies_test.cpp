// Kernels that move or add rows, against the reference.
#include "test/unit/codegen/cuda_harness.h"

#include <gtest/gtest.h>

using namespace trainc::codegen;
using namespace trainc::codegen::harness;

TEST(Copies, SliceOfColumns) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<3x5x50xf32>) -> tensor<3x5x20xf32> {
    %0 = nn.slice %x dim 2 from 7 size 20 : tensor<3x5x50xf32>
    return %0 : tensor<3x5x20xf32> })",
                              0);
}

TEST(Copies, SliceOfOneLongRow) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<4x40003xi32>) -> tensor<2x40003xi32> {
    %0 = nn.slice %x dim 0 from 1 size 2 : tensor<4x40003xi32>
    return %0 : tensor<2x40003xi32> })",
                              0);
}

TEST(Copies, PadBothSides) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<6x4x33xf32>) -> tensor<6x11x33xf32> {
    %0 = nn.pad %x dim 1 low 5 high 2 : tensor<6x4x33xf32>
    return %0 : tensor<6x11x33xf32> })",
                              0);
}

TEST(Copies, PadOfLongRows) { // several tiles a row, of elements and of zeros
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<2x70001xf32>) -> tensor<2x150003xf32> {
    %0 = nn.pad %x dim 1 low 40001 high 40001 : tensor<2x70001xf32>
    return %0 : tensor<2x150003xf32> })",
                              0);
}

TEST(Copies, PadOfOneColumn) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<9x1xi32>) -> tensor<9x3xi32> {
    %0 = nn.pad %x dim 1 low 1 high 1 : tensor<9x1xi32>
    return %0 : tensor<9x3xi32> })",
                              0, 50);
}

TEST(Copies, SliceOfOneColumn) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<5x9x4xf32>) -> tensor<5x9x1xf32> {
    %0 = nn.slice %x dim 2 from 2 size 1 : tensor<5x9x4xf32>
    return %0 : tensor<5x9x1xf32> })",
                              0);
}

TEST(Copies, Concat) {
  expectTargetsMatchReference(
      R"(func.func @f(%x: tensor<3x7xf32>, %y: tensor<3x40xf32>, %z: tensor<3x1xf32>) -> tensor<3x48xf32> {
    %0 = nn.concat dim 1 %x, %y, %z : tensor<3x7xf32>, tensor<3x40xf32>, tensor<3x1xf32>
    return %0 : tensor<3x48xf32> })",
      0);
}

TEST(Copies, TransposeOfMatrix) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<70x130xf32>) -> tensor<130x70xf32> {
    %0 = nn.transpose %x by [1, 0] : tensor<70x130xf32>
    return %0 : tensor<130x70xf32> })",
                              0);
}

/// As vectors on both sides, on one, and on none, in squares that are not full.
TEST(Copies, TransposeOfVectors) {
  for (const char *type : {"bf16", "f32", "i64", "i1"})
    for (auto [rows, columns] : {std::pair{64, 128}, {72, 144}, {24, 70}, {67, 48}, {33, 65}}) {
      const std::string shape = std::to_string(rows) + "x" + std::to_string(columns) + "x" + type,
                        swapped = std::to_string(columns) + "x" + std::to_string(rows) + "x" + type;
      SCOPED_TRACE(shape);
      expectGpuMatchesReference("func.func @f(%x: tensor<2x" + shape + ">) -> tensor<2x" + swapped +
                                    "> {\n  %0 = nn.transpose %x by [0, 2, 1] : tensor<2x" + shape +
                                    ">\n  return %0 : tensor<2x" + swapped + ">\n}",
                                0);
    }
}

/// Rows that lie apart on both sides.
TEST(Copies, TransposeOfHeads) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<2x40x3x24xbf16>) -> tensor<2x24x3x40xbf16> {
    %0 = nn.transpose %x by [0, 3, 2, 1] : tensor<2x40x3x24xbf16>
    return %0 : tensor<2x24x3x40xbf16> })",
                              0);
}

TEST(Copies, TransposeKeepsRowsTogether) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<2x9x4x16xf32>) -> tensor<2x4x9x16xf32> {
    %0 = nn.transpose %x by [0, 2, 1, 3] : tensor<2x9x4x16xf32>
    return %0 : tensor<2x4x9x16xf32> })",
                              0);
}

TEST(Copies, TransposeInGeneral) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<3x5x7x11xi64>) -> tensor<11x5x3x7xi64> {
    %0 = nn.transpose %x by [3, 1, 0, 2] : tensor<3x5x7x11xi64>
    return %0 : tensor<11x5x3x7xi64> })",
                              0, 1000);
}

TEST(Scatter, AddsRowsInOrderOfIds) {
  expectTargetsMatchReference(
      R"(func.func @f(%t: tensor<12x150xf32>, %i: tensor<4x9xi32>, %u: tensor<4x9x150xf32>) -> tensor<12x150xf32> {
    %0 = nn.scatter_add %u into %t at %i : tensor<4x9x150xf32>, tensor<12x150xf32>, tensor<4x9xi32>
    return %0 : tensor<12x150xf32> })",
      1e-6, 15); // ids from 12 on are skipped
}

/// Three pieces of ids, the last one short, whose few rows have many updates each, in three strips of
/// columns.
TEST(Scatter, ManyUpdatesOfFewRows) {
  expectTargetsMatchReference(
      R"(func.func @f(%t: tensor<5x600xf32>, %i: tensor<1100xi32>, %u: tensor<1100x600xbf16>) -> tensor<5x600xf32> {
    %0 = nn.scatter_add %u into %t at %i : tensor<1100x600xbf16>, tensor<5x600xf32>, tensor<1100xi32>
    return %0 : tensor<5x600xf32> })",
      2e-5, 6); // 183 additions
}

/// More rows than warps, most of them without an update, and columns that no vector divides.
TEST(Scatter, FewUpdatesOfManyRows) {
  expectTargetsMatchReference(
      R"(func.func @f(%t: tensor<5000x3xf32>, %i: tensor<70xi64>, %u: tensor<70x3xf32>) -> tensor<5000x3xf32> {
    %0 = nn.scatter_add %u into %t at %i : tensor<70x3xf32>, tensor<5000x3xf32>, tensor<70xi64>
    return %0 : tensor<5000x3xf32> })",
      1e-6, 6000);
}

/// A table of short numbers is added up aside and rounded once.
TEST(Scatter, TablesOfShortNumbers) {
  expectTargetsMatchReference(
      R"(func.func @f(%t: tensor<7x33xbf16>, %i: tensor<50xi64>, %u: tensor<50x33xbf16>) -> tensor<7x33xbf16> {
    %0 = nn.scatter_add %u into %t at %i : tensor<50x33xbf16>, tensor<7x33xbf16>, tensor<50xi64>
    return %0 : tensor<7x33xbf16> })",
      8e-3, 9); // one ULP
}

TEST(Copies, UnalignedShortNumbers) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<5x35xf16>) -> tensor<5x22xf16> {
    %0 = nn.slice %x dim 1 from 7 size 22 : tensor<5x35xf16>
    return %0 : tensor<5x22xf16> })",
                              0);
}
