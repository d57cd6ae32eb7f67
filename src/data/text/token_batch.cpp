#include "bitcycle/data/text/token_batch.h"

#include "bitcycle/base/memory.h"

#include <fmt/format.h>

namespace bitcycle {

Prefetcher<TokenBatch> prefetch(std::shared_ptr<const TokenBatches> batches,
                                const PrefetchOptions& options) {
  const std::int64_t ahead = steps_ahead(options);
  const std::int64_t tokens = batches->batch_tokens();
  constexpr double kBytesPerToken = 2 * sizeof(std::int64_t);
  require_memory(static_cast<std::uint64_t>(static_cast<double>(tokens) *
                                            static_cast<double>(ahead) * kBytesPerToken),
                 fmt::format("preparing {} batches of {} tokens ahead", ahead, tokens),
                 "Lower data.batch_size, the window or data.workers.");
  return {[batches = std::move(batches)](std::int64_t step, TokenBatch used) {
            return batches->make(step, std::move(used));
          },
          options};
}

}  // namespace bitcycle
