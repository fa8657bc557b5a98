"""Faults injected on purpose, and what became of them, ``python -m benchmarks.faults``.

=================  ===============================================================
``material.py``    small tables of every format, models and photos
``cases.py``       every command with every format
``server.py``      a process that forks commands, with all libraries imported
``processes.py``   asks it for them, kills them, and hears how they end
``shim.c``         calls of the system that fail, or end the process
``shim.py``        compiles it, or does what it can without
``trial.py``       one command with one fault, and the judgement
``injection.py``   faults with a place in the results
``kills.py``       signals at random moments, and before each call on files
``calls.py``       failing writes, renames, syncs and opens; full disks
``damaged.py``     flipped bytes and lost pieces of tables
``workers.py``     killed Dask workers
``counts.py``      outcomes, which add up
``report.py``      the table
=================  ===============================================================

Results are kept by the store of ``benchmarks.quality``: a set is a kind of fault, a method is a
command, and the number of the injection stands where the number of the split would.
"""
