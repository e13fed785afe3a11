"""Build the Cython extensions; everything else is in pyproject.toml."""

import os
import sys
from glob import glob
from typing import Any

from Cython.Build import cythonize
from setuptools import Extension, setup

if sys.platform == "win32":
    compile_args = ["/O2"]
else:
    # -fopenmp-simd only honours the `omp simd` pragmas of our own loops: no OpenMP run time, no fast-math.
    compile_args = ["-O3", "-g0", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"]

JOBS = os.cpu_count() or 1


def extension(module: str, **options: Any) -> Extension:
    """Return the extension built from the .pyx file of a module; it is rebuilt when any header changes."""
    return Extension(
        module,
        [module.replace(".", "/") + ".pyx"],
        include_dirs=["densvec/native", "densvec/text"],  # _vector.h; _tokens.h, _wordtable.h
        extra_compile_args=compile_args,
        depends=[*glob("densvec/**/*.h", recursive=True), *glob("densvec/**/*.pxd", recursive=True)],
        **options,
    )


def kernel(model: str) -> list[Extension]:
    """Return the kernel of a model twice: for float, which trains, and for double, which checks gradients."""
    module = f"densvec.native._{model}"
    double = extension(f"{module}_double", define_macros=[("DENSVEC_DOUBLE", "1")])
    double.depends.append(module.replace(".", "/") + ".pyx")  # which it includes
    return [extension(module), double]


setup(
    ext_modules=cythonize(
        [
            extension("densvec._corpus"),
            extension("densvec.text._raw"),
            extension("densvec.text._sentences"),
            extension("densvec.text._text"),
            extension("densvec.text._words"),
            extension("densvec.native._changes"),
            extension("densvec.native._scan"),
            *kernel("bsg"),
            *kernel("skipgram"),
            *kernel("word2gauss"),
        ],
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "embedsignature": True,
            # Reading and training hold no lock on NumPy's arrays and on the Python objects of a corpus, and nobody
            # has run the tests of threads on a Python without the GIL yet: it is switched on when these are imported.
            "freethreading_compatible": False,
        },
        nthreads=JOBS
        if sys.platform.startswith("linux")
        else 0,  # elsewhere the workers would start this script anew
    ),
    options={"build_ext": {"parallel": JOBS}},
)
