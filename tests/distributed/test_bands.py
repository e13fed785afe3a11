"""Bands: every row has its turn, frequent ones more often."""

from hypothesis import given
from hypothesis import strategies as st

from densvec.distributed.bands import first_band, slices


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
    exchanged = sum(stop - start for start, stop in slices(rows, number, 4096))
    assert exchanged <= 4096 * (2 + max(0, (rows // 4096).bit_length()))


@given(words=st.integers(1, 10**9), more=st.integers(0, 10**9), ranks=st.integers(2, 64))
def test_early_rounds_of_few_ranks_have_fewer_rows(words, more, ranks):
    band = first_band(words, ranks)
    assert 512 <= band <= min(first_band(words + more, ranks), first_band(words, ranks + 1))
    assert first_band(words + more, ranks) <= 8192
    assert band * 75_000 <= 512 * max(words * ranks, 75_000)
