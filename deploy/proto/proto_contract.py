"""Messages, enumerations and methods as api/openapi.yaml has them.

Numbers of fields and of enumerations' values are kept in api/purser/numbers.json, so that what is on the wire stays what it
is wherever something is put into the contract; what is taken out of it stays reserved. Why messages look as they do:
docs/decisions/0060-grpc-from-descriptors.md.
"""

import json
import re
import textwrap

import yaml

from proto_plan import (
    APPLE_PAYLOADS, FREE_FORM_MESSAGES, JSON_TEXTS, LEFT_OUT, LEFT_OUT_PARAMETERS, LEFT_OUT_VARIANTS, SERVICES, SINGULARS,
)

WIDTH = 118
HEADER = """\
// Made from api/openapi.yaml by `make proto`; do not edit.

syntax = "proto3";

package purser.v1;
"""
OPTIONS = """\
option go_package = "purser/v1;purserv1";
option java_multiple_files = true;
option java_package = "purser.v1";
"""


def snake(name):
    name = name.replace("-", "_")
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()


def pascal(name):
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[_\-. ]", name))


def singular(name):
    if name in SINGULARS:
        return SINGULARS[name]
    return name[:-3] + "y" if name.endswith("ies") else name[:-1] if name.endswith("s") else name


def comment(text, indent):
    lines = []
    for paragraph in (text or "").strip().split("\n\n"):
        if lines:
            lines.append("")
        lines += textwrap.wrap(" ".join(paragraph.split()), WIDTH - len(indent) - 3, break_long_words=False,
                               break_on_hyphens=False)
    return "".join(f"{indent}// {line}".rstrip() + "\n" for line in lines)


class Numbers:
    """The numbers of fields and values, which never change."""

    def __init__(self, path):
        self.path = path
        self.known = json.loads(path.read_text()) if path.exists() else {}
        self.used = {}

    def of(self, owner, name, first=1):
        names = self.known.setdefault(owner, {})
        if name not in names:
            number = max(names.values(), default=first - 1) + 1
            # Reserved by Protocol Buffers for itself.
            names[name] = 20000 if 19000 <= number < 20000 else number
        self.used.setdefault(owner, set()).add(name)
        return names[name]

    def reserved(self, owner):
        used = self.used.get(owner, set())
        return {name: number for name, number in self.known.get(owner, {}).items() if name not in used}

    def save(self):
        self.path.write_text(json.dumps(self.known, indent=1, sort_keys=False) + "\n")


class Enum:
    def __init__(self, name, full_name, values, description):
        self.name, self.full_name, self.description = name, full_name, description
        self.values = list(dict.fromkeys(value for value in values if value is not None))

    def write(self, numbers, indent=""):
        prefix = snake(self.name).upper()
        text = comment(self.description, indent) + f"{indent}enum {self.name} {{\n"
        text += f"{indent}  {prefix}_UNSPECIFIED = 0;\n"
        for value in self.values:
            constant = prefix + "_" + re.sub(r"[^A-Z0-9]+", "_", snake(value).upper()).strip("_")
            number = numbers.of(self.full_name, value)
            text += f"{indent}  {constant} = {number} [(text) = {json.dumps(value)}];\n"
        gone = numbers.reserved(self.full_name)
        if gone:
            text += f"{indent}  reserved {', '.join(map(str, sorted(gone.values())))};\n"
        return text + f"{indent}}}\n"


class Field:
    def __init__(self, json_name, kind, label="", description="", options=None, name=None):
        self.json_name, self.kind, self.label, self.description = json_name, kind, label, description
        self.options = options or []
        self.name = name or snake(json_name)


class Message:
    def __init__(self, name, full_name, description=""):
        self.name, self.full_name, self.description = name, full_name, description
        self.fields, self.nested, self.options = [], [], []

    def add(self, field):
        clash = next((each for each in self.fields if each.name == field.name), None)
        if clash:
            if (clash.kind, clash.label) != (field.kind, field.label):
                raise SystemExit(f"{self.full_name}.{field.name} is {clash.kind} and {field.kind}")
            return
        self.fields.append(field)

    def nest(self, other):
        if all(each.name != other.name for each in self.nested):
            self.nested.append(other)

    def write(self, numbers, indent=""):
        text = comment(self.description, indent) + f"{indent}message {self.name} {{\n"
        inner = indent + "  "
        blocks = ["".join(f"{inner}option {option};\n" for option in self.options)] if self.options else []
        blocks += [each.write(numbers, inner) for each in self.nested]
        lines = ""
        for field in self.fields:
            number = numbers.of(self.full_name, field.json_name)
            options = list(field.options)
            if lower_camel(field.name) != field.json_name:
                options.insert(0, f'json_name = "{field.json_name}"')
            shown = f" [{', '.join(options)}]" if options else ""
            label = field.label + " " if field.label else ""
            lines += comment(field.description, inner) + f"{inner}{label}{field.kind} {field.name} = {number}{shown};\n"
        gone = numbers.reserved(self.full_name)
        if gone:
            lines += f"{inner}reserved {', '.join(map(str, sorted(gone.values())))};\n"
            lines += f"{inner}reserved {', '.join(json.dumps(snake(name)) for name in gone)};\n"
        return text + "\n".join(block for block in blocks + [lines] if block) + f"{indent}}}\n"


def lower_camel(name):
    """The JSON name that Protocol Buffers derives."""
    return re.sub(r"_(.)", lambda match: match.group(1).upper(), name)


class Contract:
    def __init__(self, root):
        self.root = root
        self.openapi = yaml.safe_load((root / "api/openapi.yaml").read_text())
        models = json.loads((root / "Tests/AppStoreAPITests/Resources/models.json").read_text())
        self.apple, self.apple_enums = models["objects"], models["enumerations"]
        self.schemas = self.openapi["components"]["schemas"]
        self.numbers = Numbers(root / "api/purser/numbers.json")
        # By name: what stands at the top level of a file.
        self.types, self.apple_types, self.lists = {}, {}, {}
        self.uses = {}
        # The schemas that requests are made of: what may be left out of them must be told from what is false or empty.
        self.asked = set()

    def resolve(self, value):
        while isinstance(value, dict) and "$ref" in value:
            found = self.openapi
            for part in value["$ref"].split("/")[1:]:
                found = found[part]
            value = found
        return value

    # Types

    def named(self, schema):
        """The name of the schema that is referred to, if it becomes a type of its own."""
        reference = schema.get("$ref", "") if isinstance(schema, dict) else ""
        if not reference.startswith("#/components/schemas/") or reference.count("/") != 3:
            return None
        target = self.resolve(schema)
        name = reference.split("/")[-1]
        return name if self.is_object(target) or self.is_enum(target) else None

    def is_enum(self, schema):
        values = [value for value in schema.get("enum", []) if value is not None]
        return bool(values) and all(isinstance(value, str) for value in values)

    def is_object(self, schema):
        schema = self.without_null(schema)[0]
        return "properties" in schema or any(
            key in schema for key in ("oneOf", "anyOf", "allOf"))

    def without_null(self, schema):
        """The schema without the alternative of null, and whether there is one."""
        schema = schema if isinstance(schema, dict) else {}
        for key in ("oneOf", "anyOf"):
            variants = schema.get(key)
            if not variants or "properties" in schema:
                continue
            others = [variant for variant in variants if variant != {"type": "null"}]
            if len(others) < len(variants) and len(others) == 1:
                rest = {name: value for name, value in schema.items() if name not in (key,)}
                inner = others[0]
                return ({**inner, **({"description": rest["description"]} if "description" in rest else {})}, True)
        kinds = schema.get("type")
        if isinstance(kinds, list) and "null" in kinds:
            others = [kind for kind in kinds if kind != "null"]
            return ({**schema, "type": others[0] if len(others) == 1 else others}, True)
        if None in schema.get("enum", []):
            return ({**schema, "enum": [value for value in schema["enum"] if value is not None]}, True)
        return (schema, False)

    def parts(self, schema):
        """The properties of a schema, those of all its variants together, and which of them are always there."""
        schema = self.resolve(self.without_null(self.resolve(schema))[0])
        properties, required = {}, set(schema.get("required", []))
        for name, value in schema.get("properties", {}).items():
            if value is not False:
                properties[name] = value
        for each in schema.get("allOf", []):
            more, always = self.parts(each)
            properties.update(more)
            required |= always
        for key in ("oneOf", "anyOf"):
            always_in_all = None
            for each in schema.get(key, []):
                if each.get("$ref", "").split("/")[-1] in LEFT_OUT_VARIANTS:
                    continue
                more, always = self.parts(each)
                for name, value in more.items():
                    properties.setdefault(name, value)
                always_in_all = always if always_in_all is None else always_in_all & always
            required |= (always_in_all or set()) & set(properties)
        return properties, required

    def type_of(self, schema, message, property_name, asked, keeps_empty=False):
        """The type of a field: its kind, its label without presence, whether it may be null, and options."""
        described = schema
        schema, nullable = self.without_null(schema)
        name = self.named(schema)
        if not name and "$ref" in schema:
            inner = self.resolve(schema)
            schema, also = self.without_null({**inner, **{k: v for k, v in schema.items() if k != "$ref"}})
            nullable = nullable or also
        if name:
            self.use(name, asked)
            return name, "", nullable, []
        place = f"{message.full_name}.{property_name}"
        if place in JSON_TEXTS:
            return "string", "", nullable, ["(json_text) = true"]
        if self.is_enum(schema):
            # Apple's own values, of which there may be others tomorrow, stay texts.
            enum = Enum(pascal(property_name), f"{message.full_name}.{pascal(property_name)}", schema["enum"], "")
            message.nest(enum)
            return enum.name, "", nullable, []
        if "const" in schema:
            return ("bool" if isinstance(schema["const"], bool) else "string"), "", nullable, []
        kind = schema.get("type")
        if kind == "array":
            inner, label, _, options = self.type_of(schema["items"], message, singular(property_name), asked)
            if label:
                raise SystemExit(f"{place}: a list of lists")
            if nullable or keeps_empty:
                return self.list_of(inner, message, property_name), "", True, []
            return inner, "repeated", False, options
        if kind == "object" or self.is_object(schema):
            return self.object_type(schema, message, property_name, asked) + (nullable, [])
        if kind == "string" and schema.get("format") == "date-time":
            return "google.protobuf.Timestamp", "", nullable, []
        if kind == "string" and schema.get("contentEncoding") == "base64":
            return "bytes", "", nullable, []
        scalars = {"string": "string", "integer": "int64", "boolean": "bool", "number": "double", "null": "string"}
        if kind not in scalars:
            raise SystemExit(f"{place}: no type for {described}")
        return scalars[kind], "", nullable, []

    def object_type(self, schema, message, property_name, asked):
        if self.is_object(schema) and self.parts(schema)[0]:
            nested = Message(pascal(property_name), f"{message.full_name}.{pascal(property_name)}")
            self.fill(nested, schema, asked)
            if any(type(each) is Message and each.name == nested.name for each in message.nested):
                return nested.name, ""
            message.nest(nested)
            return nested.name, ""
        values = schema.get("additionalProperties")
        if isinstance(values, dict) and values:
            inner, label, _, _ = self.type_of(values, message, singular(property_name), asked)
            if label:
                inner = self.list_of(inner, message, property_name)
            return f"map<string, {inner}>", "map"
        if property_name in APPLE_PAYLOADS:
            return self.apple_message(APPLE_PAYLOADS[property_name]), ""
        place = f"{message.full_name}.{property_name}"
        if place in FREE_FORM_MESSAGES:
            return FREE_FORM_MESSAGES[place], ""
        return "google.protobuf.Struct", ""

    def list_of(self, inner, message, property_name):
        """A message around a list: where an empty one is told from none, and in maps."""
        name = {"string": "String", "int64": "Integer"}.get(inner, inner) + "List"
        wrapper = Message(name, name, "A list that may be empty, which is told from none.")
        wrapper.options = ["(list) = true"]
        wrapper.add(Field("values", inner, "repeated"))
        if inner in self.types or inner in ("string", "int64"):
            self.lists[name] = wrapper
            self.uses.setdefault(name, set())
        else:
            wrapper.full_name = f"{message.full_name}.{name}"
            message.nest(wrapper)
        return name

    def use(self, name, asked):
        """Makes the message or enumeration of a schema."""
        if name in self.types and (not asked or name in self.asked):
            return
        schema = self.schemas[name]
        if self.is_enum(schema):
            self.types[name] = Enum(name, name, schema["enum"], schema.get("description", ""))
            return
        if asked:
            self.asked.add(name)
        message = Message(name, name, schema.get("description", ""))
        self.types[name] = message
        self.fill(message, schema, asked or name in self.asked)

    def fill(self, message, schema, asked, keeps_empty=False):
        properties, required = self.parts(schema)
        for name, value in properties.items():
            self.add_field(message, name, value, name in required, asked, keeps_empty)

    def add_field(self, message, name, schema, is_required, asked, keeps_empty=False, options=()):
        kind, label, nullable, more = self.type_of(schema, message, name, asked, keeps_empty)
        if label == "map":
            label = ""
        elif not label:
            is_message = not self.is_scalar(kind, message)
            # Whoever gets an answer need not ask whether something is there that always is.
            label = "" if is_message or (is_required and not nullable and not asked) else "optional"
        message.add(Field(name, kind, label, self.describe(schema, asked, is_required), list(more) + list(options)))

    def is_scalar(self, kind, message):
        if kind in ("string", "int64", "int32", "bool", "double", "bytes"):
            return True
        known = self.types.get(kind) or next((each for each in message.nested if each.name == kind), None)
        return isinstance(known, Enum)

    def describe(self, schema, asked, is_required):
        own = schema if isinstance(schema, dict) else {}
        full = {**self.resolve(own), **{k: v for k, v in own.items() if k != "$ref"}}
        inner = self.without_null(full)[0]
        inner = {**self.resolve(inner), **{k: v for k, v in inner.items() if k != "$ref"}}
        text = (full.get("description") or ("" if self.named(own) else inner.get("description")) or "").strip()
        limits = []
        items = inner.get("items", {}) if inner.get("type") == "array" else inner
        low, high = items.get("minimum"), items.get("maximum")
        if low is not None and high is not None:
            limits.append(f"{low} to {high}")
        elif low is not None:
            limits.append(f"{low} or more")
        elif high is not None:
            limits.append(f"{high} or less")
        low, high = items.get("minLength"), items.get("maxLength")
        if high is not None and f"{high}" not in text:
            limits.append(f"{low or 0} to {high} characters")
        if "pattern" in items:
            limits.append(f"`{items['pattern']}`")
        if "maxItems" in inner:
            limits.append(f"{inner['maxItems']} at most")
        if "default" in inner:
            limits.append(f"left out, {str(inner['default']).lower()}")
        if asked and is_required:
            limits.append("required")
        note = "; ".join(limits)
        if not note:
            return text
        note = note[0].upper() + note[1:] + "."
        return f"{text} {note}" if text else note

    # Apple's

    def apple_message(self, apple_name):
        # Some of what Apple signs has the name of something that callers write.
        name = f"Signed{apple_name}" if apple_name in self.schemas else apple_name
        if name in self.apple_types:
            return name
        message = Message(name, name, f"Apple's {apple_name}, as it is decoded. Times are UNIX milliseconds.")
        self.apple_types[name] = message
        for field, kind in self.apple[apple_name].items():
            kind = kind.rstrip("!")
            label = "optional"
            if kind.startswith("["):
                kind, label = kind.strip("[]"), "repeated"
            scalar = {"string": "string", "uuid": "string", "timestamp": "int64", "int32": "int32", "int64": "int64",
                      "boolean": "bool", "number": "double", "double": "double"}.get(kind)
            description = ""
            if kind in self.apple:
                scalar = self.apple_message(kind)
                label = "" if label == "optional" else label
            elif kind in self.apple_enums:
                values = self.apple_enums[kind]
                scalar = "int32" if isinstance(values[0], int) else "string"
                shown = ", ".join(f"`{value}`" if isinstance(value, str) else str(value) for value in values)
                description = f"So far {shown}."
            elif scalar is None:
                raise SystemExit(f"Apple's {name}.{field}: {kind}")
            message.add(Field(field, scalar, label, description))
        message.add(Field(
            "", "map<string, string>", "",
            "What Apple sends besides, by name, each as the JSON that it wrote: nothing that it signed is lost.",
            ["(additional) = true"], "additional_fields"))
        return name

    # Methods

    def operations(self):
        for path, operations in self.openapi["paths"].items():
            for method, operation in operations.items():
                if method != "parameters":
                    yield path, method.upper(), operation, operations.get("parameters", [])

    def build(self):
        self.methods = {}
        known = {name for names in SERVICES.values() for name in names}
        for path, method, operation, shared in self.operations():
            name = operation["operationId"]
            if name in LEFT_OUT:
                continue
            if name not in known:
                raise SystemExit(f"{name} is in no service of proto_plan.py")
            self.methods[name] = self.method(path, method, operation, shared)
        self.use("Problem", False)

    def method(self, path, method, operation, shared):
        name = pascal(operation["operationId"])
        request = Message(f"{name}Request", f"{name}Request")
        for parameter in map(self.resolve, shared + operation.get("parameters", [])):
            self.add_parameter(request, operation, parameter)
        body = self.add_body(request, method, operation)
        response = self.response(name, operation)
        return {
            "name": name, "request": request, "response": response, "method": method, "path": path, "body": body,
            "operation": operation,
        }

    def add_parameter(self, request, operation, parameter):
        name = parameter["name"]
        if (operation["operationId"], name) in LEFT_OUT_PARAMETERS:
            return
        if name == "Prefer":
            request.add(Field("waitSeconds", "int64", "optional",
                              "Be answered after so many seconds at the latest, never beyond the call's deadline; left out, 5.",
                              ['(place) = PLACE_PREFER']))
            request.add(Field("respondAsync", "bool", "optional", "Be answered as soon as the delivery is kept.",
                              ['(place) = PLACE_PREFER']))
            return
        schema = dict(parameter["schema"])
        if "description" in parameter:
            schema["description"] = parameter["description"]
        place = {"path": "PLACE_PATH", "query": "PLACE_QUERY", "header": "PLACE_HEADER"}[parameter["in"]]
        # What is percent-encoded there is not here.
        if "description" in schema:
            schema["description"] = schema["description"].replace(", percent-encoded", "")
        self.add_field(request, name, schema, parameter.get("required", False), True, options=[f"(place) = {place}"])

    def add_body(self, request, method, operation):
        if "requestBody" not in operation:
            return ""
        body = self.resolve(operation["requestBody"])
        schema = body["content"]["application/json"]["schema"]
        name = self.named(schema)
        if name:
            self.use(name, True)
            field = Field(snake(name), name, "", "The body.", [], snake(name))
            field.json_name = lower_camel(field.name)
            request.add(field)
            return field.name
        self.fill(request, schema, True, keeps_empty=method == "PATCH")
        return "*"

    def response(self, name, operation):
        found = next(self.resolve(response) for code, response in operation["responses"].items() if code[0] == "2")
        schema = found["content"]["application/json"]["schema"]
        named = self.named(schema)
        if named:
            self.use(named, False)
            return named
        message = Message(f"{name}Response", f"{name}Response", found.get("description", ""))
        self.fill(message, schema, False)
        return message
