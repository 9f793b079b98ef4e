"""What `policyc diff` says of pairs of policies (test_diff.py), word by word."""

# name of a pair: the lines of its findings, read as a reviewer would.
LINES = {
    "another bit": ["low widened root: was int mask 5, is int mask 7. Further values of the same kind are taken."],
    "a bit less": ["low narrowed root: was int mask 7, is int mask 5. Some values that were taken are refused."],
    "other characters": [
        'low changed root: was str chars "a-f", is str chars "b-g". Further values of the same kind are taken. Some values that were taken are refused.',
    ],
    "a literal more than a range": ["low widened root: was int[1..3], is 1 | 2 | 3 | 4. Further values of the same kind are taken."],
    "a longer list": ["low widened root: was list<int>[..5], is list<int>[..6]. Other lengths are taken."],
    "an element that may be left out": ["low widened root: was tuple<int, str>, is tuple<int, str?>. Other lengths are taken."],
    "an element more": [
        "high widened root: was tuple<int, str?>, is tuple<int, str?, any?>. Another element may be there, of any value.",
    ],
    "any in the place of data": ["high widened root: was none | int | list<int>, is any. Any value is taken where a type stood."],
    "data in the place of any": ["low narrowed root: was any, is none | int | list<int>. Some values that were taken are refused."],
    "cyclic": ["medium widened root: was acyclic, is cyclic. Values may hold themselves."],
    "a key becomes mandatory": [
        "low narrowed m::K new state.b: was optional, is mandatory. A key that could be absent has to be there.",
    ],
    "a key becomes optional": [
        "medium widened m::K new state.b: was mandatory, is optional. A key that had to be there may be absent.",
    ],
    "a mandatory key more": [
        "medium changed m::K new state.b: was nothing, is str. Another key may be there. The key has to be there.",
    ],
    "a key less": ["low narrowed m::K new state.b: was str, is nothing. The key is refused."],
    "keys of any name": ["medium widened m::K new state.*: was nothing, is str. Keys of any name may be there."],
    "a state that was not there": ["medium widened m::K new state: was nothing, is { a: int }. The object may have a state."],
    "a state that may be left out": [
        "medium widened m::K new state: was mandatory, is optional. The object may be left without a state.",
    ],
    "an argument": ["medium widened m::K call args: was tuple<int>, is tuple<int, str?>. Another argument may be given."],
    "keywords": ["medium widened m::K new kw: was nothing, is { a?: int }. Keywords may be given."],
    "members": ["medium widened m::K call items[]: was nothing, is int. Items may be appended to the object."],
    "another way to make it": [
        "high widened m::K call: was nothing, is call(x: int). It may be called, which it was not: code of its own runs.",
    ],
    "another alternative of a verb": [
        "medium widened m::K call: was nothing, is call(x: str, y: str). It may be made in another way.",
    ],
    "two alternatives in one": [
        "medium widened m::K call: was call(x: int) | call(x: str), is call(x: int | str). Alternatives became one: that it takes no more than they did could not be shown.",
    ],
    "a mention": ["medium widened m::K ref: was nothing, is ref. The name may stand as a value."],
    "a hook less": [
        "low narrowed m::K call runs: was __setstate__, is nothing. A Python host refuses the class where it has such a hook.",
    ],
    "compared by what it holds": [
        "high widened m::K new runs: was nothing, is __eq__. Code of the class may run that could not.",
        "low narrowed m::K as a key: was compared by identity, is compared by what it holds. It may not be changed any more after it is a key.",
    ],
    "any number of calls": ["low narrowed m::K budget calls: was the policy's, is 6. Fewer of them may be made."],
    "a class less": ["low narrowed m::B: was call(), is nothing. The class may not be made any more."],
    "a function": ["high widened m::f: was nothing, is func() -> m::A. Another function may be called."],
    "another result": ["medium changed m::f func result: was m::A, is m::B. What is made is of another class."],
    "a member of an enum": [
        "medium widened m::E.C: was nothing, is const -> m::E = 3. Another name may stand as a value.",
        "low widened m::E call args.value: was 1 | 2, is 1 | 2 | 3. Further values of the same kind are taken.",
    ],
    "an enum by hand is no enum": [
        "medium changed m::E.A const result: was m::E, is m::E.A. It counts as an object of another class.",
        "low widened m::E.A const value: was 1, is nothing. The member has another value, so that other keys are equal to it.",
    ],
    "two budgets": [
        "low widened budget bytes: was 1MiB, is 2MiB. Streams may cost more.",
        "low narrowed budget depth: was 9, is 8. Streams may cost less.",
    ],
    "persistent ids": [
        "high widened opcodes: was nothing, is PERSID, BINPERSID. Objects may be made or named by opcodes that were refused.",
    ],
    "buffers": [
        "medium widened opcodes: was nothing, is NEXT_BUFFER, READONLY_BUFFER. Values may hold memory that is handed over beside the stream.",
    ],
    "opcodes less": ["low narrowed opcodes: was REDUCE, is nothing. Streams that use them are refused."],
    "protocols less": ["low narrowed protocol: was 2..5, is 3..5. Streams of some protocols are not read any more."],
    "another alias": [
        "low widened m::K: was nothing, is spelled old::K. Streams may spell the name in another way.",
        "low narrowed m::K: was spelled older::K, is nothing. Streams do not mean it by that name any more.",
    ],
    "rows of a template less a hook": [
        "low narrowed m::K new runs: was __setstate__, __setattr__, __hash__, __eq__, is __setstate__, __setattr__, __hash__. A Python host refuses the class where it has such a hook.",
    ],
    "a policy gets a child": [
        "medium widened environment: was nothing, is there. A child may be given an environment at all.",
        "medium widened environment PATH: was nothing, is inherit PATH where value path. A variable of the host reaches the child.",
    ],
    "a child gets less": [
        "low narrowed confinement budget wall: was 9, is 5. A child may cost less.",
        "low narrowed confinement linux: was opt_in, is require. No host may start the child unconfined any more.",
        "low narrowed confinement network: was granted, is none. The child has no network any more.",
        "low narrowed environment TZ: was inherit TZ where value zone, is nothing. The host's variable does not reach the child any more.",
    ],
    "channels where there were none": [
        "high widened channel: was nothing, is there. All that the channel grants is new.",
        "low narrowed channel: was there, is nothing. It is there no more.",
    ],
}
