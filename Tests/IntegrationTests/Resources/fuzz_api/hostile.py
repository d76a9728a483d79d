"""Long runs of characters that are expensive to normalise, to compare or to divide into characters.

`put` replaces one text of a call by such a run. Which one, which run and how long depends on the call alone, so that a
seed repeats it.
"""

import json
import random
import zlib

KIB = 1024


def run(name, size):
    """A run of at most `size` bytes of UTF-8."""
    # U+0300 has the combining class 230 and U+0316 has 220; normalisation puts 220 first.
    marks = size // 4
    return {
        "descending": lambda: "a" + "\u0300" * marks + "\u0316" * marks,
        "ascending": lambda: "a" + "\u0316" * marks + "\u0300" * marks,
        "alternating": lambda: "a" + "\u0300\u0316" * marks,
        "regional indicators": lambda: "\U0001f1e9\U0001f1ea" * (size // 8),
        "joined emoji": lambda: "\U0001f469\u200d" * (size // 7) + "\U0001f467",
        "conjuncts": lambda: "\u0915\u094d" * (size // 6) + "\u0915",
        "jamo": lambda: "\u1112\u1161\u11ab" * (size // 9),
    }[name]()


RUNS = ["descending", "ascending", "alternating", "regional indicators", "joined emoji", "conjuncts", "jamo"]
# In the content.
SIZES = [4 * KIB, 64 * KIB, 128 * KIB]
# In the target, where each byte takes three, and in the header, which may have 32 KiB in all.
SHORT_SIZES = [KIB, 4 * KIB, 8 * KIB]
LONG_FIELD = 28 * KIB
FIELDS = ["Prefer", "Accept"]
# One call in so many has a run.
ONE_IN = 4


def places(value, path=()):
    """Where a run can go in a JSON document: the path of each string, and of each object that can have one more member."""
    if isinstance(value, str):
        yield path, "text"
    elif isinstance(value, dict):
        yield path, "name"
        for name, member in value.items():
            yield from places(member, (*path, name))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from places(element, (*path, index))


def replaced(value, path, kind, text):
    """A copy of a JSON document with the run in one place."""
    if path:
        copy = dict(value) if isinstance(value, dict) else list(value)
        copy[path[0]] = replaced(value[path[0]], path[1:], kind, text)
        return copy
    return {**value, text: 1} if kind == "name" else text


def put(case):
    """Puts a run into one place of some calls."""
    body = case.body if isinstance(case.body, (dict, list, str)) else None
    shown = json.dumps([case.operation.label, body, case.query, case.path_parameters], sort_keys=True, default=repr)
    chance = random.Random(zlib.crc32(shown.encode("utf-8", "surrogatepass")))
    if chance.randrange(ONE_IN):
        return
    name, short = chance.choice(RUNS), chance.choice(SHORT_SIZES)
    choices = [("body", *place) for place in places(body)]
    choices += [("query", key) for key, value in (case.query or {}).items() if isinstance(value, str)]
    choices += [("query", None)]
    choices += [("path", key) for key, value in (case.path_parameters or {}).items() if isinstance(value, str)]
    choices += [("field", chance.choice(FIELDS))]
    where, *place = chance.choice(choices)
    if where == "body":
        case.body = replaced(body, *place, run(name, chance.choice(SIZES)))
    elif where == "query":
        text = run(name, short)
        case.query = {**(case.query or {}), **({place[0]: text} if place[0] else {text: "1"})}
    elif where == "path":
        case.path_parameters = {**case.path_parameters, place[0]: run(name, short)}
    else:
        # The client writes one byte for each character.
        case.headers[place[0]] = run(name, LONG_FIELD).encode().decode("latin-1")
