"""conftest.py of zfec's own tests: gfsmith.compat, from the folder COMPAT, takes the place of zfec."""

import os
import random
import sys

from hypothesis import settings

import gfsmith.compat

gfsmith.compat.__path__ = [os.environ["COMPAT"]]

from gfsmith.compat import zfec  # noqa: E402

assert zfec.__file__.startswith(os.environ["COMPAT"])
sys.modules["zfec"] = zfec
random.seed(1)
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
