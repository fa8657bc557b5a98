"""What is timed: functions ``(source, watch, **options)`` that return scores of the predictions.

A function runs its phases inside ``with watch("fit")``, ``"predict"`` and ``"interval"``, and
returns RMSE and coverage at 95 % on the training rows: they show that all solve the same task.
"""
