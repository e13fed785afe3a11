# `densvec serve` in a container. It answers requests that send the token:
#   docker build -t densvec .
#   docker run -p 8000:8000 -e DENSVEC_TOKEN=secret -v "$PWD/models:/models:ro" densvec english mine=mine.dv --metrics
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.13-slim
COPY constraints.txt /tmp/constraints.txt
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir -c /tmp/constraints.txt "$(echo /wheels/densvec-*.whl)[serve]" \
    && useradd --system --no-create-home densvec
ENV PYTHONUNBUFFERED=1
USER densvec
WORKDIR /models
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["densvec", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["english"]
