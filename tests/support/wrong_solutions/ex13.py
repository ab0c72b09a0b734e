"""Wrong solutions of exercise 13, by the grade id of the cell that they stand in."""

MOVED = """
def bytes_moved(operators, sizes, kept):
    one_by_one, made, read = 0, set(), set()
    for inputs, output in operators:
        one_by_one += sum(sizes[name] for name in set(inputs)) + sizes[output]
        read |= set(inputs) - made
        made.add(output)
    fused = [*read, *(made & set(kept))]
    return one_by_one, sum(sizes[name] for name in fused)
"""

SQUAREPLUS = '''
SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void up(device float* y, device const float* x, constant float& b, uint i [[thread_position_in_grid]]) {
  y[i] = 0.5 * (x[i] + precise::sqrt(x[i] * x[i] + b));
}
kernel void down(device float* dx, device const float* dy, device const float* x, constant float& b,
                 uint i [[thread_position_in_grid]]) {
  dx[i] = dy[i] * 0.5 * (1.0 + x[i] / precise::sqrt(x[i] * x[i] + b));
}
"""

class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, b):
        x = x.contiguous()
        ctx.save_for_backward(x)
        ctx.b = b
        y = torch.empty_like(x)
        torch.mps.compile_shader(SOURCE).up(y, x, b)
        return y

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        dx = torch.empty_like(x)
        torch.mps.compile_shader(SOURCE).down(dx, dy.contiguous(), x, ctx.b)
        return dx, None

def squareplus(x, b):
    return Squareplus.apply(x, float(b))
'''

BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
LOGSUMEXP = f'''
def repaired():
    return """
#include <metal_stdlib>
using namespace metal;
kernel void logsumexp(device float* out, device const float* x, constant uint& width,
                      uint row [[threadgroup_position_in_grid]], uint l [[thread_position_in_threadgroup]],
                      uint size [[threads_per_threadgroup]]) {{
  threadgroup float part[256];
  float top = -INFINITY;
  for (uint c = l; c < width; c += size) top = max(top, x[row * width + c]);
  part[l] = top;
  {BARRIER} // filled
  for (uint k = 0; k < size; k++) top = max(top, part[k]);
  {BARRIER} // read
  float sum = 0.0;
  for (uint c = l; c < width; c += size) sum += precise::exp(x[row * width + c] - top);
  part[l] = sum;
  {BARRIER} // summed
  for (uint left = size; left > 1; left = (left + 1) / 2) {{
    if (l < left / 2) part[l] += part[l + (left + 1) / 2];
    {BARRIER} // added
  }}
  if (l == 0) out[row] = top + precise::log(part[0]);
}}
"""
'''

MODE = '''
SOURCE = """
kernel void find(device int* out, device const int* x, constant int& n, uint row [[thread_position_in_grid]]) {
  device const int* mine = x + row * n;
  int best = 0, most = 0;
  for (int a = 0; a < n; a++) {
    int times = 0;
    for (int b = 0; b < n; b++) times += mine[b] == mine[a];
    if (times > most || (times == most && mine[a] < best)) { best = mine[a]; most = times; }
  }
  out[row] = best;
}
"""

def row_mode(x):
    x = x.contiguous()
    out = torch.empty(len(x), dtype=torch.int32, device=x.device)
    torch.mps.compile_shader(SOURCE).find(out, x, x.shape[1], threads=len(x), arg_casts="int32")
    return out
'''


def changed(source, old, new):
    """Return a source with one mistake put in."""
    assert old in source, old
    return source.replace(old, new)


WRONG = {
    "ex13-task1": {
        "doubles are read twice": changed(MOVED, "for name in set(inputs)) +", "for name in inputs) +"),
        "outputs are not written": changed(MOVED, " + sizes[output]", ""),
        "only the last output is written": changed(MOVED, "*(made & set(kept))", "operators[-1][1]"),
        "all outputs are written": changed(MOVED, "made & set(kept)", "made"),
        "everything is read": changed(MOVED, "set(inputs) - made", "set(inputs)"),
        "kept and read is one": changed(MOVED, "[*read, *(made & set(kept))]", "read | (made & set(kept))"),
    },
    "ex13-task2": {
        "the derivative alone": changed(SQUAREPLUS, "dx[i] = dy[i] * 0.5", "dx[i] = 0.5"),
        "the derivative of the root alone": changed(SQUAREPLUS, "(1.0 + x[i] / precise", "(x[i] / precise"),
        "strides forgotten": changed(SQUAREPLUS, "        x = x.contiguous()\n", ""),
        "an int goes through": changed(SQUAREPLUS, "Squareplus.apply(x, float(b))", "Squareplus.apply(x, b)"),
        "PyTorch's operators": """
def squareplus(x, b):
    return (x + (x * x + b).sqrt()) / 2
""",
        "a backward of PyTorch's operators": changed(
            SQUAREPLUS,
            "torch.mps.compile_shader(SOURCE).down(dx, dy.contiguous(), x, ctx.b)",
            "dx = dy * (1 + x / (x * x + ctx.b).sqrt()) / 2",
        ),
        "a whole group": changed(
            SQUAREPLUS, ".up(y, x, b)", ".up(y, x, b, threads=(x.numel() + 63) // 64 * 64, group_size=64)"
        ),
    },
    "ex13-task3": {
        "no barrier after filling": changed(LOGSUMEXP, f"  {BARRIER} // filled\n", ""),
        "no barrier between the two uses": changed(LOGSUMEXP, f"  {BARRIER} // read\n", ""),
        "no barrier in the loop": changed(LOGSUMEXP, f"    {BARRIER} // added\n", ""),
        "a barrier in a branch": changed(
            LOGSUMEXP,
            f"part[l] += part[l + (left + 1) / 2];\n    {BARRIER} // added",
            f"{{ part[l] += part[l + (left + 1) / 2];\n    {BARRIER} }}",
        ),
        "a power of two": changed(
            LOGSUMEXP,
            "uint left = size; left > 1; left = (left + 1) / 2) {\n"
            "    if (l < left / 2) part[l] += part[l + (left + 1) / 2];",
            "uint step = size / 2; step > 0; step /= 2) {\n    if (l < step) part[l] += part[l + step];",
        ),
        "an early return": changed(
            LOGSUMEXP, "threadgroup float part[256];", "if (l >= width) return;\n  threadgroup float part[256];"
        ),
        "one number for each thread": LOGSUMEXP.replace(
            "for (uint c = l; c < width; c += size)", "uint c = l; if (c < width)"
        )
        .replace("uint c = l; if (c < width) top", "if (l < width) top")
        .replace("uint c = l; if (c < width) sum", "if (l < width) sum")
        .replace("width + c]", "width + l]"),
        "no shift": LOGSUMEXP.replace(" - top)", ")").replace("top + precise::log", "precise::log"),
        "the maximum of one thread": changed(
            LOGSUMEXP, "for (uint k = 0; k < size; k++) top = max(top, part[k]);", "top = part[0];"
        ),
    },
    "ex13-task4": {
        "the first of several": changed(MODE, " || (times == most && mine[a] < best)", ""),
        "the largest of several": changed(MODE, "mine[a] < best", "mine[a] > best"),
        "the least frequent": changed(changed(MODE, "times > most", "times < most"), "most = 0;", "most = 1 << 30;"),
        "strides forgotten": changed(MODE, "    x = x.contiguous()\n", ""),
        "a table of counts": changed(
            MODE,
            """    int times = 0;
    for (int b = 0; b < n; b++) times += mine[b] == mine[a];""",
            """    int counts[8] = {0};
    for (int b = 0; b < n; b++) counts[mine[b]] += 1;
    int times = counts[mine[a]];""",
        ),
        "on the CPU": """
def row_mode(x):
    return x.cpu().mode(dim=1).values.to(x.device)
""",
        "PyTorch's operators": """
def row_mode(x):
    times = (x[:, :, None] == x[:, None, :]).sum(2)
    top = times == times.max(1, keepdim=True).values
    return torch.where(top, x, x.new_full((), 2**31 - 1)).min(1).values
""",
        "a launch for each row": changed(
            MODE,
            'find(out, x, x.shape[1], threads=len(x), arg_casts="int32")',
            "find\n    for k in range(len(x)):\n"
            '        torch.mps.compile_shader(SOURCE).find(out[k:], x[k:], x.shape[1], threads=1, arg_casts="int32")',
        ),
    },
}


# every solution binds what the course's own binds, so that none runs with the helpers of another
_HELPERS = {"ex13-task2": ("Squareplus", "squareplus_kernels"), "ex13-task4": ("mode_kernel",)}
for _grade_id, _names in _HELPERS.items():
    for _title, _source in WRONG[_grade_id].items():
        _missing = [name for name in _names if f"class {name}(" not in _source and f"def {name}(" not in _source]
        WRONG[_grade_id][_title] = "".join(f"{name} = None\n" for name in _missing) + _source
