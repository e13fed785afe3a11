"""Rows as ranks exchange them: in their turn, combined by the rules, and nothing is lost by rounding."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from densvec.distributed.rows import FIRST_BAND, RULES, Rows, adasum, slices

PARTS = [(0, 5), (9, 30)]


@given(rows=st.integers(1, 3000), first=st.integers(1, 400))
def test_every_row_has_its_turn_and_earlier_ones_not_less_often(rows, first):
    cycle = 1
    while first * cycle < rows:
        cycle *= 2
    times = [0] * rows
    for number in range(cycle):
        for start, stop in slices(rows, number, first):
            assert 0 <= start < stop <= rows
            for row in range(start, stop):
                times[row] += 1
    assert min(times) >= 1
    assert set(times[:first]) == {cycle}
    bands = [times[first * 2**i : first * 2 ** (i + 1)] for i in range(cycle.bit_length())]
    assert all(len(set(band)) <= 1 for band in bands)


@given(rows=st.integers(1, 10**8), number=st.integers(0, 10**6))
def test_a_round_grows_with_the_logarithm_of_the_vocabulary(rows, number):
    exchanged = sum(stop - start for start, stop in slices(rows, number))
    assert exchanged <= FIRST_BAND * (1 + max(rows / FIRST_BAND, 1).as_integer_ratio()[0].bit_length())


# How changes become one


@pytest.fixture
def changes():
    """Changes of four ranks that rounding leaves as they are."""
    return torch.randn(4, 6, 5, generator=torch.Generator().manual_seed(1)).bfloat16().float()


@pytest.mark.parametrize("ranks", [2, 3, 4, 7])
def test_orthogonal_changes_are_added(ranks):
    apart = torch.diag(torch.arange(1.0, ranks + 1))[:, None]  # one dimension for each rank
    torch.testing.assert_close(adasum(apart), apart.sum(0))


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_equal_changes_are_made_once(changes, ranks):
    torch.testing.assert_close(adasum(changes[:1].repeat(ranks, 1, 1)), changes[0])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_a_change_of_one_rank_alone_is_made_whole(changes, ranks, rule):
    for rank in range(ranks):
        alone = torch.zeros(ranks, 6, 5)
        alone[rank] = changes[0]
        torch.testing.assert_close(RULES[rule](alone), changes[0])


def test_two_ranks_may_change_places_and_units(changes):
    pair = changes[:2]
    torch.testing.assert_close(adasum(pair), adasum(pair.flip(0)))
    torch.testing.assert_close(adasum(4 * pair), 4 * adasum(pair))


def test_two_changes_never_come_to_more_than_both_together(changes):
    for a, b in ((0, 1), (1, 2), (2, 3)):
        pair = changes[[a, b]]
        together = pair.norm(dim=-1).sum(0)
        assert (adasum(pair).norm(dim=-1) <= together * (1 + 1e-6)).all()


def test_single_numbers_are_averaged_over_those_who_changed_them():
    changes = torch.tensor([[[1.0, 0.0, 3.0]], [[2.0, 5.0, 0.0]]])
    assert RULES["mean"](changes).tolist() == [[1.5, 5.0, 3.0]]
    assert RULES["sum"](changes).tolist() == [[3.0, 5.0, 3.0]]


# Tables


def tables():
    generator = torch.Generator().manual_seed(0)
    shapes = {"adasum": (31, 19), "mean": (31, 1), "sum": (31,)}
    return [(torch.randn(shape, generator=generator), rule) for rule, shape in shapes.items()]


def padded(plain):
    """Return the same numbers as views of one table, whose rows are further apart than each view's are long."""
    width = sum(table[0].numel() for table, _ in plain)
    whole = torch.full((31, width + 4), 99.0)
    views, column = [], 0
    for table, rule in plain:
        view = whole[:, column : column + table[0].numel()]
        views.append((view if table.ndim > 1 else view[:, 0], rule))
        views[-1][0].copy_(table)
        column += table[0].numel()
    return views


LAYOUTS = pytest.mark.parametrize("laid", [list, padded])


def train(rows, seed):
    """Change some rows of some tables."""
    generator = torch.Generator().manual_seed(seed)
    for table in rows._tables:
        change = 0.1 * torch.randn(table.shape, generator=generator)
        table += change * (torch.rand(len(table), 1, generator=generator) < 0.7)


def ranks(count, laid=list, threads=None):
    made = [Rows(laid(tables()), threads) for _ in range(count)]
    for seed, rows in enumerate(made):
        train(rows, seed)
    return made


def exchange(made, parts, settle=False):
    sent = [rows.changed(parts, len(made)) for rows in made]
    outcome = made[0].combined(torch.stack(sent))
    for rows, own in zip(made, sent, strict=True):
        if settle:
            rows.settle(parts, outcome)
        else:
            rows.add(parts, outcome, own)
    return sent, outcome


def assert_same_exchanges(some, others, settle):
    """Let both kinds of ranks exchange twice: they must send, combine and end with the same."""
    for _ in range(2):
        sent, outcome = exchange(some, PARTS, settle)
        sent_by_others, outcome_of_others = exchange(others, PARTS, settle)
        assert all(map(torch.equal, sent, sent_by_others))
        assert torch.equal(outcome, outcome_of_others)
        for rows, other in zip(some, others, strict=True):
            assert all(map(torch.equal, rows._tables, other._tables))


@pytest.mark.parametrize("settle", [False, True])
def test_rows_that_lie_apart_come_to_the_same_and_what_is_between_them_stays(settle):
    plain, made = (ranks(3, laid=laid) for laid in (list, padded))
    assert_same_exchanges(plain, made, settle)
    assert all((apart._tables[0]._base[:, -4:] == 99).all() for apart in made)


@LAYOUTS
@pytest.mark.parametrize("settle", [False, True])
def test_several_threads_copy_what_one_does(monkeypatch, settle, laid):
    monkeypatch.setattr("densvec.distributed.rows.AT_ONCE", 4)
    with ThreadPoolExecutor(3) as threads:
        one, several = (ranks(2, laid=laid, threads=pool) for pool in (None, threads))
        assert_same_exchanges(one, several, settle)


@LAYOUTS
def test_only_the_rows_exchanged_change(laid):
    made = ranks(2, laid=laid)
    before = [table.clone() for table in made[0]._tables]
    exchange(made, PARTS)
    for table, then in zip(made[0]._tables, before, strict=True):
        for row in (*range(5, 9), 30):
            assert torch.equal(table[row], then[row])


def test_what_rounding_leaves_is_sent_with_the_next_change():
    """One rank that trains and one that does not: after a few rounds both have the same, to single precision."""
    learner, other = (Rows(tables()) for _ in range(2))
    train(learner, 7)
    expected = [table.clone() for table in learner._tables]
    for _ in range(4):
        exchange([learner, other], [(0, 31)])
    for rows in (learner, other):
        for table, there in zip(rows._tables, expected, strict=True):
            torch.testing.assert_close(table, there, rtol=1e-6, atol=1e-6)


@LAYOUTS
def test_settled_ranks_are_equal_and_have_nothing_to_send(laid):
    made = ranks(3, laid=laid)
    exchange(made, [(0, 31)], settle=True)
    for rows in made[1:]:
        assert all(torch.equal(a, b) for a, b in zip(rows._tables, made[0]._tables, strict=True))
    assert not any(rows.changed([(0, 31)]).any() for rows in made)


@LAYOUTS
def test_what_is_trained_while_a_round_is_under_way_stays(laid):
    made = ranks(2, laid=laid)
    sent = [rows.changed([(0, 31)], 2) for rows in made]
    outcome = made[0].combined(torch.stack(sent))
    without = [table.clone() for table in made[0]._tables]
    train(made[0], 11)
    trained = [table - before for table, before in zip(made[0]._tables, without, strict=True)]
    made[0].add([(0, 31)], outcome, sent[0])
    made[1].add([(0, 31)], outcome, sent[1])
    for table, other, change in zip(made[0]._tables, made[1]._tables, trained, strict=True):
        torch.testing.assert_close(table - other, change, rtol=0, atol=1e-2)


def test_sizes_of_all_orders_keep_eight_bits_and_what_is_no_number_arrives():
    sizes = torch.logspace(-30, 30, 61)[:, None]
    changes = sizes * torch.randn(61, 7, generator=torch.Generator().manual_seed(1))
    special = torch.tensor([0.0, float("inf"), -float("inf"), float("nan")])
    table = torch.zeros(62, 7)
    rows = Rows([(table, "adasum")])
    table[:61] = changes
    table[61, :4] = special
    sent = rows.changed([(0, 62)], 4)
    assert sent.dtype == torch.bfloat16
    assert sent.shape == (64, 7)
    torch.testing.assert_close(sent[:61].float(), changes, rtol=2**-8, atol=0)
    torch.testing.assert_close(sent[61, :4].float(), special, equal_nan=True)
    assert not sent[62:].any()


def test_what_ranks_sent_may_lie_apart():
    made = ranks(3)
    sent = torch.stack([rows.changed(PARTS) for rows in made])
    apart = torch.zeros(3, sent[0].numel() + 7, dtype=sent.dtype)[:, 7:].view(sent.shape)
    apart.copy_(sent)
    assert not apart.is_contiguous()
    assert torch.equal(made[0].combined(apart), made[0].combined(sent))
