//===- Safetensors.cpp - files of named tensors ---------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Safetensors.h"

#include "compiler/files/OutputFile.h"
#include "compiler/harness/Files.h"
#include "compiler/spec/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kvc::harness {

// Several times the header of a trace of 4096 layers. What is read of a header
// takes up to 80 times its bytes.
static constexpr uint64_t largestHeader = uint64_t{1} << 22;
// More than any real tensor has: errors show shapes.
static constexpr size_t mostDimensions = 32;

/// A name of the file in a message: harmless to a terminal, and not long.
static std::string shown(StringRef name) {
  return spec::brief(std::string_view(name.data(), name.size()));
}

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

namespace {
/// Reads the header of one file.
class Header {
public:
  Header(StringRef path, StringRef data) : path(path), data(data) {}
  Error read(StringRef text, StringMap<Tensor> &tensors);

private:
  Error refuse(const Twine &text) const {
    return userError("'" + path + "': " + text);
  }
  Error readTensor(StringRef name, const json::Value &value, Tensor &tensor);
  Error readShape(StringRef name, const json::Object &entry, Tensor &tensor);
  Error readOffsets(StringRef name, const json::Object &entry, Tensor &tensor);
  Error checkOverlaps() const;

  StringRef path, data;
  struct Range {
    uint64_t begin, end;
    std::string name;
  };
  std::vector<Range> ranges;
};
} // namespace

namespace {
/// Looks at a header before it is parsed: the JSON parser calls itself once a
/// level, and keeps the last of several values of a name without a word.
class Scan {
public:
  explicit Scan(StringRef text) : text(text) {}
  /// What is wrong; "" for nothing that this finds.
  std::string run();

private:
  /// The string that begins at `at`, with its quotes; `at` moves behind it.
  StringRef takeString();
  /// Notes a name of the innermost map; false where it has it.
  bool note(StringRef quoted);

  StringRef text;
  size_t at = 0;
  std::vector<StringSet<>> open; ///< the names of each level, of maps alone
};
} // namespace

StringRef Scan::takeString() {
  const size_t begin = at++;
  while (at < text.size() && text[at] != '"')
    at += text[at] == '\\' ? 2 : 1;
  at = std::min(at + 1, text.size());
  return text.slice(begin, at);
}

bool Scan::note(StringRef quoted) {
  // One name may be written in several ways.
  if (!quoted.contains('\\'))
    return open.back().insert(quoted.drop_front().drop_back()).second;
  Expected<json::Value> name = json::parse(quoted);
  if (name && name->getAsString())
    return open.back().insert(*name->getAsString()).second;
  consumeError(name.takeError());
  return true;
}

std::string Scan::run() {
  // Deeper than {name: {shape: [...]}} there are only things of others'.
  constexpr size_t deepest = 8;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      StringRef string = takeString();
      if (!open.empty() && text.drop_front(at).ltrim().starts_with(":") &&
          !note(string))
        return "its header has the name " + shown(string) + " twice";
      continue;
    }
    if (c == '{' || c == '[') {
      if (open.size() == deepest)
        return "its header nests deeper than a safetensors header does";
      open.emplace_back();
    } else if ((c == '}' || c == ']') && !open.empty()) {
      open.pop_back();
    }
    ++at;
  }
  return "";
}

Error Header::read(StringRef text, StringMap<Tensor> &tensors) {
  if (std::string wrong = Scan(text).run(); !wrong.empty())
    return refuse(wrong);
  Expected<json::Value> parsed = json::parse(text);
  if (!parsed)
    return refuse("its header is no JSON: " + toString(parsed.takeError()));
  const json::Object *object = parsed->getAsObject();
  if (!object)
    return refuse("its header is no JSON object");
  for (const auto &[key, value] : *object) {
    StringRef name = key;
    if (name == "__metadata__")
      continue;
    if (Error error = readTensor(shown(name), value, tensors[name]))
      return error;
  }
  return checkOverlaps();
}

Error Header::readTensor(StringRef name, const json::Value &value,
                         Tensor &tensor) {
  const json::Object *entry = value.getAsObject();
  if (!entry)
    return refuse("tensor '" + name + "' is no JSON object");
  auto dtype = entry->getString("dtype");
  if (!dtype)
    return refuse("tensor '" + name + "' has no dtype");
  tensor.dtype = dtype->str();
  tensor.element = parseElement(*dtype);
  if (Error error = readShape(name, *entry, tensor))
    return error;
  return readOffsets(name, *entry, tensor);
}

Error Header::readShape(StringRef name, const json::Object &entry,
                        Tensor &tensor) {
  const json::Array *shape = entry.getArray("shape");
  if (!shape)
    return refuse("tensor '" + name + "' has no shape");
  if (shape->size() > mostDimensions)
    return refuse("tensor '" + name + "' has " + Twine(shape->size()) +
                  " dimensions; the most is " + Twine(mostDimensions));
  int64_t count = 1;
  for (const json::Value &value : *shape) {
    auto extent = value.getAsInteger();
    if (!extent || *extent < 0)
      return refuse("tensor '" + name + "' has a shape that is none");
    // Also where an extent is 0, the others are to be sane.
    if (MulOverflow<int64_t>(count, std::max<int64_t>(1, *extent), count) ||
        count > (int64_t{1} << 56))
      return refuse("tensor '" + name + "' has more elements than can be");
    tensor.shape.push_back(*extent);
  }
  return Error::success();
}

Error Header::readOffsets(StringRef name, const json::Object &entry,
                          Tensor &tensor) {
  const json::Array *offsets = entry.getArray("data_offsets");
  if (!offsets || offsets->size() != 2)
    return refuse("tensor '" + name + "' has no data_offsets [begin, end]");
  auto begin = (*offsets)[0].getAsInteger(), end = (*offsets)[1].getAsInteger();
  const auto size = static_cast<int64_t>(data.size());
  if (!begin || !end || *begin < 0 || *begin > *end || *end > size)
    return refuse("tensor '" + name + "' does not lie within the file's " +
                  Twine(size) + " bytes of data");
  if (tensor.element &&
      tensor.elements() * elementBytes(*tensor.element) != *end - *begin)
    return refuse("tensor '" + name + "' has " + Twine(*end - *begin) +
                  " bytes, its dtype and shape want " +
                  Twine(tensor.elements() * elementBytes(*tensor.element)));
  tensor.bytes = arrayRefFromStringRef(data.slice(*begin, *end));
  if (*begin != *end)
    ranges.push_back({static_cast<uint64_t>(*begin),
                      static_cast<uint64_t>(*end), name.str()});
  return Error::success();
}

Error Header::checkOverlaps() const {
  std::vector<Range> sorted = ranges;
  llvm::sort(sorted, [](const Range &a, const Range &b) {
    return std::tie(a.begin, a.name) < std::tie(b.begin, b.name);
  });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].begin < sorted[i - 1].end)
      return refuse("tensors '" + sorted[i - 1].name + "' and '" +
                    sorted[i].name + "' overlap");
  return Error::success();
}

Expected<SafetensorsFile> SafetensorsFile::open(StringRef path) {
  // A device would be read until memory ends.
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && !sys::fs::is_regular_file(status) &&
      status.type() != sys::fs::file_type::fifo_file)
    return userError("cannot read '" + path + "': it is no file");
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return userError("cannot read '" + path +
                     "': " + buffer.getError().message());
  return read(std::move(*buffer), path);
}

Expected<SafetensorsFile>
SafetensorsFile::read(std::unique_ptr<MemoryBuffer> buffer, StringRef name) {
  SafetensorsFile file;
  file.name = name.str();
  StringRef text = buffer->getBuffer();
  if (text.size() < 8)
    return userError("'" + name + "' is no safetensors file: it has " +
                     Twine(text.size()) + " bytes");
  const uint64_t length = support::endian::read64le(text.data());
  if (length > largestHeader && length <= text.size() - 8)
    return userError("'" + name + "': its header has " + Twine(length) +
                     " bytes; the most is " + Twine(largestHeader));
  if (length > text.size() - 8)
    return userError("'" + name +
                     "' is no safetensors file, or it is cut short: its "
                     "header is to have " +
                     Twine(length) + " bytes, the file has " +
                     Twine(text.size()));
  Header header(name, text.drop_front(8 + length));
  if (Error error = header.read(text.substr(8, length), file.tensors))
    return error;
  file.buffer = std::move(buffer);
  return file;
}

const Tensor *SafetensorsFile::find(StringRef wanted) const {
  auto found = tensors.find(wanted);
  return found == tensors.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void SafetensorsWriter::add(StringRef name, Element element,
                            ArrayRef<int64_t> shape,
                            std::vector<uint8_t> bytes) {
  entries.push_back(
      {name.str(), element, SmallVector<int64_t, 4>(shape), std::move(bytes)});
}

void SafetensorsWriter::addF32(StringRef name, ArrayRef<int64_t> shape,
                               ArrayRef<float> values) {
  add(name, Element::F32, shape, narrow(Element::F32, values));
}

void SafetensorsWriter::addI64(StringRef name, ArrayRef<int64_t> values) {
  std::vector<uint8_t> bytes(values.size() * 8);
  for (auto [i, value] : enumerate(values))
    support::endian::write64le(bytes.data() + 8 * i, value);
  add(name, Element::I64, {static_cast<int64_t>(values.size())},
      std::move(bytes));
}

Error SafetensorsWriter::write(StringRef path) const {
  std::string header;
  raw_string_ostream text(header);
  {
    json::OStream json(text);
    json.object([&] {
      int64_t offset = 0;
      for (const Entry &entry : entries)
        json.attributeObject(entry.name, [&] {
          json.attribute("dtype", elementName(entry.element));
          json.attributeArray("shape", [&] {
            for (int64_t extent : entry.shape)
              json.value(extent);
          });
          json.attributeArray("data_offsets", [&] {
            json.value(offset);
            json.value(offset += static_cast<int64_t>(entry.bytes.size()));
          });
        });
    });
  }
  // Data begins at a multiple of 8, as the format's own writer has it.
  header.resize(alignTo(header.size(), 8), ' ');
  return writeWhole(path, [&](raw_ostream &os) {
    char length[8];
    support::endian::write64le(length, header.size());
    os.write(length, 8);
    os << header;
    for (const Entry &entry : entries)
      os.write(reinterpret_cast<const char *>(entry.bytes.data()),
               entry.bytes.size());
  });
}

} // namespace kvc::harness
