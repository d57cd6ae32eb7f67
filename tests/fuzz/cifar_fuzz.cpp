// Any bytes are a CIFAR file or damaged; the first byte chooses the kind.

#include "data/cifar.h"
#include "fuzz/data_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  if (size == 0) return 0;
  const CifarKind kind = data[0] % 2 == 0 ? CifarKind::cifar10 : CifarKind::cifar100;
  expect_value_or_data_error([&] {
    PackedImages images = empty_cifar(kind);
    append_cifar(input_of(data, size).subspan(1), kind, "input", images);
    for (int label : images.labels) expect(label < images.classes);
    expect(images.pixels.size() == images.labels.size() * 3072);
  });
  return 0;
}
