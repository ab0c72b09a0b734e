// What the kernel's program and the runtime agree on, and what Python writes and reads (module `launch`).
#pragma once

namespace metal_course {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// where the running thread is
struct Position {
  u32 thread_in_grid[3], thread_in_group[3], group_in_grid[3];
  u32 group_size[3], asked_group_size[3], grid_size[3], groups[3];
  u32 index, lane, simdgroup, simdgroups;
};
extern Position* current;

// one parameter of a kernel, as the compiler knows its type
struct Parameter {
  u8 is_pointer, is_reference, is_const, is_atomic;
  u32 kind;          // 'f' floating, 'b' bfloat, 'i' signed, 'u' unsigned, 'B' bool, 's' struct
  u32 scalar_bytes;  // of one number; of the whole struct for 's'
  u32 pointee_bytes;
};
struct Kernel {
  const char* name;
  void (*run)(void* const* buffers);
  u32 n_parameters;
  const Parameter* parameters;
};
extern "C" const Kernel metal_course_kernels[];
extern "C" const u32 metal_course_n_kernels;

// offered by the runtime to the headers
void wait_for_group(u32 flags);
void wait_for_simdgroup(u32 flags);
struct Lanes {
  u32 mask;          // which lanes take part
  const u8* values;  // slot_bytes for each lane
};
constexpr u32 slot_bytes = 32;
Lanes exchange(const void* value, u32 n_bytes);
[[noreturn]] void absent_lane(u32 lane);
enum AtomicUse : u32 { atomic_read = 0, atomic_change = 1, atomic_set = 2 };
void touch(const void* address, u32 n_bytes, bool write);
void touch_atomically(const void* address, u32 n_bytes, AtomicUse use);
void declare_shared(void* address, u64 n_bytes, u32 scalar_bytes, const char* name, u32 line);
void order_between_groups();

}  // namespace metal_course
