#include "taskset/json_document.h"

#include "taskset/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;

// The identifier that nlohmann::json gives to a number beyond the range of a double.
constexpr int kNumberOverflow = 406;

// Objects up to this size are searched for duplicate keys by comparing all pairs, which is faster than sorting.
constexpr std::size_t kFewMembers = 16;

std::string unescaped_token(std::string_view token) {
  std::string plain;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size()) {
      plain += token[++i] == '1' ? '/' : '~';
    } else {
      plain += token[i];
    }
  }
  return plain;
}

}  // namespace

std::string pointer_token(std::string_view key) {
  std::string escaped;
  for (const char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Receives the events of nlohmann::json's parser, whose interface fixes the names and the parameters.
class JsonDocument::Builder {
 public:
  explicit Builder(JsonDocument& document) : document_(document) {}

  const std::optional<JsonFailure>& failure() const { return failure_; }

  bool null() { return add(JsonKind::null, "null"); }
  bool boolean(bool value) { return add(JsonKind::boolean, value ? "true" : "false"); }
  bool number_integer(json::number_integer_t value) { return add_integer(value); }
  bool number_unsigned(json::number_unsigned_t value) { return add_integer(value); }
  bool number_float(json::number_float_t /*value*/, const std::string& text) { return add(JsonKind::number, text); }
  bool string(const std::string& value) { return add(JsonKind::string, value); }
  bool binary(const json::binary_t& /*value*/) { return false; }

  bool start_object(std::size_t /*size*/) { return open(JsonKind::object); }
  bool start_array(std::size_t /*size*/) { return open(JsonKind::array); }
  bool end_array() { return close(); }
  bool end_object() {
    find_duplicates(open_.back().node);
    return close();
  }

  bool key(const std::string& name) {
    key_ = store(name);
    return true;
  }

  bool parse_error(std::size_t bytes_read, const std::string& token, const json::exception& error) {
    if (error.id == kNumberOverflow) {
      add(JsonKind::number, token);
      failure_ = JsonFailure{JsonFailure::Kind::number, bytes_read, last_node()};
    } else {
      failure_ = JsonFailure{JsonFailure::Kind::syntax, bytes_read, kNoNode};
    }
    return false;
  }

 private:
  struct Level {
    NodeId node;
    NodeId last_child;
    std::size_t size;
  };

  NodeId last_node() const { return static_cast<NodeId>(document_.nodes_.size() - 1); }

  TextSpan store(std::string_view text) {
    const TextSpan span{static_cast<std::uint32_t>(document_.pool_.size()), static_cast<std::uint32_t>(text.size())};
    document_.pool_.append(text);
    return span;
  }

  bool add(JsonKind kind, std::string_view text) {
    JsonNode node;
    node.kind = kind;
    node.text = store(text);
    append(node);
    return true;
  }

  template <class Integer>
  bool add_integer(Integer value) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return add(JsonKind::number, {digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
  }

  void append(JsonNode node) {
    const auto id = static_cast<NodeId>(document_.nodes_.size());
    if (!open_.empty()) {
      Level& level = open_.back();
      node.parent = level.node;
      node.key = key_;
      NodeId& link =
          level.size == 0 ? document_.nodes_[level.node].first_child : document_.nodes_[level.last_child].next;
      link = id;
      level.last_child = id;
      ++level.size;
    }
    document_.nodes_.push_back(node);
  }

  bool open(JsonKind kind) {
    JsonNode node;
    node.kind = kind;
    append(node);
    if (open_.size() == kMaxDepth) {
      failure_ = JsonFailure{JsonFailure::Kind::depth, 0, last_node()};
      return false;
    }
    open_.push_back({last_node(), kNoNode, 0});
    key_ = TextSpan{};
    return true;
  }

  bool close() {
    open_.pop_back();
    key_ = TextSpan{};
    return true;
  }

  void find_duplicates(NodeId object) {
    if (open_.back().size <= kFewMembers) {
      compare_all_keys(object);
    } else {
      sort_keys(object);
    }
  }

  std::string_view key_of(NodeId id) const { return document_.text(document_.nodes_[id].key); }

  void compare_all_keys(NodeId object) {
    for (const JsonValue member : document_.value(object)) {
      const std::string_view name = member.key();
      for (NodeId other = document_.nodes_[object].first_child; other != member.id();
           other = document_.nodes_[other].next) {
        if (key_of(other) != name) continue;
        document_.duplicates_.push_back(member.id());
        break;
      }
    }
  }

  void sort_keys(NodeId object) {
    std::vector<std::pair<std::string_view, NodeId>> members;
    for (const JsonValue member : document_.value(object)) members.emplace_back(member.key(), member.id());
    std::sort(members.begin(), members.end());
    for (std::size_t i = 1; i < members.size(); ++i) {
      if (members[i].first == members[i - 1].first) document_.duplicates_.push_back(members[i].second);
    }
  }

  JsonDocument& document_;
  std::vector<Level> open_;
  TextSpan key_;
  std::optional<JsonFailure> failure_;
};

std::optional<JsonFailure> JsonDocument::parse(std::string_view text) {
  nodes_.clear();
  pool_.clear();
  duplicates_.clear();
  Builder builder(*this);
  json::sax_parse(text.data(), text.data() + text.size(), &builder);
  if (builder.failure()) return builder.failure();
  // To the parser a NUL byte is the end of the text; it must not hide what follows.
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) return JsonFailure{JsonFailure::Kind::syntax, nul + 1, kNoNode};
  std::sort(duplicates_.begin(), duplicates_.end());
  return std::nullopt;
}

JsonValue JsonDocument::root() const {
  return {*this, 0};
}

JsonValue JsonDocument::value(NodeId id) const {
  return {*this, id};
}

std::string JsonDocument::pointer(NodeId id) const {
  std::string pointer;
  for (; nodes_[id].parent != kNoNode; id = nodes_[id].parent) {
    const JsonValue parent = value(nodes_[id].parent);
    std::string token;
    if (parent.kind() == JsonKind::object) {
      token = pointer_token(value(id).key());
    } else {
      std::size_t index = 0;
      for (auto it = parent.begin(); (*it).id() != id; ++it) ++index;
      token = std::to_string(index);
    }
    pointer.insert(0, "/" + token);
  }
  return pointer;
}

NodeId JsonDocument::find_child(NodeId parent, std::string_view token) const {
  const bool object = nodes_[parent].kind == JsonKind::object;
  const std::string name = object ? unescaped_token(token) : std::string();
  std::size_t index = 0;
  if (!object) std::from_chars(token.data(), token.data() + token.size(), index);
  for (const JsonValue child : value(parent)) {
    if (object ? child.key() == name : index == 0) return child.id();
    --index;
  }
  return kNoNode;
}

NodeId JsonDocument::resolve(std::string_view pointer, NodeId from) const {
  NodeId at = from;
  while (pointer.starts_with('/')) {
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    const NodeId child = find_child(at, token);
    if (child == kNoNode) break;
    at = child;
  }
  return at;
}

std::size_t JsonValue::size() const {
  std::size_t count = 0;
  for (auto it = begin(); !(it == end()); ++it) ++count;
  return count;
}

}  // namespace rtgpu
