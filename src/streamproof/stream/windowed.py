"""A stream cut into windows, between `window()` and `aggregate()`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from streamproof.errors import JobDefinitionError
from streamproof.stream.aggregates import Declared
from streamproof.stream.arguments import require_aggregates, require_spread
from streamproof.stream.emissions import Emission
from streamproof.stream.emissions.emission import REVISION
from streamproof.stream.node import Node
from streamproof.stream.operators import WindowAggregate
from streamproof.stream.operators.window_behind import require_not_behind, require_plain
from streamproof.stream.windows import Window

if TYPE_CHECKING:
    from pyspark.sql import Column

_SPREAD = "spread"
_RESERVED = ("window_start", "window_end")
Given = TypeVar("Given")
"""The stream that `aggregate` gives."""


class WindowedStream(Generic[Given]):
    """A stream cut into windows, waiting for its aggregates."""

    def __init__(
        self,
        node: Node,
        window: Window,
        by: tuple[str, ...],
        allowed_lateness: Any,
        emission: Emission,
        stream: Callable[[Node], Given],
    ) -> None:
        self._node, self._window, self._by, self._lateness = node, window, by, allowed_lateness
        self._emission, self._stream = emission, stream

    def aggregate(self, **aggregates: "Column | Declared | int") -> Given:
        """Rows per window and key: the key columns, `window_start`, `window_end` (TIMESTAMP, UTC) and the aggregates.

        Where a window can give several rows (`emit`), they have `revision` (BIGINT) too, from 0 on.

        Parameters
        ----------
        aggregates
            A name for each, and a PySpark aggregate such as `exposure=F.sum("notional")`, an `sp.accumulator(...)` of your own, or a sketch:
            `**sp.sketch.percentiles("latency_ms", p95=0.95)`, `users=sp.sketch.distinct("user")`, `paths=sp.sketch.top_k("path", 5)`.
            A whole number under the name `spread` is none: rows are dealt over so many tasks first, whatever their key is, and each aggregates
            what it has got. Same rows, same state; for keys that have most of the rows.
        """
        spread = require_spread(aggregates.get(_SPREAD))
        require_aggregates({name: one for name, one in aggregates.items() if name != _SPREAD or spread is None})
        made = {name: one for name, one in aggregates.items() if not isinstance(one, int)}
        reserved = (*_RESERVED, REVISION) if self._emission.revised else _RESERVED
        if self._emission.revised and REVISION in self._by:
            raise JobDefinitionError(
                f'window(by="{REVISION}"): that name numbers the rows of a window.',
                remedy="Rename the column by transform(), before deduplicate() and the window.",
            )
        taken = sorted((set(reserved) | set(self._by)) & set(made))
        if taken:
            raise JobDefinitionError(
                f"aggregate({taken[0]}=...): that name is taken by the window or its key.", remedy="Choose another name."
            )
        require_plain(self._node, made)
        if spread is not None:
            require_not_behind(self._node)
        step = WindowAggregate(self._window, self._by, self._lateness, made, self._emission, spread)
        return self._stream(self._node.then(step))
