"""Let the tasks of Ray read the files of a scan and add them up.

```python
import ray
from on_ray import RayExecutor

ray.init()
with RayExecutor() as executor:
    model.fit(scan("rows/*.parquet", target="y"), client=executor)
```
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import ray


class RayExecutor(Executor):
    """Submits functions as tasks of Ray, one core each; a task whose worker died runs again.

    Parameters
    ----------
    **options
        For every task, such as ``num_cpus`` or ``max_retries``.
    """

    def __init__(self, **options: Any) -> None:
        self._options = {"num_cpus": 1, **options}
        self._known: dict[Any, Any] = {}
        self._work: Any = None
        self._stored: Any = None

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a task; its first argument, the work of a pass, is stored once for all of them."""
        if args and args[0] is not self._work:
            self._work, self._stored = args[0], ray.put(args[0])
        if function not in self._known:
            self._known[function] = ray.remote(**self._options)(function)
        first = [self._stored] if args else []
        future: Future[Any] = self._known[function].remote(*first, *args[1:], **kwargs).future()
        return future
