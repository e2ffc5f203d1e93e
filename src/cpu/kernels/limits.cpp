// What this level reaches at most: its multiply-adds on registers, its reads from memory.
#include "backend/kernel.h"
#include "cpu/simd/simd.h"

namespace arion::cpu::ARION_ISA {
namespace {

#if defined(ARION_ISA_generic)

// Plain code is as fast as the compiler makes it: the vectors of the kernels are the limit.
struct PlainInt8 {
  static constexpr const char* kName = "plain int8";
  static constexpr int kMultiplyAdds = 4 * kLanes;
  static constexpr int kSums = 4;
  using Sum = I32;
  static ARION_INLINE void step(I32& sum, const Bytes& a, const int8_t* b) {
    sum = dot4(sum, a, b);
  }
};

struct PlainF32 {
  static constexpr const char* kName = "plain f32";
  static constexpr int kMultiplyAdds = kLanes;
  static constexpr int kSums = 4;
  using Sum = F32;
  static ARION_INLINE void step(F32& sum, const Bytes&, const int8_t* b) {
    sum = fma(F32::set1(1.0f), F32::set1(static_cast<float>(*b)), sum);
  }
};

using Int8 = PlainInt8;
using Float32 = PlainF32;
using Bfloat16 = PlainF32;

template <typename Arithmetic>
void repeat(int64_t rounds) {
  typename Arithmetic::Sum sums[Arithmetic::kSums] = {};
  Bytes a = Bytes::set1(3);
  int8_t b[4] = {1, 2, 3, 4};
  for (int64_t r = 0; r < rounds; ++r) {
    for (auto& sum : sums) {
      asm volatile("" : : "r"(&a), "r"(b), "r"(sums) : "memory");  // or nothing would be left
      Arithmetic::step(sum, a, b);
    }
  }
  asm volatile("" : : "r"(sums) : "memory");
}

#else

// One instruction after the other in assembly, so that the compiler neither leaves out nor spills.
// Two a cycle of up to five cycles each need ten independent sums.
#if defined(ARION_ISA_avx512) || defined(ARION_ISA_avx512bf16)
using Vector = __m512i;
#define ARION_VECTOR "zmm"
#else
using Vector = __m256i;
#define ARION_VECTOR "ymm"
#endif
constexpr int kVectorBytes = sizeof(Vector);

struct Float32 {
  static constexpr const char* kName = "vfmadd231ps " ARION_VECTOR;
  static constexpr int kMultiplyAdds = kVectorBytes / 4;
  static constexpr int kSums = 10;
  static constexpr int32_t kOperand = 0x3f800000;  // 1.0
  static ARION_INLINE void step(Vector& sum, Vector a, Vector) {
    asm volatile("vfmadd231ps %1, %1, %0" : "+v"(sum) : "v"(a));
  }
};

#if defined(ARION_ISA_avx2)

// Sums of eight products in 16 bits before they are widened, as narrow codes allow.
struct Int8 {
  static constexpr const char* kName = "8 vpmaddubsw to 1 vpmaddwd " ARION_VECTOR;
  static constexpr int kMultiplyAdds = 8 * kVectorBytes;
  static constexpr int kSums = 8;  // and four temporaries
  static constexpr int32_t kOperand = 0x01010101;
  static ARION_INLINE void step(Vector& sum, Vector a, Vector ones) {
    Vector t0, t1, t2, t3;
    asm volatile(
        "vpmaddubsw %5, %5, %1\n\tvpmaddubsw %5, %5, %2\n\t"
        "vpmaddubsw %5, %5, %3\n\tvpmaddubsw %5, %5, %4\n\t"
        "vpaddw %2, %1, %1\n\tvpaddw %4, %3, %3\n\t"
        "vpmaddubsw %5, %5, %2\n\tvpmaddubsw %5, %5, %4\n\t"
        "vpaddw %2, %1, %1\n\tvpaddw %4, %3, %3\n\t"
        "vpmaddubsw %5, %5, %2\n\tvpmaddubsw %5, %5, %4\n\t"
        "vpaddw %2, %1, %1\n\tvpaddw %4, %3, %3\n\t"
        "vpaddw %3, %1, %1\n\tvpmaddwd %6, %1, %1\n\tvpaddd %1, %0, %0"
        : "+x"(sum), "=&x"(t0), "=&x"(t1), "=&x"(t2), "=&x"(t3)
        : "x"(a), "x"(ones));
  }
};

#else

#if defined(ARION_ISA_avxvnni)
#define ARION_ENCODING "%{vex%} "
#else
#define ARION_ENCODING
#endif
struct Int8 {
  static constexpr const char* kName = "vpdpbusd " ARION_VECTOR;
  static constexpr int kMultiplyAdds = kVectorBytes;
  static constexpr int kSums = 10;
  static constexpr int32_t kOperand = 0x01020304;
  static ARION_INLINE void step(Vector& sum, Vector a, Vector) {
    asm volatile(ARION_ENCODING "vpdpbusd %1, %1, %0" : "+v"(sum) : "v"(a));
  }
};

#endif

#if defined(ARION_ISA_avx512bf16)
struct Bfloat16 {
  static constexpr const char* kName = "vdpbf16ps " ARION_VECTOR;
  static constexpr int kMultiplyAdds = kVectorBytes / 2;
  static constexpr int kSums = 14;                 // six cycles each
  static constexpr int32_t kOperand = 0x3f803f80;  // twice 1.0
  static ARION_INLINE void step(Vector& sum, Vector a, Vector) {
    asm volatile("vdpbf16ps %1, %1, %0" : "+v"(sum) : "v"(a));
  }
};
#else
using Bfloat16 = Float32;  // as linear_bf16 does
#endif

ARION_INLINE Vector broadcast(int32_t bits) {
#if defined(ARION_ISA_avx512) || defined(ARION_ISA_avx512bf16)
  return _mm512_set1_epi32(bits);
#else
  return _mm256_set1_epi32(bits);
#endif
}

template <typename Arithmetic>
void repeat(int64_t rounds) {
  const Vector a = broadcast(Arithmetic::kOperand), ones = broadcast(0x00010001);
  constexpr int kSums = Arithmetic::kSums;
  Vector sums[kSums];
  static_for<kSums>([&](auto i) ARION_INLINE_LAMBDA { sums[i] = broadcast(0); });
  for (int64_t r = 0; r < rounds; ++r) {
    static_for<kSums>([&](auto i) ARION_INLINE_LAMBDA { Arithmetic::step(sums[i], a, ones); });
  }
}

#endif

template <typename Arithmetic>
constexpr PeakProbe peak_probe() {
  return {.instruction = Arithmetic::kName,
          .multiply_adds = Arithmetic::kSums * Arithmetic::kMultiplyAdds,
          .run = repeat<Arithmetic>};
}

// A word of a line brings the whole line. Prefetching by hand made it slower on Zen 4.
constexpr size_t kLine = 64;

template <int kStreams>
void read_streams(const std::byte* data, size_t bytes) {
  const size_t stream = bytes / kStreams / kLine * kLine;
  uint64_t sums[kStreams] = {};
  for (size_t at = 0; at < stream; at += kLine) {
    static_for<kStreams>([&](auto i) ARION_INLINE_LAMBDA {
      sums[i] ^= *reinterpret_cast<const uint64_t*>(data + stream * i.value + at);
    });
  }
  asm volatile("" : : "r"(sums) : "memory");
}

void read(const std::byte* data, size_t bytes, int streams) {
  if (streams == 1) return read_streams<1>(data, bytes);
  if (streams == 4) return read_streams<4>(data, bytes);
  read_streams<8>(data, bytes);
}

}  // namespace

namespace limits {

void register_kernels(KernelRegistry& registry) {
  LimitProbes probes{.read = read};
  probes.peaks[static_cast<size_t>(ActivationForm::f32)] = peak_probe<Float32>();
  probes.peaks[static_cast<size_t>(ActivationForm::bf16)] = peak_probe<Bfloat16>();
  probes.peaks[static_cast<size_t>(ActivationForm::int8)] = peak_probe<Int8>();
  registry.set_limit_probes(probes);
}

}  // namespace limits
}  // namespace arion::cpu::ARION_ISA
