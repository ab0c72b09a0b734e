kernel void fill(device float* out, constant float& value, uint i [[thread_position_in_grid]]) { out[i] = value; }
kernel void fill_half(device half* out, constant half& value, uint i [[thread_position_in_grid]]) { out[i] = value; }
kernel void add_list(device float* out, constant int* values, uint i [[thread_position_in_grid]]) { out[i] += values[i]; }
kernel void whole(device long* out, constant long& value, uint i [[thread_position_in_grid]]) { out[i] = value; }
kernel void labels(device float* out, device const int* label, uint i [[thread_position_in_grid]]) { out[i] = label[i]; }
kernel void sizes(device uint* out, uint3 i [[thread_position_in_grid]], uint3 l [[thread_position_in_threadgroup]],
                  uint3 g [[threadgroup_position_in_grid]], uint3 size [[threads_per_threadgroup]], uint3 n [[threads_per_grid]],
                  uint3 groups [[threadgroups_per_grid]], uint3 asked [[dispatch_threads_per_threadgroup]],
                  uint index [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                  uint simd [[simdgroup_index_in_threadgroup]], uint simds [[simdgroups_per_threadgroup]]) {
  uint at = 12 * ((i.z * n.y + i.y) * n.x + i.x);
  uint row[12] = {i.x, l.x, g.x, size.x, n.x, groups.x, asked.x, index, lane, simd, simds, 7};
  for (uint k = 0; k < 12; k++) out[at + k] = row[k];
}
[[max_total_threads_per_threadgroup(64)]] kernel void small_groups(device float* out, uint i [[thread_position_in_grid]]) { out[i] = 1; }
kernel void borrowed(device float* out, threadgroup float* t [[threadgroup(0)]], uint i [[thread_position_in_grid]]) { out[i] = 1; }
