#pragma once

// The planes of rows of codes of any width (Note [Wide errors] in
// bitcycle/kernels/integer/code_planes.h).

#include "bitcycle/kernels/integer/code_planes.h"
#include "bitcycle/kernels/integer/linear.h"

#include <vector>

namespace bitcycle::integer {

struct RowPlane {
  RowCodes codes;
  int worth = 1;
};

inline std::vector<RowPlane> planes_of(const RowCodes& codes) {
  std::vector<RowPlane> planes;
  const std::uint8_t* data = codes.data;
  for (const CodePlane& plane : planes_of(codes.params)) {
    planes.push_back({{data, codes.rows, codes.width, plane.params}, plane.worth});
    data += std::ptrdiff_t{codes.rows} * codes.width;
  }
  return planes;
}

}  // namespace bitcycle::integer
