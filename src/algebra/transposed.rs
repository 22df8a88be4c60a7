use super::{Lanes, Pose, Quaternion, Sym3};
use nalgebra::SMatrix;
use std::ops::Range;

/// Data of one run that can be combined with those of other runs: numbers become [`Lanes`].
pub(crate) trait Transposed: Sized {
    /// The data of `N` runs.
    type InLanes<const N: usize>;

    /// Combines the data of `N` runs; `None` if they differ otherwise than by numbers, such as in the
    /// lengths of lists.
    fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Self::InLanes<N>>;
}

impl Transposed for f64 {
    type InLanes<const N: usize> = Lanes<N>;

    fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Lanes<N>> {
        Some(Lanes(runs.map(|&run| run)))
    }
}

impl<T: Transposed> Transposed for Vec<T> {
    type InLanes<const N: usize> = Vec<T::InLanes<N>>;

    fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Self::InLanes<N>> {
        let length = equal(runs.map(Vec::len))?;
        (0..length).map(|i| T::transposed(runs.map(|run| &run[i]))).collect()
    }
}

impl<T: Transposed> Transposed for Option<T> {
    type InLanes<const N: usize> = Option<T::InLanes<N>>;

    fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Self::InLanes<N>> {
        if !equal(runs.map(Option::is_some))? {
            return Some(None);
        }
        let parts = parts(runs, Option::as_ref)?;
        T::transposed(parts).map(Some)
    }
}

impl<T: Transposed> Transposed for Box<T> {
    type InLanes<const N: usize> = Box<T::InLanes<N>>;

    fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Self::InLanes<N>> {
        T::transposed(runs.map(Box::as_ref)).map(Box::new)
    }
}

impl<T: Transposed, const M: usize> Transposed for [T; M] {
    type InLanes<const N: usize> = [T::InLanes<N>; M];

    fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Self::InLanes<N>> {
        let all: Option<Vec<_>> = (0..M).map(|i| T::transposed(runs.map(|run| &run[i]))).collect();
        all?.try_into().ok()
    }
}

impl<T: Transposed> Transposed for (usize, usize, T) {
    type InLanes<const N: usize> = (usize, usize, T::InLanes<N>);

    fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Self::InLanes<N>> {
        let (i, j) = equal(runs.map(|run| (run.0, run.1)))?;
        Some((i, j, T::transposed(runs.map(|run| &run.2))?))
    }
}

impl<const R: usize, const C: usize> Transposed for SMatrix<f64, R, C> {
    type InLanes<const N: usize> = SMatrix<Lanes<N>, R, C>;

    fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Self::InLanes<N>> {
        Some(SMatrix::from_fn(|i, j| Lanes(runs.map(|run| run[(i, j)]))))
    }
}

/// Returns the value that all runs have in common.
pub(crate) fn equal<T: PartialEq + Clone, const N: usize>(runs: [T; N]) -> Option<T> {
    runs.iter().all(|run| *run == runs[0]).then(|| runs[0].clone())
}

/// Returns the same part of each run, if all have it.
pub(crate) fn parts<'a, T, P, const N: usize>(
    runs: [&'a T; N],
    part: impl Fn(&'a T) -> Option<&'a P>,
) -> Option<[&'a P; N]> {
    let mut parts = [part(runs[0])?; N];
    for (to, run) in parts.iter_mut().zip(runs) {
        *to = part(run)?;
    }
    Some(parts)
}

/// Implements [`Transposed`] for types that are equal in all runs.
macro_rules! equal_in_lanes {
    ($($Type:ty),+) => {
        $(impl $crate::algebra::Transposed for $Type {
            type InLanes<const N: usize> = Self;

            fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Self> {
                $crate::algebra::transposed::equal(runs).cloned()
            }
        })+
    };
}
pub(crate) use equal_in_lanes;

equal_in_lanes!(bool, usize, Range<usize>);

/// Implements [`Transposed`] for a struct over the type of its numbers, by the list of all fields.
macro_rules! transposed {
    ($($Type:ident { $($field:ident),+ })+) => {
        $(impl $crate::algebra::Transposed for $Type<f64> {
            type InLanes<const N: usize> = $Type<$crate::algebra::Lanes<N>>;

            fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Self::InLanes<N>> {
                Some($Type {
                    $($field: $crate::algebra::Transposed::transposed(runs.map(|run| &run.$field))?,)+
                })
            }
        })+
    };
}
pub(crate) use transposed;

transposed! {
    Quaternion { w, x, y, z }
    Pose { R, p }
    Sym3 { d, o }
}
