// The part of XML that files of tasksets use: elements and attributes. Internal to the library.
//
// Comments and processing instructions are skipped. Text between elements is an error, as are document types and
// entities other than the five that XML itself defines.
#pragma once

#include "rtgpu/result.h"
#include "taskset/importers/file_values.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

struct XmlAttribute {
  std::string name;
  std::string text;
  std::size_t line = 0;  // of the text
  std::size_t column = 0;
};

struct XmlElement {
  std::string name;
  std::size_t line = 0;  // of its tag
  std::size_t column = 0;
  std::vector<XmlAttribute> attributes;
  std::vector<XmlElement> children;

  // nullptr: there is none.
  const XmlAttribute* attribute(std::string_view key) const;
};

// Where the element or the attribute's value is. It refers to them.
FileValue value_of(const XmlAttribute& attribute);
FileValue place_of(const XmlElement& element);

inline constexpr std::size_t kMaxXmlDepth = 32;

// The root element of a document. The first error, which is of the syntax or a limit. Linear in the text.
Result<XmlElement> read_xml(std::string_view text, const std::string& source);

}  // namespace rtgpu
