"""The commands of ``python -m launch``, one file each, with two functions:

``options(parser)`` declares its arguments and options (argparse; no help texts there), ``run(args, here) -> int``
does it and returns 0 (good) or 1 (a finding). ``here`` (``launch/here.py``) is what it may print to and look at. Help
stands in ``assets/texts/launch.*.yaml`` under ``help.<command>.<dest>``, the command's own line under
``help.<command>.about``. Failures are raised (``launch/errors.py``) and told by the frame. Heavy imports go inside
``run``.
"""
