// Metal's functions of numbers. One overload for each type, as in Metal, so that mixed arguments are ambiguous here too.
#pragma once
#include "metal_types.h"

namespace metal {

#define METAL_COURSE_FLOATS(M, ...) M(float, __VA_ARGS__) M(half, __VA_ARGS__) M(bfloat, __VA_ARGS__)
#define METAL_COURSE_INTEGERS(M, ...)                                                                     \
  M(char, __VA_ARGS__) M(uchar, __VA_ARGS__) M(short, __VA_ARGS__) M(ushort, __VA_ARGS__)                 \
  M(int, __VA_ARGS__) M(uint, __VA_ARGS__) M(long, __VA_ARGS__) M(ulong, __VA_ARGS__)
// of each component
#define METAL_COURSE_EACH1(name)                                                                          \
  template <class T, int N> METAL_COURSE_PLAIN auto name(vec<T, N> a) {                                   \
    vec<decltype(name(T())), N> r;                                                                        \
    for (int i = 0; i < N; i++) r.c[i] = name(a.c[i]);                                                    \
    return r;                                                                                             \
  }
#define METAL_COURSE_EACH2(name)                                                                          \
  template <class T, int N> METAL_COURSE_PLAIN vec<T, N> name(vec<T, N> a, vec<T, N> b) {                 \
    for (int i = 0; i < N; i++) a.c[i] = name(a.c[i], b.c[i]);                                            \
    return a;                                                                                             \
  }                                                                                                       \
  template <class T, int N> vec<T, N> name(vec<T, N> a, as_given<T> b) { return name(a, vec<T, N>(b)); }
#define METAL_COURSE_EACH3(name)                                                                          \
  template <class T, int N> METAL_COURSE_PLAIN vec<T, N> name(vec<T, N> a, vec<T, N> b, vec<T, N> c) {    \
    for (int i = 0; i < N; i++) a.c[i] = name(a.c[i], b.c[i], c.c[i]);                                    \
    return a;                                                                                             \
  }                                                                                                       \
  template <class T, int N> vec<T, N> name(vec<T, N> a, as_given<T> b, as_given<T> c) {                   \
    return name(a, vec<T, N>(b), vec<T, N>(c));                                                           \
  }
#define METAL_COURSE_F1(T, name, expression) \
  METAL_COURSE_PLAIN inline T name(T a) { float x = a; return T(expression); }
#define METAL_COURSE_F2(T, name, expression) \
  METAL_COURSE_PLAIN inline T name(T a, T b) { float x = a, y = b; return T(expression); }
#define METAL_COURSE_F3(T, name, expression) \
  METAL_COURSE_PLAIN inline T name(T a, T b, T c) { float x = a, y = b, z = c; return T(expression); }
#define METAL_COURSE_UNARY(name, expression) \
  METAL_COURSE_FLOATS(METAL_COURSE_F1, name, expression) METAL_COURSE_EACH1(name)
#define METAL_COURSE_BINARY(name, expression) \
  METAL_COURSE_FLOATS(METAL_COURSE_F2, name, expression) METAL_COURSE_EACH2(name)

#define METAL_COURSE_ELEMENTARY                                                                            \
  METAL_COURSE_UNARY(exp, __builtin_expf(x)) METAL_COURSE_UNARY(exp2, __builtin_exp2f(x))                  \
  METAL_COURSE_UNARY(exp10, __builtin_powf(10.0f, x)) METAL_COURSE_UNARY(log, __builtin_logf(x))           \
  METAL_COURSE_UNARY(log2, __builtin_log2f(x)) METAL_COURSE_UNARY(log10, __builtin_log10f(x))              \
  METAL_COURSE_UNARY(sin, __builtin_sinf(x)) METAL_COURSE_UNARY(cos, __builtin_cosf(x))                    \
  METAL_COURSE_UNARY(tan, __builtin_tanf(x)) METAL_COURSE_UNARY(asin, __builtin_asinf(x))                  \
  METAL_COURSE_UNARY(acos, __builtin_acosf(x)) METAL_COURSE_UNARY(atan, __builtin_atanf(x))                \
  METAL_COURSE_UNARY(sinh, __builtin_sinhf(x)) METAL_COURSE_UNARY(cosh, __builtin_coshf(x))                \
  METAL_COURSE_UNARY(tanh, __builtin_tanhf(x)) METAL_COURSE_UNARY(asinh, __builtin_asinhf(x))              \
  METAL_COURSE_UNARY(acosh, __builtin_acoshf(x)) METAL_COURSE_UNARY(atanh, __builtin_atanhf(x))            \
  METAL_COURSE_UNARY(sinpi, __builtin_sinf(M_PI_F * x)) METAL_COURSE_UNARY(cospi, __builtin_cosf(M_PI_F * x)) \
  METAL_COURSE_UNARY(sqrt, __builtin_sqrtf(x)) METAL_COURSE_UNARY(rsqrt, 1.0f / __builtin_sqrtf(x))        \
  METAL_COURSE_UNARY(floor, __builtin_floorf(x)) METAL_COURSE_UNARY(ceil, __builtin_ceilf(x))              \
  METAL_COURSE_UNARY(round, __builtin_roundf(x)) METAL_COURSE_UNARY(rint, __builtin_rintf(x))              \
  METAL_COURSE_UNARY(trunc, __builtin_truncf(x)) METAL_COURSE_UNARY(fabs, __builtin_fabsf(x))              \
  METAL_COURSE_UNARY(fract, x - __builtin_floorf(x))                                                       \
  METAL_COURSE_BINARY(pow, __builtin_powf(x, y)) METAL_COURSE_BINARY(powr, __builtin_powf(x, y))           \
  METAL_COURSE_BINARY(atan2, __builtin_atan2f(x, y)) METAL_COURSE_BINARY(fmod, __builtin_fmodf(x, y))      \
  METAL_COURSE_BINARY(divide, x / y)                                                                       \
  METAL_COURSE_PLAIN inline float sincos(float x, float& cosine) { cosine = __builtin_cosf(x); return __builtin_sinf(x); }

METAL_COURSE_ELEMENTARY
namespace precise { METAL_COURSE_ELEMENTARY }
namespace fast { METAL_COURSE_ELEMENTARY }

METAL_COURSE_UNARY(sign, x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f)
METAL_COURSE_UNARY(saturate, x > 0 ? (x < 1 ? x : 1.0f) : 0.0f)
METAL_COURSE_FLOATS(METAL_COURSE_F1, abs, __builtin_fabsf(x))
METAL_COURSE_BINARY(copysign, __builtin_copysignf(x, y))
METAL_COURSE_BINARY(step, y < x ? 0.0f : 1.0f)
METAL_COURSE_BINARY(fdim, x > y ? x - y : 0.0f)
METAL_COURSE_FLOATS(METAL_COURSE_F3, fma, __builtin_fmaf(x, y, z)) METAL_COURSE_EACH3(fma)
METAL_COURSE_FLOATS(METAL_COURSE_F3, mix, x + (y - x) * z) METAL_COURSE_EACH3(mix)
METAL_COURSE_PLAIN inline float smoothstep(float low, float high, float x) {
  float t = saturate((x - low) / (high - low));
  return t * t * (3.0f - 2.0f * t);
}
METAL_COURSE_PLAIN inline float ldexp(float x, int k) { return __builtin_ldexpf(x, k); }

#define METAL_COURSE_ORDERED(T, ...)                                                     \
  METAL_COURSE_PLAIN inline T min(T a, T b) { return b < a ? b : a; }                    \
  METAL_COURSE_PLAIN inline T max(T a, T b) { return a < b ? b : a; }                    \
  METAL_COURSE_PLAIN inline T clamp(T v, T low, T high) { return min(max(v, low), high); }
// a NaN loses against a number, as in fmin and fmax
#define METAL_COURSE_ORDERED_FLOAT(T, ...)                                               \
  METAL_COURSE_PLAIN inline T fmin(T a, T b) { return a != a ? b : b < a ? b : a; }      \
  METAL_COURSE_PLAIN inline T fmax(T a, T b) { return a != a ? b : a < b ? b : a; }      \
  inline T min(T a, T b) { return fmin(a, b); }                                          \
  inline T max(T a, T b) { return fmax(a, b); }                                          \
  inline T clamp(T v, T low, T high) { return fmin(fmax(v, low), high); }                \
  METAL_COURSE_PLAIN inline bool isnan(T x) { return x != x; }                           \
  METAL_COURSE_PLAIN inline bool isinf(T x) { return __builtin_isinf(float(x)); }        \
  METAL_COURSE_PLAIN inline bool isfinite(T x) { return __builtin_isfinite(float(x)); }  \
  METAL_COURSE_PLAIN inline bool signbit(T x) { return __builtin_signbit(float(x)); }    \
  METAL_COURSE_PLAIN inline bool isunordered(T a, T b) { return a != a || b != b; }
METAL_COURSE_INTEGERS(METAL_COURSE_ORDERED, 0)
METAL_COURSE_FLOATS(METAL_COURSE_ORDERED_FLOAT, 0)
METAL_COURSE_EACH2(min) METAL_COURSE_EACH2(max) METAL_COURSE_EACH2(fmin) METAL_COURSE_EACH2(fmax) METAL_COURSE_EACH3(clamp)
METAL_COURSE_EACH1(isnan) METAL_COURSE_EACH1(isinf)
#define METAL_COURSE_ABS(T) METAL_COURSE_PLAIN inline T abs(T a) { return a < 0 ? T(-a) : a; }
METAL_COURSE_ABS(int) METAL_COURSE_ABS(short) METAL_COURSE_ABS(char) METAL_COURSE_ABS(long)
METAL_COURSE_EACH1(abs)
namespace precise {
METAL_COURSE_FLOATS(METAL_COURSE_F2, fmin, metal::fmin(x, y)) METAL_COURSE_FLOATS(METAL_COURSE_F2, fmax, metal::fmax(x, y))
}
namespace fast {
METAL_COURSE_FLOATS(METAL_COURSE_F2, fmin, metal::fmin(x, y)) METAL_COURSE_FLOATS(METAL_COURSE_F2, fmax, metal::fmax(x, y))
}

template <class T> METAL_COURSE_PLAIN enable_if_t<is_scalar_v<T>, T> select(T a, T b, bool c) { return c ? b : a; }
template <class T, int N> METAL_COURSE_PLAIN vec<T, N> select(vec<T, N> a, vec<T, N> b, vec<bool, N> c) {
  for (int i = 0; i < N; i++) if (c.c[i]) a.c[i] = b.c[i];
  return a;
}
template <class T, int N> METAL_COURSE_PLAIN T dot(vec<T, N> a, vec<T, N> b) {
  T sum = T(0);
  for (int i = 0; i < N; i++) sum = T(sum + a.c[i] * b.c[i]);
  return sum;
}
template <class T, int N> METAL_COURSE_PLAIN T length_squared(vec<T, N> a) { return dot(a, a); }
template <class T, int N> METAL_COURSE_PLAIN T length(vec<T, N> a) { return sqrt(dot(a, a)); }
template <class T, int N> METAL_COURSE_PLAIN T distance(vec<T, N> a, vec<T, N> b) { return length(a - b); }
template <class T, int N> METAL_COURSE_PLAIN vec<T, N> normalize(vec<T, N> a) { return a * vec<T, N>(rsqrt(dot(a, a))); }
template <class T> METAL_COURSE_PLAIN vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) {
  return vec<T, 3>(T(a.y * b.z - a.z * b.y), T(a.z * b.x - a.x * b.z), T(a.x * b.y - a.y * b.x));
}

METAL_COURSE_PLAIN inline int popcount(int v) { return __builtin_popcount(v); }
METAL_COURSE_PLAIN inline uint popcount(uint v) { return __builtin_popcount(v); }
METAL_COURSE_PLAIN inline ulong popcount(ulong v) { return __builtin_popcountl(v); }
METAL_COURSE_PLAIN inline uint clz(uint v) { return v ? __builtin_clz(v) : 32; }
METAL_COURSE_PLAIN inline uint ctz(uint v) { return v ? __builtin_ctz(v) : 32; }
METAL_COURSE_PLAIN inline ulong ctz(ulong v) { return v ? __builtin_ctzl(v) : 64; }
METAL_COURSE_PLAIN inline uint reverse_bits(uint v) {
  uint r = 0;
  for (int i = 0; i < 32; i++) r |= (v >> i & 1u) << (31 - i);
  return r;
}
METAL_COURSE_PLAIN inline uint mulhi(uint a, uint b) { return uint((ulong(a) * b) >> 32); }
METAL_COURSE_PLAIN inline int mulhi(int a, int b) { return int((long(a) * b) >> 32); }
METAL_COURSE_PLAIN inline uint rotate(uint v, uint k) { return k % 32 ? v << k % 32 | v >> (32 - k % 32) : v; }

template <class T> struct numeric_limits;
#define METAL_COURSE_LIMITS(T, largest, smallest, step)                                                      \
  template <> struct numeric_limits<T> {                                                                     \
    static constexpr bool is_integer = false, is_signed = true;                                              \
    static constexpr T max() { return T(largest); }                                                          \
    static constexpr T lowest() { return T(-largest); }                                                      \
    static constexpr T min() { return T(smallest); }                                                         \
    static constexpr T epsilon() { return T(step); }                                                         \
    static constexpr T infinity() { return T(__builtin_inff()); }                                            \
    static constexpr T quiet_NaN() { return T(__builtin_nanf("")); }                                         \
  };
METAL_COURSE_LIMITS(float, 3.402823466e+38f, 1.175494351e-38f, 1.192092896e-07f)
METAL_COURSE_LIMITS(half, 65504.0f, 6.103515625e-5f, 9.765625e-4f)
METAL_COURSE_LIMITS(bfloat, 3.3895313892515355e38f, 1.175494351e-38f, 7.8125e-3f)
#define METAL_COURSE_INTEGER_LIMITS(T, ...)                                                                  \
  template <> struct numeric_limits<T> {                                                                     \
    static constexpr bool is_integer = true, is_signed = is_signed_v<T>;                                     \
    static constexpr T max() { return T(is_signed ? (1ul << (8 * sizeof(T) - 1)) - 1 : ~0ul); }              \
    static constexpr T min() { return T(~max()); }                                                           \
    static constexpr T lowest() { return min(); }                                                            \
  };
METAL_COURSE_INTEGERS(METAL_COURSE_INTEGER_LIMITS, 0)

}  // namespace metal
