//===- Safetensors.cpp - files of named tensors ---------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Safetensors.h"

#include "compiler/harness/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kvc::harness {

// More than any real file has; the format's own readers have the same limit.
static constexpr uint64_t largestHeader = 100'000'000;

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

/// Whether brackets nest no deeper than a header's do: the JSON parser calls
/// itself once a level.
static bool isShallow(StringRef text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > 8)
        return false;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

Error Header::read(StringRef text, StringMap<Tensor> &tensors) {
  if (!isShallow(text))
    return refuse("its header nests deeper than a safetensors header does");
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
    if (Error error = readTensor(name, value, tensors[name]))
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
  llvm::sort(sorted,
             [](const Range &a, const Range &b) { return a.begin < b.begin; });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].begin < sorted[i - 1].end)
      return refuse("tensors '" + sorted[i - 1].name + "' and '" +
                    sorted[i].name + "' overlap");
  return Error::success();
}

Expected<SafetensorsFile> SafetensorsFile::open(StringRef path) {
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
  if (length > largestHeader || length > text.size() - 8)
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
  return writeAtomically(path, [&](raw_ostream &os) {
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
