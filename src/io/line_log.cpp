#include "bitcycle/io/line_log.h"

#include <string>

namespace bitcycle {

void LineLog::append(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  file_.append(std::as_bytes(std::span(text)));
}

}  // namespace bitcycle
