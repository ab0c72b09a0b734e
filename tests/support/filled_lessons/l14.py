"""Fillings of lesson 14."""

SHORTER = {"l14-epochs": ("epochs=3", "epochs=2")}

SCRIPT = '''
script = """
from multiprocessing import current_process

from torch.utils.data import DataLoader


class Numbers:
    def __len__(self):
        return 10

    def __getitem__(self, i):
        spawned = type(current_process()).__name__ == "SpawnProcess"
        return i if spawned else -1


START
"""
'''
READ = 'print("sum:", sum(batch.item() for batch in loader))'
WITH_WORKER = 'loader = DataLoader(Numbers(), num_workers=1, multiprocessing_context="spawn")'
JOINED = """
class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(WORDS, 16)
        self.head = nn.Linear(16 * LENGTH, 3)

    def forward(self, tokens):
        return self.head(VECTORS)
"""

FILLED = {
    "l14-predict1": 'predict("Pythons that three epochs start", 3, "processes")',
    "l14-predict2": 'predict("share of an epoch spent waiting for data", 60, "%")',
    "l14-predict3": 'predict("host waits of an epoch with a loader", 90, "waits")',
    "l14-predict4": 'predict("operators of the exported program", 7, "operators")',
    "l14-turn1": """
from functools import partial
settings = {"collate_fn": partial(pad, fill=-1)}
""",
    "l14-turn2": SCRIPT.replace("START", f'if __name__ == "__main__":\n    {WITH_WORKER}\n    {READ}'),
    "l14-turn3": JOINED.replace("VECTORS", "self.word(tokens).flatten(1)"),
}

WRONG = {
    "l14-turn1": [
        # has a name, which a fresh Python does not know
        """
def collate(rows):
    return pad(rows, fill=-1)
settings = {"collate_fn": collate}
""",
        # travels, and fills with something else
        """
from functools import partial
settings = {"collate_fn": partial(pad, fill=0)}
""",
        'settings = {"collate_fn": pad}',
    ],
    "l14-turn2": [
        # no worker, so nothing can go wrong, and nothing is learned
        SCRIPT.replace("START", f"loader = DataLoader(Numbers())\n{READ}"),
        # the loader is guarded and its reading is not
        SCRIPT.replace("START", f'if __name__ == "__main__":\n    {WITH_WORKER}\n{READ}'),
    ],
    "l14-turn3": [
        JOINED.replace("VECTORS", "self.word(tokens).reshape(2, 128)"),
        JOINED.replace("VECTORS", "self.word(tokens).flatten()"),
        # averages instead of joining, so that the shapes do not fit
        JOINED.replace("VECTORS", "self.word(tokens).mean(1)"),
        # exports, and mixes up the order of the numbers
        JOINED.replace("VECTORS", "self.word(tokens).transpose(1, 2).flatten(1)"),
    ],
}
