"""Prediction intervals of elmband and its rivals side by side, ``python -m benchmarks.quality``.

==============  ====================================================================
``data.py``     the sets and their splits
``rivals/``     one small adaptor per method, all with the same signature
``scores.py``   what one prediction is worth
``worker.py``   a process that runs one method on one set
``store.py``    the finished splits, one line of JSON each
``runner.py``   starts the workers, keeps what is finished, resumes
``summary.py``  sums over splits and sets
``pooled.py``   the tables over all sets
``report.py``   the Markdown tables, with figures from ``published.py``
``tables.py``   how a table and a missing number are written
``plot.py``     width against coverage
``check.py``    a quick test of all this
==============  ====================================================================
"""
