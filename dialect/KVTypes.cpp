//===- KVTypes.cpp - values of both levels --------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVTypes.h"
#include "dialect/KVDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

/// Extents print as `3x64`, which a tile of more than two would not be.
static ParseResult parseExtents(AsmParser &parser, int64_t &rows,
                                int64_t &columns) {
  SmallVector<int64_t> extents;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(extents, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  if (extents.size() != 2)
    return parser.emitError(loc, "expected rows x columns, as in 3x64");
  rows = extents[0];
  columns = extents[1];
  return success();
}

static void printExtents(AsmPrinter &printer, int64_t rows, int64_t columns) {
  printer << rows << 'x' << columns;
}

#define GET_TYPEDEF_CLASSES
#include "dialect/KVTypes.cpp.inc"

namespace kvc::kv {

void KVDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/KVTypes.cpp.inc"
      >();
}

static LogicalResult
verifyExtents(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t rows,
              int64_t columns) {
  constexpr int64_t Most = int64_t(1) << 24;
  if (rows < 1 || columns < 1 || rows > Most || columns > Most)
    return emitError() << "rows and columns are 1 to " << Most << ", not "
                       << rows << "x" << columns;
  return success();
}

LogicalResult TileType::verify(llvm::function_ref<InFlightDiagnostic()> error,
                               int64_t rows, int64_t columns, Type element) {
  if (element && !element.isInteger(16) && !element.isInteger(8))
    return error() << "whole numbers are i16 or i8, not " << element;
  return verifyExtents(error, rows, columns);
}

LogicalResult StateType::verify(llvm::function_ref<InFlightDiagnostic()> error,
                                int64_t rows, int64_t columns) {
  return verifyExtents(error, rows, columns);
}

} // namespace kvc::kv
