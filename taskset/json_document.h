// A JSON document as an immutable tree in flat memory. Internal to the library.
//
// The buffers are kept from one document to the next. Numbers keep their decimal text, so that no value passes through
// floating point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

// Nodes are numbered in the order in which their values start in the text.
using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xFFFFFFFF;

// A part of the document's character pool.
struct TextSpan {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

struct JsonNode {
  JsonKind kind = JsonKind::null;
  NodeId parent = kNoNode;
  NodeId first_child = kNoNode;
  NodeId next = kNoNode;  // sibling
  TextSpan key;           // of a member of an object
  TextSpan text;          // a decoded string, a number as written, true or false
};

class JsonValue;

// A key as a part of a JSON pointer.
std::string pointer_token(std::string_view key);

// Why a text has no tree.
struct JsonFailure {
  enum class Kind : std::uint8_t { syntax, depth, number };
  Kind kind = Kind::syntax;
  std::size_t bytes_read = 0;  // of syntax: up to and including the byte that cannot be
  NodeId node = kNoNode;       // of depth and number: the offending value
};

class JsonDocument {
 public:
  // Replaces the document by that of `text`. The nodes read before a failure remain.
  std::optional<JsonFailure> parse(std::string_view text);

  // Of a document that was parsed without failure.
  JsonValue root() const;
  JsonValue value(NodeId id) const;
  // Members whose key an earlier member of the same object has, in order.
  const std::vector<NodeId>& duplicates() const { return duplicates_; }

  // RFC 6901.
  std::string pointer(NodeId id) const;
  // The node of a pointer that starts at the node `from`, or of the longest part of it that exists.
  NodeId resolve(std::string_view pointer, NodeId from = 0) const;

  const JsonNode& node(NodeId id) const { return nodes_[id]; }
  std::string_view text(TextSpan span) const { return {pool_.data() + span.offset, span.length}; }

 private:
  class Builder;

  NodeId find_child(NodeId parent, std::string_view token) const;

  std::vector<JsonNode> nodes_;
  std::string pool_;
  std::vector<NodeId> duplicates_;
};

// A node of a document that outlives it. Cheap to copy.
class JsonValue {
 public:
  JsonValue(const JsonDocument& document, NodeId id) : document_(&document), id_(id) {}

  NodeId id() const { return id_; }
  JsonKind kind() const { return node().kind; }
  std::string_view key() const { return document_->text(node().key); }
  std::string_view text() const { return document_->text(node().text); }

  // The elements of an array or the members of an object, in order.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = JsonValue;
    using difference_type = std::ptrdiff_t;
    using pointer = const JsonValue*;
    using reference = JsonValue;

    Iterator(const JsonDocument& document, NodeId id) : document_(&document), id_(id) {}
    JsonValue operator*() const { return {*document_, id_}; }
    Iterator& operator++() {
      id_ = document_->node(id_).next;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.id_ == b.id_; }

   private:
    const JsonDocument* document_;
    NodeId id_;
  };
  Iterator begin() const { return {*document_, node().first_child}; }
  Iterator end() const { return {*document_, kNoNode}; }
  bool empty() const { return node().first_child == kNoNode; }
  std::size_t size() const;  // linear

 private:
  const JsonNode& node() const { return document_->node(id_); }

  const JsonDocument* document_;
  NodeId id_;
};

}  // namespace rtgpu
