#include "bitcycle/train/tensor_io.h"

#include "bitcycle/base/error.h"

#include <algorithm>
#include <cstring>

namespace bitcycle {
namespace {

constexpr std::pair<at::ScalarType, DataType> kTypes[] = {
    {at::kDouble, DataType::f64},    {at::kFloat, DataType::f32}, {at::kHalf, DataType::f16},
    {at::kBFloat16, DataType::bf16}, {at::kLong, DataType::i64},  {at::kInt, DataType::i32},
    {at::kByte, DataType::u8}};

DataType stored_type(at::ScalarType type) {
  for (const auto& [torch_type, stored] : kTypes) {
    if (torch_type == type) return stored;
  }
  TORCH_CHECK(false, "tensors of type ", type, " cannot be stored");
}

TensorBytes to_bytes(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().cpu().contiguous();
  TensorBytes stored{stored_type(plain.scalar_type()), plain.sizes().vec(), {}};
  const auto* data = static_cast<const std::byte*>(plain.data_ptr());
  stored.bytes.assign(data, data + plain.nbytes());
  return stored;
}

[[noreturn]] void mismatch(const std::string& origin, const std::string& what) {
  throw Error(ErrorCode::checkpoint, origin + ": " + what,
              "The checkpoint belongs to another model or optimizer.");
}

}  // namespace

NamedTensors model_state(const torch::nn::Module& model) {
  NamedTensors state;
  for (const auto& item : model.named_parameters()) state.emplace(item.key(), item.value());
  for (const auto& item : model.named_buffers()) state.emplace(item.key(), item.value());
  return state;
}

at::Tensor to_tensor(const TensorBytes& stored) {
  const auto* known =
      std::ranges::find(kTypes, stored.type, &std::pair<at::ScalarType, DataType>::second);
  at::Tensor tensor = at::empty(stored.shape, known->first);
  std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
  return tensor;
}

std::vector<std::byte> encode_tensors(const NamedTensors& tensors) {
  TensorFile file;
  for (const auto& [name, tensor] : tensors) file.tensors.emplace(name, to_bytes(tensor));
  return encode_safetensors(file);
}

void restore_tensors(std::vector<std::byte> bytes, const std::string& origin,
                     const NamedTensors& tensors) {
  const torch::NoGradGuard no_grad;
  const TensorFile file = decode_safetensors(std::move(bytes), origin);
  for (const auto& [name, type] : file.unread) {
    mismatch(origin, "tensor \"" + name + "\" has another shape or type");
  }
  for (const auto& [name, stored] : file.tensors) {
    if (tensors.count(name) == 0) mismatch(origin, "has a tensor \"" + name + "\" too many");
  }
  for (const auto& [name, tensor] : tensors) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end()) mismatch(origin, "lacks the tensor \"" + name + "\"");
    const TensorBytes& stored = found->second;
    if (stored.shape != tensor.sizes().vec() || stored.type != stored_type(tensor.scalar_type())) {
      mismatch(origin, "tensor \"" + name + "\" has another shape or type");
    }
    tensor.detach().copy_(to_tensor(stored));
  }
}

}  // namespace bitcycle
