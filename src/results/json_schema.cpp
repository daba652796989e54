// Converts shapes to JSON Schema, draft 2020-12.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/json_codec.hpp"

namespace xferbench::json {

namespace {

using SchemaJson = nlohmann::ordered_json;

bool is_list(const Codec& shape) { return shape.item != nullptr || (shape.each != nullptr && !shape.is_object); }

SchemaJson number(double value) {
  constexpr double kExact = 1e15;
  if (value == std::floor(value) && std::abs(value) < kExact) return static_cast<std::int64_t>(value);
  return value;
}

void add_types(SchemaJson& json, const Codec& shape) {
  SchemaJson types = SchemaJson::array();
  for (const std::string_view type : shape.types) {
    if (!type.empty()) types.push_back(type);
  }
  if (shape.is_object) types.push_back("object");
  if (is_list(shape)) types.push_back("array");
  if (shape.words != nullptr) {
    const std::vector<std::string_view> words = shape.words();
    json[words.size() == 1 ? "const" : "enum"] = words.size() == 1 ? SchemaJson(words.front()) : SchemaJson(words);
  } else {
    json["type"] = types.size() == 1 ? types.front() : types;
  }
}

/// Adds `minimum` and `maximum`, or their counterparts for texts, objects and lists.
void add_limits(SchemaJson& json, const Codec& shape) {
  const std::string_view type = shape.types.front();
  std::string of = "imum";
  if (type == "string") of = "Length";
  if (type.empty() && shape.is_object) of = "Properties";
  if (is_list(shape)) of = "Items";
  if (std::isfinite(shape.least)) json[shape.above ? "exclusiveMinimum" : "min" + of] = number(shape.least);
  if (std::isfinite(shape.most)) json["max" + of] = number(shape.most);
}

/// Returns the schema for a consequence of a Tie: which fields must not be empty, and which must be empty.
SchemaJson demanded(const Codec& record, const Tie::Names& filled, const Tie::Names& empty) {
  SchemaJson json = SchemaJson::object();
  for (const Field& field : record.fields) {
    const std::string name(field.name);
    SchemaJson limits = SchemaJson::object();
    if (std::ranges::find(filled, name) != filled.end()) {
      json["required"].push_back(name);
      if (field.shape->types.front() != "number") add_limits(limits, within(*field.shape, {}, 1));
    } else if (std::ranges::find(empty, name) == empty.end()) {
      continue;
    } else if (field.rule == Rule::required) {
      add_limits(limits, within(*field.shape, {}, -kNoLimit, 0));
    } else {
      limits = false;
    }
    if (limits.is_boolean() || !limits.empty()) json["properties"][name] = limits;
  }
  return json;
}

SchemaJson tie_of(const Codec& record, const Tie& tie) {
  const std::string field(tie.field);
  const SchemaJson value = tie.word.empty() ? SchemaJson{{"minimum", tie.least}} : SchemaJson{{"const", tie.word}};
  SchemaJson json{{"if", {{"properties", {{field, value}}}, {"required", {field}}}}};
  const SchemaJson then = demanded(record, tie.filled, tie.empty);
  const SchemaJson otherwise = demanded(record, tie.else_filled, tie.else_empty);
  if (!then.empty()) json["then"] = then;
  if (!otherwise.empty()) json["else"] = otherwise;
  return json;
}

class Schema {
 public:
  /// Returns the schema of a value, or a reference to its definition.
  SchemaJson of(const Codec& shape) {
    if (shape.name.empty()) return described(shape);
    const std::string name(shape.name);
    if (!definitions.contains(name)) {
      definitions[name] = nullptr;  // keeps this definition in front of the definitions of its parts
      definitions[name] = described(shape);
    }
    return {{"$ref", "#/$defs/" + name}};
  }

  SchemaJson described(const Codec& shape) {
    SchemaJson json = SchemaJson::object();
    add_types(json, shape);
    if (!shape.help.empty()) json["description"] = shape.help;
    add_limits(json, shape);
    if (shape.is_object) add_properties(json, shape);
    if (!shape.pattern.empty()) {
      (shape.types.front().empty() ? json["propertyNames"]["pattern"] : json["pattern"]) = shape.pattern;
    }
    if (shape.values != nullptr) json[is_list(shape) ? "items" : "additionalProperties"] = of(*shape.values);
    for (const Tie& tie : shape.ties) json["allOf"].push_back(tie_of(shape, tie));
    for (const Choice& choice : shape.choices) {
      for (const std::string_view one : choice.of) {
        json[choice.only_one ? "oneOf" : "anyOf"].push_back({{"required", {one}}});
      }
    }
    return json;
  }

  SchemaJson definitions = SchemaJson::object();

 private:
  void add_properties(SchemaJson& json, const Codec& shape) {
    SchemaJson required = SchemaJson::array();
    SchemaJson properties = SchemaJson::object();
    const auto add = [&](std::string_view name, Rule rule, const SchemaJson& property) {
      if (rule == Rule::required) required.push_back(name);
      properties[std::string(name)] = property;
    };
    for (const Field& field : shape.fields) add(field.name, field.rule, property_of(field));
    for (const Known& known : shape.known != nullptr ? shape.known() : std::vector<Known>()) {
      add(known.name, known.rule, of(known.shape));
    }
    if (!required.empty()) json["required"] = required;
    if (!properties.empty()) json["properties"] = properties;
    if (shape.strict) json["additionalProperties"] = false;
  }

  SchemaJson property_of(const Field& field) {
    Codec shape = *field.shape;
    if (field.leaves_out) {
      shape.above = shape.above || shape.types.front() == "number";
      shape.least = std::max(shape.least, shape.above ? 0. : 1.);
    }
    SchemaJson property = of(shape);
    if (field.leaves_out && shape.types.front() == "boolean") property = {{"const", true}};
    if (!field.help.empty()) property["description"] = field.help;
    return property;
  }
};

std::string on_one_line(const SchemaJson& json) {
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (const auto& [name, value] : json.items()) {
    text += text.empty() ? "" : ", ";
    text += (json.is_object() ? SchemaJson(name).dump() + ": " : "") + on_one_line(value);
  }
  return (json.is_object() ? "{" : "[") + text + (json.is_object() ? "}" : "]");
}

/// Returns JSON text in which each part of a value that does not fit in a line has a line of its own. `before` is the
/// number of characters before the value in its line.
std::string laid_out(const SchemaJson& json, std::size_t indent, std::size_t before) {
  constexpr std::size_t kLine = 120;
  const std::string text = on_one_line(json);
  if (!json.is_structured() || before + text.size() < kLine) return text;
  std::string parts;
  for (const auto& [name, value] : json.items()) {
    const std::string key = json.is_object() ? SchemaJson(name).dump() + ": " : "";
    parts += (parts.empty() ? "\n" : ",\n") + std::string(indent + 1, ' ') + key +
             laid_out(value, indent + 1, indent + 1 + key.size());
  }
  return text.front() + parts + "\n" + std::string(indent, ' ') + text.back();
}

}  // namespace

std::string schema_of(std::initializer_list<const Codec*> files, std::string_view help) {
  Schema schema;
  SchemaJson json{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                  {"$comment", "Generated by unit_tests from the code that reads and writes these files. Do not edit."},
                  {"description", help}};
  if (files.size() == 1) {
    json.update(schema.described(**files.begin()));
  } else {
    for (const Codec* file : files) json["oneOf"].push_back(schema.of(*file));
  }
  if (!schema.definitions.empty()) json["$defs"] = schema.definitions;
  return laid_out(json, 0, 0) + "\n";
}

}  // namespace xferbench::json
