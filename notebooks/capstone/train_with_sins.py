"""Train a net on handwritten digits, on a CPU, with a dozen sins."""

import time

import torch
from torch import nn

from course_utils import load_digits

BATCH = 1437


class Net(nn.Module):
    """Two convolutions and a linear layer."""

    def __init__(self):
        super().__init__()
        self.centre = torch.full((8, 8), 0.3)
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.RReLU(),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.RReLU(),
            nn.MaxPool2d(2),
        )
        self.dropout = nn.Dropout(0.25)
        self.head = nn.Linear(512, 10)

    def forward(self, images):
        hidden = self.features(images - self.centre)
        return self.head(self.dropout(hidden.flatten(1)))


def prepare(images):
    """Turn bytes into the input, (N, 1, 8, 8), from 0 to 1."""
    return images[:, None].double() / 16


def train_epoch(model, images, labels, optimizer, device, batch=BATCH):
    """Train on each image once; return mean loss and accuracy."""
    losses, right = [], 0
    for first in range(0, len(images), batch):
        x = images[first : first + batch].to(device, non_blocking=True)
        y = labels[first : first + batch].to(device, non_blocking=True)
        noise = torch.randn(x.shape, dtype=x.dtype).to(device)
        optimizer.zero_grad()
        scores = model(x + 0.05 * noise)
        loss = nn.functional.cross_entropy(scores, y)
        if torch.isnan(loss):
            raise RuntimeError("the loss is not a number")
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        right += int((scores.argmax(dim=1) == y).sum())
    return sum(losses) / len(losses), right / len(images)


def evaluate(model, images, labels, device):
    """Return the accuracy on images that were not trained with."""
    right = 0
    for image, label in zip(images, labels, strict=True):
        if model(image[None].to(device)).argmax() == label.to(device):
            right += 1
    return right / len(images)


def main(device="mps", epochs=5):
    """Train, test, and say how long a step takes."""
    digits = load_digits()
    images, labels = prepare(digits.train_images), digits.train_labels
    model = Net().double().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.002)
    start = time.time()
    for _ in range(epochs):
        loss, _ = train_epoch(model, images, labels, optimizer, device)
    step_ms = 1000 * (time.time() - start) / epochs
    images, labels = prepare(digits.test_images), digits.test_labels
    accuracy = evaluate(model, images, labels, device)
    print(f"loss {loss:.3f}, accuracy {accuracy:.3f}")
    print(f"{step_ms:.1f} ms per step")


if __name__ == "__main__":
    main()
