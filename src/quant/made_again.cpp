#include "quant/made_again.h"

namespace bitcycle {

void MadeAgain::let_go() {
  if (values_.defined()) values_.storage().set_data_ptr(at::DataPtr());
}

void MadeAgain::have() {
  if (!values_.defined()) return;
  const at::Tensor values = std::exchange(values_, {});
  const auto steps = std::exchange(steps_, {});
  const at::Storage& storage = values.storage();
  if (storage.data() != nullptr) return;
  storage.set_data_ptr(storage.allocator()->allocate(storage.nbytes()));
  for (const auto& step : steps) step();
}

}  // namespace bitcycle
