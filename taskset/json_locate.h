// Where the values of a JSON text are. Internal to the library; used only once there is an error to report.
#pragma once

#include "taskset/json_document.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace rtgpu {

// Counted from 1; the column in bytes. A byte-order mark at the start of the text has no column.
struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};

// The length of the byte-order mark that the text starts with: 3, or 0 if there is none.
std::size_t byte_order_mark(std::string_view text);

TextPlace place_of(std::string_view text, std::size_t offset);

// The places of values, given by their nodes in ascending order. The text must be JSON up to the last of them.
std::vector<TextPlace> locate(std::string_view text, const std::vector<NodeId>& nodes);

}  // namespace rtgpu
