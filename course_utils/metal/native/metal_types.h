// Metal's types for a C++ compiler: numbers, half and bfloat, vectors. Written for this course, without any system header.
#pragma once
#include "layout.h"

// A function whose own loads and stores are not checked. Its arguments come by value, and copies of Metal's types are
// checked where they are made: compilers do not look at a copy that goes straight into a call or out of one.
#define METAL_COURSE_PLAIN __attribute__((no_sanitize("thread"), noinline))

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef _Float16 half;

namespace metal {

// ---- traits ----------------------------------------------------------------------------------------------------------
template <class T, T v> struct integral_constant { static constexpr T value = v; constexpr operator T() const { return v; } };
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;
template <bool, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool c, class T = void> using enable_if_t = typename enable_if<c, T>::type;
template <bool, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
template <bool c, class A, class B> using conditional_t = typename conditional<c, A, B>::type;
template <class T> struct remove_cv { typedef T type; };
template <class T> struct remove_cv<const T> { typedef T type; };
template <class T> struct remove_cv<volatile T> { typedef T type; };
template <class T> struct remove_cv<const volatile T> { typedef T type; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T&> { typedef T type; };
template <class T> struct remove_reference<T&&> { typedef T type; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using decay_t = remove_cv_t<remove_reference_t<T>>;
template <class T> struct decay { typedef decay_t<T> type; };
template <class T> T&& declval() noexcept;
template <class...> using void_t = void;
template <class T> struct type_identity { typedef T type; };
template <class T> using as_given = typename type_identity<T>::type;  // a parameter that does not decide the type

}  // namespace metal

// 1 sign, 8 exponent and 7 fraction bits; arithmetic in float, rounded to even
struct bfloat {
  uint16_t bits;
  bfloat() = default;
  METAL_COURSE_PLAIN constexpr bfloat(const bfloat& o) : bits(o.bits) {
    if (!__builtin_is_constant_evaluated()) metal_course::touch(&o, sizeof o, false);
  }
  METAL_COURSE_PLAIN constexpr bfloat& operator=(const bfloat& o) {
    if (!__builtin_is_constant_evaluated()) metal_course::touch(&o, sizeof o, false), metal_course::touch(this, sizeof o, true);
    bits = o.bits;
    return *this;
  }
  METAL_COURSE_PLAIN constexpr bfloat(float value) : bits(round_bits(__builtin_bit_cast(uint32_t, value))) {}
  constexpr operator float() const { return __builtin_bit_cast(float, uint32_t(bits) << 16); }
  static constexpr uint16_t round_bits(uint32_t b) {
    return (b & 0x7fffffff) > 0x7f800000 ? uint16_t((b >> 16) | 64) : uint16_t((b + 0x7fff + ((b >> 16) & 1)) >> 16);
  }
};
#define METAL_COURSE_OP(op)                                                                    \
  template <class T> constexpr metal::enable_if_t<metal::is_same_v<T, bfloat>, bfloat> operator op(T a, T b) { \
    return bfloat(float(a) op float(b));                                                       \
  }                                                                                            \
  inline bfloat& operator op##=(bfloat& a, float b) { return a = bfloat(float(a) op b); }
METAL_COURSE_OP(+) METAL_COURSE_OP(-) METAL_COURSE_OP(*) METAL_COURSE_OP(/)
#undef METAL_COURSE_OP

namespace metal {

template <class T> constexpr bool is_integral_of = false;
#define METAL_COURSE_TRUE(T) template <> constexpr bool is_integral_of<T> = true;
METAL_COURSE_TRUE(bool) METAL_COURSE_TRUE(char) METAL_COURSE_TRUE(signed char) METAL_COURSE_TRUE(unsigned char)
METAL_COURSE_TRUE(short) METAL_COURSE_TRUE(unsigned short) METAL_COURSE_TRUE(int) METAL_COURSE_TRUE(unsigned int)
METAL_COURSE_TRUE(long) METAL_COURSE_TRUE(unsigned long) METAL_COURSE_TRUE(long long) METAL_COURSE_TRUE(unsigned long long)
#undef METAL_COURSE_TRUE
template <class T> constexpr bool is_integral_v = is_integral_of<remove_cv_t<T>>;
template <class T> constexpr bool is_floating_point_v =
    is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, half> || is_same_v<remove_cv_t<T>, bfloat>;
template <class T> constexpr bool is_scalar_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T> constexpr bool is_arithmetic_v = is_scalar_v<T>;
template <class T, bool = is_integral_v<T>> struct sign_of { static constexpr bool is_signed = is_floating_point_v<T>; };
template <class T> struct sign_of<T, true> { static constexpr bool is_signed = T(-1) < T(0); };
template <class T> constexpr bool is_signed_v = sign_of<remove_cv_t<T>>::is_signed;
template <class T> constexpr bool is_unsigned_v = is_integral_v<T> && !is_signed_v<T>;
template <class T> struct is_integral : integral_constant<bool, is_integral_v<T>> {};
template <class T> struct is_floating_point : integral_constant<bool, is_floating_point_v<T>> {};

template <class To, class From> METAL_COURSE_PLAIN To as_type_of(From from) {
  static_assert(sizeof(To) == sizeof(From), "as_type needs a type of the same size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// ---- vectors ---------------------------------------------------------------------------------------------------------
// Components have names; the course turns other swizzles (v.yx) into get<...>() and set<...>() before C++ sees them.
template <class T, int N> struct vec;

template <class V, class S, int... I> struct chosen_components {  // what `v.xz = ...` and `v.xz += ...` assign to
  V& whole;
  S value() const { S r; int k = 0; ((r.c[k++] = whole.c[I]), ...); return r; }
  chosen_components& operator=(S v) { int k = 0; ((whole.c[I] = v.c[k++]), ...); return *this; }
  chosen_components& operator+=(S v) { return *this = value() + v; }
  chosen_components& operator-=(S v) { return *this = value() - v; }
  chosen_components& operator*=(S v) { return *this = value() * v; }
  chosen_components& operator/=(S v) { return *this = value() / v; }
};

#define METAL_COURSE_MEMBERS(N)                                                                       \
  vec() = default;                                                                                    \
  METAL_COURSE_PLAIN constexpr vec(const vec& o) : c{} {                                              \
    if (!__builtin_is_constant_evaluated()) metal_course::touch(&o, sizeof o, false);                 \
    for (int i = 0; i < N; i++) c[i] = o.c[i];                                                        \
  }                                                                                                   \
  METAL_COURSE_PLAIN constexpr vec& operator=(const vec& o) {                                         \
    if (!__builtin_is_constant_evaluated()) metal_course::touch(&o, sizeof o, false), metal_course::touch(this, sizeof o, true); \
    for (int i = 0; i < N; i++) c[i] = o.c[i];                                                        \
    return *this;                                                                                     \
  }                                                                                                   \
  T& operator[](int i) { return c[i]; }                                                               \
  const T& operator[](int i) const { return c[i]; }                                                   \
  template <int... I> vec<T, int(sizeof...(I))> get() const { static_assert(((I < N) && ...), "illegal vector component name"); return vec<T, int(sizeof...(I))>(c[I]...); } \
  template <int... I> chosen_components<vec, vec<T, int(sizeof...(I))>, I...> set() { static_assert(((I < N) && ...), "illegal vector component name"); return {*this}; }     \
  template <class U> METAL_COURSE_PLAIN explicit constexpr vec(vec<U, N> o) : vec(T(0)) { for (int i = 0; i < N; i++) c[i] = T(o.c[i]); }

template <class T> struct alignas(2 * sizeof(T)) vec<T, 2> {
  union { T c[2]; struct { T x, y; }; struct { T r, g; }; };
  METAL_COURSE_MEMBERS(2)
  constexpr vec(T s) : c{s, s} {}
  constexpr vec(T a, T b) : c{a, b} {}
};
template <class T> struct alignas(4 * sizeof(T)) vec<T, 3> {
  union { T c[3]; struct { T x, y, z; }; struct { T r, g, b; }; };
  METAL_COURSE_MEMBERS(3)
  constexpr vec(T s) : c{s, s, s} {}
  constexpr vec(T a, T b, T d) : c{a, b, d} {}
  constexpr vec(vec<T, 2> a, T d) : c{a.c[0], a.c[1], d} {}
  constexpr vec(T a, vec<T, 2> d) : c{a, d.c[0], d.c[1]} {}
};
template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
  union { T c[4]; struct { T x, y, z, w; }; struct { T r, g, b, a; }; };
  METAL_COURSE_MEMBERS(4)
  constexpr vec(T s) : c{s, s, s, s} {}
  constexpr vec(T p, T q, T r_, T s) : c{p, q, r_, s} {}
  constexpr vec(vec<T, 2> p, vec<T, 2> q) : c{p.c[0], p.c[1], q.c[0], q.c[1]} {}
  constexpr vec(vec<T, 2> p, T q, T s) : c{p.c[0], p.c[1], q, s} {}
  constexpr vec(T p, vec<T, 2> q, T s) : c{p, q.c[0], q.c[1], s} {}
  constexpr vec(T p, T q, vec<T, 2> s) : c{p, q, s.c[0], s.c[1]} {}
  constexpr vec(vec<T, 3> p, T s) : c{p.c[0], p.c[1], p.c[2], s} {}
  constexpr vec(T p, vec<T, 3> s) : c{p, s.c[0], s.c[1], s.c[2]} {}
};
#undef METAL_COURSE_MEMBERS

#define METAL_COURSE_OP(op)                                                                                    \
  template <class T, int N> METAL_COURSE_PLAIN vec<T, N> operator op(vec<T, N> a, vec<T, N> b) {               \
    for (int i = 0; i < N; i++) a.c[i] = T(a.c[i] op b.c[i]);                                                  \
    return a;                                                                                                  \
  }                                                                                                            \
  template <class T, int N> METAL_COURSE_PLAIN vec<T, N> operator op(vec<T, N> a, as_given<T> b) { return a op vec<T, N>(b); } \
  template <class T, int N> METAL_COURSE_PLAIN vec<T, N> operator op(as_given<T> a, vec<T, N> b) { return vec<T, N>(a) op b; } \
  template <class T, int N> vec<T, N>& operator op##=(vec<T, N>& a, vec<T, N> b) { return a = a op b; }        \
  template <class T, int N> vec<T, N>& operator op##=(vec<T, N>& a, as_given<T> b) { return a = a op b; }
METAL_COURSE_OP(+) METAL_COURSE_OP(-) METAL_COURSE_OP(*) METAL_COURSE_OP(/) METAL_COURSE_OP(%)
METAL_COURSE_OP(&) METAL_COURSE_OP(|) METAL_COURSE_OP(^) METAL_COURSE_OP(<<) METAL_COURSE_OP(>>)
#undef METAL_COURSE_OP
#define METAL_COURSE_OP(op)                                                                                    \
  template <class T, int N> METAL_COURSE_PLAIN vec<bool, N> operator op(vec<T, N> a, vec<T, N> b) {            \
    vec<bool, N> r(false);                                                                                     \
    for (int i = 0; i < N; i++) r.c[i] = a.c[i] op b.c[i];                                                     \
    return r;                                                                                                  \
  }                                                                                                            \
  template <class T, int N> METAL_COURSE_PLAIN vec<bool, N> operator op(vec<T, N> a, as_given<T> b) { return a op vec<T, N>(b); }
METAL_COURSE_OP(==) METAL_COURSE_OP(!=) METAL_COURSE_OP(<) METAL_COURSE_OP(>) METAL_COURSE_OP(<=) METAL_COURSE_OP(>=)
METAL_COURSE_OP(&&) METAL_COURSE_OP(||)
#undef METAL_COURSE_OP
template <class T, int N> METAL_COURSE_PLAIN vec<T, N> operator-(vec<T, N> a) { return vec<T, N>(T(0)) - a; }
template <class T, int N> METAL_COURSE_PLAIN vec<T, N> operator~(vec<T, N> a) { return a ^ vec<T, N>(T(~T(0))); }
template <int N> METAL_COURSE_PLAIN vec<bool, N> operator!(vec<bool, N> a) { return a == vec<bool, N>(false); }
template <int N> METAL_COURSE_PLAIN bool any(vec<bool, N> v) { for (int i = 0; i < N; i++) if (v.c[i]) return true; return false; }
template <int N> METAL_COURSE_PLAIN bool all(vec<bool, N> v) { for (int i = 0; i < N; i++) if (!v.c[i]) return false; return true; }

// the same numbers without padding or alignment
template <class T, int N> struct packed_vec {
  T c[N];
  packed_vec() = default;
  METAL_COURSE_PLAIN packed_vec(const packed_vec& o) {
    metal_course::touch(&o, sizeof o, false);
    for (int i = 0; i < N; i++) c[i] = o.c[i];
  }
  METAL_COURSE_PLAIN packed_vec& operator=(const packed_vec& o) {
    metal_course::touch(&o, sizeof o, false);
    metal_course::touch(this, sizeof o, true);
    for (int i = 0; i < N; i++) c[i] = o.c[i];
    return *this;
  }
  METAL_COURSE_PLAIN packed_vec(vec<T, N> v) { for (int i = 0; i < N; i++) c[i] = v.c[i]; }
  operator vec<T, N>() const { vec<T, N> v; for (int i = 0; i < N; i++) v.c[i] = c[i]; return v; }
  T& operator[](int i) { return c[i]; }
  const T& operator[](int i) const { return c[i]; }
};

template <class T, size_t N> struct array {
  T elements[N];
  constexpr T& operator[](size_t i) { return elements[i]; }
  constexpr const T& operator[](size_t i) const { return elements[i]; }
  static constexpr size_t size() { return N; }
};
template <class A, class B> struct pair { A first; B second; };

}  // namespace metal

#define METAL_COURSE_NAMES(T) \
  typedef metal::vec<T, 2> T##2; typedef metal::vec<T, 3> T##3; typedef metal::vec<T, 4> T##4; \
  typedef metal::packed_vec<T, 2> packed_##T##2; typedef metal::packed_vec<T, 3> packed_##T##3; typedef metal::packed_vec<T, 4> packed_##T##4; \
  namespace metal { using ::T##2; using ::T##3; using ::T##4; }
METAL_COURSE_NAMES(float) METAL_COURSE_NAMES(half) METAL_COURSE_NAMES(bfloat) METAL_COURSE_NAMES(bool)
METAL_COURSE_NAMES(char) METAL_COURSE_NAMES(uchar) METAL_COURSE_NAMES(short) METAL_COURSE_NAMES(ushort)
METAL_COURSE_NAMES(int) METAL_COURSE_NAMES(uint) METAL_COURSE_NAMES(long) METAL_COURSE_NAMES(ulong)
#undef METAL_COURSE_NAMES
template <class To, class From> To as_type(From from) { return metal::as_type_of<To>(from); }

#define MAXFLOAT 3.402823466e+38f
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define HALF_MAX (half)65504.0f
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define INFINITY __builtin_inff()
#define HUGE_VALF __builtin_inff()
#define NAN __builtin_nanf("")
#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.43429448190325182765f
#define M_LN2_F 0.69314718055994530942f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.78539816339744830962f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_PI_F 0.63661977236758134308f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f
