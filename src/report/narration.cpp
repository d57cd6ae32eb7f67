#include "bitcycle/report/narration.h"

namespace bitcycle {

void narrate(std::string_view text, std::FILE* stream) {
  [[maybe_unused]] const std::size_t written = std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

}  // namespace bitcycle
