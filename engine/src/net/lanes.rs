//! Vectors of integers, one implementation for each kind of vector instructions.
//!
//! Sums wrap around and nothing is rounded, so that every implementation computes the same.

use bytemuck::Pod;

/// What the quantised forward pass asks of vectors of 16-bit and 32-bit integers.
pub trait Lanes: Copy {
    /// 16-bit integers.
    type Words: Pod;
    /// 32-bit integers, half as many.
    type Sums: Pod;
    /// How many vectors the processor keeps at hand.
    const REGISTERS: usize;

    /// `a + b`, wrapping around.
    fn add(self, a: Self::Words, b: Self::Words) -> Self::Words;

    /// `a - b`, wrapping around.
    fn subtract(self, a: Self::Words, b: Self::Words) -> Self::Words;

    /// Each number cut to the range from 0 to its `most`.
    fn clamp(self, a: Self::Words, most: Self::Words) -> Self::Words;

    /// The pair over and over.
    fn splat(self, pair: [i16; 2]) -> Self::Words;

    /// Adds to each sum the two products of a pair of `a` and a pair of `b`, wrapping around.
    fn add_products(self, sums: Self::Sums, a: Self::Words, b: Self::Words) -> Self::Sums;

    /// Bit i: pair i holds something else than zeros.
    fn occupied(self, pairs: &[[i16; 2]; 16]) -> u16;

    /// Each number shifted to the right by its `shift` (0 to 31) and cut to the range from 0 to its `most`, which is 32,767 at
    /// most.
    fn activate(self, sums: &[i32; 16], shift: &[i32; 16], most: &[i32; 16]) -> [i16; 16];
}

/// Plain code, for processors whose vector instructions have no implementation here.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Lanes for Portable {
    type Words = [i16; 8];
    type Sums = [i32; 4];
    const REGISTERS: usize = 16;

    #[inline(always)]
    fn add(self, a: [i16; 8], b: [i16; 8]) -> [i16; 8] {
        std::array::from_fn(|i| a[i].wrapping_add(b[i]))
    }

    #[inline(always)]
    fn subtract(self, a: [i16; 8], b: [i16; 8]) -> [i16; 8] {
        std::array::from_fn(|i| a[i].wrapping_sub(b[i]))
    }

    #[inline(always)]
    fn clamp(self, a: [i16; 8], most: [i16; 8]) -> [i16; 8] {
        std::array::from_fn(|i| a[i].max(0).min(most[i]))
    }

    #[inline(always)]
    fn splat(self, pair: [i16; 2]) -> [i16; 8] {
        bytemuck::cast([pair; 4])
    }

    #[inline(always)]
    fn add_products(self, sums: [i32; 4], a: [i16; 8], b: [i16; 8]) -> [i32; 4] {
        let product = |i: usize| i32::from(a[i]) * i32::from(b[i]);
        std::array::from_fn(|i| sums[i].wrapping_add(product(2 * i)).wrapping_add(product(2 * i + 1)))
    }

    #[inline(always)]
    fn occupied(self, pairs: &[[i16; 2]; 16]) -> u16 {
        pairs.iter().enumerate().fold(0, |bits, (i, pair)| bits | u16::from(*pair != [0, 0]) << i)
    }

    #[inline(always)]
    fn activate(self, sums: &[i32; 16], shift: &[i32; 16], most: &[i32; 16]) -> [i16; 16] {
        std::array::from_fn(|i| (sums[i] >> (shift[i] & 31)).max(0).min(most[i]) as i16)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m256i, __m512i};

    use pulp::x86::{V3, V4};

    use super::Lanes;

    impl Lanes for V3 {
        type Words = __m256i;
        type Sums = __m256i;
        const REGISTERS: usize = 16;

        #[inline(always)]
        fn add(self, a: __m256i, b: __m256i) -> __m256i {
            self.avx2._mm256_add_epi16(a, b)
        }

        #[inline(always)]
        fn subtract(self, a: __m256i, b: __m256i) -> __m256i {
            self.avx2._mm256_sub_epi16(a, b)
        }

        #[inline(always)]
        fn clamp(self, a: __m256i, most: __m256i) -> __m256i {
            self.avx2._mm256_min_epi16(self.avx2._mm256_max_epi16(a, self.avx._mm256_setzero_si256()), most)
        }

        #[inline(always)]
        fn splat(self, pair: [i16; 2]) -> __m256i {
            self.avx._mm256_set1_epi32(bytemuck::cast(pair))
        }

        #[inline(always)]
        fn add_products(self, sums: __m256i, a: __m256i, b: __m256i) -> __m256i {
            self.avx2._mm256_add_epi32(sums, self.avx2._mm256_madd_epi16(a, b))
        }

        #[inline(always)]
        fn occupied(self, pairs: &[[i16; 2]; 16]) -> u16 {
            let halves: [__m256i; 2] = bytemuck::cast(*pairs);
            let [low, high] = halves.map(|half| {
                let empty = self.avx2._mm256_cmpeq_epi32(half, self.avx._mm256_setzero_si256());
                self.avx._mm256_movemask_ps(self.avx._mm256_castsi256_ps(empty)) as u16
            });
            !(low | high << 8)
        }

        #[inline(always)]
        fn activate(self, sums: &[i32; 16], shift: &[i32; 16], most: &[i32; 16]) -> [i16; 16] {
            let mut halves: [__m256i; 2] = bytemuck::cast(*sums);
            let (shift, most): ([__m256i; 2], [__m256i; 2]) = (bytemuck::cast(*shift), bytemuck::cast(*most));
            for i in 0..2 {
                let shifted = self.avx2._mm256_srav_epi32(halves[i], shift[i]);
                let positive = self.avx2._mm256_max_epi32(shifted, self.avx._mm256_setzero_si256());
                halves[i] = self.avx2._mm256_min_epi32(positive, most[i]);
            }
            let packed = self.avx2._mm256_packs_epi32(halves[0], halves[1]);
            // Packing works within halves of a vector: the second and the third quarter change places.
            bytemuck::cast(self.avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(packed))
        }
    }

    impl Lanes for V4 {
        type Words = __m512i;
        type Sums = __m512i;
        const REGISTERS: usize = 32;

        #[inline(always)]
        fn add(self, a: __m512i, b: __m512i) -> __m512i {
            self.avx512bw._mm512_add_epi16(a, b)
        }

        #[inline(always)]
        fn subtract(self, a: __m512i, b: __m512i) -> __m512i {
            self.avx512bw._mm512_sub_epi16(a, b)
        }

        #[inline(always)]
        fn clamp(self, a: __m512i, most: __m512i) -> __m512i {
            self.avx512bw._mm512_min_epi16(self.avx512bw._mm512_max_epi16(a, self.avx512f._mm512_setzero_si512()), most)
        }

        #[inline(always)]
        fn splat(self, pair: [i16; 2]) -> __m512i {
            self.avx512f._mm512_set1_epi32(bytemuck::cast(pair))
        }

        #[inline(always)]
        fn add_products(self, sums: __m512i, a: __m512i, b: __m512i) -> __m512i {
            self.avx512f._mm512_add_epi32(sums, self.avx512bw._mm512_madd_epi16(a, b))
        }

        #[inline(always)]
        fn occupied(self, pairs: &[[i16; 2]; 16]) -> u16 {
            let pairs: __m512i = bytemuck::cast(*pairs);
            self.avx512f._mm512_test_epi32_mask(pairs, pairs)
        }

        #[inline(always)]
        fn activate(self, sums: &[i32; 16], shift: &[i32; 16], most: &[i32; 16]) -> [i16; 16] {
            let (sums, shift, most): (__m512i, __m512i, __m512i) =
                (bytemuck::cast(*sums), bytemuck::cast(*shift), bytemuck::cast(*most));
            let shifted = self.avx512f._mm512_srav_epi32(sums, shift);
            let positive = self.avx512f._mm512_max_epi32(shifted, self.avx512f._mm512_setzero_si512());
            bytemuck::cast(self.avx512f._mm512_cvtepi32_epi16(self.avx512f._mm512_min_epi32(positive, most)))
        }
    }
}
