#include "bitcycle/train/weights.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/fingerprint.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/io/file.h"
#include "bitcycle/train/tensor_io.h"
#include "bitcycle/train/train_state.h"

#include "base/json_text.h"
#include "quant/finite_tensor.h"
#include "report/printable.h"

#include <algorithm>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModelFile = "model.safetensors";

[[noreturn]] void refuse_weights(const std::string& what, const std::string& hint) {
  throw Error(ErrorCode::checkpoint, "model.weights: " + what, hint);
}

// Averaged weights stand in a folder of their run.
fs::path owner_of(const fs::path& folder) {
  return folder.filename() == kAveragedFolder ? folder.parent_path() : folder;
}

// Averaged weights have no state of their own.
std::string data_of(const CheckpointFiles& files, const fs::path& directory,
                    std::int64_t step) try {
  constexpr const char* kStateFile = "state.json";
  const auto state = files.find(kStateFile);
  if (state == files.end()) return "";
  const std::string text(reinterpret_cast<const char*>(state->second.data()), state->second.size());
  return train_state_from_json(text, (directory / kStateFile).string(), step).data;
} catch (const Error&) {
  return "";
}

WeightsFile weights_of(const fs::path& run, const CheckpointStore& store, std::int64_t step,
                       CheckpointFiles files) {
  const fs::path directory = store.directory(step);
  const std::string data = data_of(files, directory, step);
  return {directory / kModelFile, owner_of(run), std::move(files[kModelFile]), data};
}

WeightsFile checkpoint_weights(const fs::path& run, std::int64_t step) {
  const CheckpointStore store(run);
  return weights_of(run, store, step, store.load(step));
}

std::int64_t best_step(const CheckpointStore& store, const fs::path& run) {
  const auto step = store.best() ? store.best() : store.latest();
  if (step) return *step;
  refuse_weights("\"" + run.string() + "\" has no checkpoint",
                 "Expected a run directory with checkpoints, a checkpoint, or a safetensors file.");
}

WeightsFile run_weights(const fs::path& run) {
  const CheckpointStore store(run);
  auto [step, files] = store.load_chosen([&] { return best_step(store, run); });
  return weights_of(run, store, step, std::move(files));
}

// The step of RUN/checkpoints/step-00012800.
std::optional<std::int64_t> step_of(const CheckpointStore& store, const fs::path& directory) {
  if (directory.parent_path().filename() != "checkpoints") return std::nullopt;
  for (const std::int64_t step : store.steps()) {
    if (store.directory(step).filename() == directory.filename()) return step;
  }
  return std::nullopt;
}

// The run whose checkpoint a file stands in, if it does.
fs::path run_around(const fs::path& file) {
  const fs::path directory = fs::absolute(file).parent_path();
  const fs::path run = directory.parent_path().parent_path();
  return step_of(CheckpointStore(run), directory) ? owner_of(run) : fs::path();
}

bool begins_with(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() &&
         std::ranges::equal(bytes.first(magic.size()), std::as_bytes(std::span(magic)));
}

std::string quoted(const std::string& name) {
  return "tensor \"" + printable_line(name) + "\"";
}

// What other programs store weights in, by the first bytes of their files; PyTorch's old format is
// a pickle that begins with a number of its own.
void refuse_other_formats(const fs::path& file, std::span<const std::byte> bytes) {
  const char* found = begins_with(bytes, "PK\x03\x04") ? "a zip archive, such as torch.save writes"
                      : begins_with(bytes, "\x80\x02\x8a\x0al\xfc")
                          ? "a pickle, such as torch.save writes"
                      : begins_with(bytes, "\x89HDF\r\n") ? "an HDF5 file"
                      : begins_with(bytes, "\x93NUMPY")   ? "a NumPy array"
                                                          : nullptr;
  if (found == nullptr) return;
  refuse_weights(fmt::format("\"{}\": expected a safetensors file, found {}", file.string(), found),
                 "docs/weights.md has the few lines of Python that make one of it.");
}

// RUN/checkpoints/best.
void refuse_name_of_checkpoint(const fs::path& file, std::span<const std::byte> bytes) {
  if (!begins_with(bytes, "step-")) return;
  const fs::path run = fs::absolute(file).lexically_normal().parent_path().parent_path();
  refuse_weights(
      "\"" + file.string() + "\" names a checkpoint and holds no weights",
      "Give the run's directory, of which the best checkpoint is taken: " + run.string());
}

WeightsFile directory_weights(const fs::path& given) {
  const fs::path directory = given.filename().empty() ? given.parent_path() : given;
  const fs::path run = directory.parent_path().parent_path();
  if (const auto step = step_of(CheckpointStore(run), directory)) {
    return checkpoint_weights(run, *step);
  }
  const fs::path file = directory / kModelFile;
  if (fs::exists(file)) return {file, {}, read_regular_file(file, ErrorCode::checkpoint)};
  return run_weights(directory);
}

bool is_running_range(const std::string& name) {
  return name.ends_with(".running_range") || name.ends_with(".running_zero") ||
         name.ends_with(".steps_tracked");
}

// Variances, ranges and counts of steps.
bool is_never_negative(const std::string& name) {
  return name.ends_with(".running_var") || name.ends_with(".running_range") ||
         name.ends_with(".steps_tracked");
}

std::string smallest_text(const at::Tensor& values) {
  return fmt::format("{:g}", values.min().item<double>());
}

std::string shape_text(const TakenWeights::Shape& shape) {
  if (shape.empty()) return "one number";
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

[[noreturn]] void refuse_shape(const std::string& file, const std::string& name,
                               const TakenWeights::Shape& expected,
                               const TakenWeights::Shape& found) {
  refuse_weights(quoted(name) + ": expected " + shape_text(expected) + ", found " +
                     shape_text(found) + " in " + file,
                 "Only the last layer may have other sizes. Choose the network that these weights "
                 "are of, or other weights.");
}

[[noreturn]] void refuse_names(const std::string& file, const NamedTensors& tensors,
                               const TensorFile& stored) {
  const auto is_range = [](const auto& entry) { return is_running_range(entry.first); };
  const std::string expected = std::ranges::find_if_not(tensors, is_range)->first;
  const std::string found = stored.tensors.empty()
                                ? "none at all"
                                : "\"" + printable_line(stored.tensors.begin()->first) + "\"";
  refuse_weights(file + " has no tensor of this network: expected names such as \"" + expected +
                     "\", found such as " + found,
                 "Names and shapes must be those of the network; `bitcycle cost MODEL --per-layer` "
                 "lists its layers, and docs/weights.md shows how to rename.");
}

// The bytes of a quantized or packed weight would be numbers from 0 to 255 here.
[[noreturn]] void refuse_type(const std::string& file, const std::string& name,
                              const std::string& expected, const std::string& found) {
  refuse_weights(
      quoted(name) + " of " + file + ": expected " + expected + ", found " + printable_line(found),
      "Quantized and packed weights are not read: store what they stand for as float, e.g. "
      "`save_file({k: v.float() for k, v in state.items()}, ...)`, or leave the tensor out.");
}

bool is_real(DataType type) {
  return type == DataType::f64 || type == DataType::f32 || type == DataType::f16 ||
         type == DataType::bf16;
}

// What a tensor of the network can be made from; counts may have become floats on the way.
std::string expected_types(const at::Tensor& tensor) {
  return tensor.is_floating_point() ? "F64, F32, F16 or BF16" : "I64";
}

// One tensor of the network and the values that it will have.
struct Assignment {
  at::Tensor tensor, values;
};

Assignment assignment(const TensorBytes& stored, const at::Tensor& tensor, const std::string& name,
                      const std::string& file) {
  if (tensor.is_floating_point() && !is_real(stored.type)) {
    refuse_type(file, name, expected_types(tensor), std::string(name_of(stored.type)));
  }
  const at::Tensor values = to_tensor(stored).to(tensor.scalar_type());
  if (values.is_floating_point() && !finite_tensor(values)) {
    refuse_weights(quoted(name) + " of " + file + " has values that are not finite",
                   "Use weights of a run that did not diverge.");
  }
  if (is_never_negative(name) && values.lt(0).any().item<bool>()) {
    refuse_weights(
        quoted(name) + " of " + file + ": expected values from 0, found " + smallest_text(values),
        "No training leaves such a one; the file is damaged, or its tensors are mixed "
        "up.");
  }
  return {tensor, values};
}

std::string name_list(const std::vector<std::string>& names) {
  constexpr std::size_t kFew = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(kFew, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + printable_line(names[i]);
  }
  return names.size() > kFew ? text + ", ..." : text;
}

std::string tensor_count(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " tensor" : " tensors");
}

}  // namespace

WeightsFile find_weights(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    refuse_weights("\"" + path.string() + "\" does not exist",
                   "Expected a run directory, a checkpoint, or a safetensors file; a relative path "
                   "counts from the current directory.");
  }
  if (fs::is_directory(path)) return directory_weights(path);
  if (!fs::is_regular_file(path)) {
    refuse_weights("\"" + path.string() + "\" is no regular file",
                   "Expected a run directory, a checkpoint, or a safetensors file.");
  }
  std::vector<std::byte> bytes = read_file(path, ErrorCode::checkpoint);
  refuse_other_formats(path, bytes);
  refuse_name_of_checkpoint(path, bytes);
  return {path, run_around(path), std::move(bytes)};
}

TakenWeights take_weights(const WeightsFile& file, const NamedTensors& tensors,
                          const std::string& last_layer) {
  Fingerprint print;
  print.add(std::span<const std::byte>(file.bytes));
  const TensorFile stored = decode_safetensors(file.bytes, file.path.string());
  TakenWeights result{.file = file.path.string(), .fingerprint = print.text()};
  std::vector<Assignment> assignments;
  for (const auto& [name, tensor] : tensors) {
    const auto shape = tensor.sizes().vec();
    const auto found = stored.tensors.find(name);
    if (const auto unread = stored.unread.find(name); unread != stored.unread.end()) {
      refuse_type(result.file, name, expected_types(tensor), unread->second);
    }
    if (found == stored.tensors.end()) {
      result.afresh.push_back({name, shape, std::nullopt});
    } else if (found->second.shape == shape) {
      result.taken.push_back(name);
      assignments.push_back(assignment(found->second, tensor, name, result.file));
    } else {
      if (!name.starts_with(last_layer + ".")) {
        refuse_shape(result.file, name, shape, found->second.shape);
      }
      result.afresh.push_back({name, shape, found->second.shape});
    }
  }
  if (result.taken.empty()) refuse_names(result.file, tensors, stored);
  for (const auto& [name, values] : stored.tensors) {
    if (!tensors.contains(name)) result.unused.push_back(name);
  }
  for (const auto& [name, type] : stored.unread) result.unused.push_back(name);
  std::ranges::sort(result.unused);
  const torch::NoGradGuard no_grad;
  for (const auto& [tensor, values] : assignments) tensor.detach().copy_(values);
  return result;
}

std::vector<std::string> to_lines(const TakenWeights& weights) {
  std::vector<std::string> absent, resized;
  std::size_t ranges = 0;
  for (const auto& [name, shape, found] : weights.afresh) {
    if (is_running_range(name)) {
      ranges += name.ends_with(".running_range") ? 1 : 0;
    } else if (found) {
      resized.push_back(name + " (" + shape_text(shape) + " here, " + shape_text(*found) +
                        " there)");
    } else {
      absent.push_back(name);
    }
  }
  std::vector<std::string> lines = {"weights: " + tensor_count(weights.taken.size()) + " from " +
                                    weights.file};
  const auto add = [&](const std::vector<std::string>& names, const std::string& what) {
    if (names.empty()) return;
    lines.push_back("weights: " + tensor_count(names.size()) + " " + what + ": " +
                    name_list(names));
  };
  add(resized, "of the last layer afresh");
  add(absent, "afresh that the file lacks");
  if (ranges > 0) {
    lines.push_back("weights: running ranges of " + std::to_string(ranges) +
                    " layers afresh, which the file lacks");
  }
  add(weights.unused, "of the file unused");
  return lines;
}

std::string to_json(const TakenWeights& weights) {
  nlohmann::ordered_json json = {{"file", weights.file},
                                 {"fingerprint", weights.fingerprint},
                                 {"taken", weights.taken},
                                 {"afresh", nlohmann::ordered_json::object()},
                                 {"unused", weights.unused}};
  for (const auto& [name, shape, found] : weights.afresh) {
    json["afresh"][name] = found ? "expected " + shape_text(shape) + ", found " + shape_text(*found)
                                 : "not in the file";
  }
  return json_text(json, 2) + "\n";
}

}  // namespace bitcycle
