"""How fast models answer, ``python -m benchmarks.answers``.

===============  ===================================================================
``data.py``     rows to learn from and rows to ask of, on the data and off them
``rivals/``     one small file per package: fit, answer, save
``parts.py``    what is measured of a method, each in a process of its own
``timing.py``   latencies of one caller and of several at once, and throughput
``widths.py``   the fast variance beside the exact one
``starts.py``   how long imports and commands take until they do something
``worker.py``   the process that measures
``runner.py``   starts the workers, keeps what is finished, resumes
``report.py``   the Markdown tables
``check.py``    a quick test of all this
===============  ===================================================================

Results are kept by the store of ``benchmarks.quality``; the number of a part stands where that of
the split would.
"""
