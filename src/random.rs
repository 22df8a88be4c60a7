//! Random numbers as pure functions of a seed, a name and two indices: no generator has a state,
//! and the numbers are the same on every platform.
//!
//! ```text
//!     s = mix(mix(fnv1a(name) + g seed) + g channel)                              (1)
//!     n = mix(s + g (index + 1)) >> 12,     u = (n + ½)/2⁵²,     z = Φ⁻¹(u)         (2)
//! ```
//!
//! with the 64-bit FNV-1a hash of the name's bytes, the finaliser `mix` of SplitMix64, its
//! increment `g = 9e3779b97f4a7c15` (hexadecimal) and arithmetic modulo 2⁶⁴. For one channel, (2)
//! is the sequence of SplitMix64 from the seed `s` (G. L. Steele, D. Lea and C. H. Flood, Fast
//! splittable pseudorandom number generators, OOPSLA 2014).

/// Increment of SplitMix64: 2⁶⁴ over the golden ratio.
pub(crate) const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the finaliser of SplitMix64, a bijection of 64-bit numbers.
pub(crate) fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Random numbers of one seed and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise(u64);

impl Noise {
    /// Returns the random numbers of a seed and a name.
    pub fn new(seed: u64, name: &str) -> Self {
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(mix(hash.wrapping_add(INCREMENT.wrapping_mul(seed))))
    }

    /// Returns a uniform number, above 0 and below 1.
    pub fn uniform(self, channel: u64, index: u64) -> f64 {
        let seed = mix(self.0.wrapping_add(INCREMENT.wrapping_mul(channel)));
        let number = mix(seed.wrapping_add(INCREMENT.wrapping_mul(index.wrapping_add(1)))) >> 12;
        (number as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Returns a number of the standard normal distribution.
    pub fn normal(self, channel: u64, index: u64) -> f64 {
        quantile(self.uniform(channel, index))
    }
}

/// Sequence of uniform numbers, for unit tests.
#[cfg(feature = "inside")]
#[doc(hidden)]
pub struct Sequence {
    noise: Noise,
    index: u64,
}

#[cfg(feature = "inside")]
impl Sequence {
    /// Returns the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        let noise = Noise::new(seed, "sequence");
        Self { noise, index: 0 }
    }

    /// Returns the next number, in `range`.
    pub fn next_in(&mut self, range: std::ops::Range<f64>) -> f64 {
        self.index += 1;
        range.start + (range.end - range.start) * self.noise.uniform(0, self.index)
    }
}

/// Returns the standard normal quantile Φ⁻¹(p), by rational functions in three regions (Wichura,
/// Algorithm AS 241, Applied Statistics 37, 1988, `PPND16`; relative error about 1e-16). The
/// logarithm is `libm`'s: the C library's has other last bits on each platform.
pub fn quantile(p: f64) -> f64 {
    const CENTRE: [[f64; 8]; 2] = [
        [
            3.387_132_872_796_366_6,
            1.331_416_678_917_843_8e2,
            1.971_590_950_306_551_3e3,
            1.373_169_376_550_946e4,
            4.592_195_393_154_987e4,
            6.726_577_092_700_87e4,
            3.343_057_558_358_813e4,
            2.509_080_928_730_122_7e3,
        ],
        [
            1.0,
            4.231_333_070_160_091e1,
            6.871_870_074_920_579e2,
            5.394_196_021_424_751e3,
            2.121_379_430_158_66e4,
            3.930_789_580_009_271e4,
            2.872_908_573_572_194_3e4,
            5.226_495_278_852_854e3,
        ],
    ];
    const TAIL: [[f64; 8]; 2] = [
        [
            1.423_437_110_749_683_5,
            4.630_337_846_156_546,
            5.769_497_221_460_691,
            3.647_848_324_763_204_5,
            1.270_458_252_452_368_4,
            2.417_807_251_774_506e-1,
            2.272_384_498_926_918_4e-2,
            7.745_450_142_783_414e-4,
        ],
        [
            1.0,
            2.053_191_626_637_759,
            1.676_384_830_183_803_8,
            6.897_673_349_851e-1,
            1.481_039_764_274_800_8e-1,
            1.519_866_656_361_645_7e-2,
            5.475_938_084_995_345e-4,
            1.050_750_071_644_416_9e-9,
        ],
    ];
    const FAR_TAIL: [[f64; 8]; 2] = [
        [
            6.657_904_643_501_103,
            5.463_784_911_164_114,
            1.784_826_539_917_291_3,
            2.965_605_718_285_048_7e-1,
            2.653_218_952_657_612_4e-2,
            1.242_660_947_388_078_4e-3,
            2.711_555_568_743_487_6e-5,
            2.010_334_399_292_288_1e-7,
        ],
        [
            1.0,
            5.998_322_065_558_88e-1,
            1.369_298_809_227_358e-1,
            1.487_536_129_085_061_5e-2,
            7.868_691_311_456_133e-4,
            1.846_318_317_510_054_8e-5,
            1.421_511_758_316_446e-7,
            2.044_263_103_389_939_8e-15,
        ],
    ];
    let ratio = |[above, below]: [[f64; 8]; 2], x: f64| {
        let polynomial = |coefficients: [f64; 8]| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
        polynomial(above) / polynomial(below)
    };
    let from_centre = p - 0.5;
    if from_centre.abs() <= 0.425 {
        return from_centre * ratio(CENTRE, 0.180_625 - from_centre * from_centre);
    }
    let r = (-libm::log(p.min(1.0 - p).max(0.0))).sqrt();
    let z = match r {
        _ if r == f64::INFINITY => f64::INFINITY,
        _ if r <= 5.0 => ratio(TAIL, r - 1.6),
        _ => ratio(FAR_TAIL, r - 5.0),
    };
    z.copysign(from_centre)
}
