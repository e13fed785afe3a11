"""Which tables a round exchanges."""

import torch

from densvec.distributed.combine import adasum, total
from densvec.distributed.exchange import ENCODER_ROUNDS, Exchange, Report, Shared


class Alone:
    """A group of one, which notes how wide the messages are that it is asked to send."""

    rank, size = 0, 1

    def __init__(self):
        self.widths = []

    def wire(self, device):
        return device

    def wait_for_all(self):
        pass

    def broadcast(self, tensor):
        pass

    def gather(self, document):
        return [document]

    def gather_tensor(self, tensor):
        return [tensor.clone()]

    def exchange(self, sent):
        self.widths.append(sent.shape[-1])
        return sent.clone()


def test_densities_are_exchanged_in_every_round_and_the_encoder_in_some():
    means, embeddings, squares = torch.ones(9, 4), torch.ones(9, 6), torch.ones(9)
    weights, moments = torch.ones(5), torch.ones(5)
    shared = Shared([(means, adasum)], [(embeddings, adasum), (squares, total)], [weights], [moments])
    group = Alone()
    exchange = Exchange(group, shared, first_band=4)
    before = [tensor.clone() for tensor in shared.all()]
    rounds = []
    for _ in range(ENCODER_ROUNDS + 1):
        group.widths.clear()
        for tensor in shared.all():
            tensor.mul_(1.5)
        exchange.start(Report([]))
        exchange.take()
        rounds.append(list(group.widths))
    of_densities, of_encoder, of_weights = 2 * 4, 2 * (6 + 1), 5 + 5  # two bytes a number, as bfloat16
    assert rounds[0] == rounds[-1] == [of_densities, of_encoder, of_weights]
    assert rounds[1:-1] == [[of_densities]] * (ENCODER_ROUNDS - 1)
    exchange.full(Report([]), None)
    exchange.close()
    for tensor, old in zip(shared.all(), before, strict=True):  # what is alone stays what it was
        torch.testing.assert_close(tensor, old * 1.5 ** (ENCODER_ROUNDS + 1), rtol=1e-2, atol=0)
