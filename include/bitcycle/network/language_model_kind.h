#pragma once

// The language models by name. What follows from the kind (task, sizes, usual data) is in
// bitcycle/config/task_kind.h, the modules are in bitcycle/models/language/.

#include <optional>
#include <span>
#include <string_view>

namespace bitcycle {

enum class LanguageModelKind { lstm, transformer };

struct LanguageModelEntry {
  LanguageModelKind kind;
  std::string_view name;
  std::string_view summary;
};
// What `bitcycle models` lists.
std::span<const LanguageModelEntry> language_models();

std::string_view name(LanguageModelKind kind);
// None for names of other models.
std::optional<LanguageModelKind> language_model_kind(std::string_view model);

}  // namespace bitcycle
