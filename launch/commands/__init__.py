"""The commands of ``python -m launch``, one file each with a function ``run(ctx, …) -> int`` (0 good, 1 a finding).

``ctx.obj`` is the ``Here``. Options are typer annotations; their help stands in ``assets/texts/launch.*.yaml`` under
``help.<command>.<option>``, the command's own line under ``help.<command>.about``. Failures are raised
(``launch/errors.py``) and told by the frame. Heavy imports go inside ``run``.
"""
