#include "bitcycle/io/safetensors.h"

#include "bitcycle/base/error.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxHeader = 100'000'000;  // the limit of the reference implementation
constexpr std::size_t kMaxDepth = 3;             // file, tensor, shape
constexpr const char* kMetadata = "__metadata__";

struct TypeName {
  DataType type;
  const char* name;
  std::size_t size;
};
constexpr TypeName kTypes[] = {{DataType::f64, "F64", 8}, {DataType::f32, "F32", 4},
                               {DataType::f16, "F16", 2}, {DataType::bf16, "BF16", 2},
                               {DataType::i64, "I64", 8}, {DataType::i32, "I32", 4},
                               {DataType::u8, "U8", 1}};

const TypeName& entry_of(DataType type) {
  return *std::ranges::find(kTypes, type, &TypeName::type);
}

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::checkpoint, what);
}

// Where a tensor's bytes stand, counted from the end of the header.
struct Extent {
  std::size_t begin = 0, end = 0;
  std::string name;
};

// As JSON, so that a line break in a name breaks no line.
std::string quoted(const std::string& name) {
  return "tensor " + Json(name).dump();
}

// The JSON value, with what nlohmann lets pass refused: repeated names, and nesting without need.
Json parse_header(std::string_view text) {
  std::vector<std::set<std::string>> names;
  const auto check = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (names.size() > kMaxDepth) fail("its header is nested too deeply");
    if (event == Json::parse_event_t::key && !names.back().insert(value).second) {
      fail("its header has the name " + value.dump() + " twice");
    }
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::exception& error) {
    fail(fmt::format("its header is no valid JSON ({})", error.what()));
  }
}

std::string type_of(const Json& entry, const std::string& name) {
  const auto type = entry.find("dtype");
  if (type == entry.end() || !type->is_string()) fail(quoted(name) + " has no dtype");
  return *type;
}

// An array of whole numbers from 0 to `limit`.
std::vector<std::int64_t> numbers_of(const Json& entry, const char* key, std::size_t limit,
                                     const std::string& name) {
  const auto list = entry.find(key);
  const auto fits = [&](const Json& n) {
    return n.is_number_unsigned() && n.get<std::uint64_t>() <= limit;
  };
  if (list == entry.end() || !list->is_array() || !std::ranges::all_of(*list, fits)) {
    fail(fmt::format("{} needs \"{}\" as a list of whole numbers from 0 to {}", quoted(name), key,
                     limit));
  }
  return *list;
}

// Elements times element size; saturates above `limit`, so that no product overflows.
std::size_t byte_count(const std::vector<std::int64_t>& shape, DataType type, std::size_t limit) {
  if (std::ranges::count(shape, 0) != 0) return 0;
  std::size_t bytes = size_of(type);
  for (const std::int64_t n : shape) {
    if (static_cast<std::size_t>(n) > limit / bytes) return limit + 1;
    bytes *= static_cast<std::size_t>(n);
  }
  return bytes;
}

Extent extent_of(const Json& entry, std::size_t data_size, const std::string& name) {
  const auto offsets = numbers_of(entry, "data_offsets", data_size, name);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    fail(quoted(name) + " needs \"data_offsets\" as [begin, end]");
  }
  return {static_cast<std::size_t>(offsets[0]), static_cast<std::size_t>(offsets[1]), name};
}

void require_no_holes(std::vector<Extent> extents, std::size_t data_size) {
  std::ranges::sort(extents, {}, [](const Extent& e) { return std::tuple(e.begin, e.end); });
  std::size_t position = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != position) {
      fail(fmt::format("{} starts at byte {} of the data, expected {}", quoted(extent.name),
                       extent.begin, position));
    }
    position = extent.end;
  }
  if (position != data_size) {
    fail(fmt::format("it has {} bytes of data, but its tensors take {}", data_size, position));
  }
}

std::map<std::string, std::string> metadata_of(const Json& entry) {
  const auto is_string = [](const Json& value) { return value.is_string(); };
  if (!entry.is_object() || !std::ranges::all_of(entry, is_string)) {
    fail("its __metadata__ must map names to strings");
  }
  return entry;
}

std::size_t header_size(std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes) {
    fail(fmt::format("expected at least 8 bytes, found {}", bytes.size()));
  }
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    size |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  const std::size_t limit = std::min(kMaxHeader, bytes.size() - kLengthBytes);
  if (size > limit) {
    fail(fmt::format("its header claims {} bytes, but only {} can be there", size, limit));
  }
  return size;
}

TensorFile decode(std::span<const std::byte> bytes) {
  const std::size_t size = header_size(bytes);
  const auto header_bytes = bytes.subspan(kLengthBytes, size);
  const auto data = bytes.subspan(kLengthBytes + size);
  const Json header = parse_header({reinterpret_cast<const char*>(header_bytes.data()), size});
  if (!header.is_object()) fail("its header must be a JSON object");

  TensorFile file;
  std::vector<Extent> extents;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      file.metadata = metadata_of(entry);
      continue;
    }
    if (!entry.is_object()) fail(quoted(name) + " must be a JSON object");
    const Extent extent = extents.emplace_back(extent_of(entry, data.size(), name));
    const std::string type = type_of(entry, name);
    const auto shape = numbers_of(entry, "shape", std::numeric_limits<std::int64_t>::max(), name);
    const auto* known = std::ranges::find(kTypes, type, &TypeName::name);
    if (known == std::end(kTypes)) {
      file.unread.emplace(name, type);
      continue;
    }
    if (byte_count(shape, known->type, data.size()) != extent.end - extent.begin) {
      fail(fmt::format("{} has {} bytes, which its shape and dtype contradict", quoted(name),
                       extent.end - extent.begin));
    }
    file.tensors.emplace(name, TensorBytes{known->type, shape, {}});
  }
  // Bytes are copied only once it is certain that no two tensors share them: a small hostile file
  // could otherwise ask for its own size many times over.
  require_no_holes(extents, data.size());
  for (const Extent& extent : extents) {
    const auto tensor = file.tensors.find(extent.name);
    if (tensor == file.tensors.end()) continue;
    const auto part = data.subspan(extent.begin, extent.end - extent.begin);
    tensor->second.bytes.assign(part.begin(), part.end());
  }
  return file;
}

}  // namespace

std::size_t size_of(DataType type) {
  return entry_of(type).size;
}

std::string_view name_of(DataType type) {
  return entry_of(type).name;
}

std::vector<std::byte> encode_safetensors(const TensorFile& file) {
  Json header = Json::object();
  if (!file.metadata.empty()) header[kMetadata] = file.metadata;
  std::size_t position = 0;
  for (const auto& [name, tensor] : file.tensors) {
    assert(name != kMetadata);
    assert(byte_count(tensor.shape, tensor.type, tensor.bytes.size()) == tensor.bytes.size());
    const std::size_t end = position + tensor.bytes.size();
    header[name] = {{"dtype", entry_of(tensor.type).name},
                    {"shape", tensor.shape},
                    {"data_offsets", {position, end}}};
    position = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');

  std::vector<std::byte> bytes;
  bytes.reserve(kLengthBytes + text.size() + position);
  for (std::size_t i = 0; i < kLengthBytes; ++i) bytes.push_back(std::byte(text.size() >> (8 * i)));
  const auto header_bytes = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), header_bytes.begin(), header_bytes.end());
  for (const auto& [name, tensor] : file.tensors) {
    bytes.insert(bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
  }
  return bytes;
}

TensorFile decode_safetensors(std::span<const std::byte> bytes, const std::string& origin) {
  try {
    return decode(bytes);
  } catch (const Error& error) {
    throw Error(error.code(), origin + " is no valid safetensors file: " + error.what(),
                "It is truncated or damaged, or of another format: use another copy.");
  }
}

}  // namespace bitcycle
