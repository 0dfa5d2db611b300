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
/// pages] is the page.
struct LowerPage : TilePattern<kv::PageOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::PageOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    kv::PageType type = op.getPage().getType();
    kv::StreamAttr stream = type.getStream();
    Value offset =
        at.subtract(adaptor.getToken(), at.index(stream.getOrigin()));
    Value number =
        at.remainder(at.divide(offset, stream.getLayout().getTokens()),
                     stream.getLayout().getPages());
    rewriter.replaceOp(
        op, form.pageOf(at, adaptor.getView(), op.getStream(), number,
                        cast<MemRefType>(typeConverter->convertType(type))));
    return success();
  }
};

} // namespace

void populatePagePatterns(const TileTypeConverter &types,
                          RewritePatternSet &patterns) {
  patterns.add<LowerPage>(types, patterns.getContext());
}

} // namespace kvc
