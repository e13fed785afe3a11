"""The native kernel: the cases of every backend, finite differences, instruction sets, threads."""

import threading

import numpy as np
import pytest

from densvec.native._bsg import Kernel
from densvec.training.native import BayesianSkipGramBackend, options
from densvec.training.settings import Objective, Rates
from densvec.training.tables import lay_side_by_side
from densvec.training.torch.backend import TorchBackend
from tests.training.cases import SENTENCES, BackendCases, arrays_of, make_chunk, make_wv


class TestBayesianSkipGramBackend(BackendCases):
    def backend(self, wv, objective=None, rates=None, state=None):
        return BayesianSkipGramBackend(wv, objective or Objective(), rates or Rates(), state)


class TestSideBySide(TestBayesianSkipGramBackend):
    """The same of means and log-variances that lie side by side, as a model trains them."""

    def backend(self, wv, objective=None, rates=None, state=None):
        lay_side_by_side(wv)
        return super().backend(wv, objective, rates, state)


def long_chunk(words, tokens, *, pairing="shared", negative=3, seed=0):
    """Several tiles of text, with sentences that cross their borders."""
    rng = np.random.default_rng(seed)
    lengths = [1, 2, 300, 7, 0, 40]
    lengths.append(tokens - sum(lengths))
    sentences = [rng.integers(0, words, n).tolist() for n in lengths]
    radii = rng.integers(1, 7, tokens).astype(np.int32)
    return make_chunk(sentences, radii=radii, negative=negative, pairing=pairing, words=words, seed=seed)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-4), (np.float64, 1e-10)])
@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
@pytest.mark.parametrize("pairing", ["shared", "paired"])
def test_native_and_torch_agree_on_chunks_of_many_tiles(dtype, tolerance, covariance, pairing):
    wv = make_wv(60, 24, embedding=17, hidden=33, covariance=covariance, dtype=dtype, scale=0.3)
    chunk = long_chunk(60, 1000, pairing=pairing)
    objective = Objective(margin=3.0, kl_weight=0.7, pairing=pairing)
    native, gradients = BayesianSkipGramBackend(wv, objective, Rates()).gradients(chunk)
    torch, expected = TorchBackend(wv, objective, Rates(), device="cpu").gradients(chunk)
    assert native.centres == torch.centres
    np.testing.assert_allclose(
        [native.loss, native.hinge, native.kl], [torch.loss, torch.hinge, torch.kl], rtol=tolerance
    )
    for name in expected:
        error = np.abs(gradients[name] - expected[name]).max() / np.abs(expected[name]).max()
        assert error < tolerance, name


@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
@pytest.mark.parametrize("pairing", ["shared", "paired"])
def test_gradients_agree_with_finite_differences(covariance, pairing):
    wv = make_wv(10, 4, embedding=3, hidden=5, covariance=covariance)
    chunk = make_chunk(SENTENCES, pairing=pairing)
    backend = BayesianSkipGramBackend(wv, Objective(pairing=pairing), Rates())
    _, gradients = backend.gradients(chunk)
    rng = np.random.default_rng(3)
    for name, array in arrays_of(wv).items():
        direction = rng.normal(size=array.shape)
        losses = []
        for move in (1e-6, -2e-6):
            array += move * direction
            losses.append(backend.gradients(chunk)[0].loss)
        array += 1e-6 * direction
        slope = (losses[0] - losses[1]) / 2e-6
        assert slope == pytest.approx((gradients[name] * direction).sum(), rel=1e-4), name


def test_every_instruction_set_gives_the_same_gradients():
    wv = make_wv(60, 100, dtype=np.float32, covariance="diagonal", scale=0.1)
    chunk = long_chunk(60, 600)
    state = BayesianSkipGramBackend(wv, Objective(), Rates()).state()
    results = {}
    for instruction_set in ("plain", "avx2", "avx512"):
        try:
            kernel = Kernel(arrays_of(wv), state, margin=5.0, kl_weight=1.0, instruction_set=instruction_set)
        except ValueError:  # this processor does not have it
            continue
        results[instruction_set] = {name: np.zeros_like(array) for name, array in arrays_of(wv).items()}
        kernel.gradients(chunk, results[instruction_set])
    for gradients in results.values():
        for name, gradient in gradients.items():
            plain = results["plain"][name]
            np.testing.assert_allclose(gradient, plain, atol=2e-5 * np.abs(plain).max(), err_msg=name)


@pytest.mark.parametrize("pairing", ["shared", "paired"])
@pytest.mark.parametrize("dimensions", [100, 96, 3, 300])
def test_every_instruction_set_trains_the_same_wherever_rows_lie(dimensions, pairing):
    chunk = long_chunk(60, 600, pairing=pairing, negative=7)
    trained = {}
    for instruction_set in ("plain", "avx2", "avx512"):
        for side_by_side in (False, True):
            wv = make_wv(60, dimensions, hidden=20, dtype=np.float32, scale=0.1, residual=True)
            if side_by_side:
                lay_side_by_side(wv)
            state = BayesianSkipGramBackend(wv, Objective(), Rates()).state()
            options = {"residual": True, "instruction_set": instruction_set}
            try:
                kernel = Kernel(arrays_of(wv), state, margin=5.0, kl_weight=1.0, **options)
            except ValueError:  # this processor does not have it
                continue
            rates = {name: 0.025 * rate for name, rate in vars(Rates()).items()}
            kernel.step(chunk, **rates)
            trained[instruction_set, side_by_side] = arrays_of(wv)
    untrained = arrays_of(make_wv(60, dimensions, hidden=20, dtype=np.float32, scale=0.1, residual=True))
    for case, arrays in trained.items():
        for name, array in arrays.items():
            plain = trained["plain", False][name]
            assert (plain != untrained[name]).any()
            np.testing.assert_allclose(
                array, plain, atol=2e-4 * np.abs(plain).max(), err_msg=f"{name}, {case}"
            )


@pytest.fixture
def rounding():
    """Skip a test where the processor has no products of bfloat16s."""
    wv = make_wv(3, 2, dtype=np.float32)
    backend = BayesianSkipGramBackend(wv, Objective(), Rates(), bfloat16=True)
    if not backend._kernel.bfloat16:
        pytest.skip("this processor has no AVX-512 BF16")


@pytest.mark.usefixtures("rounding")
@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
@pytest.mark.parametrize(
    ("dimensions", "hidden"), [(1, 1), (3, 2), (15, 17), (16, 16), (24, 33), (70, 50), (100, 64)]
)
def test_rounded_products_are_those_of_the_encoder(dimensions, hidden, covariance):
    """The loss is that of the exact posteriors to the digits of a bfloat16, and goes on being."""
    chunk, losses = long_chunk(60, 600), []
    for flag in (False, True):
        wv = make_wv(
            60, dimensions, hidden=hidden, covariance=covariance, dtype=np.float32, scale=0.3, residual=True
        )
        backend = BayesianSkipGramBackend(wv, Objective(), Rates(), bfloat16=flag)
        losses.append([backend.step(chunk, 0.005).loss for _ in range(5)])
    np.testing.assert_allclose(losses[1], losses[0], rtol=0.01)


@pytest.mark.usefixtures("rounding")
def test_what_is_only_looked_at_is_not_rounded():
    wv, chunk = make_wv(60, 24, dtype=np.float32, scale=0.3), long_chunk(60, 600)
    exact, rounded = (
        BayesianSkipGramBackend(wv, Objective(), Rates(), bfloat16=flag) for flag in (False, True)
    )
    assert rounded.measure(chunk) == exact.measure(chunk)
    gradients = rounded.gradients(chunk)[1]
    for name, expected in exact.gradients(chunk)[1].items():
        np.testing.assert_array_equal(gradients[name], expected, err_msg=name)


@pytest.mark.usefixtures("rounding")
def test_rounding_is_chosen_for_all_models_of_a_process(monkeypatch):
    wv = make_wv(60, 24, dtype=np.float32)
    assert BayesianSkipGramBackend(wv, Objective(), Rates())._kernel.bfloat16
    monkeypatch.setattr(options, "bfloat16", False)
    assert not BayesianSkipGramBackend(wv, Objective(), Rates())._kernel.bfloat16


def test_two_workers_train_the_same_tables():
    wv = make_wv(60, 16, dtype=np.float32, scale=0.1)
    backend = BayesianSkipGramBackend(wv, Objective(), Rates(), workers=2)
    first = backend.step(long_chunk(60, 900), 0.025)

    def work(worker):
        for seed in range(20):
            backend.step(long_chunk(60, 900, seed=seed), 0.025, worker)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert backend.step(long_chunk(60, 900), 0.025).loss < first.loss
    assert all(np.isfinite(array).all() for array in arrays_of(wv).values())


def test_workers_have_moments_of_their_own_and_go_as_far_as_one():
    chunk = make_chunk(SENTENCES)  # one tile
    after = {}
    for workers, worker in ((1, 0), (2, 0), (2, 1), (8, 7)):
        wv = make_wv(10, 4, embedding=3, hidden=5)
        backend = BayesianSkipGramBackend(wv, Objective(), Rates(), workers=workers)
        backend.step(chunk, 0.025, worker)
        after[workers, worker] = arrays_of(wv)
        assert backend.state()["adam_steps"][0] == (workers if worker == 0 else 0)
        assert backend.state()["adam_first.mean_head"].any() == (worker == 0)
    # The first step of Adam, whose bias is corrected, hardly depends on its betas: its epsilon does.
    for arrays in after.values():
        for name, array in arrays.items():
            np.testing.assert_allclose(array, after[1, 0][name], rtol=1e-7, err_msg=name)


@pytest.mark.parametrize("name", ["means", "log_variances", "embeddings", "mean_head"])
def test_an_array_that_cannot_be_trained_in_place_is_refused(name):
    wv = make_wv(10, 4, dtype=np.float32)
    arrays = arrays_of(wv)
    state = BayesianSkipGramBackend(wv, Objective(), Rates()).state()
    for bad in (arrays[name].astype(np.float64), np.asfortranarray(arrays[name]), arrays[name][:-1]):
        if bad.flags.c_contiguous and bad.dtype == arrays[name].dtype and bad.shape == arrays[name].shape:
            continue  # a single column is in both orders
        with pytest.raises(ValueError, match="the kernel needs a writeable"):
            Kernel({**arrays, name: bad}, state, margin=5.0, kl_weight=1.0)
