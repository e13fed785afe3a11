"""A service that answers from models, and the page in the browser that shows what they know.

``densvec explore`` and ``densvec serve`` run it; :func:`app` makes the same application for your own server or
application.
"""

try:
    import fastapi as _fastapi  # noqa: F401
except ImportError as error:
    raise ImportError('the service needs FastAPI and uvicorn: pip install "densvec[serve]"') from error

from densvec.serve.application import app
from densvec.serve.limits import Limits
from densvec.serve.models import Models

__all__ = ["Limits", "Models", "app"]
