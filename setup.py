"""Build the Cython extensions; everything else is in pyproject.toml."""

import os
import sys
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup

if sys.platform == "win32":
    compile_args = ["/O2"]
else:
    # -fopenmp-simd only honours the `omp simd` pragmas of our own loops: no OpenMP run time, no fast-math.
    compile_args = ["-O3", "-g0", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"]

JOBS = os.cpu_count() or 1


def extension(module: str, language: str = "c") -> Extension:
    """Return the extension built from the .pyx file of a module."""
    source = module.replace(".", "/") + ".pyx"
    headers = glob("densvec/**/*.h", recursive=True)
    return Extension(
        module,
        [source],
        include_dirs=["densvec/native", "densvec/text"],  # _vector.h; _tokens.h, _wordtable.h
        extra_compile_args=compile_args,
        depends=headers,
        language=language,
    )


setup(
    ext_modules=cythonize(
        [
            extension("densvec._corpus"),
            extension("densvec.text._sentences"),
            extension("densvec.text._text"),
            extension("densvec.text._words"),
            extension("densvec.native._bsg"),
            extension("densvec.native._scan"),
            extension("densvec.native._skipgram"),
            extension("densvec.native._word2gauss"),
        ],
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "embedsignature": True,
        },
        nthreads=JOBS if sys.platform.startswith("linux") else 0,  # elsewhere the workers would start this script anew
    ),
    options={"build_ext": {"parallel": JOBS}},
)
