"""What happened since the start, counted for an operator in Prometheus' form. No word of anybody is kept."""

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from osrag.answer.events import Done, Event, Failed, SourceDone
from osrag.models.usage import UsageMeter

# Seconds: a prepared answer takes some hundredths, one of a small model a minute.
BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """Counters of one running osrag; thread-safe."""

    def __init__(self, usage: UsageMeter | None = None) -> None:
        self.registry = CollectorRegistry()
        kept: dict[str, Any] = {"registry": self.registry}
        self._questions = Counter("osrag_questions", "Runs that ended, by how the answer came about", ["how"], **kept)
        self._seconds = Histogram("osrag_question_seconds", "Seconds of a whole run", ["how"], buckets=BOUNDS, **kept)
        self._stages = Histogram("osrag_stage_seconds", "Seconds by stage", ["stage"], buckets=BOUNDS, **kept)
        self._marked = Counter("osrag_marked_claims", "Sentences of the model that no passage bears out", **kept)
        self._refusals = Counter("osrag_refused_requests", "Requests that were not let in", ["why"], **kept)
        ProcessCollector(**kept)
        if usage is not None:
            self.registry.register(_Models(usage))

    def refused(self, why: str) -> Callable[[], None]:
        """What counts one refusal for this reason."""
        return self._refusals.labels(why).inc

    def watched(self, events: Iterator[Event]) -> Iterator[Event]:
        """The events of a run, counted."""
        how, start = "left", time.perf_counter()  # the visitor went away, until it is known better
        try:
            for event in events:
                match event:
                    case SourceDone():
                        self._marked.inc(event.unsupported)
                    case Done():
                        how = event.how
                        for stage in event.stages:
                            self._stages.labels(stage.name).observe(stage.seconds)
                    case Failed():
                        how = "failed"
                yield event
        finally:
            self._questions.labels(how).inc()
            self._seconds.labels(how).observe(time.perf_counter() - start)


def counted(run: Callable[..., Iterator[Event]]) -> Callable[..., Iterator[Event]]:
    """A run of `parts` and more, counted by their metrics."""

    @functools.wraps(run)
    def watched(parts: Any, *args: Any) -> Iterator[Event]:
        with closing(run(parts, *args)) as events:  # type: ignore[type-var]
            yield from parts.metrics.watched(events)

    return watched


class _Models(Collector):
    """What the models did, as the gateway counts it (`osrag/models/usage.py`)."""

    def __init__(self, usage: UsageMeter) -> None:
        self._usage = usage

    def collect(self) -> Iterator[Metric]:
        """Calls, tokens, retries and failures by purpose."""
        family = CounterMetricFamily(
            "osrag_model", "Calls, tokens and events of the models", labels=["purpose", "what"]
        )
        for purpose, counts in self._usage.totals().items():
            for what, count in counts.items():
                family.add_metric([purpose, what], count)
        yield family
