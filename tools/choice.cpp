#include "tools/choice.h"

#include <fmt/format.h>

namespace rtgpu {

Error choice_error(std::string_view option, std::string_view found, const std::vector<std::string_view>& expected) {
  Error error;
  error.code = ErrorCode::value;
  error.place.source = option;
  error.found = fmt::format("'{}'", found);
  error.expected = fmt::format("one of {}", fmt::join(expected, ", "));
  const std::string_view near = nearest(found, expected);
  if (!near.empty()) error.advice = fmt::format("Did you mean '{}'?", near);
  return error;
}

}  // namespace rtgpu
