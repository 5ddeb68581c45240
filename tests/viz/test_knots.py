"""Automata whose states all lead back to each other: how their pictures are laid out, and how large they are."""

from __future__ import annotations

import re

import networkx as nx
import pytest

from compiler import build_dfa
from viz import to_dot, to_svg, to_tikz
from viz.patterns import nfa_of

KNOTTED = {
    "knot of 126": ["#.a.*.*.*.*.*"],
    "knot of 240": ["#.a.*.*.*", "#.b.*.*.*"],
    "knot of 254": ["#.a.*.*.*.*.*.*"],
    "knot of 702": [f"#.{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"],
    "knots of 78": [f"{word}.#.{letter}.*.*" for word in "xyzuvw" for letter in "ab"],
}
UNKNOTTED = {
    "no circles": [f"#.{word}.#" for word in "abcdefg"],
    "tree": [f"{word}{number}.#" for word in "ab" for number in range(60)],
    "knot of 80": ["#.a.*.b", "#.c.*.d", "#.e"],
    "small circles": [f"{word}.#.{letter}" for word in "abcdefghijklmn" for letter in "abcde"],
}


@pytest.mark.parametrize("name", KNOTTED)
def test_what_is_a_knot_of_states_is_laid_out_by_springs(name: str) -> None:
    """In ranks it would have nearly as many as there are states."""
    head = to_dot(build_dfa(nfa_of(KNOTTED[name]))).splitlines()[1]
    assert ' layout="neato"' in head.replace("[", " ")
    assert "rankdir" not in head


@pytest.mark.parametrize("name", UNKNOTTED)
def test_small_circles_and_trees_are_read_from_left_to_right(name: str) -> None:
    """It is knots that Graphviz takes long for: 420 edges on circles of 30 are led around all nodes in 0.3 s."""
    head = to_dot(build_dfa(nfa_of(UNKNOTTED[name]))).splitlines()[1]
    assert 'rankdir="LR"' in head
    assert not {"layout", "splines", "nslimit"} & {part.partition("=")[0] for part in head.split()}


def test_a_knot_in_a_direction_that_is_asked_for_has_straight_edges_in_ranks() -> None:
    head = to_dot(build_dfa(nfa_of(KNOTTED["knot of 240"])), direction="TB").splitlines()[1]
    assert 'rankdir="TB"' in head
    assert ' splines="line"' in head
    assert "layout" not in head


def test_a_knot_of_nodes_in_frames_is_in_ranks_as_springs_know_no_frames() -> None:
    graph = nx.complete_graph(12, nx.DiGraph)
    assert 'layout="neato"' in to_dot(graph)
    nx.set_node_attributes(graph, {node: f"half {node % 2}" for node in graph}, "cluster")
    text = to_dot(graph)
    assert text.count("subgraph cluster_") == 2
    assert 'rankdir="LR"' in text
    assert "layout=" not in text


def test_springs_lead_curves_around_the_nodes_where_they_are_few() -> None:
    assert ' splines="true"' in to_dot(build_dfa(nfa_of(KNOTTED["knot of 240"])))
    assert ' splines="line"' in to_dot(build_dfa(nfa_of(KNOTTED["knot of 254"])))


@pytest.mark.usefixtures("renderer")
@pytest.mark.parametrize("name", ["knot of 240", "knot of 702", "knots of 78"])
def test_a_knot_is_drawn_whole_and_as_high_as_it_is_wide(name: str) -> None:
    """One of 240 edges was 11,167 points wide, one of 702 14,414 high."""
    dfa = build_dfa(nfa_of(KNOTTED[name]))
    svg = to_svg(dfa)
    width, height = (float(size) for size in re.findall(r'\b(?:width|height)="([0-9.]+)pt"', svg)[:2])
    assert max(width, height) < 2 * min(width, height)
    assert max(width, height) < 4000
    assert svg.count('class="edge') == to_tikz(dfa).count(r"\draw[")
