"""Parts are made once, also when several threads ask at the same time, and do not wait for one another."""

import threading
import time

import pytest
from threadpoolctl import threadpool_info

from osrag.app.parts import Once, Parts
from osrag.settings import Settings


class Slow:
    made = 0
    fails = False

    @Once
    def part(self) -> int:
        time.sleep(0.02)
        if self.fails:
            raise OSError("not yet")
        self.made += 1
        return self.made


def test_several_threads_make_it_once():
    slow = Slow()
    seen: list[int] = []
    threads = [threading.Thread(target=lambda: seen.append(slow.part)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 6 and slow.made == 1


def test_what_failed_is_tried_again_and_what_was_taken_out_is_made_anew():
    slow = Slow()
    slow.fails = True
    with pytest.raises(OSError, match="not yet"):
        _ = slow.part
    slow.fails = False
    assert slow.part == 1
    del slow.__dict__["part"]
    assert slow.part == 2


def test_a_part_can_be_replaced():
    slow = Slow()
    slow.part = 9  # type: ignore[misc]
    assert slow.part == 9


def test_numpy_multiplies_in_the_thread_of_its_visitor():
    Parts(Settings(_env_file=None))
    assert {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"} == {1}
