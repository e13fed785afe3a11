"""What is sent of rows: native code and PyTorch agree, nothing is lost to rounding, ranks end with equal tables."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch

from densvec.distributed.combine import adasum, mean_of_changed, one_after_another, total
from densvec.distributed.rows import NativeRows, Rows, rows_of

CPU = torch.device("cpu")
PARTS = [(0, 5), (9, 30)]


def tables(dtype=torch.float32, seed=1):
    generator = torch.Generator().manual_seed(seed)

    def numbers(*shape):
        return torch.randn(*shape, generator=generator, dtype=dtype)

    return [
        (numbers(31, 19), adasum),
        (numbers(31, 1), mean_of_changed),
        (numbers(31, 8), adasum),
        (numbers(31), total),
    ]


def padded(plain):
    """Return the same numbers as views of one table, whose rows are further apart than each view's are long."""
    width = sum(table[0].numel() for table, _ in plain)
    whole = torch.full((31, width + 4), 99.0, dtype=plain[0][0].dtype)
    views, column = [], 0
    for table, rule in plain:
        view = whole[:, column : column + table[0].numel()]
        views.append((view if table.ndim > 1 else view[:, 0], rule))
        views[-1][0].copy_(table)
        column += table[0].numel()
    return views


LAYOUTS = pytest.mark.parametrize("laid", [list, padded])


def train(rows, seed, scale=0.1):
    """Change some rows of some tables."""
    generator = torch.Generator().manual_seed(seed)
    for table in rows._tables:
        change = scale * torch.randn(table.shape, generator=generator, dtype=table.dtype)
        table += change * (torch.rand(len(table), 1, generator=generator) < 0.7)


def ranks(kind, count, dtype=torch.float32, travels=False, laid=list):
    made = [kind(laid(tables(dtype)), CPU, torch.zeros(31) if travels else None) for _ in range(count)]
    for seed, rows in enumerate(made):
        train(rows, seed)
        if travels:
            rows._travelled += torch.rand(31, generator=torch.Generator().manual_seed(seed))
    return made


def exchange(made, parts, settle=False):
    sent = [rows.changed(parts, len(made)) for rows in made]
    combined = made[0].combined(torch.stack(sent))
    for rows, own in zip(made, sent, strict=True):
        if settle:
            rows.settle(parts, combined)
        else:
            rows.add(parts, combined, own)
    return sent, combined


def test_tables_of_the_cpu_in_single_precision_are_exchanged_by_native_code():
    assert type(rows_of(tables(), CPU)) is NativeRows
    assert type(rows_of(padded(tables()), CPU)) is NativeRows
    assert type(rows_of([(torch.zeros(2, 3).T, adasum)], CPU)) is Rows  # rows in pieces
    assert type(rows_of(tables(torch.float64), CPU)) is Rows
    assert type(rows_of([(torch.zeros(3, 2), lambda changes: changes[0])], CPU)) is Rows


@LAYOUTS
@pytest.mark.parametrize("travels", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_native_code_gives_what_pytorch_gives(count, travels, laid):
    by_torch, native = (ranks(kind, count, travels=travels, laid=laid) for kind in (Rows, NativeRows))
    for _ in range(2):
        sent, combined = exchange(by_torch, PARTS)
        sent_natively, combined_natively = exchange(native, PARTS)
        assert all(torch.equal(a, b) for a, b in zip(sent, sent_natively, strict=True))
        # single precision, then rounded to eight bits: neighbours at most
        torch.testing.assert_close(combined_natively.float(), combined.float(), rtol=2**-7, atol=1e-6)
        for a, b in zip(native, by_torch, strict=True):
            for table, expected in zip(a._tables, b._tables, strict=True):
                torch.testing.assert_close(table, expected, rtol=1e-2, atol=4e-3)
        by_torch, native = (ranks(kind, count, travels=travels, laid=laid) for kind in (Rows, NativeRows))


def assert_same_exchanges(some, others, settle):
    """Let both kinds of ranks exchange twice: they must send, combine and end with the same."""
    for _ in range(2):
        sent, combined = exchange(some, PARTS, settle)
        sent_by_others, combined_of_others = exchange(others, PARTS, settle)
        assert all(map(torch.equal, sent, sent_by_others))
        assert torch.equal(combined, combined_of_others)
        for rows, other in zip(some, others, strict=True):
            assert all(map(torch.equal, rows._tables, other._tables))


@pytest.mark.parametrize("kind", [Rows, NativeRows])
@pytest.mark.parametrize("settle", [False, True])
def test_rows_that_lie_apart_come_to_the_same_and_what_is_between_them_stays(kind, settle):
    plain, made = (ranks(kind, 3, travels=True, laid=laid) for laid in (list, padded))
    assert_same_exchanges(plain, made, settle)
    assert all((apart._tables[0]._base[:, -4:] == 99).all() for apart in made)


@pytest.mark.parametrize("kind", [Rows, NativeRows])
def test_only_the_first_table_is_combined_by_how_far_it_was_drawn_and_that_begins_anew(kind):
    plain, made = ranks(kind, 3), ranks(kind, 3, travels=True)
    before = made[0]._travelled.clone()
    _, by_rules = exchange(plain, PARTS)
    sent, combined = exchange(made, PARTS)
    travelled = torch.stack([each[:, -1].float() for each in sent])
    changes = torch.stack([each[:, :19].float() for each in sent])
    expected = one_after_another(changes, travelled)
    torch.testing.assert_close(combined[:, :19].float(), expected, rtol=2**-7, atol=1e-6)
    assert torch.equal(combined[:, 19:-1], by_rules[:, 19:])
    for row in range(31):
        exchanged = row < 5 or 9 <= row < 30
        assert made[0]._travelled[row] == (0 if exchanged else before[row])


@LAYOUTS
@pytest.mark.parametrize("kind", [Rows, NativeRows])
def test_only_the_rows_exchanged_change(kind, laid):
    made = ranks(kind, 2, laid=laid)
    before = [table.clone() for table in made[0]._tables]
    exchange(made, PARTS)
    for table, then in zip(made[0]._tables, before, strict=True):
        for row in (*range(5, 9), 30):
            assert torch.equal(table[row], then[row])


@pytest.mark.parametrize("kind", [Rows, NativeRows])
def test_what_rounding_leaves_is_sent_with_the_next_change(kind):
    """One rank that trains and one that does not: after a few rounds both have the same, to single precision."""
    learner, other = (kind(tables(), CPU) for _ in range(2))
    train(learner, 7)
    expected = [table.clone() for table in learner._tables]
    for _ in range(4):
        exchange([learner, other], [(0, 31)])
    for rows in (learner, other):
        for table, there in zip(rows._tables, expected, strict=True):
            torch.testing.assert_close(table, there, rtol=1e-6, atol=1e-6)


@LAYOUTS
@pytest.mark.parametrize("kind", [Rows, NativeRows])
def test_settled_ranks_are_equal_and_have_nothing_to_send(kind, laid):
    made = ranks(kind, 3, laid=laid)
    exchange(made, [(0, 31)], settle=True)
    for rows in made[1:]:
        assert all(torch.equal(a, b) for a, b in zip(rows._tables, made[0]._tables, strict=True))
    assert not any(rows.changed([(0, 31)]).any() for rows in made)


@LAYOUTS
@pytest.mark.parametrize("kind", [Rows, NativeRows])
def test_what_is_trained_while_a_round_is_under_way_stays(kind, laid):
    made = ranks(kind, 2, laid=laid)
    sent = [rows.changed([(0, 31)], 2) for rows in made]
    combined = made[0].combined(torch.stack(sent))
    without = [table.clone() for table in made[0]._tables]
    train(made[0], 11)
    trained = [table - before for table, before in zip(made[0]._tables, without, strict=True)]
    made[0].add([(0, 31)], combined, sent[0])
    made[1].add([(0, 31)], combined, sent[1])
    for table, other, change in zip(made[0]._tables, made[1]._tables, trained, strict=True):
        torch.testing.assert_close(table - other, change, rtol=0, atol=1e-2)


def test_double_precision_is_sent_as_it_is():
    rows = Rows(tables(torch.float64), CPU)
    train(rows, 3)
    expected = torch.cat([a - b for a, b in zip(rows._tables, rows._bases, strict=True)], 1)
    assert torch.equal(rows.changed([(0, 31)]), expected)


@pytest.mark.parametrize("kind", [Rows, NativeRows])
def test_sizes_of_all_orders_keep_eight_bits_and_what_is_no_number_arrives(kind):
    sizes = torch.logspace(-30, 30, 61)[:, None]
    changes = sizes * torch.randn(61, 7, generator=torch.Generator().manual_seed(1))
    special = torch.tensor([0.0, float("inf"), -float("inf"), float("nan")])
    table = torch.zeros(62, 7)
    rows = kind([(table, adasum)], CPU)
    table[:61] = changes
    table[61, :4] = special
    sent = rows.changed([(0, 62)], 4)
    assert sent.dtype == torch.bfloat16
    assert sent.shape == (64, 7)
    torch.testing.assert_close(sent[:61].float(), changes, rtol=2**-8, atol=0)
    torch.testing.assert_close(sent[61, :4].float(), special, equal_nan=True)
    assert not sent[62:].any()


def test_arrays_that_do_not_fit_are_refused():
    import numpy as np

    from densvec.native import _changes

    table, message = np.zeros((3, 4), np.float32), np.zeros((3, 6), np.uint16)
    with pytest.raises(ValueError, match="do not fit"):
        _changes.take(table, table[:2], message, 0)
    with pytest.raises(ValueError, match="do not fit"):
        _changes.take(table, table, message, 3)
    with pytest.raises(ValueError, match="do not fit"):
        _changes.add(table, table.copy(), message, message[:2], 0)
    with pytest.raises(ValueError, match="do not fit"):
        _changes.settle(table, table.copy(), message, -1)
    with pytest.raises(ValueError, match="do not lie together"):
        _changes.take(np.zeros((4, 3), np.float32).T, table, message, 0)
    with pytest.raises(ValueError, match="do not fit"):
        _changes.combine(np.zeros((2, 3, 6), np.uint16), message, 4, 3, "sum")
    with pytest.raises(ValueError, match="rule='median'"):
        _changes.combine(np.zeros((2, 3, 6), np.uint16), message, 0, 6, "median")
    with pytest.raises(ValueError, match="do not lie together"):
        _changes.combine(np.zeros((2, 6, 3), np.uint16).transpose(0, 2, 1), message, 0, 6, "sum")


@pytest.mark.parametrize("kind", [Rows, NativeRows])
def test_what_ranks_sent_may_lie_apart(kind):
    made = ranks(kind, 3, travels=True)
    sent = torch.stack([rows.changed(PARTS) for rows in made])
    apart = torch.zeros(3, sent[0].numel() + 7, dtype=sent.dtype)[:, 7:].view(sent.shape)
    apart.copy_(sent)
    assert not apart.is_contiguous()
    assert torch.equal(made[0].combined(apart), made[0].combined(sent))


@LAYOUTS
@pytest.mark.parametrize("settle", [False, True])
def test_several_threads_copy_what_one_does(monkeypatch, settle, laid):
    monkeypatch.setattr("densvec.distributed.rows.AT_ONCE", 4)
    with ThreadPoolExecutor(3) as threads:
        one = ranks(NativeRows, 2, travels=True, laid=laid)
        several = ranks(partial(NativeRows, threads=threads), 2, travels=True, laid=laid)
        assert_same_exchanges(one, several, settle)
