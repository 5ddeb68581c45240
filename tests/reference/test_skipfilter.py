"""Skipfilter: each subscriber is asked once for a topic, and no answer is out of date."""

from __future__ import annotations

import re
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfa_router as dr
from dfa_router.reference.skipfilter import SkipFilter, selects, uri_template
from dfa_router.reference.skiplist import SkipList


class Hub:
    """A filter of prefixes that counts what it is asked."""

    def __init__(self, max_topics: int = 100) -> None:
        self.asked: list[tuple[str, str]] = []
        self.filter: SkipFilter[str, str] = SkipFilter(self.test, max_topics=max_topics)

    def test(self, prefix: str, topic: str) -> bool:
        self.asked.append((prefix, topic))
        return topic.startswith(prefix)


def test_a_subscriber_is_asked_once_per_topic() -> None:
    hub = Hub()
    hub.filter.add("/users")
    hub.filter.add("/books")
    assert hub.filter.match("/users/7") == ["/users"]
    assert hub.filter.match("/users/7") == ["/users"]
    assert hub.asked == [("/users", "/users/7"), ("/books", "/users/7")]


def test_the_cursor_asks_new_subscribers_only() -> None:
    hub = Hub()
    hub.filter.add("/u")
    hub.filter.match("/users/7")
    hub.filter.add("/users")
    hub.asked.clear()
    assert hub.filter.match("/users/7") == ["/u", "/users"]
    assert hub.asked == [("/users", "/users/7")]


def test_a_removed_subscriber_is_dropped_on_look_up() -> None:
    hub = Hub()
    number = hub.filter.add("/u")
    hub.filter.add("/users")
    assert hub.filter.match("/users/7") == ["/u", "/users"]
    assert hub.filter.remove(number) == "/u"
    assert list(hub.filter._cached("/users/7").bits) == [0, 1]
    assert hub.filter.match("/users/7") == ["/users"]
    assert list(hub.filter._cached("/users/7").bits) == [1]
    assert len(hub.filter) == 1


def test_a_message_of_several_topics_reaches_those_who_want_any_or_all() -> None:
    hub = Hub()
    for prefix in ("/a", "/b", "/"):
        hub.filter.add(prefix)
    assert hub.filter.match("/a/1", "/b/1") == ["/a", "/b", "/"]
    assert hub.filter.match_all("/a/1", "/b/1") == ["/"]
    assert hub.filter.match() == []
    assert hub.filter.any("/c", "/b")
    assert not hub.filter.any("c", "b")
    assert not hub.filter.any()


def test_max_topics_bounds_the_bitmaps_and_drops_the_least_recently_used() -> None:
    hub = Hub(max_topics=2)
    hub.filter.add("/")
    for topic in ("/1", "/2", "/1", "/3"):
        hub.filter.match(topic)
    assert hub.filter.topics_cached == 2
    hub.asked.clear()
    hub.filter.match("/1")
    assert hub.asked == []
    hub.filter.match("/2")
    assert hub.asked == [("/", "/2")]


def test_a_predicate_that_raises_is_not_taken_for_false() -> None:
    calls = []

    def moody(subscriber: str, topic: str) -> bool:
        calls.append(subscriber)
        if len(calls) == 2:
            raise ZeroDivisionError("moody")
        return True

    hub: SkipFilter[str, str] = SkipFilter(moody)
    hub.add("calm")
    hub.add("moody")
    with pytest.raises(ZeroDivisionError) as caught:
        hub.match("t")
    assert caught.value.__notes__ == ["subscriber 1 was asked whether it wants 't'"]
    assert hub.match("t") == ["calm", "moody"]
    assert calls == ["calm", "moody", "moody"]


@pytest.mark.parametrize("asked", ["t", "u"], ids=["the same topic", "another topic"])
def test_a_predicate_that_asks_its_own_filter_is_refused(asked: str) -> None:
    """It waited for itself without end; with another topic, two threads could wait for each other."""
    caught: list[BaseException] = []
    curious = True

    def wants(subscriber: str, topic: str) -> bool:
        return not curious or bool(hub.match(asked))

    def ask() -> None:
        with pytest.raises(dr.OptionError, match=f"about '{asked}' while it is asked about 't'") as raised:
            hub.match("t")
        caught.append(raised.value)

    hub: SkipFilter[str, str] = SkipFilter(wants)
    hub.add("curious")
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(30)
    assert [error.__notes__ for error in caught] == [["subscriber 0 was asked whether it wants 't'"]]
    curious = False
    assert hub.match("t") == ["curious"]  # nothing is left behind: neither a lock nor a wrong bit


def test_a_predicate_may_change_its_filter_and_ask_another() -> None:
    other: SkipFilter[str, str] = SkipFilter(lambda subscriber, topic: topic == "t")
    other.add("x")

    def wants(subscriber: str, topic: str) -> bool:
        if subscriber == "first":
            hub.add("second")
        return other.any(topic)

    hub: SkipFilter[str, str] = SkipFilter(wants)
    hub.add("first")
    assert hub.match("t") == ["first"]
    assert hub.match("t") == ["first", "second"]
    assert hub.match("u") == []


def test_any_value_can_subscribe_none_among_them() -> None:
    hub: SkipFilter[None, str] = SkipFilter(lambda subscriber, topic: subscriber is None)
    hub.add(None)
    assert hub.match("t") == [None]


@settings(deadline=None, derandomize=True)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.text("ab", max_size=2)),
            st.tuples(st.just("remove"), st.integers(0, 20)),
            st.tuples(st.just("match"), st.lists(st.text("ab", max_size=3), max_size=3)),
        ),
        max_size=60,
    )
)
def test_changes_at_random_agree_with_asking_everyone(steps: list[tuple[str, object]]) -> None:
    hub: SkipFilter[str, str] = SkipFilter(lambda prefix, topic: topic.startswith(prefix), max_topics=3)
    live: dict[int, str] = {}
    for name, argument in steps:
        if name == "add":
            live[hub.add(str(argument))] = str(argument)
        elif name == "remove":
            if argument in live:
                assert hub.remove(argument) == live.pop(argument)
            else:
                with pytest.raises(dr.BindingError, match="no subscriber"):
                    hub.remove(argument)  # type: ignore[arg-type]
        else:
            topics = list(argument)  # type: ignore[call-overload]
            assert hub.match(*topics) == [s for s in live.values() if any(t.startswith(s) for t in topics)]
            assert hub.any(*topics) is any(t.startswith(s) for s in live.values() for t in topics)
            assert hub.match_all(*topics) == [
                s for s in live.values() if topics and all(t.startswith(s) for t in topics)
            ]
        assert len(hub) == len(live)


def test_threads_add_remove_and_match() -> None:
    """A thread's own subscriber is in every answer while it is there, and in none after."""
    hub: SkipFilter[str, str] = SkipFilter(lambda subscriber, topic: True, max_topics=3)
    errors: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for call in range(200):
                me = f"{thread}.{call}"
                number = hub.add(me)
                assert me in hub.match(f"topic {call % 5}")
                hub.remove(number)
                assert me not in hub.match(f"topic {call % 5}")
        except BaseException as error:  # noqa: BLE001 - looked at below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for running in threads:
        running.start()
    for running in threads:
        running.join()
    assert errors == []
    assert hub.match("topic 0") == []


def test_mercures_case() -> None:
    """5,000 subscribers of three selectors, two topics a message: 30,000 questions once, then none."""
    asked = 0

    def wants(subscriber: tuple[re.Pattern[str], ...], topic: str) -> bool:
        nonlocal asked
        asked += 1
        return any(selector.fullmatch(topic) for selector in subscriber)

    hub: SkipFilter[tuple[re.Pattern[str], ...], str] = SkipFilter(wants)
    for number in range(5000):
        hub.add(tuple(uri_template(t) for t in (f"/users/{number}", f"/users/{number}/{{id}}", "/all")))
    for _ in range(10):
        assert len(hub.match("/users/7", "/users/8/books")) == 2
    assert asked == 10_000
    assert len(hub.match("/all")) == 5000


@pytest.mark.parametrize(
    ("template", "fits", "does_not"),
    [
        ("/users/{id}", ["/users/7", "/users/a%20b", "/users/"], ["/users/7/books", "/users", "/users/a b"]),
        ("/files/{+path}", ["/files/a/b", "/files/"], ["/file"]),
        ("/a.b", ["/a.b"], ["/axb"]),
        ("*", ["", "/anything", "a\nb"], []),
        ("/{a}/x/{b}", ["/1/x/2"], ["/1/y/2"]),
    ],
)
def test_uri_templates(template: str, fits: list[str], does_not: list[str]) -> None:
    wants = selects(template)
    assert [topic for topic in (*fits, *does_not) if wants(topic)] == fits


@pytest.mark.parametrize("template", ["/{?q}", "/{a,b}", "/{a", "/a}", "/{}"])
def test_a_template_that_is_not_known_is_refused(template: str) -> None:
    with pytest.raises(dr.OptionError, match="URI template"):
        uri_template(template)


@pytest.mark.parametrize("max_topics", [0, -1, True, 1.5, "many"])
def test_a_bound_that_is_none_is_refused(max_topics: object) -> None:
    with pytest.raises(dr.OptionError, match="max_topics"):
        SkipFilter(lambda subscriber, topic: True, max_topics=max_topics)  # type: ignore[arg-type]


@settings(deadline=None, derandomize=True)
@given(st.lists(st.one_of(st.just(-1), st.integers(0, 40)), max_size=120))
def test_the_skip_list_is_a_dict_in_order(steps: list[int]) -> None:
    """-1 appends, a number is removed."""
    names = SkipList[str]()
    model: dict[int, str] = {}
    for step in steps:
        if step < 0:
            name = f"n{names.next_number}"
            model[names.append(name)] = name
        elif step in model:
            assert names.remove(step) == model.pop(step)
        else:
            with pytest.raises(KeyError):
                names.remove(step)
        assert len(names) == len(model)
        assert list(names.since(0)) == list(model.items())
        assert list(names.since(7)) == [(number, name) for number, name in model.items() if number >= 7]
    for number in range(names.next_number):
        if number in model:
            assert names.get(number) == model[number]
        else:
            with pytest.raises(KeyError):
                names.get(number)
