"""Time and memory of elmband and its rivals at many rows, ``python -m benchmarks.scale``.

==============  ====================================================================
``cases.py``    what is measured, at which settings
``work.py``     the necessary floating-point work, counted
``data.py``     generated rows in files, block by block
``rivals/``     one small file per rival, and elmband's own
``watch.py``    seconds and peak memory of the phases of a run
``worker.py``   a process that measures one case
``runner.py``   starts the workers, keeps what is finished, resumes
``summary.py``  measurements by name, and their ratios
``goals.py``    the ratios that matter, with their targets
``report.py``   the Markdown tables
``plot.py``     time and memory against rows
``check.py``    a quick test of all this
==============  ====================================================================

Results are kept by the store of ``benchmarks.quality``: a set is a dtype, a method is a case, and
the number of rows stands where the number of the split would.
"""
