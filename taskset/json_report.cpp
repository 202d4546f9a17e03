#include "taskset/json_report.h"

#include "taskset/json_locate.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {

Error more_errors(std::size_t count) {
  return Error{ErrorCode::limit, {}, fmt::format("{} more errors", count), "none", "Mend the ones above first."};
}

void JsonReport::add(JsonValue at, ErrorCode code, std::string found, std::string expected, std::string advice) {
  if (!keeps_more()) return add_uncounted(1);
  Place place;
  place.pointer = document_.pointer(at.id());
  add_at(at.id(), Error{code, std::move(place), std::move(found), std::move(expected), std::move(advice)});
}

void JsonReport::add_missing(JsonValue object, std::string_view key, std::string expected, std::string advice) {
  if (!keeps_more()) return add_uncounted(1);
  Place place;
  place.pointer = document_.pointer(object.id()) + "/" + pointer_token(key);
  add_at(object.id(), Error{ErrorCode::missing, std::move(place), "nothing", std::move(expected), std::move(advice)});
}

void JsonReport::add_at(NodeId node, Error error) {
  if (keeps_more()) items_.push_back({node, std::move(error)});
  ++count_;
}

Errors JsonReport::take(std::string_view text, const TextOrigin& origin) {
  std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.node < b.node; });
  if (items_.size() > kMaxShownErrors) items_.resize(kMaxShownErrors);
  std::vector<NodeId> nodes;
  for (const Item& item : items_) nodes.push_back(item.node);
  const std::vector<TextPlace> places = locate(text, nodes);
  Errors errors;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Place& place = items_[i].error.place;
    place.source = origin.source;
    place.line = origin.first_line - 1 + places[i].line;
    place.column = places[i].column;
    errors.push_back(std::move(items_[i].error));
  }
  if (count_ > errors.size()) {
    errors.push_back(more_errors(count_ - errors.size()));
    errors.back().place.source = origin.source;
  }
  return errors;
}

}  // namespace rtgpu
