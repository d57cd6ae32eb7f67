#pragma once

// The binary form of CIFAR-10 and CIFAR-100: records without a header, each one or two label bytes
// followed by 32 x 32 pictures stored colour by colour.

#include "data/memory_dataset.h"

#include <cstddef>
#include <span>
#include <string>

namespace bitcycle {

enum class CifarKind { cifar10, cifar100 };

// No pictures yet, but the shape and the classes of the kind.
PackedImages empty_cifar(CifarKind kind);

// Appends the pictures of one file. Throws Error(data) naming `origin`.
void append_cifar(std::span<const std::byte> bytes, CifarKind kind, const std::string& origin,
                  PackedImages& images);

}  // namespace bitcycle
