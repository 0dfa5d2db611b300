//===- SafetensorsTest.cpp - hostile files, and what is written -----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Safetensors.h"
#include "test/unit/Check.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"

#include <cmath>
#include <ctime>

using namespace kvc::harness;
using namespace kvc::test;
using namespace llvm;

/// The error that a file of this header and data gives; "" for none.
static std::string errorOf(StringRef header, StringRef data,
                           uint64_t length = ~uint64_t{0}) {
  char bytes[8];
  support::endian::write64le(bytes,
                             length == ~uint64_t{0} ? header.size() : length);
  std::string text(bytes, 8);
  text += header;
  text += data;
  auto file = SafetensorsFile::read(
      MemoryBuffer::getMemBufferCopy(text, "memory"), "memory");
  return file ? "" : toString(file.takeError());
}

static bool refuses(StringRef header, StringRef data, StringRef reason) {
  std::string error = errorOf(header, data);
  if (StringRef(error).contains(reason))
    return true;
  std::printf("got: %s\n", error.c_str());
  return false;
}

/// Names that are there twice, in one way of writing them or in two; names
/// that a terminal would act on.
static void testNames() {
  const std::string entry =
      R"(:{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  CHECK(refuses("{\"a\"" + entry + ",\"a\"" + entry + "}", "12345678",
                "the name \"a\" twice"));
  CHECK(refuses("{\"a\"" + entry + ", \"\\u0061\" " + entry + "}", "12345678",
                "twice"));
  CHECK(refuses(
      R"({"a":{"dtype":"F32","shape":[9],"shape":[2],"data_offsets":[0,8]}})",
      "12345678", "the name \"shape\" twice"));
  CHECK(errorOf(R"({"__metadata__":{"a":"a","b":"\"a\":"},"a")" + entry + "}",
                "12345678")
            .empty());
  // Order is free.
  CHECK(errorOf(R"({"b":{"data_offsets":[8,10],"dtype":"F16","shape":[1]},
                    "a":{"data_offsets":[0,8],"shape":[2],"dtype":"F32"}})",
                "1234567890")
            .empty());
  std::string error = errorOf("{\"\\u001b[31m\":3}", "");
  CHECK(StringRef(error).contains("'?[31m' is no JSON object"));
  error = errorOf("{\"" + std::string(100000, 'x') + "\":3}", "");
  CHECK(error.size() < 300 && StringRef(error).contains("no JSON object"));
}

/// What is large is refused soon, and before memory is asked for.
static void testGiants() {
  const size_t most = size_t{1} << 22;
  const std::clock_t start = std::clock();
  auto filled = [](std::string head, StringRef unit, size_t bytes,
                   StringRef tail) {
    while (head.size() + unit.size() + tail.size() <= bytes)
      head += unit;
    return head + tail.str();
  };
  CHECK(refuses(std::string(100'000'000, '['), "", "the most is 4194304"));
  CHECK(refuses(std::string(most, '['), "", "nests deeper"));
  CHECK(refuses(filled("{\"a\":[", "0,", most, "0]}"), "", "no JSON object"));
  CHECK(refuses(filled("{\"a\":{\"dtype\":\"F32\",\"shape\":[", "1,", most,
                       "1],\"data_offsets\":[0,4]}}"),
                "1234", "dimensions; the most is 32"));
  CHECK(refuses(filled("{", "\"a\":1,", most, "\"b\":1}"), "", "twice"));
  std::string many;
  for (int i = 0; many.size() < most - 100; ++i)
    many += (i ? ",\"k" : "{\"k") + std::to_string(i) +
            R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  CHECK(refuses(many + "}", "1234", "'k0' and 'k1' overlap"));
  CHECK(refuses(filled("{\"", "\\\"", most, ""), "", "no JSON"));
  CHECK(refuses(std::string(most, '\0'), "", "no JSON"));
  // Each of them within a second; sanitizers may take ten times as long.
  CHECK(double(std::clock() - start) / CLOCKS_PER_SEC < 8 * slowness);
}

static void testHostile() {
  const char *good =
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  CHECK(errorOf(good, "12345678").empty());
  CHECK(errorOf("{}", "").empty());
  CHECK(errorOf(R"({"__metadata__":{"x":"y"}})", "").empty());
  // A type that kvc does not read is no error until somebody asks for it.
  CHECK(errorOf(R"({"a":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[0,3]}})",
                "123")
            .empty());

  CHECK(refuses(good, "1234567", "does not lie within"));
  CHECK(refuses("", "", "no JSON"));
  CHECK(refuses("[]", "", "no JSON object"));
  CHECK(refuses("{\"a\": 3}", "", "no JSON object"));
  CHECK(refuses(std::string(100000, '['), "", "nests deeper"));
  CHECK(refuses(R"({"a":{"shape":[2],"data_offsets":[0,8]}})", "12345678",
                "no dtype"));
  CHECK(refuses(R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", "12345678",
                "no shape"));
  CHECK(refuses(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
                "12345678", "shape that is none"));
  CHECK(refuses(R"({"a":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}})",
                "12345678", "shape that is none"));
  CHECK(refuses(
      R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
      "12345678", "more elements"));
  CHECK(refuses(
      R"({"a":{"dtype":"F32","shape":[0,9223372036854775807,9],"data_offsets":[0,0]}})",
      "", "more elements"));
  CHECK(refuses(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
                "12345678", "does not lie within"));
  CHECK(refuses(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}})",
                "12345678", "does not lie within"));
  CHECK(refuses(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})",
                "12345678", "no data_offsets"));
  CHECK(refuses(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,8]}})",
                "12345678", "its dtype and shape want 4"));
  CHECK(refuses(R"({"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},
                    "b":{"dtype":"F16","shape":[2],"data_offsets":[6,10]}})",
                "1234567890", "overlap"));
  testNames();
  testGiants();
  CHECK(StringRef(errorOf("{}", "", 3)).contains("cut short"));
  CHECK(StringRef(errorOf("{}", "", uint64_t{1} << 63)).contains("cut short"));
  auto tiny = SafetensorsFile::read(
      MemoryBuffer::getMemBufferCopy("1234567", "tiny"), "tiny");
  CHECK(!tiny);
  consumeError(tiny.takeError());
  auto missing = SafetensorsFile::open("/nowhere/at/all.safetensors");
  CHECK(!missing);
  consumeError(missing.takeError());
}

static void testRoundTrip() {
  SmallString<128> path;
  sys::fs::createUniquePath("safetensors-%%%%%%.safetensors", path, true);
  SafetensorsWriter writer;
  writer.addF32("a", {2, 3}, {1, -0.0f, 3, 4, 5, 0x1p-149f});
  writer.addI64("b", {5, -1});
  const std::vector<float> halves = {1.5f, -2, 65504, 0x1p-24f};
  writer.add("c", Element::F16, {4}, narrow(Element::F16, halves));
  CHECK(!writer.write(path));
  auto file = SafetensorsFile::open(path);
  if (CHECK(bool(file))) {
    CHECK(file->size() == 3 && !file->find("d"));
    const Tensor *a = file->find("a"), *b = file->find("b"),
                 *c = file->find("c");
    CHECK(a && a->element == Element::F32 && a->shape.size() == 2 &&
          a->shape[1] == 3);
    std::vector<float> values = widen(Element::F32, a->bytes.data(), 6);
    CHECK(values[5] == 0x1p-149f && std::signbit(values[1]));
    CHECK(b && static_cast<int64_t>(
                   support::endian::read64le(b->bytes.data() + 8)) == -1);
    CHECK(c && widen(Element::F16, c->bytes.data(), 4) == halves);
  } else {
    consumeError(file.takeError());
  }
  sys::fs::remove(path);
  Error error = writer.write("/nowhere/at/all.safetensors");
  CHECK(bool(error));
  consumeError(std::move(error));
}

/// Every f16 survives; ties go to even; neighbours of the range's ends.
static void testRounding() {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint8_t bytes[2] = {uint8_t(bits), uint8_t(bits >> 8)};
    std::vector<float> wide = widen(Element::F16, bytes, 1);
    if (std::isnan(wide[0]))
      continue;
    std::vector<uint8_t> back = narrow(Element::F16, wide);
    if (back[0] != bytes[0] || back[1] != bytes[1]) {
      CHECK(!"an f16 changes on its way");
      break;
    }
  }
  std::vector<float> values = {1 + 0x1p-11f, 1 + 0x3p-11f, 65519, 65520,
                               0x1p-25f,     0x1.8p-25f,   -0.0f};
  roundTo(Element::F16, values);
  CHECK(values[0] == 1 && values[1] == 1 + 0x1p-9f && values[2] == 65504);
  CHECK(std::isinf(values[3]) && values[4] == 0 && values[5] == 0x1p-24f);
  CHECK(std::signbit(values[6]));
  std::vector<float> brains = {1 + 0x1p-8f, 1 + 0x3p-8f, 0x1p-133f};
  roundTo(Element::BF16, brains);
  CHECK(brains[0] == 1 && brains[1] == 1 + 0x1p-6f && brains[2] == 0x1p-133f);
  CHECK(halfUlp(Element::F32, 1.5) == 0x1p-24);
  CHECK(halfUlp(Element::F32, 0) == 0x1p-150);
  CHECK(halfUlp(Element::F16, -3) == 0x1p-10);
}

int main() {
  testHostile();
  testRoundTrip();
  testRounding();
  return kvc::test::checkResult();
}
