#include <metal_stdlib>
using namespace metal;

kernel void no_barrier(device float* out, device const float* x, uint l [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[l] = x[l];
  out[l] = t[63 - l];  // no_barrier
}
kernel void no_barrier_in_loop(device float* x, uint l [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[l] = x[l];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint s = 32; s > 0; s /= 2) {
    if (l < s) t[l] += t[l + s];  // no_barrier_in_loop
  }
  x[l] = t[l];
}
kernel void one_barrier_in_scan(device float* x, uint l [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[l] = x[l];
  for (uint s = 1; s < 64; s *= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l >= s) t[l] += t[l - s];  // one_barrier_in_scan
  }
}
kernel void barrier_of_nothing(device float* x, uint l [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[l] = x[l];
  threadgroup_barrier(mem_flags::mem_none);
  x[l] = t[63 - l];  // barrier_of_nothing
}
kernel void barrier_of_other_memory(device float* x, uint l [[thread_position_in_threadgroup]]) {
  x[l] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[63 - l] += 1;  // barrier_of_other_memory
}
kernel void read_one_too_far(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
  out[i] = x[i + 1] - x[i];  // read_one_too_far
}
kernel void write_one_too_far(device float* out, uint i [[thread_position_in_grid]]) {
  out[i + 1] = i;  // write_one_too_far
}
kernel void below_zero(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
  out[i] = x[i - 1];  // below_zero
}
kernel void less_or_equal(device float* out, device const float* x, constant uint& n, uint row [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint c = 0; c <= n; c++)
    sum += x[row * n + c];  // less_or_equal
  out[row] = sum;
}
kernel void rows_for_columns(device float* out, device const float* x, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
  out[p.x * n.x + p.y] = x[p.y * n.x + p.x];  // rows_for_columns
}
kernel void group_too_large(device float* x, uint l [[thread_position_in_threadgroup]]) {
  threadgroup float t[32];
  t[l] = x[l];  // group_too_large
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[l] = t[0];
}
kernel void early_return(device float* x, constant uint& n, uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  if (i >= n) return;
  t[l] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);  // early_return
  x[i] = t[0];
}
kernel void barrier_in_branch(device float* x, uint l [[thread_position_in_threadgroup]]) {
  if (l < 32) {
    threadgroup_barrier(mem_flags::mem_device);  // barrier_in_branch
  } else {
    threadgroup_barrier(mem_flags::mem_device);
  }
  x[l] = 1;
}
kernel void not_all_written(device float* x, uint l [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  if (l < 32) t[l] = x[l];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[l] = t[63 - l];  // not_all_written
}
kernel void starts_from_garbage(device float* x, uint l [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[l] += x[l];  // starts_from_garbage
}
kernel void plain_histogram(device uint* bins, device const int* x, uint i [[thread_position_in_grid]]) {
  bins[x[i]] += 1;  // plain_histogram
}
kernel void sum_of_groups(device float* out, device const float* x, uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
  float sum = simd_sum(x[i]);
  if (l == 0) out[0] += sum;  // sum_of_groups
}
kernel void last_one_wins(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
  out[0] = x[i];  // last_one_wins
}
kernel void shift_in_place(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i + 1 < n) x[i] = x[i + 1];  // shift_in_place
}
kernel void lanes_in_step(device float* x, uint l [[thread_position_in_threadgroup]]) {
  threadgroup float t[32];
  t[l] = x[l];
  x[l] = t[31 - l];  // lanes_in_step
}
kernel void counts_before_zero(device uint* out, device const int* x, uint l [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint bins[4];
  if (l < 4) atomic_store_explicit(&bins[l], 0, memory_order_relaxed);
  atomic_fetch_add_explicit(&bins[x[l]], 1, memory_order_relaxed);  // counts_before_zero
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l < 4) out[l] = atomic_load_explicit(&bins[l], memory_order_relaxed);
}
kernel void absent_lane(device float* x, uint i [[thread_position_in_grid]]) {
  if (i < 8) x[i] = simd_shuffle_down(x[i], 4);  // absent_lane
}
kernel void local_array(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  float a[4] = {1, 2, 3, 4};
  x[i] = a[i + n];  // local_array
}
kernel void by_nothing(device int* x, constant int& n, uint i [[thread_position_in_grid]]) {
  x[i] = x[i] % n;  // by_nothing
}
kernel void too_much_memory(device float* x, uint i [[thread_position_in_grid]]) {
  threadgroup float a[4096];
  threadgroup float b[4097];  // too_much_memory
  a[i] = x[i]; b[i] = a[i]; x[i] = b[i];
}
kernel void endless(device float* x, uint i [[thread_position_in_grid]]) {
  while (x[i] >= 0) x[i] += 1;  // endless
}
int again(int n) { return n == 0 ? 0 : 1 + again(n - 1) * again(n - 2); }  // too_deep
kernel void too_deep(device int* x, uint i [[thread_position_in_grid]]) {
  x[i] = again(1 << 30);
}
kernel void wild_pointer(device float* x, uint i [[thread_position_in_grid]]) {
  device float* p = (device float*)(ulong(123456789) << 20);
  *p = x[i];  // wild_pointer
}
kernel void changes_a_constant(constant float* x, device float* out, uint i [[thread_position_in_grid]]) {
  ((device float*)x)[i] = 1;  // changes_a_constant
  out[i] = x[i];
}
float far(device const float* x, uint i) { return x[i + 1000]; }  // in_a_helper
kernel void in_a_helper(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
  out[i] = far(x, i);
}
kernel void next_buffer(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
  out[i + 40000] = x[i];  // next_buffer
}
kernel void beyond_a_view(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
  out[i] = x[i + 4];  // beyond_a_view
}
kernel void float4_of_floats(device float4* x, uint i [[thread_position_in_grid]]) {
  x[i] = x[i] * 2;  // float4_of_floats
}
kernel void wrong_fill(device float* out, uint2 p [[thread_position_in_grid]]) {
  threadgroup float tile[8][8];
  tile[p.y][p.x] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[p.y * 8 + p.x] = tile[p.x][p.y + 1];  // wrong_fill
}
