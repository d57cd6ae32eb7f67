#pragma once

// Command lines that are suggested get pasted, so their words are written as a shell reads them.

#include <string>

namespace bitcycle::cli {

// `word` itself, within '' where it has characters that mean something to a shell.
std::string shell_word(const std::string& word);

}  // namespace bitcycle::cli
