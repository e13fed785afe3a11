"""Adasum: a sum where changes have nothing in common, a mean where they are the same.

Or by how far ranks went: what they would have done one after another.
"""

import numpy as np
import pytest
import torch

from densvec.distributed.combine import adasum, one_after_another


@pytest.fixture
def changes():
    return torch.randn(4, 6, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@pytest.mark.parametrize("ranks", [2, 3, 4, 7])
def test_orthogonal_changes_are_added(ranks):
    apart = torch.diag(torch.arange(1.0, ranks + 1))[:, None]  # one dimension for each rank
    torch.testing.assert_close(adasum(apart), apart.sum(0))


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_equal_changes_are_made_once(changes, ranks):
    torch.testing.assert_close(adasum(changes[:1].expand(ranks, -1, -1)), changes[0])


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_a_change_of_one_rank_alone_is_made_whole(changes, ranks):
    for rank in range(ranks):
        alone = torch.zeros(ranks, 6, 5, dtype=torch.float64)
        alone[rank] = changes[0]
        torch.testing.assert_close(adasum(alone), changes[0])


def test_two_ranks_may_change_places_and_units(changes):
    pair = changes[:2]
    torch.testing.assert_close(adasum(pair), adasum(pair.flip(0)))
    torch.testing.assert_close(adasum(3 * pair), 3 * adasum(pair))


def test_two_changes_never_come_to_more_than_both_together(changes):
    for a, b in ((0, 1), (1, 2), (2, 3)):
        pair = changes[[a, b]]
        assert (adasum(pair).norm(dim=-1) <= pair.norm(dim=-1).sum(0) + 1e-12).all()


def test_rows_are_combined_one_by_one(changes):
    for row in range(changes.shape[1]):
        torch.testing.assert_close(adasum(changes)[row], adasum(changes[:, row : row + 1])[0])


def drawn(start, targets, shares):
    """Return a point that is drawn to targets, each time by a share of the way."""
    point = start
    for target, share in zip(targets, shares, strict=True):
        point = point + share * (target - point)
    return point


@pytest.mark.parametrize("ranks", [1, 2, 8])
@pytest.mark.parametrize("share", [1e-4, 0.01, 0.2])
def test_ranks_that_draw_a_row_the_same_way_take_it_as_far_as_one_after_another(ranks, share):
    generator = torch.Generator().manual_seed(2)
    start, target = torch.randn(2, 5, generator=generator, dtype=torch.float64)
    of_rank = 30
    alone = drawn(start, [target] * of_rank, [share] * of_rank) - start
    in_turn = drawn(start, [target] * of_rank * ranks, [share] * of_rank * ranks) - start
    travelled = torch.full((ranks, 1), of_rank * -np.log1p(-share), dtype=torch.float64)
    combined = one_after_another(alone.expand(ranks, 1, -1), travelled)[0]
    torch.testing.assert_close(combined, in_turn, rtol=1e-9, atol=1e-12)


def test_small_changes_are_added_whatever_their_angle_and_a_row_nobody_drew_stays(changes):
    travelled = torch.full((4, 6), 1e-9, dtype=torch.float64)
    torch.testing.assert_close(one_after_another(changes, travelled), changes.sum(0))
    nothing = torch.zeros(4, 6, 5, dtype=torch.float64)
    assert not one_after_another(nothing, torch.zeros(4, 6, dtype=torch.float64)).any()


def test_a_rank_that_drew_a_row_alone_is_followed(changes):
    alone, travelled = torch.zeros_like(changes), torch.zeros(4, 6, dtype=torch.float64)
    alone[2], travelled[2] = changes[2], 0.7
    torch.testing.assert_close(one_after_another(alone, travelled), changes[2])
