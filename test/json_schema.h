// A validator for the part of JSON Schema 2020-12 that our published schemas use; an unknown keyword is an error, so
// that a schema cannot say more than the tests check.
#pragma once

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

namespace whittle {

class JsonSchema {
  public:
    explicit JsonSchema(nlohmann::json schema) : root_(std::move(schema)) {}

    /// Empty when the value satisfies the schema, else the first place and rule that fails.
    std::string check(const nlohmann::json& value) const { return check(value, root_, ""); }

  private:
    using Json = nlohmann::json;

    static bool has_type(const Json& value, const std::string& type) {
        if (type == "object") return value.is_object();
        if (type == "array") return value.is_array();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_boolean();
        if (type == "null") return value.is_null();
        if (type == "integer") return value.is_number_integer();
        if (type == "number") return value.is_number();
        throw std::runtime_error("unknown type " + type);
    }

    std::string check(const Json& value, const Json& schema, const std::string& at) const {
        static const std::set<std::string> known = {
            "$schema", "$id",     "$defs", "$ref",  "title",   "description", "type",     "properties",
            "allOf",   "anyOf",   "enum",  "const", "pattern", "items",       "required", "additionalProperties",
            "minimum", "minItems"};
        for (const auto& [key, rule] : schema.items()) {
            if (!known.count(key)) throw std::runtime_error("unknown keyword " + key);
            if (std::string error = check_rule(value, schema, key, rule, at); !error.empty()) return error;
        }
        return {};
    }

    std::string check_rule(const Json& value, const Json& schema, const std::string& key, const Json& rule,
                           const std::string& at) const {
        const std::string broken = at + ": breaks " + key + " " + rule.dump();
        if (key == "$ref") {
            const std::string name = rule.get<std::string>().substr(std::string("#/$defs/").size());
            return check(value, root_.at("$defs").at(name), at);
        }
        if (key == "type") {
            const std::vector<Json> types = rule.is_array() ? rule.get<std::vector<Json>>() : std::vector<Json>{rule};
            for (const Json& type : types)
                if (has_type(value, type.get<std::string>())) return {};
            return broken;
        }
        if (key == "allOf") {
            for (const Json& part : rule)
                if (std::string error = check(value, part, at); !error.empty()) return error;
            return {};
        }
        if (key == "anyOf") {
            for (const Json& part : rule)
                if (check(value, part, at).empty()) return {};
            return broken;
        }
        if (key == "enum") return std::find(rule.begin(), rule.end(), value) != rule.end() ? "" : broken;
        if (key == "const") return value == rule ? "" : broken;
        if (key == "pattern" && value.is_string())
            return std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>())) ? "" : broken;
        if (key == "minimum" && value.is_number()) return value >= rule ? "" : broken;
        if (key == "minItems" && value.is_array()) return value.size() >= rule.get<std::size_t>() ? "" : broken;
        if (value.is_array() && key == "items") return check_items(value, rule, at);
        if (value.is_object()) return check_members(value, schema, key, rule, at);
        return {};
    }

    std::string check_items(const Json& value, const Json& rule, const std::string& at) const {
        for (std::size_t i = 0; i < value.size(); ++i)
            if (std::string error = check(value[i], rule, at + "/" + std::to_string(i)); !error.empty()) return error;
        return {};
    }

    std::string check_members(const Json& value, const Json& schema, const std::string& key, const Json& rule,
                              const std::string& at) const {
        if (key == "required")
            for (const Json& name : rule)
                if (!value.contains(name.get<std::string>())) return at + ": lacks " + name.dump();
        if (key == "properties")
            for (const auto& [name, part] : rule.items())
                if (value.contains(name))
                    if (std::string error = check(value.at(name), part, at + "/" + name); !error.empty()) return error;
        if (key == "additionalProperties")
            for (const auto& [name, member] : value.items()) {
                if (schema.contains("properties") && schema.at("properties").contains(name)) continue;
                if (rule.is_boolean() && !rule.get<bool>()) return at + ": has the additional member " + name;
                if (rule.is_boolean()) continue;
                if (std::string error = check(member, rule, at + "/" + name); !error.empty()) return error;
            }
        return {};
    }

    Json root_;
};

}  // namespace whittle
