"""What fills lesson 02."""

FILLED = {
    "l02-predict1": 'predict("Macs of five on which MPS works", 3, "Macs")',
    "l02-predict2": 'predict("largest difference from the reference", 2, "millionths")',
    "l02-predict3": 'predict("findings on the hosted runner", 2, "findings")',
    "l02-turn1": """
def agrees(result, reference):
    difference = (result.double() - reference).abs()
    return bool((difference <= 1e-4).all())
""",
    "l02-turn2": """
def belongs(file, prefix):
    return Path(prefix) in Path(file).parents
""",
    "l02-turn3": """
def repair(folder):
    (folder / "torch.py").rename(folder / "experiment.py")
""",
}
WRONG = {
    "l02-turn1": [
        "def agrees(result, reference):\n    return not ((result.double() - reference).abs() > 1e-4).any()",
        "def agrees(result, reference):\n    return ((result.double() - reference) <= 1e-4).all()",
        "def agrees(result, reference):\n    return (result.double() - reference).abs().mean() <= 1e-4",
        "def agrees(result, reference):\n    return torch.equal(result.double(), reference)",
        "def agrees(result, reference):\n    return True",
        "def agrees(result, reference):\n    return torch.allclose(result.double(), reference, equal_nan=True, atol=1)",
    ],
    "l02-turn2": [
        "def belongs(file, prefix):\n    return str(prefix) in str(file)",
        "def belongs(file, prefix):\n    return Path(file).parent == Path(prefix)",
        "def belongs(file, prefix):\n    return Path(prefix).name in Path(file).parts",
        "def belongs(file, prefix):\n    return True",
    ],
    "l02-turn3": [
        "def repair(folder):\n    (folder / 'torch.py').unlink()",
        "def repair(folder):\n    (folder / 'torch.py').write_text('')",
        "def repair(folder):\n    (folder / 'torch.py').rename(folder / 'torch.txt')",
        "def repair(folder):\n    import shutil\n\n    shutil.copy(folder / 'torch.py', folder / 'experiment.py')",
        "def repair(folder):\n    (folder / 'torch').mkdir()\n"
        "    (folder / 'torch.py').rename(folder / 'torch' / '__init__.py')",
    ],
}
