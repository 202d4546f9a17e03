#include "taskset/importers/xml.h"

#include "taskset/json_locate.h"
#include "taskset/json_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::string_view kXmlBlanks = " \t\r\n";

struct XmlEntity {
  std::string_view written;
  char meant;
};
constexpr std::array kXmlEntities = {XmlEntity{"&lt;", '<'}, XmlEntity{"&gt;", '>'}, XmlEntity{"&amp;", '&'},
                                     XmlEntity{"&quot;", '"'}, XmlEntity{"&apos;", '\''}};

bool is_name_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || byte >= 0x80 || c == '_' ||
         c == '-' || c == '.' || c == ':';
}

// Reads from the front; the first error is kept, and every later step does nothing.
class XmlReader {
 public:
  XmlReader(std::string_view text, const std::string& source) : rest_(text), source_(source) {
    rest_.remove_prefix(byte_order_mark(text));
  }

  Result<XmlElement> read() {
    XmlElement root;
    if (skip_to_element() && read_element(root, 1)) {
      skip_to_element();
      if (!error_ && !rest_.empty()) fail(show_next(), "nothing after the root element");
    } else if (!error_) {
      fail(show_next(), "an element, such as <taskset>");
    }
    if (error_) return *std::move(error_);
    return root;
  }

 private:
  bool fail(std::string found, std::string expected, ErrorCode code = ErrorCode::syntax) {
    if (!error_) error_ = Error{code, Place{source_, "", line_, column_}, std::move(found), std::move(expected), ""};
    return false;
  }

  std::string show_next() const { return rest_.empty() ? "the end" : in_quotes(rest_.substr(0, 1)); }

  void skip(std::size_t count) {
    for (const char c : rest_.substr(0, count)) {
      column_ = c == '\n' ? 1 : column_ + 1;
      if (c == '\n') ++line_;
    }
    rest_.remove_prefix(count);
  }

  bool skip_blanks() {
    const std::size_t count = std::min(rest_.find_first_not_of(kXmlBlanks), rest_.size());
    skip(count);
    return count > 0;
  }

  bool skip_word(std::string_view word) {
    if (!rest_.starts_with(word)) return fail(show_next(), fmt::format("'{}'", word));
    skip(word.size());
    return true;
  }

  bool skip_beyond(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) return fail("no end of a comment or an instruction", fmt::format("'{}'", end));
    skip(at + end.size());
    return true;
  }

  // Skips what stands between elements. Whether a tag follows.
  bool skip_to_element() {
    for (;;) {
      skip_blanks();
      if (rest_.starts_with("<!--")) {
        if (!skip_beyond("-->")) return false;
      } else if (rest_.starts_with("<?")) {
        if (!skip_beyond("?>")) return false;
      } else if (rest_.starts_with("<!")) {
        return fail("a document type or a section", "elements only", ErrorCode::unsupported);
      } else {
        return rest_.starts_with('<');
      }
    }
  }

  bool read_name(std::string& name) {
    const auto* const end = std::find_if_not(rest_.begin(), rest_.end(), is_name_character);
    name.assign(rest_.begin(), end);
    if (name.empty()) return fail(show_next(), "a name");
    skip(name.size());
    return true;
  }

  bool read_attribute(XmlElement& element) {
    XmlAttribute attribute;
    const std::size_t line = line_;
    const std::size_t column = column_;
    if (!read_name(attribute.name)) return false;
    if (element.attribute(attribute.name) != nullptr) {
      line_ = line;
      column_ = column;
      return fail(fmt::format("the attribute {} a second time", attribute.name), "each once");
    }
    skip_blanks();
    if (!skip_word("=")) return false;
    skip_blanks();
    if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\'')) return fail(show_next(), "a value in quotes");
    const char quote = rest_.front();
    skip(1);
    attribute.line = line_;
    attribute.column = column_;
    if (!read_text(quote, attribute.text)) return false;
    element.attributes.push_back(std::move(attribute));
    return true;
  }

  bool read_text(char quote, std::string& text) {
    while (!rest_.empty() && rest_.front() != quote) {
      if (rest_.front() == '<') return fail("'<'", "the end of the value");
      const auto* const entity =
          std::ranges::find_if(kXmlEntities, [&](const XmlEntity& each) { return rest_.starts_with(each.written); });
      if (rest_.front() == '&' && entity == kXmlEntities.end()) {
        return fail("'&'", "an entity: &lt; &gt; &amp; &quot; or &apos;", ErrorCode::unsupported);
      }
      text += entity == kXmlEntities.end() ? rest_.front() : entity->meant;
      skip(entity == kXmlEntities.end() ? 1 : entity->written.size());
    }
    if (rest_.empty()) return fail("the end", fmt::format("the quote {} that ends the value", quote));
    skip(1);
    return true;
  }

  bool read_element(XmlElement& element, std::size_t depth) {
    if (depth > kMaxXmlDepth) {
      return fail("elements within elements", fmt::format("at most {} levels", kMaxXmlDepth), ErrorCode::limit);
    }
    element.line = line_;
    element.column = column_;
    if (!skip_word("<") || !read_name(element.name)) return false;
    while (skip_blanks() && !rest_.empty() && rest_.front() != '/' && rest_.front() != '>') {
      if (!read_attribute(element)) return false;
    }
    if (rest_.starts_with("/>")) return skip_word("/>");
    return skip_word(">") && read_children(element, depth) && read_end(element);
  }

  bool read_children(XmlElement& element, std::size_t depth) {
    while (skip_to_element() && !rest_.starts_with("</")) {
      element.children.emplace_back();
      if (!read_element(element.children.back(), depth + 1)) return false;
    }
    return !error_;
  }

  bool read_end(const XmlElement& element) {
    const std::string tag = "</" + element.name;
    const std::string_view after = rest_.substr(std::min(tag.size(), rest_.size()));
    if (!rest_.starts_with(tag) || (!after.empty() && is_name_character(after.front()))) {
      return fail(show_next(), fmt::format("an element, or the end {}> of that of line {}", tag, element.line));
    }
    skip(tag.size());
    skip_blanks();
    return skip_word(">");
  }

  std::string_view rest_;
  const std::string& source_;
  std::size_t line_ = 1;
  std::size_t column_ = 1;
  std::optional<Error> error_;
};

}  // namespace

const XmlAttribute* XmlElement::attribute(std::string_view key) const {
  const auto found = std::ranges::find(attributes, key, &XmlAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

FileValue value_of(const XmlAttribute& attribute) {
  return {attribute.text, attribute.line, attribute.column};
}

FileValue place_of(const XmlElement& element) {
  return {element.name, element.line, element.column};
}

Result<XmlElement> read_xml(std::string_view text, const std::string& source) {
  return XmlReader(text, source).read();
}

}  // namespace rtgpu
