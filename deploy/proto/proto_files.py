"""Shares messages out among files, and writes those."""

import re

from proto_contract import HEADER, OPTIONS, Enum, Field, Message, comment, pascal
from proto_plan import FREE_FORM_MESSAGES, SERVICES

ANNOTATIONS = """\
import "google/protobuf/descriptor.proto";

{options}
// How a method is the same as a route of the REST face; the numbers are those that are left to each organisation.

extend google.protobuf.MethodOptions {{
  // The route that the method calls.
  Route route = 50001;
}}

extend google.protobuf.FieldOptions {{
  // Where the field of a request stands in the route; left out, in its body.
  Place place = 50001;
  // Holds what the JSON object has besides the other fields, by name, as JSON.
  bool additional = 50002;
  // The text is JSON, and is taken as it is.
  bool json_text = 50003;
}}

extend google.protobuf.MessageOptions {{
  // The message stands for a list: its one field.
  bool list = 50001;
}}

extend google.protobuf.EnumValueOptions {{
  // The text in JSON.
  string text = 50001;
}}

// A route of api/openapi.yaml.
message Route {{
  // The method of HTTP.
  string method = 1;
  // The path, with the parameters in braces.
  string path = 2;
  // The field of the request that is the body; `*` if all are that stand nowhere else, empty if there is none.
  string body = 3;
  // The listeners that serve it.
  repeated string listeners = 4;
  // The scopes of which the caller needs one.
  repeated string scopes = 5;
  // Whether the route is asked again and again, for a stream of what it lists.
  bool watches = 6;
}}

// Where a field of a request stands in the route.
enum Place {{
  PLACE_UNSPECIFIED = 0;
  PLACE_PATH = 1;
  PLACE_QUERY = 2;
  PLACE_HEADER = 3;
  // In the header field `Prefer` (RFC 7240).
  PLACE_PREFER = 4;
}}
"""


# What messages refer to that have a message of the same name inside them.
TOGETHER = {each.split(".")[3] for each in FREE_FORM_MESSAGES.values()}


def references(item):
    """The names of types at the top level that a message refers to."""
    if isinstance(item, Enum):
        return set()
    names, absolute = set(), set()
    for field in item.fields:
        kind = re.sub(r"^map<string, (.*)>$", r"\1", field.kind)
        if kind.startswith(".purser.v1."):
            absolute.add(kind.split(".")[3])
        else:
            names.add(kind if kind.startswith("google.") else kind.split(".")[0])
    for nested in item.nested:
        names |= references(nested)
        absolute |= {name for name in references(nested) if name in TOGETHER}
    # Their own come first where names are looked up.
    return names - {nested.name for nested in item.nested} | absolute


def watch(contract):
    """`WatchEvents`, which no operation of HTTP is."""
    request = Message("WatchEventsRequest", "WatchEventsRequest")
    listed = contract.methods["listEvents"]["request"]
    for name in ("app", "after", "from"):
        request.add(next(field for field in listed.fields if field.json_name == name))
    return {
        "name": "WatchEvents", "request": request, "response": "Event", "method": "GET", "streams": True, "body": "",
        "path": contract.methods["listEvents"]["path"],
        "operation": {
            **contract.methods["listEvents"]["operation"],
            "summary": "Everything that happens from a cursor on, as it happens, until the call ends.",
            "description": """The stream goes on for as long as the client likes. When it breaks off, watch anew with the `id` of the
last event as `after`: nothing is missed, and nothing comes twice. A server that shuts down ends it with `UNAVAILABLE`.""",
        },
    }


def service(contract, name):
    methods = [contract.methods[operation] for operation in SERVICES[name]]
    if name == "events":
        methods.append(watch(contract))
    return methods


def write_service(name, methods):
    text = f"service {pascal(name)}Service {{\n"
    for index, method in enumerate(methods):
        operation = method["operation"]
        scopes = operation.get("x-purser-scope", [])
        scopes = [scopes] if isinstance(scopes, str) else scopes
        text += "\n" if index else ""
        text += comment(operation["summary"] + "\n\n" + operation.get("description", ""), "  ")
        response = method["response"] if isinstance(method["response"], str) else method["response"].name
        streams = "stream " if method.get("streams") else ""
        text += f"  rpc {method['name']}({method['request'].name}) returns ({streams}{response}) {{\n    option (route) = {{\n"
        text += f"      method: \"{method['method']}\"\n      path: \"{method['path']}\"\n"
        if method["body"]:
            text += f"      body: \"{method['body']}\"\n"
        text += "".join(f"      listeners: \"{each}\"\n" for each in operation["x-purser-listeners"])
        text += "".join(f"      scopes: \"{each}\"\n" for each in scopes)
        if streams:
            text += "      watches: true\n"
        text += "    };\n  }\n"
    return text + "}\n"


def write(contract):
    folder = contract.root / "api/purser/v1"
    folder.mkdir(parents=True, exist_ok=True)
    shared = {**contract.types, **contract.lists}
    everything = {**shared, **contract.apple_types}
    needs = {}
    for name in SERVICES:
        waiting = set()
        for method in service(contract, name):
            waiting |= references(method["request"])
            waiting |= {method["response"]} if isinstance(method["response"], str) else references(method["response"])
        found = set()
        while waiting:
            each = waiting.pop()
            if each in everything and each not in found:
                found.add(each)
                waiting |= references(everything[each])
        needs[name] = found
    problem, waiting = set(), {"Problem"}
    while waiting:
        each = waiting.pop()
        if each in everything and each not in problem:
            problem.add(each)
            waiting |= references(everything[each])
    home = {name: "apple" for name in contract.apple_types}
    for name in shared:
        users = [each for each in SERVICES if name in needs[each]]
        home[name] = users[0] if len(users) == 1 and name not in problem else "common"
    # What is shared leads to nothing that is not.
    changed = True
    while changed:
        changed = False
        for name, place in list(home.items()):
            if place == "common":
                for each in references(everything[name]):
                    if each in home and home[each] not in ("common", "apple"):
                        home[each], changed = "common", True

    def imports(items, own):
        names = set().union(*(references(item) for item in items)) if items else set()
        found = {f"purser/v1/{home[name]}.proto" for name in names if name in home and home[name] != own}
        if "google.protobuf.Timestamp" in names:
            found.add("google/protobuf/timestamp.proto")
        if "google.protobuf.Struct" in names:
            found.add("google/protobuf/struct.proto")
        return found

    def file(name, blocks, found):
        lines = "".join(f'import "{each}";\n' for each in sorted(found))
        (folder / f"{name}.proto").write_text(
            HEADER + "\n" + (lines + "\n" if lines else "") + OPTIONS + "\n" + "\n".join(blocks))

    written = {"annotations.proto", "apple.proto", "common.proto"}
    numbers = contract.numbers
    (folder / "annotations.proto").write_text(HEADER + "\n" + ANNOTATIONS.format(options=OPTIONS))
    annotations = {"purser/v1/annotations.proto"}
    apple = list(contract.apple_types.values())
    file("apple", [item.write(numbers) for item in apple], imports(apple, "apple") | annotations)
    common = [item for name, item in shared.items() if home[name] == "common"]
    file("common", [item.write(numbers) for item in common], imports(common, "common") | annotations)
    for name in SERVICES:
        methods = service(contract, name)
        items = [method["request"] for method in methods]
        items += [method["response"] for method in methods if not isinstance(method["response"], str)]
        items += [item for each, item in shared.items() if home[each] == name]
        answers = Message("", "")
        for method in methods:
            if isinstance(method["response"], str):
                answers.fields.append(Field(method["response"], method["response"]))
        file(name, [write_service(name, methods)] + [item.write(numbers) for item in items],
             imports(items + [answers], name) | annotations)
        written.add(f"{name}.proto")
    for stale in folder.glob("*.proto"):
        if stale.name not in written:
            stale.unlink()
    numbers.save()
