"""Let the executors of Spark read the files of a scan and add them up.

```python
from pyspark.sql import SparkSession
from on_spark import SparkExecutor

spark = SparkSession.builder.getOrCreate()
with SparkExecutor(spark.sparkContext) as executor:
    model.fit(scan("rows/*.parquet", target="y"), client=executor)
```
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any


class SparkExecutor(Executor):
    """Submits functions as jobs of Spark with one task each; a task that fails runs again.

    Parameters
    ----------
    context : SparkContext
        Where to run; as many jobs at once as it has cores.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        # Each of these waits for a job.
        self._threads = ThreadPoolExecutor(context.defaultParallelism)
        self._work: Any = None
        self._sent: Any = None

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a job; its first argument, the work of a pass, is sent to executors once."""
        if args and args[0] is not self._work:
            self._work, self._sent = args[0], self._context.broadcast(args[0])
        first = [self._sent] if args else []
        return self._threads.submit(self._job, function, first, args[1:], kwargs)

    def _job(self, function: Callable[..., Any], first: Any, rest: Any, kwargs: Any) -> Any:
        def run(tasks: Any) -> Any:
            return (function(*(sent.value for sent in first), *rest, **kwargs) for rest in tasks)

        return self._context.parallelize([rest], 1).mapPartitions(run).collect()[0]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as executors have it
        """Wait for the jobs that have begun."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
