"""Clients of a load: threads with randomness of their own, which do things until they are stopped."""

import random
import threading


class LoadClients:
    """`act(dice)` is called by `count` threads, with a pause of `pause_s` (from, to) before each call."""

    def __init__(self, count, seed, pause_s, act):
        self.pause_s, self.act = pause_s, act
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self._client, args=(random.Random(f"{seed}/{n}"),), daemon=True)
                        for n in range(count)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join(60)

    def _client(self, dice):
        while not self.over.wait(dice.uniform(*self.pause_s)):
            self.act(dice)
