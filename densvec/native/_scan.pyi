from densvec.types import Floats

def kl_scores(
    mean: Floats, variance: Floats, means: Floats, log_variances: Floats, scores: Floats
) -> None: ...
