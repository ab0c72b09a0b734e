"""Lesson 10 as a reader fills it in, and plausible mistakes that its checks have to refuse."""

FILLED = {
    "l10-predict1": """
from course_utils import compare_prediction, predict

predict("file of a training run, against the weights", 2, "times")
""",
    "l10-predict2": 'predict("the mean as DDP averages it", 4)',
    "l10-predict3": 'predict("equal losses of 30, resumed with everything", 30, "losses")',
    "l10-turn1": '''
script = """
model = nn.Linear(8, 1).to(device)
x = torch.rand(4, 8, device=device)
scaler = torch.amp.GradScaler(device.type)
scaler.scale(model(x).sum()).backward()
"""
''',
    "l10-turn2": '''
lines = """
    dist.all_reduce(parameter.grad)
    parameter.grad /= world
"""
''',
    "l10-turn3": """
def pack(model, optimizer, scaler):
    return on_cpu({
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scaler": scaler.state_dict(),
    })


def unpack(run, model, optimizer, scaler):
    model.load_state_dict(run["model"])
    optimizer.load_state_dict(run["optimizer"])
    if run["scaler"]:
        scaler.load_state_dict(run["scaler"])
""",
}

WRONG = {
    "l10-turn1": [
        # the scaler still belongs to CUDA
        '''
script = """
model = nn.Linear(8, 1).to(device)
x = torch.rand(4, 8, device=device)
scaler = torch.amp.GradScaler()
scaler.scale(model(x).sum()).backward()
"""
''',
        # still not waited for
        '''
script = """
model = nn.Linear(8, 1).to(device)
x = torch.rand(4, 8).to(device, non_blocking=True)
scaler = torch.amp.GradScaler(device.type)
scaler.scale(model(x).sum()).backward()
"""
''',
        # no backward any more
        '''
script = """
model = nn.Linear(8, 1).to(device)
x = torch.rand(4, 8, device=device)
scaler = torch.amp.GradScaler(device.type)
"""
''',
    ],
    "l10-turn2": [
        # nothing is exchanged
        '''
lines = """
    parameter.grad /= world
"""
''',
        # divided by the number of rows
        '''
lines = """
    dist.all_reduce(parameter.grad)
    parameter.grad /= len(x)
"""
''',
        # one replica's gradient for all
        '''
lines = """
    dist.broadcast(parameter.grad, 0)
"""
''',
    ],
    "l10-turn3": [
        # without the optimizer
        """
def pack(model, optimizer, scaler):
    return on_cpu({"model": model.state_dict()})


def unpack(run, model, optimizer, scaler):
    model.load_state_dict(run["model"])
""",
        # the optimizer's settings, and not its numbers
        """
def pack(model, optimizer, scaler):
    return on_cpu({
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict() | {"state": {}},
        "scaler": scaler.state_dict(),
    })


def unpack(run, model, optimizer, scaler):
    model.load_state_dict(run["model"])
    optimizer.load_state_dict(run["optimizer"])
""",
        # on the device
        """
def pack(model, optimizer, scaler):
    return {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scaler": scaler.state_dict(),
    }


def unpack(run, model, optimizer, scaler):
    model.load_state_dict(run["model"])
    optimizer.load_state_dict(run["optimizer"])
    if run["scaler"]:
        scaler.load_state_dict(run["scaler"])
""",
    ],
}
