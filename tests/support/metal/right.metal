#include <metal_stdlib>
#include <metal_atomic>
using namespace metal;

constant float gauss[5] = {0.0625, 0.25, 0.375, 0.25, 0.0625};

struct Window { uint width; uint height; float gain; };

kernel void axpy(device float* y [[buffer(0)]], device const float* x [[buffer(1)]],
                 constant float& a [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  y[i] = fma(a, x[i], y[i]);
}

kernel void bias_silu(device float* out, device const float* x, device const float* bias, constant uint& width,
                      uint i [[thread_position_in_grid]]) {
  const float v = x[i] + bias[i % width];
  out[i] = v / (1 + precise::exp(-v));
}

kernel void gelu(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
  float v = x[i];
  out[i] = 0.5 * v * (1.0 + precise::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
}

kernel void transpose(device float* out, device const float* in, constant uint& rows, constant uint& columns,
                      uint2 place [[thread_position_in_threadgroup]], uint2 tile_at [[threadgroup_position_in_grid]]) {
  threadgroup float tile[16][17];
  uint row = tile_at.y * 16 + place.y, column = tile_at.x * 16 + place.x;
  if (row < rows && column < columns) tile[place.y][place.x] = in[row * columns + column];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  row = tile_at.x * 16 + place.y;
  column = tile_at.y * 16 + place.x;
  if (row < columns && column < rows) out[row * rows + column] = tile[place.x][place.y];
}

kernel void sum_tree(device float* out, device const float* x, constant uint& n, uint i [[thread_position_in_grid]],
                     uint l [[thread_position_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
                     uint size [[threads_per_threadgroup]]) {
  threadgroup float part[1024];
  part[l] = i < n ? x[i] : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint left = size; left > 1;) {
    uint step = (left + 1) / 2;
    if (l + step < left) part[l] += part[l + step];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    left = step;
  }
  if (l == 0) out[group] = part[0];
}

float sum_of_group(float value, threadgroup float* parts, uint lane, uint simdgroup_number, uint simdgroups) {
  value = simd_sum(value);
  if (lane == 0) parts[simdgroup_number] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  value = lane < simdgroups ? parts[lane] : 0;
  value = simd_sum(value);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return value;
}

kernel void sum_simd(device float* out, device const float* x, uint i [[thread_position_in_grid]],
                     uint group [[threadgroup_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]], uint s [[simdgroup_index_in_threadgroup]],
                     uint n [[simdgroups_per_threadgroup]]) {
  threadgroup float parts[32];
  float total = sum_of_group(x[i], parts, lane, s, n);
  if (l == 0) out[group] = total;
}

kernel void softmax(device float* out, device const float* x, constant uint& width, uint l [[thread_position_in_threadgroup]],
                    uint row [[threadgroup_position_in_grid]], uint size [[threads_per_threadgroup]]) {
  threadgroup float part[256];
  float largest = -INFINITY;
  for (uint c = l; c < width; c += size) largest = max(largest, x[row * width + c]);
  part[l] = largest;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  largest = part[0];
  for (uint k = 1; k < size; k++) largest = max(largest, part[k]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint c = l; c < width; c += size) sum += precise::exp(x[row * width + c] - largest);
  part[l] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0;
  for (uint k = 0; k < size; k++) sum += part[k];
  for (uint c = l; c < width; c += size) out[row * width + c] = precise::exp(x[row * width + c] - largest) / sum;
}

kernel void softmax_online(device float* out, device const float* x, constant uint& width, uint row [[thread_position_in_grid]]) {
  device const float* mine = x + row * width;
  float largest = mine[0], sum = 1;
  for (uint c = 1; c < width; ++c) {
    float now = max(largest, mine[c]);
    sum = sum * precise::exp(largest - now) + precise::exp(mine[c] - now);
    largest = now;
  }
  for (uint c = 0; c < width; ++c) out[row * width + c] = precise::exp(mine[c] - largest) / sum;
}

kernel void layer_norm(device float* out, device const float* x, device const float* weight, device const float* bias,
                       constant uint& width, constant float& eps, uint l [[thread_index_in_threadgroup]],
                       uint row [[threadgroup_position_in_grid]], uint size [[threads_per_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]], uint s [[simdgroup_index_in_threadgroup]],
                       uint n [[simdgroups_per_threadgroup]]) {
  threadgroup float parts[32];
  x += row * width;
  float sum = 0, squares = 0;
  for (uint c = l; c < width; c += size) sum += x[c];
  const float mean = sum_of_group(sum, parts, lane, s, n) / width;
  for (uint c = l; c < width; c += size) squares += (x[c] - mean) * (x[c] - mean);
  const float scale = precise::rsqrt(sum_of_group(squares, parts, lane, s, n) / width + eps);
  for (uint c = l; c < width; c += size) out[row * width + c] = (x[c] - mean) * scale * weight[c] + bias[c];
}

template <typename T>
kernel void rms_norm(device T* out [[buffer(0)]], device const T* x [[buffer(1)]], constant uint& width [[buffer(2)]],
                     uint row [[thread_position_in_grid]]) {
  float squares = 0;
  for (uint c = 0; c < width; c++) { float v = static_cast<float>(x[row * width + c]); squares += v * v; }
  float scale = rsqrt(squares / width + 1e-6);
  for (uint c = 0; c < width; c++) out[row * width + c] = static_cast<T>(static_cast<float>(x[row * width + c]) * scale);
}
#define RMS_NORM(type) \
  template [[host_name("rms_norm_" #type)]] kernel void rms_norm<type>( \
      device type* out, device const type* x, constant uint& width, uint row);
RMS_NORM(float)
RMS_NORM(half)
RMS_NORM(bfloat)

kernel void matmul(device float* c, device const float* a, device const float* b, constant uint* sizes,
                   uint2 place [[thread_position_in_grid]]) {
  uint inner = sizes[1], columns = sizes[2];
  float sum = 0;
  for (uint k = 0; k < inner; k++) sum += a[place.y * inner + k] * b[k * columns + place.x];
  c[place.y * columns + place.x] = sum;
}

kernel void matmul_tiled(device float* c, device const float* a, device const float* b, constant uint3& sizes,
                         uint2 l [[thread_position_in_threadgroup]], uint2 at [[thread_position_in_grid]]) {
  threadgroup float tile_a[8][8], tile_b[8][8];
  float sum = 0;
  for (uint first = 0; first < sizes.y; first += 8) {
    tile_a[l.y][l.x] = at.y < sizes.x && first + l.x < sizes.y ? a[at.y * sizes.y + first + l.x] : 0.0f;
    tile_b[l.y][l.x] = first + l.y < sizes.y && at.x < sizes.z ? b[(first + l.y) * sizes.z + at.x] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 8; k++) sum += tile_a[l.y][k] * tile_b[k][l.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (at.y < sizes.x && at.x < sizes.z) c[at.y * sizes.z + at.x] = sum;
}

kernel void matmul_batched(device float* c, device const float* a, device const float* b, constant uint* sizes,
                           uint3 place [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  a += place.z * grid.y * sizes[0];
  b += place.z * grid.x * sizes[0];
  float sum = 0;
  for (uint k = 0; k < sizes[0]; k++) sum += a[place.y * sizes[0] + k] * b[k * grid.x + place.x];
  c[(place.z * grid.y + place.y) * grid.x + place.x] = sum;
}

kernel void prefix_sum(device int* x, uint i [[thread_position_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int sums[512];
  sums[i] = x[i];
  for (uint step = 1; step < size; step *= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int other = i >= step ? sums[i - step] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sums[i] += other;
  }
  x[i] = sums[i];
}

kernel void prefix_sum_simd(device int* x, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                            uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup int ends[32];
  int mine = simd_prefix_inclusive_sum(x[i]);
  if (lane == 31) ends[s] = mine;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < s; k++) mine += ends[k];
  x[i] = mine;
}

kernel void histogram(device atomic_uint* bins, device const uchar* x, constant uint& n, uint i [[thread_position_in_grid]],
                      uint l [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint local[16];
  if (l < 16) atomic_store_explicit(&local[l], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < n) atomic_fetch_add_explicit(&local[x[i] % 16], 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l < 16) atomic_fetch_add_explicit(&bins[l], atomic_load_explicit(&local[l], memory_order_relaxed), memory_order_relaxed);
}

kernel void largest(device atomic_float* out, device const float* x, uint i [[thread_position_in_grid]]) {
  float known = atomic_load_explicit(out, memory_order_relaxed);
  while (x[i] > known && !atomic_compare_exchange_weak_explicit(out, &known, x[i], memory_order_relaxed, memory_order_relaxed)) {}
}

kernel void scatter_add(device atomic_float* out, device const long* index, device const float* x, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&out[index[i]], x[i], memory_order_relaxed);
}

kernel void embedding(device half* out, device const half* table, device const long* ids, constant uint& width,
                      uint2 place [[thread_position_in_grid]]) {
  out[place.y * width + place.x] = table[ids[place.y] * width + place.x];
}

kernel void rotate_colours(device float4* pixels, uint i [[thread_position_in_grid]]) {
  float4 p = pixels[i];
  p.rgb = p.gbr * 2.0;
  p.w = dot(p.xy, float2(1, -1));
  pixels[i].xyz = p.zyx + p.www;
  pixels[i].a = p.a;
}

kernel void windowed(device float* out, device const float* x, constant Window& w, uint i [[thread_position_in_grid]]) {
  out[i] = w.gain * x[i] * float(i / w.width) / float(w.height);
}

kernel void smooth(device float* out, device const float* x, uint i [[thread_position_in_grid]], uint n [[threads_per_grid]]) {
  float sum = 0;
  for (int k = -2; k <= 2; k++) sum += gauss[k + 2] * x[clamp(int(i) + k, 0, int(n) - 1)];
  out[i] = sum;
}

kernel void max_pool(device float* out, device const float* x, constant uint& width, uint2 p [[thread_position_in_grid]],
                     uint2 size [[threads_per_grid]]) {
  float best = -FLT_MAX;
  for (uint dy = 0; dy < 2; dy++)
    for (uint dx = 0; dx < 2; dx++) best = fmax(best, x[(2 * p.y + dy) * width + 2 * p.x + dx]);
  out[p.y * size.x + p.x] = best;
}

struct Best { float value; uint at; };
kernel void argmax(device long* out, device const float* x, constant uint& width, uint row [[threadgroup_position_in_grid]],
                   uint lane [[thread_index_in_simdgroup]]) {
  Best best = {-INFINITY, 0};
  for (uint c = lane; c < width; c += 32)
    if (x[row * width + c] > best.value) best = {x[row * width + c], c};
  for (ushort step = 16; step > 0; step /= 2) {
    Best other = {simd_shuffle_xor(best.value, step), simd_shuffle_xor(best.at, step)};
    if (other.value > best.value || (other.value == best.value && other.at < best.at)) best = other;
  }
  if (lane == 0) out[row] = best.at;
}

kernel void cross_entropy(device float* loss, device const float* logits, device const int* target, constant uint& classes,
                          uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  logits += row * classes;
  float top = -INFINITY;
  for (uint c = lane; c < classes; c += 32) top = max(top, logits[c]);
  top = simd_max(top);
  float sum = 0;
  for (uint c = lane; c < classes; c += 32) sum += exp(logits[c] - top);
  sum = simd_sum(sum);
  if (simd_is_first()) loss[row] = log(sum) + top - logits[target[row]];
}

kernel void rotary(device half2* x, device const float* angle, uint i [[thread_position_in_grid]]) {
  float c, s = sincos(angle[i], c);
  float2 v = float2(x[i]);
  x[i] = half2(half(v.x * c - v.y * s), half(v.x * s + v.y * c));
}

kernel void dequantised_matvec(device float* out, device const char* weight, device const half* scale, device const float* x,
                               constant uint& width, uint row [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint c = 0; c < width; c++) sum += weight[row * width + c] * x[c];
  out[row] = sum * scale[row];
}

kernel void unpack_int4(device float* out, device const uint* packed, uint i [[thread_position_in_grid]]) {
  out[i] = float((packed[i / 8] >> (4 * (i % 8))) & 0xF) - 8.0h;
}

kernel void sort_group(device int* x, uint i [[thread_position_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int v[256];
  v[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint block = 2; block <= size; block *= 2)
    for (uint step = block / 2; step > 0; step /= 2) {
      uint other = i ^ step;
      if (other > i && (v[i] > v[other]) == ((i & block) == 0)) {
        int mine = v[i];
        v[i] = v[other];
        v[other] = mine;
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  x[i] = v[i];
}

kernel void escape_steps(device int* out, constant float2& corner, constant float& step, uint2 p [[thread_position_in_grid]],
                         uint2 size [[threads_per_grid]]) {
  float2 c = corner + float2(p) * step, z = float2(0);
  int n = 0;
  for (; n < 50; n++) {
    z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
    if (dot(z, z) > 4) break;
  }
  out[p.y * size.x + p.x] = n;
}

kernel void keep_positive(device float* out, device atomic_uint* n, device const float* x, uint i [[thread_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
  bool keep = x[i] > 0;
  uint votes = uint((ulong)simd_ballot(keep));
  uint base = 0;
  if (lane == 0) base = atomic_fetch_add_explicit(n, popcount(votes), memory_order_relaxed);
  base = simd_broadcast_first(base);
  if (keep) out[base + popcount(votes & ((1u << lane) - 1))] = x[i];
}

kernel void add_bfloat(device bfloat* out, device const bfloat* a, device const bfloat* b, uint i [[thread_position_in_grid]]) {
  out[i] = a[i] + b[i];
}

kernel void any_negative(device int* found, device const float* x, uint i [[thread_position_in_grid]]) {
  if (x[i] < 0) found[0] = 1;
}

kernel void reversed_in_place(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  float a = x[i], b = x[n - 1 - i];
  x[i] = b;
  x[n - 1 - i] = a;
}

kernel void read_strided(device float* out, device const float* x, constant long* strides, uint2 p [[thread_position_in_grid]],
                         uint2 size [[threads_per_grid]]) {
  out[p.y * size.x + p.x] = x[p.y * strides[0] + p.x * strides[1]];
}
