"""The drawing model and its DOT text: what is shown, what is hidden, and any word as that word."""

from __future__ import annotations

import re
from typing import Any

import networkx as nx
import pytest

from compiler import build_dfa
from compiler.automata.minimize import minimize
from compiler.automata.twin import Twin
from compiler.machine.lazy import LazyDfa
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, topology_of
from tests.viz.material import ATTACKS, FOUR, KEY
from viz import DrawingTooLargeError, Rule, drawing, to_dot, to_tikz
from viz.patterns import nfa_of, words_of
from viz.text import shown


def _real(model: nx.DiGraph) -> list[object]:
    return [node for node, data in model.nodes(data=True) if not data["roles"] & {"entry", "ghost"}]


def test_the_nfa_has_its_accept_tags_and_many_loops() -> None:
    model = drawing(nfa_of(FOUR), names=FOUR)
    accepting = {data["lines"] for _, data in model.nodes(data=True) if "accept" in data["roles"]}
    assert accepting == {(f"✓ {pattern}",) for pattern in FOUR}
    loops = [(tail, data["label"]) for tail, head, data in model.edges(data=True) if tail == head]
    assert loops == [(3, "*")]
    assert model.edges[1, 3]["label"] == "ε"


def test_states_show_the_set_that_they_stand_for() -> None:
    model = drawing(build_dfa(nfa_of(FOUR)), names=FOUR)
    sets = {data["lines"][0] for _, data in model.nodes(data=True) if data["lines"]}
    assert {"{0}", "{1,3}", "{3,4,7}", "{3,7,11}"} <= sets


def test_the_dead_state_is_hidden_unless_asked_for() -> None:
    dfa = build_dfa(nfa_of(FOUR))
    hidden, asked = drawing(dfa), drawing(dfa, dead=True)
    assert len(_real(hidden)) == len(dfa) - 1
    assert len(_real(asked)) == len(dfa)
    assert sum("to-dead" in data["roles"] for _, _, data in asked.edges(data=True)) > 0
    assert not any("to-dead" in data["roles"] for _, _, data in hidden.edges(data=True))


def test_the_empty_set_is_written_in_pictures_as_in_the_terminal() -> None:
    dfa = build_dfa(nfa_of(["a.#"]))
    assert {data["lines"] for _, data in drawing(dfa, dead=True).nodes(data=True) if "dead" in data["roles"]} == {
        ("∅",)
    }
    assert r"1\\\scriptsize $\varnothing$" in to_tikz(dfa, dead=True)


def test_other_edges_that_lead_on_are_hidden_only_on_request() -> None:
    dfa = build_dfa(nfa_of(FOUR))
    assert any("other" in data["roles"] for _, _, data in drawing(dfa).edges(data=True))
    assert not any("other" in data["roles"] for _, _, data in drawing(dfa, other=False).edges(data=True))


def test_a_key_that_dies_shows_the_dead_state() -> None:
    model = drawing(build_dfa(nfa_of(["a.b"])), key="x")
    assert any({"dead", "path"} <= data["roles"] for _, data in model.nodes(data=True))


def test_parallel_edges_are_one_with_the_words_in_its_tooltip() -> None:
    words = [f"w{i}" for i in range(12)]
    model = drawing(minimize(build_dfa(nfa_of([f"#.{word}" for word in words] + ["#.x"]))))
    assert not model.is_multigraph()
    patterns = [f"{word}.*.b" for word in words]
    graph = nx.MultiDiGraph(kind="dfa")
    graph.add_node(0, start=True, positions=(0,), tags=(), dead=False)
    graph.add_node(1, start=False, positions=(1,), tags=(), dead=False)
    for word in words:
        graph.add_edge(0, 1, kind="literal", label=word)
    merged = drawing(graph, names=patterns).edges[0, 1]
    assert merged["label"] == "12 words"
    assert merged["words"] == tuple(words)
    assert all(word in merged["tooltip"] for word in words)


def test_the_cache_as_it_is_known_solid_unknown_dotted_wide_where_it_is_used() -> None:
    cache = Twin(nfa_of(FOUR), b".", 1 << 20)
    for _ in range(100):
        cache.match(KEY.encode())
    cache.match(b"a.b.c")
    model = drawing(cache, names=FOUR)
    pending = {data["label"] for _, _, data in model.edges(data=True) if "unknown" in data["roles"]}
    assert "b, other" in pending, "the start state has not read b, nor any other word"
    text = to_dot(model)
    assert text.count('style="dotted"') == len(
        [1 for _, _, data in model.edges(data=True) if "unknown" in data["roles"]]
    )
    widths = {
        (tail, head): float(match.group(1))
        for tail, head, data in model.edges(data=True)
        if (match := re.search(rf'id="{data["id"]}" .*penwidth="([\d.]+)"', text))
    }
    assert model.edges[0, 1]["visits"] == 101
    assert max(widths.values()) == widths[0, 1]
    assert widths[0, 1] > min(widths.values()) + 1


def test_the_kernel_s_cache_is_drawn_like_its_twin_s() -> None:
    nfa = nfa_of(FOUR)
    lazy, twin = LazyDfa(nfa, b".", 1 << 20), Twin(nfa, b".", 1 << 20)
    for key in (KEY.encode(), b"a.b.c", b"b.x"):
        assert lazy.match(key) == twin.match(key)

    def content(thing: LazyDfa | Twin) -> tuple[set[tuple[Any, Any]], set[tuple[Any, Any, Any]]]:
        model = drawing(thing)
        nodes = {(data["lines"], data["roles"]) for _, data in model.nodes(data=True)}
        edges = {
            (model.nodes[tail]["lines"], model.nodes[head]["lines"], data["label"])
            for tail, head, data in model.edges(data=True)
            if "unknown" not in data["roles"]
        }
        return nodes, edges

    (nodes, edges), (twin_nodes, twin_edges) = content(lazy), content(twin)
    assert nodes == twin_nodes
    # A kernel builds the default successor on the way to that of a literal, and so may know more.
    assert edges >= twin_edges
    assert {label for *_, label in edges - twin_edges} <= {"other"}


def test_an_empty_cache_is_a_picture_too() -> None:
    assert "digraph" in to_dot(LazyDfa(nfa_of(FOUR), b".", 1 << 20))
    assert r"\end{tikzpicture}" in to_tikz(LazyDfa(nfa_of(FOUR), b".", 1 << 20))


def test_the_path_of_a_key_carries_the_numbers_of_its_words() -> None:
    model = drawing(build_dfa(nfa_of(FOUR)), key=KEY)
    labels = {data["label"] for _, _, data in model.edges(data=True) if "path" in data["roles"]}
    assert labels == {"1: a", "2: other", "3: other", "4: other", "5: c"}
    assert model.graph["alt"].endswith("visits 0, 2, 4, 8, 8, 10 and is accepted by binding 2.")


def test_an_nfa_s_path_is_the_run_that_accepts() -> None:
    model = drawing(nfa_of(FOUR), key=KEY)
    taken = {(tail, head) for tail, head, data in model.edges(data=True) if "path" in data["roles"]}
    assert taken == {(0, 1), (1, 3), (3, 3), (3, 7)}


def test_two_thousand_states_are_refused_with_advice_and_drawn_around_a_key() -> None:
    dfa = build_dfa(nfa_of(["#.a" + ".*" * 10]), max_states=4096)
    with pytest.raises(
        DrawingTooLargeError, match=r"2,048 states are more than the 250 .*key=.*minimise.*lazy cache.*2048"
    ):
        drawing(dfa)
    around = drawing(dfa, key="a.b.a")
    assert len(_real(around)) < 20
    assert any("left out" in data["tooltip"] for _, data in around.nodes(data=True))
    drawn, states = len(_real(around)), f"{len(dfa):,} states"
    assert around.graph["alt"].startswith(f"DFA of which a part is drawn: {drawn} of {states} and ")
    assert drawing(dfa, max_nodes=len(dfa)).graph["alt"].startswith(f"DFA with {states} and ")


def test_a_graph_with_too_many_edges_is_refused() -> None:
    dfa = build_dfa(nfa_of([f"#.{a}{i}.#.{b}" for a in "ab" for i in range(3) for b in "xy"]), max_states=300)
    with pytest.raises(DrawingTooLargeError, match=r"edges are more than .*other=False"):
        drawing(dfa, max_nodes=len(dfa))
    with pytest.raises(DrawingTooLargeError, match="edges are more than") as refused:
        drawing(dfa, max_nodes=len(dfa), other=False)
    assert "other=False" not in str(refused.value), "it was given"


def test_rules_of_the_caller_win_and_change_nothing_else() -> None:
    rules = [
        Rule("node", "accept", {"fillcolor": "gold"}),
        Rule("edge", lambda edge: edge["label"] == "b", {"color": "red"}),
        Rule("node", "start", lambda node: {"xlabel": node["label"]}),
    ]
    text = to_dot(nfa_of(FOUR), rules=rules)
    assert text.count('fillcolor="gold"') == len(FOUR)
    assert text.count('color="red"') == text.count('label=" b "')
    assert text.count("xlabel=") == 1
    assert to_dot(nfa_of(FOUR)) == text.replace('fillcolor="gold"', 'fillcolor="#dcf3ea"').replace(
        ' color="red"', ""
    ).replace(' xlabel="0"', "")


def test_minimal_dfas_name_the_states_that_they_merge() -> None:
    model = drawing(minimize(build_dfa(nfa_of(["#.a.*.#"]))))
    assert ("= {2,3}", "✓ 0") in {data["lines"] for _, data in model.nodes(data=True)}


def test_tables_and_topologies_are_drawn_from_what_they_are() -> None:
    assert "record" in to_dot([["topic", "0"], ["a|b{c}", "1"]])
    graph = _topology().to_networkx()
    text = to_dot(graph)
    assert text.count("subgraph cluster_") == 2
    assert text.count('label=" # "') == 2, "a binding key's wildcards are no words"
    assert "dashed" in text, "an undeclared queue"


def _topology() -> Topology:
    """Return exchanges and queues of two virtual hosts, of which one has a queue that is not declared."""
    return topology_of(
        vhosts=["/", "other"],
        exchanges=[
            *(Exchange(vhost=vhost, name="x", type="topic") for vhost in ("/", "other")),
            Exchange(name="y", type="fanout", arguments={"alternate-exchange": "x"}),
        ],
        queues=[Queue(name="q", type="quorum")],
        bindings=[
            *(Binding(vhost=vhost, source="x", destination="q", routing_key="#") for vhost in ("/", "other")),
            *(Binding(source="y", destination="q", routing_key=f"k{number}") for number in range(4)),
            Binding(source="x", destination="y", destination_type="exchange", routing_key="a.*"),
        ],
    )


def test_what_is_drawn_of_a_topology_is_all_in_attributes_that_know_no_broker() -> None:
    whole = _topology().graph()
    stripped = whole.copy()
    for _, data in stripped.nodes(data=True):
        for name in ("vhost", "type", "declared", "internal", "idle"):
            data.pop(name, None)
        data["role"] = "node"
    for *_, data in stripped.edges(data=True):
        data.pop("position", None)
        data["role"] = "edge"
    without_classes = re.compile(r' class="[^"]*"')
    assert without_classes.sub("", to_dot(stripped)) == without_classes.sub("", to_dot(whole))
    assert to_tikz(stripped) == to_tikz(whole)


def test_a_topology_s_picture_is_in_a_broker_s_words() -> None:
    model = drawing(_topology())
    assert model.graph["clusters"] == {"/": "vhost /", "other": 'vhost "other"'}
    assert {data["label"] for _, _, data in model.edges(data=True)} == {"#", "a.*", "4 bindings", "alternate exchange"}
    assert "alternate exchange: messages that match no binding" in {
        data["tooltip"] for _, _, data in model.edges(data=True)
    }
    assert {data["lines"] for _, data in model.nodes(data=True)} == {("topic",), ("fanout",), ("quorum",), ()}
    assert {"exchange", "queue", "undeclared"} <= {role for _, data in model.nodes(data=True) for role in data["roles"]}


def test_a_plain_graph_says_how_it_is_drawn() -> None:
    graph = nx.MultiDiGraph(title="Depots", edge_noun="roads", cluster_noun="region")
    for region in ("north", "south"):
        graph.add_node(region, label=region, cluster=region, lines=("new\nline",), tooltip="a\x01b")
    graph.add_node("nobody", hidden=True)
    graph.add_edges_from(("north", "south", {"role": "road", "label": f"r{number}"}) for number in range(5))
    model = drawing(graph)
    assert model.graph["alt"] == "Depots with 2 nodes and 1 edge. Edges: north to south (5 roads)."
    assert model.graph["clusters"] == {"north": "region north", "south": "region south"}
    assert model.nodes["north"]["lines"] == ("new␊line",)
    assert model.nodes["north"]["tooltip"] == "node north; a␁b"


def test_what_has_a_protocol_is_drawn_by_it() -> None:
    class Tabular:
        def to_table(self) -> list[list[str]]:
            return [["a", "b"], ["1", "2"]]

    class Graphic:
        def to_networkx(self) -> nx.MultiDiGraph:
            return nx.MultiDiGraph([("a", "b")])

    assert drawing(Tabular()).graph["alt"] == drawing([["a", "b"], ["1", "2"]]).graph["alt"]
    assert set(drawing(Graphic())) == {"a", "b"}


def test_what_cannot_be_drawn_says_what_can() -> None:
    with pytest.raises(TypeError, match=r"expected an automaton, a networkx graph, a table"):
        drawing(42)
    with pytest.raises(TypeError, match="leave key out"):
        drawing([["a"], ["b"]], key="a")


@pytest.mark.parametrize("word", ATTACKS)
def test_attacking_words_stay_words_in_dot_and_tikz(word: str) -> None:
    nfa = nfa_of([word.replace(".", "")])
    assert len(nfa) == 2
    text = to_dot(nfa, names=[word])
    for line in text.splitlines():
        outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
        assert not re.search(r'["<>\\&]', outside.replace("->", "")), line
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u200b\u202a-\u202e]", text)
    for tikz in (to_tikz(nfa, names=[word]), to_tikz([["topic", "1"], [word, "0"]])):
        assert tikz.count(r"\begin{tikzpicture}") == tikz.count(r"\end{tikzpicture}") == 1
        body = re.sub(r"\\[{}]", "", "\n".join(line for line in tikz.splitlines() if not line.startswith("%")))
        assert body.count("{") == body.count("}")


def test_long_labels_are_elided_and_whole_in_the_tooltip() -> None:
    word = "start" + "x" * 190 + "end.."
    model = drawing(nfa_of([word.replace(".", "")]), names=[word])
    (label,) = {data["label"] for _, _, data in model.edges(data=True) if data["label"]}
    assert len(label) <= 24
    assert "…" in label


def test_words_that_read_like_labels_are_quoted() -> None:
    assert [shown(word) for word in ("other", "any word", "ε", "*", "#", "", " a", "a,b", 'a"b')] == [
        '"other"', '"any word"', '"ε"', '"*"', '"#"', '""', '" a"', '"a,b"', '"a\\"b"',
    ]  # fmt: skip


def test_the_text_of_a_wide_table_counts_its_columns_and_does_not_name_hundreds() -> None:
    header = ["topic", *map(str, range(300))]
    assert drawing([header, ["0"] * 301]).graph["alt"] == (
        "Table with 1 row and the columns topic, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 289 more."
    )
    assert drawing([["topic", "0"]]).graph["alt"] == "Table with 0 rows and the columns topic, 0."


def test_every_picture_has_a_text_alternative() -> None:
    nfa = nfa_of(FOUR)
    table = [["topic", "0"], ["a", "1"]]
    for thing in (nfa, build_dfa(nfa), minimize(build_dfa(nfa)), Twin(nfa, b".", 1 << 20), table):
        assert len(drawing(thing).graph["alt"]) > 20
    assert words_of("") == []
