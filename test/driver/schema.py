"""schema.py SCHEMA FOLDER SPEC...: the schema takes every SPEC. Of the last one,
with one thing broken, what it refuses is written to FOLDER, for kvc check to
refuse too (refused.py), beside what it is made from, base.yaml.

YAML and JSON Schema are read as far as specs and kvc schema need them.
"""
import json
import os
import re
import sys


# A subset of YAML: maps by indentation, "- " lists, flow maps and lists.


class Flow:
    """One value in flow style, from the text's start."""

    def __init__(self, text):
        self.rest = text.strip()

    def take(self, pattern):
        found = re.match(pattern, self.rest)
        if found:
            self.rest = self.rest[found.end() :].lstrip()
        return found

    def value(self):
        if self.take(r"\{"):
            result = {}
            while not self.take(r"\}"):
                key = self.take(r"(\w+):").group(1)
                result[key] = self.value()
                self.take(",")
            return result
        if self.take(r"\["):
            result = []
            while not self.take(r"\]"):
                result.append(self.value())
                self.take(",")
            return result
        return scalar(self.take(r"[^,\]\}]*").group(0).strip())


def scalar(text):
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", text):
        return float(text)
    return text


def block(lines, indent):
    """The map or list of the lines that stand at `indent`."""
    is_list = lines[0][1].startswith("- ")
    result = [] if is_list else {}
    while lines and lines[0][0] == indent:
        text = lines.pop(0)[1]
        if is_list:
            result.append(Flow(text[2:]).value())
            continue
        key, text = re.fullmatch(r"(\w+):(.*)", text).groups()
        if text.strip():
            result[key] = Flow(text).value()
        else:
            result[key] = block(lines, lines[0][0])
    return result


def read_yaml(text):
    lines = []
    for line in text.split("\n"):
        line = re.sub(r"(^|\s)#.*", "", line).rstrip()
        if line:
            lines.append((len(line) - len(line.lstrip()), line.lstrip()))
    return block(lines, 0)


def write_yaml(value):
    """In flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {write_yaml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write_yaml, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


# The words of JSON Schema that kvc schema uses; any other is an error.

IGNORED = {"$schema", "$id", "$defs", "$comment", "title", "description", "default"}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "number": is_number,
    "integer": lambda v: is_number(v) and v == int(v),
}


def same(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


class Schema:
    def __init__(self, root):
        self.root = root

    def at(self, reference):
        node = self.root
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]
        return node

    def takes(self, value, schema=None):
        schema = self.root if schema is None else schema
        if isinstance(schema, bool):
            return schema
        return all(
            getattr(self, "is_" + word.removeprefix("$"))(value, wanted, schema)
            for word, wanted in schema.items()
            if word not in IGNORED
        )

    def is_ref(self, value, reference, _):
        return self.takes(value, self.at(reference))

    def is_type(self, value, name, _):
        return TYPES[name](value)

    def is_enum(self, value, choices, _):
        return any(same(value, choice) for choice in choices)

    def is_const(self, value, only, _):
        return same(value, only)

    def is_anyOf(self, value, schemas, _):
        return any(self.takes(value, schema) for schema in schemas)

    def is_allOf(self, value, schemas, _):
        return all(self.takes(value, schema) for schema in schemas)

    def is_not(self, value, schema, _):
        return not self.takes(value, schema)

    def is_if(self, value, condition, schema):
        return not self.takes(value, condition) or self.takes(value, schema["then"])

    def is_then(self, value, _, schema):
        return "if" in schema

    def is_minimum(self, value, least, _):
        return not is_number(value) or value >= least

    def is_maximum(self, value, most, _):
        return not is_number(value) or value <= most

    def is_exclusiveMinimum(self, value, least, _):
        return not is_number(value) or value > least

    def is_exclusiveMaximum(self, value, most, _):
        return not is_number(value) or value < most

    def is_pattern(self, value, pattern, _):
        return not isinstance(value, str) or re.search(pattern, value) is not None

    def is_maxLength(self, value, most, _):
        return not isinstance(value, str) or len(value) <= most

    def is_minItems(self, value, least, _):
        return not isinstance(value, list) or len(value) >= least

    def is_maxItems(self, value, most, _):
        return not isinstance(value, list) or len(value) <= most

    def is_items(self, value, schema, _):
        return not isinstance(value, list) or all(
            self.takes(item, schema) for item in value
        )

    def is_required(self, value, names, _):
        return not isinstance(value, dict) or all(name in value for name in names)

    def is_properties(self, value, schemas, _):
        return not isinstance(value, dict) or all(
            self.takes(value[name], schema)
            for name, schema in schemas.items()
            if name in value
        )

    def is_additionalProperties(self, value, allowed, schema):
        assert allowed is False
        return not isinstance(value, dict) or set(value) <= set(schema["properties"])


# What breaks a spec.


def paths(value, path=()):
    yield path
    items = []
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield from paths(item, path + (key,))


def put(value, path, new):
    """A copy of `value` with `new` at `path`; without it, where new is None."""
    copy = json.loads(json.dumps(value))
    node = copy
    for key in path[:-1]:
        node = node[key]
    if new is None:
        del node[path[-1]]
    else:
        node[path[-1]] = new
    return copy


NOT_VALUES = ["word", -1, 0.5, 10**10, "~", [], {}, ["a"], {"b": 1}, "1..", "9..x", True]


def broken(spec):
    """Specs that differ from `spec` in one place, not all of them wrong."""
    for path in paths(spec):
        if path:
            yield put(spec, path, None)
            for value in NOT_VALUES:
                yield put(spec, path, value)
        node = spec
        for key in path:
            node = node[key]
        if isinstance(node, dict):
            yield put(spec, path + ("unheard_of",), 1)


def write(file, spec):
    with open(file, "w", encoding="utf-8") as out:
        out.write(write_yaml(spec) + "\n")


def main():
    schema_file, folder, *files = sys.argv[1:]
    schema = Schema(json.load(open(schema_file, encoding="utf-8")))
    assert schema.root["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    os.makedirs(folder, exist_ok=True)
    refused = taken = 0
    for file in files:
        spec = read_yaml(open(file, encoding="utf-8").read())
        if not schema.takes(spec):
            sys.exit(f"{file}: the schema refuses it")
    write(f"{folder}/base.yaml", spec)
    for wrong in broken(spec):
        if schema.takes(wrong):
            taken += 1
        else:
            write(f"{folder}/{refused}.yaml", wrong)
            refused += 1
    print(f"{len(files)} specs taken, {refused} broken ones refused, {taken} not")


if __name__ == "__main__":
    main()
