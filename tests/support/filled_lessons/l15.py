"""Lesson 15 as a reader fills it in, and plausible mistakes that its checks have to refuse."""

FILLED = {
    "l15-predict1": """
from course_utils import compare_prediction, predict

predict("reads in one epoch", 46, "reads")
""",
    "l15-predict2": 'predict("copied to the device in one epoch", 0.4, "MB")',
    "l15-predict3": 'predict("a step after the repairs, on this CPU", 2, "times as fast")',
    "l15-turn1": """
class Repaired(sins.Net):
    def __init__(self):
        super().__init__()
        centre = self.centre
        del self.centre
        self.register_buffer("centre", centre)
        for place in (1, 3):
            self.features[place] = nn.LeakyReLU(11 / 48)
""",
    "l15-turn2": """
def my_epoch(model, x, y, optimizer, batch=64):
    losses = []
    for first in range(0, len(x), batch):
        images, labels = x[first : first + batch], y[first : first + batch]
        optimizer.zero_grad()
        scores = model(images + 0.05 * torch.randn(images.shape, device=x.device))
        loss = nn.functional.cross_entropy(scores, labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach() * len(images))
    return (torch.stack(losses).sum() / len(x)).item()
""",
    "l15-turn3": 'allowed = ["c", "a"]',
}

WRONG = {
    "l15-turn1": [
        # the slope of RReLU's lower bound
        """
class Repaired(sins.Net):
    def __init__(self):
        super().__init__()
        centre = self.centre
        del self.centre
        self.register_buffer("centre", centre)
        self.features[1] = self.features[3] = nn.LeakyReLU(1 / 8)
""",
        # the centre is a constant still
        """
class Repaired(sins.Net):
    def __init__(self):
        super().__init__()
        self.features[1] = self.features[3] = nn.LeakyReLU(11 / 48)
""",
        # RReLU's own switch does not change the operator in training
        """
class Repaired(sins.Net):
    def __init__(self):
        super().__init__()
        centre = self.centre
        del self.centre
        self.register_buffer("centre", centre)
        self.features[1] = self.features[3] = nn.RReLU(11 / 48, 11 / 48)
""",
    ],
    "l15-turn2": [
        # reads in each step
        """
def my_epoch(model, x, y, optimizer, batch=64):
    total = 0.0
    for first in range(0, len(x), batch):
        images, labels = x[first : first + batch], y[first : first + batch]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images + 0.05 * torch.randn_like(images)), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(images)
    return total / len(x)
""",
        # noise from the CPU
        """
def my_epoch(model, x, y, optimizer, batch=64):
    total = 0
    for first in range(0, len(x), batch):
        images, labels = x[first : first + batch], y[first : first + batch]
        optimizer.zero_grad()
        noise = torch.randn(images.shape).to(x.device)
        loss = nn.functional.cross_entropy(model(images + 0.05 * noise), labels)
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(images)
    return (total / len(x)).item()
""",
        # no noise
        """
def my_epoch(model, x, y, optimizer, batch=64):
    total = 0
    for first in range(0, len(x), batch):
        images, labels = x[first : first + batch], y[first : first + batch]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(images)
    return (total / len(x)).item()
""",
        # the mean of the batches: an image of the last, shorter one counts for more
        """
def my_epoch(model, x, y, optimizer, batch=64):
    losses = []
    for first in range(0, len(x), batch):
        images, labels = x[first : first + batch], y[first : first + batch]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images + 0.05 * torch.randn_like(images)), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).mean().item()
""",
        # the sum, and not the mean
        """
def my_epoch(model, x, y, optimizer, batch=64):
    total = 0
    for first in range(0, len(x), batch):
        images, labels = x[first : first + batch], y[first : first + batch]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images + 0.05 * torch.randn_like(images)), labels)
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(images)
    return total.item()
""",
    ],
    "l15-turn3": ['allowed = ["a", "b", "c"]', 'allowed = ["a", "c", "d"]', 'allowed = ["c"]'],
}
