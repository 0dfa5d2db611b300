//===- LowerPage.cpp - the page that holds a token ------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"

using namespace mlir;

namespace kvc {

namespace {

/// A view is a table of page tables: view[stream][(token - origin) / tokens %
/// pages] is the page. The memref that stands for it is built by hand, since
/// the page's words are known and its address is not.
struct LowerPage : TilePattern<kv::PageOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::PageOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Lanes at(rewriter, loc, lanes);
    kv::StreamAttr stream = op.getPage().getType().getStream();
    kv::PageLayout layout(stream);
    Type pointer = LLVM::LLVMPointerType::get(op.getContext());
    Type i64 = rewriter.getI64Type();

    auto entry = [&](Value table, Value number) -> Value {
      Value place = LLVM::GEPOp::create(rewriter, loc, pointer, pointer, table,
                                        ArrayRef<LLVM::GEPArg>{number});
      return LLVM::LoadOp::create(rewriter, loc, pointer, place);
    };
    auto integer = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(rewriter, loc, i64, value);
    };
    Value offset =
        at.subtract(adaptor.getToken(), at.index(stream.getOrigin()));
    Value number = at.remainder(at.divide(offset, layout.layout.getTokens()),
                                layout.layout.getPages());
    number = arith::IndexCastOp::create(rewriter, loc, i64, number);
    Value table = entry(adaptor.getView(), integer(op.getStream()));
    Value page = entry(table, number);

    // {allocated, aligned, offset, sizes, strides}
    auto array = LLVM::LLVMArrayType::get(i64, 1);
    auto type = LLVM::LLVMStructType::getLiteral(
        op.getContext(), {pointer, pointer, i64, array, array});
    Value descriptor = LLVM::PoisonOp::create(rewriter, loc, type);
    auto put = [&](Value value, ArrayRef<int64_t> place) {
      descriptor =
          LLVM::InsertValueOp::create(rewriter, loc, descriptor, value, place);
    };
    put(page, {0});
    put(page, {1});
    put(integer(0), {2});
    put(integer(layout.pageWords), {3, 0});
    put(integer(1), {4, 0});
    rewriter.replaceOpWithNewOp<UnrealizedConversionCastOp>(
        op, typeConverter->convertType(op.getPage().getType()), descriptor);
    return success();
  }
};

} // namespace

void populatePagePatterns(const TileTypeConverter &types,
                          RewritePatternSet &patterns) {
  patterns.add<LowerPage>(types, patterns.getContext());
}

} // namespace kvc
