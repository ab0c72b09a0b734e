// What threads of a group do together: barriers, simdgroup functions, atomics, threadgroup memory.
#pragma once
#include "metal_math.h"

namespace metal {

enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4, mem_threadgroup_imageblock = 8 };
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
METAL_COURSE_PLAIN inline void threadgroup_barrier(mem_flags flags) { metal_course::wait_for_group(uint(flags)); }
METAL_COURSE_PLAIN inline void simdgroup_barrier(mem_flags flags) { metal_course::wait_for_simdgroup(uint(flags)); }

// ---- simdgroup: 32 lanes; a function sees the lanes that reach the same call -----------------------------------------
template <class T> METAL_COURSE_PLAIN T simd_value(metal_course::Lanes lanes, uint lane) {
  T value;
  __builtin_memcpy(&value, lanes.values + metal_course::slot_bytes * lane, sizeof(T));
  return value;
}
#define METAL_COURSE_REDUCE(name, expression)                                                        \
  template <class T> METAL_COURSE_PLAIN T name(T value) {                                            \
    metal_course::Lanes lanes = metal_course::exchange(&value, sizeof value);                        \
    bool first = true;                                                                               \
    T a = value;                                                                                     \
    for (uint lane = 0; lane < 32; lane++) {                                                         \
      if (!(lanes.mask >> lane & 1)) continue;                                                       \
      T b = simd_value<T>(lanes, lane);                                                              \
      a = first ? b : T(expression);                                                                 \
      first = false;                                                                                 \
    }                                                                                                \
    return a;                                                                                        \
  }                                                                                                  \
  template <class T, int N> METAL_COURSE_PLAIN vec<T, N> name(vec<T, N> value) {                     \
    for (int i = 0; i < N; i++) value.c[i] = name(value.c[i]);                                       \
    return value;                                                                                    \
  }
METAL_COURSE_REDUCE(simd_sum, a + b) METAL_COURSE_REDUCE(simd_product, a * b)
METAL_COURSE_REDUCE(simd_min, b < a ? b : a) METAL_COURSE_REDUCE(simd_max, a < b ? b : a)
METAL_COURSE_REDUCE(simd_and, a & b) METAL_COURSE_REDUCE(simd_or, a | b) METAL_COURSE_REDUCE(simd_xor, a ^ b)

#define METAL_COURSE_SCAN(name, start, op, last)                                                     \
  template <class T> METAL_COURSE_PLAIN T name(T value) {                                            \
    metal_course::Lanes lanes = metal_course::exchange(&value, sizeof value);                        \
    T a = T(start);                                                                                  \
    for (uint lane = 0; lane < metal_course::current->lane + last; lane++)                           \
      if (lanes.mask >> lane & 1) a = T(a op simd_value<T>(lanes, lane));                            \
    return a;                                                                                        \
  }
METAL_COURSE_SCAN(simd_prefix_inclusive_sum, 0, +, 1) METAL_COURSE_SCAN(simd_prefix_exclusive_sum, 0, +, 0)
METAL_COURSE_SCAN(simd_prefix_inclusive_product, 1, *, 1) METAL_COURSE_SCAN(simd_prefix_exclusive_product, 1, *, 0)

template <class T> METAL_COURSE_PLAIN T simd_from(T value, uint lane) {
  metal_course::Lanes lanes = metal_course::exchange(&value, sizeof value);
  if (lane > 31) return value;
  if (!(lanes.mask >> lane & 1)) metal_course::absent_lane(lane);
  return simd_value<T>(lanes, lane);
}
template <class T> T simd_shuffle(T value, ushort lane) { return simd_from(value, lane); }
template <class T> T simd_broadcast(T value, ushort lane) { return simd_from(value, lane); }
template <class T> T simd_shuffle_xor(T value, ushort mask) { return simd_from(value, metal_course::current->lane ^ mask); }
template <class T> T simd_shuffle_down(T value, ushort by) { return simd_from(value, metal_course::current->lane + by); }
template <class T> T simd_shuffle_up(T value, ushort by) { return simd_from(value, metal_course::current->lane - by); }
template <class T> T simd_shuffle_rotate_down(T value, ushort by) { return simd_from(value, (metal_course::current->lane + by) % 32); }
template <class T> T simd_shuffle_rotate_up(T value, ushort by) { return simd_from(value, (metal_course::current->lane - by) % 32); }
// what no lane gives comes from `fill`, of the lane that it would wrap around to
template <class T> METAL_COURSE_PLAIN T simd_from_or(T value, T fill, uint lane, uint around) {
  metal_course::Lanes lanes = metal_course::exchange(&value, sizeof value);
  bool there = lane < 32 && (lanes.mask >> lane & 1);
  T other = there ? simd_value<T>(lanes, lane) : fill;
  lanes = metal_course::exchange(&fill, sizeof fill);
  return !there && lane > 31 && (lanes.mask >> around % 32 & 1) ? simd_value<T>(lanes, around % 32) : other;
}
template <class T> T simd_shuffle_and_fill_down(T value, T fill, ushort by) {
  return simd_from_or(value, fill, metal_course::current->lane + by, metal_course::current->lane + by);
}
template <class T> T simd_shuffle_and_fill_up(T value, T fill, ushort by) {
  return simd_from_or(value, fill, metal_course::current->lane - by, metal_course::current->lane - by);
}
template <class T> METAL_COURSE_PLAIN T simd_broadcast_first(T value) {
  metal_course::Lanes lanes = metal_course::exchange(&value, sizeof value);
  return simd_value<T>(lanes, __builtin_ctz(lanes.mask));
}
struct simd_vote {
  typedef ulong vote_t;
  ulong lanes;
  explicit operator vote_t() const { return lanes; }
};
METAL_COURSE_PLAIN inline simd_vote simd_ballot(bool value) {
  metal_course::Lanes lanes = metal_course::exchange(&value, sizeof value);
  ulong votes = 0;
  for (uint lane = 0; lane < 32; lane++)
    if ((lanes.mask >> lane & 1) && simd_value<bool>(lanes, lane)) votes |= 1ul << lane;
  return {votes};
}
METAL_COURSE_PLAIN inline bool simd_any(bool value) { return simd_ballot(value).lanes != 0; }
METAL_COURSE_PLAIN inline bool simd_all(bool value) { return simd_ballot(!value).lanes == 0; }
METAL_COURSE_PLAIN inline simd_vote simd_active_threads_mask() { return simd_ballot(true); }
METAL_COURSE_PLAIN inline bool simd_is_first() { return simd_broadcast_first(metal_course::current->lane) == metal_course::current->lane; }

// ---- atomics: relaxed, as Metal's are --------------------------------------------------------------------------------
enum memory_order { memory_order_relaxed };
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };
template <class T> struct atomic { T value; };
METAL_COURSE_PLAIN inline void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) { metal_course::order_between_groups(); }

#define METAL_COURSE_ATOMIC(name, expression)                                                                        \
  template <class T> METAL_COURSE_PLAIN T atomic_fetch_##name##_explicit(volatile atomic<T>* p, as_given<T> b, memory_order) { \
    metal_course::touch_atomically((const void*)p, sizeof(T), metal_course::atomic_change);                          \
    T a = p->value;                                                                                                  \
    p->value = T(expression);                                                                                        \
    return a;                                                                                                        \
  }
METAL_COURSE_ATOMIC(add, a + b) METAL_COURSE_ATOMIC(sub, a - b)
METAL_COURSE_ATOMIC(min, b < a ? b : a) METAL_COURSE_ATOMIC(max, a < b ? b : a)
METAL_COURSE_ATOMIC(and, a & b) METAL_COURSE_ATOMIC(or, a | b) METAL_COURSE_ATOMIC(xor, a ^ b)
template <class T> METAL_COURSE_PLAIN T atomic_exchange_explicit(volatile atomic<T>* p, as_given<T> b, memory_order) {
  metal_course::touch_atomically((const void*)p, sizeof(T), metal_course::atomic_change);
  T a = p->value;
  p->value = b;
  return a;
}
template <class T> METAL_COURSE_PLAIN T atomic_load_explicit(const volatile atomic<T>* p, memory_order) {
  metal_course::touch_atomically((const void*)p, sizeof(T), metal_course::atomic_read);
  return p->value;
}
template <class T> METAL_COURSE_PLAIN void atomic_store_explicit(volatile atomic<T>* p, as_given<T> b, memory_order) {
  metal_course::touch_atomically((const void*)p, sizeof(T), metal_course::atomic_set);
  p->value = b;
}
template <class T>
METAL_COURSE_PLAIN bool atomic_compare_exchange_weak_explicit(
    volatile atomic<T>* p, as_given<T>* expected, as_given<T> wanted, memory_order, memory_order) {
  metal_course::touch_atomically((const void*)p, sizeof(T), metal_course::atomic_change);
  T now = p->value;
  bool same = __builtin_memcmp(&now, expected, sizeof(T)) == 0;  // bits, so that a NaN equals itself
  if (same) p->value = wanted;
  else *expected = now;
  return same;
}

}  // namespace metal

typedef metal::atomic<int> atomic_int;
typedef metal::atomic<uint> atomic_uint;
typedef metal::atomic<float> atomic_float;
typedef metal::atomic<bool> atomic_bool;
typedef metal::atomic<ulong> atomic_ulong;
namespace metal { using ::atomic_int; using ::atomic_uint; using ::atomic_float; using ::atomic_bool; using ::atomic_ulong; }

// ---- what the course writes into the program -------------------------------------------------------------------------
namespace metal_course {

// the number inside a type: float of float4[8], of atomic<float>
template <class T> struct ScalarOf { typedef T type; };
template <class T, u64 N> struct ScalarOf<T[N]> : ScalarOf<T> {};
template <class T, int N> struct ScalarOf<metal::vec<T, N>> : ScalarOf<T> {};
template <class T, int N> struct ScalarOf<metal::packed_vec<T, N>> : ScalarOf<T> {};
template <class T, size_t N> struct ScalarOf<metal::array<T, N>> : ScalarOf<T> {};
template <class T> struct ScalarOf<metal::atomic<T>> : ScalarOf<T> {};
template <class T> using scalar_of = typename ScalarOf<metal::remove_cv_t<T>>::type;
template <class T> constexpr bool is_atomic = false;
template <class T> constexpr bool is_atomic<metal::atomic<T>> = true;
template <class T> constexpr u32 kind_of() {
  return metal::is_same_v<T, bfloat> ? 'b' : metal::is_floating_point_v<T> ? 'f' : metal::is_same_v<T, bool> ? 'B'
         : metal::is_unsigned_v<T> ? 'u' : metal::is_signed_v<T> ? 'i' : 's';
}
template <class T> struct Described {  // taken by value: a position
  static constexpr Parameter value = {0, 0, 1, 0, kind_of<scalar_of<T>>(), u32(sizeof(scalar_of<T>)), u32(sizeof(T))};
};
template <class T> constexpr bool is_const = false;
template <class T> constexpr bool is_const<const T> = true;
template <> struct Described<const void*> { static constexpr Parameter value = {1, 0, 1, 0, 's', 1, 1}; };
template <> struct Described<void*> { static constexpr Parameter value = {1, 0, 0, 0, 's', 1, 1}; };
template <class T> struct Pointee {
  typedef metal::remove_cv_t<T> plain;
  static constexpr Parameter as(u8 pointer, u8 reference) {
    return {pointer, reference, is_const<T>, is_atomic<plain>, kind_of<scalar_of<plain>>(), u32(sizeof(scalar_of<plain>)), u32(sizeof(plain))};
  }
};
template <class T> struct Described<T*> { static constexpr Parameter value = Pointee<T>::as(1, 0); };
template <class T> struct Described<T&> { static constexpr Parameter value = Pointee<T>::as(0, 1); };
template <class F> struct Signature;
template <class... A> struct Signature<void (*)(A...)> {
  static constexpr u32 n = sizeof...(A);
  static constexpr Parameter list[n + 1] = {Described<A>::value..., {}};
};

// stand-ins for a kernel's arguments: the parameter's type decides what they become
struct Pointer { void* address; template <class T> operator T*() const { return (T*)address; } };
struct Reference { void* address; template <class T> operator T&() const { return *(T*)address; } };
struct Coordinates {
  const u32* c;
  operator uint() const { return c[0]; }
  operator ushort() const { return ushort(c[0]); }
  operator uint2() const { return uint2(c[0], c[1]); }
  operator ushort2() const { return ushort2(ushort(c[0]), ushort(c[1])); }
  operator uint3() const { return uint3(c[0], c[1], c[2]); }
  operator ushort3() const { return ushort3(ushort(c[0]), ushort(c[1]), ushort(c[2])); }
};

// storage of a threadgroup variable: all threads of a group see it, no constructor runs
template <class T> union Shared { char nothing; T value; constexpr Shared() : nothing(0) {} };
template <class T> METAL_COURSE_PLAIN void declare(T& variable, const char* name, u32 line) {
  declare_shared((void*)&variable, sizeof(T), sizeof(scalar_of<T>), name, line);
}

}  // namespace metal_course
