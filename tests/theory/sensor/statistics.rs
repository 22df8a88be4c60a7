//! Statistics of the noise. The numbers are the same in each run, so these tests pass or fail
//! reproducibly; the intervals are four standard deviations of each estimate.

use super::{STAND, samples};

const SAMPLES: usize = 100_000;

fn series(errors: &str, period: f64, count: usize) -> [Vec<f64>; 3] {
    let text = format!(
        "{STAND}[sensor.g]\ntype = \"gyro\"\nframe = \"cube\"\nsample_time = {period:?}\nerror = {{ {errors} }}\n"
    );
    let all = samples(&text, period, count, ["g.w[1]", "g.w[2]", "g.w[3]"]);
    [0, 1, 2].map(|i| all.iter().map(|sample| sample[i]).collect())
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

/// Mean, variance, kurtosis, autocorrelation and correlation of the axes of 10⁵ samples agree with
/// independent normal numbers of the declared standard deviation, to four standard deviations of
/// these estimates: a deviation that is wrong by 2 % fails.
#[test]
fn white_noise_has_the_declared_standard_deviation() {
    let n = SAMPLES as f64;
    let declared = [0.1, 0.2, (0.03f64 * 0.03 + 0.004 * 0.004 / 0.01).sqrt()];
    let axes = series(
        "noise = [0.1, 0.2, 0.03], noise_density = [0.0, 0.0, 0.004]",
        0.01,
        SAMPLES,
    );
    for (values, sigma) in axes.iter().zip(declared) {
        let scaled: Vec<f64> = values.iter().map(|value| value / sigma).collect();
        let moment = |k: i32| mean(scaled.iter().map(|z| z.powi(k)));
        let lag = mean(scaled.windows(2).map(|pair| pair[0] * pair[1]));
        println!(
            "mean {:+.4}, variance {:.4}, third {:+.4}, fourth {:.4}, lag {lag:+.4}",
            moment(1),
            moment(2),
            moment(3),
            moment(4)
        );
        assert!(moment(1).abs() < 4.0 / n.sqrt());
        assert!((moment(2) - 1.0).abs() < 4.0 * (2.0 / n).sqrt());
        assert!(
            (moment(2) * 1.02 * 1.02 - 1.0).abs() > 4.0 * (2.0 / n).sqrt(),
            "2 % would be found"
        );
        assert!(moment(3).abs() < 4.0 * (15.0 / n).sqrt());
        assert!((moment(4) - 3.0).abs() < 4.0 * (96.0 / n).sqrt());
        assert!(lag.abs() < 4.0 / n.sqrt());
    }
    for [i, j] in [[0, 1], [0, 2], [1, 2]] {
        let product = axes[i].iter().zip(&axes[j]).map(|(a, b)| a * b);
        let correlation = mean(product) / (declared[i] * declared[j]);
        assert!(correlation.abs() < 4.0 / n.sqrt(), "{i}, {j}: {correlation}");
    }
}

/// Returns the Allan variance of clusters of `m` samples.
fn allan(values: &[f64], m: usize) -> f64 {
    let clusters: Vec<f64> = values
        .chunks_exact(m)
        .map(|cluster| mean(cluster.iter().copied()))
        .collect();
    0.5 * mean(
        clusters
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0])),
    )
}

/// The Allan variance of white noise of the density N is `N²/τ`, and that of a random walk of the
/// bias of the density K `K² T (2 m² + 1)/(6 m)` for clusters of m samples T apart, which tends to
/// `K² τ/3` (IEEE Std 952-1997, annex C). The variance of the estimate from M clusters is at most
/// `3/M` of its square.
#[test]
fn allan_variance_has_the_slopes_of_white_noise_and_random_walk() {
    let (T, N, K) = (0.02, 0.05, 0.007);
    let white = series(&format!("noise_density = {N:?}"), T, SAMPLES);
    let walk = series(&format!("bias_walk = {K:?}"), T, SAMPLES);
    for m in [1, 4, 16, 64, 256] {
        let (size, clusters) = (m as f64, (SAMPLES / m) as f64);
        let tolerance = 4.0 * (3.0 / clusters).sqrt();
        for axis in 0..3 {
            let of_white = allan(&white[axis], m) / (N * N / (size * T));
            let of_walk = allan(&walk[axis], m) / (K * K * T * (2.0 * size * size + 1.0) / (6.0 * size));
            println!(
                "{:.2} s: white noise {of_white:.4}, random walk {of_walk:.4} (1 ± {tolerance:.3})",
                size * T
            );
            assert!((of_white - 1.0).abs() < tolerance && (of_walk - 1.0).abs() < tolerance);
        }
    }
}

/// Small rotations of a star tracker have the standard deviations of its axes.
#[test]
fn star_tracker_has_small_angles_in_its_axes() {
    let sigma = [1e-4, 2e-4, 9e-4];
    let text = format!(
        "{STAND}[frame.head]\nbody = \"cube\"\nrpy_deg = [40.0, -20.0, 100.0]\n\
         [sensor.s]\ntype = \"star_tracker\"\nframe = \"head\"\nsample_time = 0.1\nerror = {{ noise = {sigma:?}, bias = [1e-4, 0.0, 0.0] }}\n"
    );
    let truth = grapple::spec::rotation(None, Some([40.0, -20.0, 100.0]));
    let count = 20_000;
    let all = samples(&text, 0.1, count, ["s.q[1]", "s.q[2]", "s.q[3]", "s.q[4]"]);
    let angles = all.iter().map(|q| {
        let q = grapple::algebra::Quaternion::from_slice(q);
        assert!((q.norm_squared() - 1.0).abs() < 1e-14);
        grapple::algebra::log(truth.conjugate() * q)
    });
    let angles: Vec<_> = angles.collect();
    for (i, sigma) in sigma.into_iter().enumerate() {
        let bias = if i == 0 { 1e-4 } else { 0.0 };
        let off = mean(angles.iter().map(|angle| angle[i])) - bias;
        let variance = mean(angles.iter().map(|angle| (angle[i] - bias) * (angle[i] - bias))) / (sigma * sigma);
        let n = count as f64;
        println!(
            "axis {i}: mean off by {:+.3} sigma, variance {variance:.4}",
            off / sigma
        );
        assert!(off.abs() < 4.0 * sigma / n.sqrt() && (variance - 1.0).abs() < 4.0 * (2.0 / n).sqrt());
    }
}
