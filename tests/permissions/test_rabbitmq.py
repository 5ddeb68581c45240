"""RabbitMQ's topic permissions: expressions held to PCRE, leaks to all small bindings and keys, verdicts to the broker."""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import subprocess
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Literal

import pcre2
import pika
import pika.exceptions
import pytest

from compiler import CapacityError
from dfa_router.permissions.dialect import UnsupportedRegexError, regular
from dfa_router.permissions.emqx import Client
from dfa_router.permissions.leaks import leak
from dfa_router.permissions.rabbitmq import Permission, TopicPermission, may_receive, read_leak, refusal
from dfa_router.permissions.verdicts import verdicts
from dfa_router.rabbitmq import Exchange
from dfa_router.reference.naive import matches

needs_greenery = pytest.mark.skipif(
    importlib.util.find_spec("greenery") is None, reason="needs greenery: pip install 'dfa-router[permissions]'"
)


def regex(chance: random.Random, depth: int = 0) -> str:
    """Return a random regular expression."""
    kind = chance.random()
    if kind < 0.35 or depth > 2:
        return chance.choice(
            ["a", "b", r"\.", ".", "[ab]", "[^a]", "[^.]", r"\*", r"\#", r"\w", "[a-c.]", "#", "x{1,2}"]
        )
    if kind < 0.65:
        return regex(chance, depth + 1) + regex(chance, depth + 1)
    if kind < 0.75:
        return f"({regex(chance, depth + 1)}|{regex(chance, depth + 1)})"
    return f"(?:{regex(chance, depth + 1)}){chance.choice('*+?')}"


def anchored(chance: random.Random) -> str:
    return chance.choice(["^", ""]) + regex(chance) + chance.choice(["$", ""])


def text(chance: random.Random) -> str:
    return ".".join(chance.choice(["a", "b", "ab", "x", "*", "#", ""]) for _ in range(chance.randint(1, 4)))


def rule(read: str, write: str = ".*", user: str = "ann") -> TopicPermission:
    return TopicPermission(user=user, exchange="amq.topic", write=write, read=read)


@needs_greenery
def test_expressions_are_those_of_pcre() -> None:
    from dfa_router.permissions.expressions import Expression

    chance = random.Random(1)
    for _ in range(150):
        pattern = anchored(chance)
        ours, theirs = Expression(pattern), pcre2.compile(pattern)
        for _ in range(30):
            asked = text(chance)
            assert ours.matches(asked) == (theirs.search(asked) is not None), (pattern, asked)


@needs_greenery
def test_bounded_quantifiers_are_those_of_pcre() -> None:
    from dfa_router.permissions.expressions import Expression

    chance = random.Random(4)
    bounds = ["{0}", "{1}", "{2}", "{0,1}", "{0,2}", "{1,3}", "{2,3}", "{0,}", "{2,}", "*", "+", "?", ""]
    for _ in range(300):
        first, second = (f"(?:(?:{regex(chance, 2)}){chance.choice(bounds)}){chance.choice(bounds)}" for _ in range(2))
        pattern = chance.choice(["^{}{}$", "^{}|{}$", "({}|{}){{1,2}}$"]).format(first, second)
        ours, theirs = Expression(pattern), pcre2.compile(pattern)
        for _ in range(30):
            asked = "".join(chance.choices("ab.*x", k=chance.randint(0, 7)))
            assert ours.matches(asked) == (theirs.search(asked) is not None), (pattern, asked)


@needs_greenery
@pytest.mark.parametrize(
    ("read", "leaking"),
    [
        ("^.{1,255}$", ("#", "")),
        ("(a|b|ab)*c{1,200}", None),
        (r"^(?:[a-z]+\.){1,20}[a-z]+$", None),
        (r"^[^.]{1,64}\.[^.]{1,64}$", ("a.#", "a")),
        ("(((){9999}){9999}){9999}", None),
    ],
)
def test_large_bounds_need_no_more_states_than_are_asked_for(read: str, leaking: tuple[str, str] | None) -> None:
    assert read_leak(rule(read)) == leaking


@needs_greenery
def test_an_expression_without_a_proof_still_answers_for_a_text() -> None:
    many = rule("^(.*a.{14})$")
    assert not many.may_bind("x")
    assert many.may_bind("xa" + "b" * 14)


@needs_greenery
@pytest.mark.parametrize("read", ["x{65535}", "(a{100}){100}"])
def test_expressions_that_are_too_large_are_refused(read: str) -> None:
    with pytest.raises(UnsupportedRegexError, match="has over 5,000 places"):
        rule(read).reading()


@needs_greenery
def test_expressions_read_bytes() -> None:
    """Held to PCRE without Unicode, of which Erlang's ``re`` differs in that it counts Latin-1's letters among the words."""
    from dfa_router.permissions.expressions import Expression

    for pattern in ("^caf.$", "^caf..$", "^[é]+$", "^[^é]$", "^é$", "^.{3}$", "^€$", "^[à-ç]"):
        ours, theirs = Expression(pattern), pcre2.compile(pattern.encode())
        for asked in ("café", "caf\xe9", "é", "éé", "e", "€", "", "a.b", "\u1234"):
            assert ours.matches(asked) == (theirs.search(asked.encode()) is not None), (pattern, asked)
    assert Expression(r"^\w+$").matches("\u00ea")  # C3 AA, letters of Latin-1
    assert not Expression(r"^\w+$").matches("\u00e9")  # C3 A9


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("é(?=a)b", "look-ahead at character 1"),
        ("a\ud800", "half of a surrogate pair at character 1"),
        ("(?=a)b", "look-ahead at character 0"),
        ("a(?<!b)", "look-behind at character 1"),
        (r"(a)\1", "a back reference at character 3"),
        (r"\bfoo", "a word boundary at character 0"),
        ("a++", "a possessive quantifier"),
        ("(?i)a", "an option"),
        ("(?>a)", "an atomic group"),
        ("[[:alpha:]]", "a class by name"),
        (r"\p{L}", "a Unicode property"),
        ("a^b", "an anchor behind"),
        ("a$b", "an anchor before"),
        ("(a", "an unmatched parenthesis"),
        ("a)", "an unmatched parenthesis"),
        ("*a", "a quantifier of nothing"),
        ("a|{2}", "a quantifier of nothing"),
        ("a{2}{3}", "a quantifier of nothing"),
        ("a{2,1}", "bounds that descend"),
        ("a{99999}", "a bound over 65535"),
        ("a{1," + "9" * 5000 + "}", "a bound over 65535"),
        ("(" * 3000 + ")" * 3000, "groups within each other"),
        ("[a", "a class without an end"),
        (r"\Qa\E", r"the escape \Q"),
    ],
)
def test_what_is_not_regular_is_refused_by_name(pattern: str, named: str) -> None:
    with pytest.raises(UnsupportedRegexError) as refused:
        regular(pattern)
    assert named in str(refused.value)


@needs_greenery
def test_the_unanchored_read_permission() -> None:
    """``^[^.]+\\.public`` accepts the binding ``#.public``, which gets ``secret.x.public``."""
    permission = rule(r"^[^.]+\.public")
    assert permission.may_bind("#.public")
    assert may_receive(permission, "secret.x.public", ("secret.#", "#.public")) == "#.public"
    assert not permission.may_bind("secret.x.public")
    found = read_leak(permission)
    assert found is not None
    assert (found.binding, found.key) == ("#.public", "public")
    assert read_leak(rule(r"^orders\.[a-z]+$")) is None
    assert Permission(user="ann", configure="", write="^a", read=".*").allows("write", "abc")
    assert not Permission(user="ann", configure="", write="^a", read=".*").allows("configure", "abc")


@needs_greenery
@pytest.mark.parametrize(
    "read", [r"^tenant:[^.]+\.[^.]+$", r"^{username}\.[^.]+$", r"^a/b \.[^.]+$", r"^é\.[^.]+$", r"^a\x3a\.[^.]+$"]
)
def test_leaks_of_expressions_that_ask_for_other_characters(read: str) -> None:
    permission = TopicPermission(user="ann@corp", exchange="amq.topic", write=".*", read=read)
    found, asked = read_leak(permission), permission.reading()
    assert found is not None
    assert asked.matches(found.binding)
    assert not asked.matches(found.key)
    assert matches(found.binding.encode(), found.key.encode())


@needs_greenery
def test_leaks_of_empty_words() -> None:
    """``*`` takes an empty word, too; a key of one empty word alone is none."""
    found = read_leak(rule(r"^a\.[^.#]+$"))
    assert found is not None
    assert (found.binding, found.key) == ("a.*", "a.")
    assert read_leak(rule(r"^([^.#]+)$")) is None


@needs_greenery
@pytest.mark.parametrize(("read", "binding"), [("^[*][.]pub", "*.pub"), (r"^[*]$|^[^.*#]{0,3}$|[.]", "*")])
def test_a_leak_may_need_more_behind_a_star_or_a_long_word_of_it(read: str, binding: str) -> None:
    found, asked = read_leak(rule(read)), rule(read).reading()
    assert found is not None
    assert found.binding == binding
    assert matches(binding.encode(), found.key.encode())
    assert not asked.matches(found.key)


@needs_greenery
def test_a_search_for_a_leak_ends_when_its_budget_is_spent() -> None:
    read = rule(r"^(a|b|#)*\.[^.]+$").reading()
    assert leak(read) is not None
    with pytest.raises(CapacityError, match="over 50 steps"):
        leak(read, budget=50)


@needs_greenery
def test_an_empty_expression_allows_nothing_and_a_client_is_no_client_of_mqtt() -> None:
    nothing = rule("", "")
    assert not nothing.may_publish("x")
    assert not nothing.may_bind("#")
    assert nothing.may_bind("")
    placed = rule("^{client_id}")
    assert not placed.may_bind("#")
    assert placed.may_bind("{client_id}.x")
    assert placed.may_bind("c7.x", "c7")
    assert placed.may_bind("#", "")


@needs_greenery
def test_what_a_client_calls_itself_is_replaced_before_the_other_names() -> None:
    """A client of MQTT chooses its name, and the broker reads names of users and vhosts in what it chose."""
    placed = rule("^{client_id}$")
    assert placed.may_bind("ann", "{username}")
    assert not placed.may_bind("{username}", "{username}")
    assert placed.may_bind("/", "{vhost}")


@needs_greenery
def test_a_refusal_says_what_is_refused_and_which_permission_does_not_match() -> None:
    names = [
        Permission(user="bob", configure="", write="", read=""),
        Permission(user="ann", vhost="v", configure="", write="", read=""),
        Permission(user="ann", configure="c", write="^(events|amq[.]default)$", read="^(events|late|plain)$"),
    ]
    topics = [
        TopicPermission(user="ann", exchange="events", write="^a[.]", read="^b$"),
        TopicPermission(user="ann", exchange="plain", write="^a[.]", read="^b$"),
        TopicPermission(user="ann", exchange="late", write="^a[.]", read="^b$"),
    ]

    def told(name: str, key: str, operation: Literal["write", "read"], kind: str = "topic", user: str = "ann") -> str:
        return refusal(names, topics, user, Exchange(name=name, type=kind), key, operation=operation) or "allowed"

    assert told("events", "a.b", "write") == told("events", "b", "read") == "allowed"
    assert told("events", "b", "write") == "'ann' may not publish 'b': '^a[.]' (topic_permissions[0]) does not match it"
    assert told("events", "a.b", "read") == "'ann' may not bind 'a.b': '^b$' (topic_permissions[0]) does not match it"
    assert told("", "b", "write", "direct") == "allowed", "the default exchange has a name for permissions"
    assert told("plain", "x", "read", "direct") == told("late", "x", "read", "x-delayed-message") == "allowed"
    may_not = "'ann' may not {} exchange {!r}: {!r} (permissions[2]) does not match its name"
    assert told("late", "b", "write") == may_not.format("write to", "late", names[2].write)
    assert told("", "b", "read", "direct") == may_not.format("read from", "", names[2].read)
    assert told("events", "b", "read", user="eve") == "'eve' has no permissions in vhost '/'"


def test_leaks_are_the_shortest_there_are() -> None:
    """Random expressions against all small bindings and keys."""
    chance = random.Random(2)
    words = ["a", "b", "ab", ""]
    bindings = [".".join(one) for n in range(1, 4) for one in product([*words, "*", "#"], repeat=n)]
    keys = [".".join(one) for n in range(4) for one in product([*words, "x", "ba"], repeat=n)]
    pairs = [(one, key) for one in bindings for key in keys if matches(one.encode(), key.encode())]
    for _ in range(60):
        permission = rule(anchored(chance))
        found, asked = read_leak(permission), permission.reading()
        allowed = {one: asked.matches(one) for one in {*bindings, *keys}}
        known = [len(one + key) for one, key in pairs if allowed[one] and not allowed[key]]
        if found is None:
            assert known == [], permission.read
        else:
            assert asked.matches(found.binding)
            assert not asked.matches(found.key)
            assert matches(found.binding.encode(), found.key.encode())


def erlang(text: str) -> str:
    return "<<" + ",".join(str(byte) for byte in text.encode()) + ">>"


def question(how: str, key: str) -> str:
    return "{" + how + "," + erlang(key) + "}"


@needs_greenery
@pytest.mark.broker
@pytest.mark.slow
@pytest.mark.parametrize("rules", [60, pytest.param(300, marks=pytest.mark.long)])
def test_a_broker_gives_the_same_verdicts(rules: int) -> None:
    """Random topic permissions, 30 questions each, asked of the broker's own back end."""
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs RabbitMQ's command rabbitmqctl")
    chance, user = random.Random(3), "dfa-router-permissions"
    cases = [
        (
            rule(anchored(chance), anchored(chance), user),
            [(chance.choice(["read", "write"]), text(chance)) for _ in range(30)],
        )
        for _ in range(rules)
    ]
    odd = ["", "^{client_id}", "{client_id}", "^{username}", "^{vhost}", "^caf.$", "^caf..$", "^[é]+$"]
    texts = ["", "x", "#", "{client_id}", "dfa-router-permissions", "/", "café", "é"]
    cases += [(rule(one, one, user), list(product(["read", "write"], texts))) for one in odd]
    for start in range(0, len(cases), 20):
        part = cases[start : start + 20]
        listed = ",".join(
            "{"
            + ",".join([erlang(one.write), erlang(one.read), "[" + ",".join(question(*two) for two in asked) + "]"])
            + "}"
            for one, asked in part
        )
        program = f"""
            User = {erlang(user)}, Acting = <<"test">>,
            catch rabbit_auth_backend_internal:delete_user(User, Acting),
            rabbit_auth_backend_internal:add_user(User, <<"p">>, Acting),
            Topic = {{resource, <<"/">>, topic, <<"amq.topic">>}},
            Told = lists:map(fun({{Write, Read, Asked}}) ->
                rabbit_auth_backend_internal:set_topic_permissions(User, <<"/">>, <<"amq.topic">>, Write, Read, Acting),
                lists:map(fun({{How, Key}}) ->
                    Variables = #{{<<"username">> => User, <<"vhost">> => <<"/">>}},  % of a client of AMQP
                    Context = #{{routing_key => Key, variable_map => Variables}},
                    rabbit_auth_backend_internal:check_topic_access({{auth_user, User, [], none}}, Topic, How, Context)
                end, Asked)
            end, [{listed}]),
            rabbit_auth_backend_internal:delete_user(User, Acting),
            Told.
        """
        ran = subprocess.run(["rabbitmqctl", "--quiet", "eval", program], capture_output=True, text=True, check=False)
        if ran.returncode:
            pytest.skip(f"needs a running RabbitMQ: {ran.stderr[:300]}")
        told = json.loads(ran.stdout)
        for (one, asked), answers in zip(part, told, strict=True):
            ours = [one.may_bind(key) if how == "read" else one.may_publish(key) for how, key in asked]
            assert ours == answers, (one, asked)


@pytest.mark.broker
def test_a_broker_delivers_what_the_binding_leaks() -> None:
    """A user whose read permission is ``^[^.]+\\.public`` binds ``#.public`` and gets ``secret.x.public``, which it may not bind."""
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs RabbitMQ's command rabbitmqctl")
    user = "dfa-router-leak"

    def control(*arguments: str) -> None:
        ran = subprocess.run(["rabbitmqctl", "--quiet", *arguments], capture_output=True, text=True, check=False)
        if ran.returncode:
            pytest.skip(f"needs a running RabbitMQ: {ran.stderr[:200]}")

    control("add_user", user, "p")
    try:
        control("set_permissions", user, ".*", ".*", ".*")
        control("set_topic_permissions", user, "amq.topic", ".*", r"^[^.]+\.public")
        credentials = pika.PlainCredentials(user, "p")
        with closing(
            pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", credentials=credentials))
        ) as connection:
            channel = connection.channel()
            queue = channel.queue_declare("", exclusive=True).method.queue
            channel.queue_bind(queue, "amq.topic", "#.public")
            channel.confirm_delivery()
            channel.basic_publish("amq.topic", "secret.x.public", b"told", mandatory=True)
            assert channel.basic_get(queue, auto_ack=True)[2] == b"told"
            with pytest.raises(pika.exceptions.ChannelClosedByBroker, match="access to topic"):
                channel.queue_bind(queue, "amq.topic", "secret.x.public")
    finally:
        control("delete_user", user)


@needs_greenery
@pytest.mark.broker
def test_a_broker_takes_from_a_user_what_the_command_says(tmp_path: Path) -> None:
    """Users whose permissions for names and for topics allow different things, and what each publishes."""
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs RabbitMQ's command rabbitmqctl")
    writes = {"dfa-router-none": "^$", "dfa-router-amq": "^amq", "dfa-router-topics": ".*"}
    topic = {"vhost": "/", "exchange": "amq.topic", "write": "^a", "read": ".*"}
    document = {
        "users": [{"name": user, "password": "p", "tags": []} for user in writes],
        "permissions": [
            {"user": user, "vhost": "/", "configure": "", "write": write, "read": ""} for user, write in writes.items()
        ],
        "topic_permissions": [{"user": user, **topic} for user in list(writes)[::2]],
    }
    file = tmp_path / "defs.json"
    file.write_text(json.dumps(document))

    def control(*arguments: str, given: str = "") -> None:
        line = ["rabbitmqctl", "--quiet", *arguments]
        ran = subprocess.run(line, input=given, capture_output=True, text=True, check=False)
        if ran.returncode:
            pytest.skip(f"needs a running RabbitMQ: {ran.stdout[:200]}{ran.stderr[:200]}")

    control("import_definitions", given=json.dumps(document))
    try:
        for user, exchange, key in product(writes, ["", "amq.direct", "amq.topic", "amq.rabbitmq.trace"], "ab"):
            told = verdicts(file, Client(user=user), key, exchange=exchange)
            parameters = pika.ConnectionParameters("127.0.0.1", credentials=pika.PlainCredentials(user, "p"))
            with closing(pika.BlockingConnection(parameters)) as connection:
                channel = connection.channel()
                channel.confirm_delivery()
                code = 0
                try:
                    channel.basic_publish(exchange, key, b"")
                except pika.exceptions.ChannelClosedByBroker as error:
                    code = error.reply_code
            assert code in {0, 403}
            assert list(told.values()) == [code == 0], (user, exchange, key)
    finally:
        for user in writes:
            control("delete_user", user)
