"""What happened to a model, in order."""

from __future__ import annotations

import logging
import platform
import sys
from datetime import datetime
from typing import Any

from densvec._version import __version__

__all__ = ["Lifecycle"]

logger = logging.getLogger(__name__)


class Lifecycle:
    """Keeps a log of the events in a model's life, which is saved with it."""

    lifecycle_events: list[dict[str, Any]] | None

    def add_lifecycle_event(
        self, event_name: str, log_level: int | None = logging.INFO, **event: Any
    ) -> None:
        """Append an event to ``lifecycle_events`` and log it.

        Set ``lifecycle_events = None`` to keep no record.

        Parameters
        ----------
        event_name : str
            What happened, in one word.
        log_level : int or None
            The level to log it at; None or False: do not log.
        **event
            Anything to remember about it that JSON can hold; the date and the versions are added.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram()
        >>> model.add_lifecycle_event("reviewed", reviewer="Ada")
        >>> model.lifecycle_events[-1]["reviewer"]
        'Ada'
        """
        event = {
            **event,
            "datetime": datetime.now().isoformat(),
            "densvec": __version__,
            "python": sys.version,
            "platform": platform.platform(),
            "event": event_name,
        }
        if self.lifecycle_events is not None:
            self.lifecycle_events.append(event)
        if log_level:
            logger.log(log_level, "%s lifecycle event %s", type(self).__name__, event)
