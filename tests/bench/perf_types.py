"""The class of payload e_objs: stands for a type of an application's own module."""
from dataclasses import dataclass


@dataclass
class Item:
    id: int
    score: float
    name: str
    kind: str
