use super::Scalar;
use num_traits::{One, Zero};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::mem::{ManuallyDrop, swap};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Range, Sub, SubAssign};

/// Number whose operations are recorded on a [`Tape`], for reverse accumulation of derivatives.
///
/// Every operation on a variable appends a node with the partial derivatives with respect to its
/// operands; operations on constants append none, nor does a sum with a constant. Comparison uses
/// the values; equality includes the node, as that of [`Dual`](super::Dual) includes the
/// derivatives. Source: Griewank and Walther, *Evaluating Derivatives*, 2nd ed., SIAM 2008, §3.2
/// (doi:10.1137/1.9780898717761).
///
/// ```
/// use grapple::algebra::{Recorded, Tape};
/// let mut tape = Tape::default();
/// let (x, y) = (Recorded::variable(5.0, 0), Recorded::variable(3.0, 1));
/// let z = tape.record(2, || x * x * y);
/// tape.seed(z, 1.0);
/// tape.sweep(0);
/// assert_eq!((z.value(), tape.adjoint(0), tape.adjoint(1)), (75.0, 30.0, 25.0)); // x²y, 2xy, x²
/// # use grapple::algebra::Scalar;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    value: f64,
    /// Index of its adjoint: [`CONSTANT`], then the variables, then the operations.
    node: u32,
}

/// Index that all constants share.
const CONSTANT: u32 = 0;

/// An operation: its operands, and the partial derivatives with respect to them. Of an operation
/// with one operand the second operand is a constant. One with more than two operands is several
/// nodes, of which the last has the index of the result; the others are marked with [`CONTINUED`].
#[derive(Clone, Copy, Debug)]
struct Node {
    operands: [u32; 2],
    partials: [f64; 2],
}

/// Bit of the first operand of a node that has the result of the next node.
const CONTINUED: u32 = 1 << 31;

/// Operations that are being recorded.
#[derive(Clone, Debug, Default)]
struct Operations {
    nodes: Vec<Node>,
    /// Index of the first operation, after the constant and the variables.
    first: u32,
}

thread_local! {
    /// Operations that are being recorded in this thread. Never dropped: it owns no memory outside
    /// of [`Tape::record`], and a destructor would keep an unloaded library in the process.
    static OPERATIONS: RefCell<ManuallyDrop<Operations>> = const {
        RefCell::new(ManuallyDrop::new(Operations {
            nodes: Vec::new(),
            first: CONSTANT + 1,
        }))
    };
}

/// Record of the operations of a computation, with the adjoints of its variables and intermediate
/// results.
///
/// Memory is allocated while the first computation is recorded, 32 bytes per operation, and reused
/// by later ones.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    operations: Operations,
    adjoints: Vec<f64>,
    /// Number of operations that have not been swept.
    remaining: usize,
}

impl Tape {
    /// Records the operations of `work` on numbers that depend on up to `variables` variables, in
    /// place of what the tape holds; numbers of earlier records that are not variables become
    /// invalid. All adjoints are zero afterwards.
    pub fn record<T>(&mut self, variables: usize, work: impl FnOnce() -> T) -> T {
        /// Returns the operations from the thread to the tape, after a panic too.
        struct Recording<'a>(&'a mut Operations);
        impl Drop for Recording<'_> {
            fn drop(&mut self) {
                OPERATIONS.with_borrow_mut(|operations| swap(&mut **operations, self.0));
            }
        }
        self.operations.nodes.clear();
        self.operations.first = variables as u32 + 1;
        OPERATIONS.with_borrow_mut(|operations| swap(&mut **operations, &mut self.operations));
        let recording = Recording(&mut self.operations);
        let result = work();
        drop(recording);
        self.remaining = self.operations.nodes.len();
        self.adjoints.clear();
        self.adjoints.resize(variables + 1 + self.remaining, 0.0);
        result
    }

    /// Adds `seed` to the adjoint of a number.
    #[inline]
    pub fn seed(&mut self, number: Recorded, seed: f64) {
        self.adjoints[number.node as usize] += seed;
    }

    /// Propagates the adjoints of results to their operands, in reverse order from the last
    /// operation that has not been swept, back to the operation with the index `end`, which
    /// [`position`](Self::position) returned: 0 for all.
    pub fn sweep(&mut self, end: usize) {
        let Operations { nodes, first } = &self.operations;
        let first = *first as usize;
        let mut adjoint = 0.0;
        for i in (end..self.remaining).rev() {
            let (before, rest) = self.adjoints.split_at_mut(first + i);
            let Node { operands, partials } = nodes[i];
            if operands[0] & CONTINUED == 0 {
                adjoint = rest[0];
            }
            if adjoint != 0.0 {
                before[(operands[0] & !CONTINUED) as usize] += adjoint * partials[0];
                before[operands[1] as usize] += adjoint * partials[1];
            }
        }
        self.remaining = end;
    }

    /// Returns the number of operations recorded so far in this thread.
    pub fn position() -> usize {
        OPERATIONS.with_borrow(|operations| operations.nodes.len())
    }

    /// Returns true if the adjoints of these variables are zero.
    pub fn are_zero(&self, variables: Range<usize>) -> bool {
        let adjoints = &self.adjoints[variables.start + 1..variables.end + 1];
        // Without branches, and without the bit of the sign.
        adjoints.iter().fold(0, |bits, adjoint| bits | (adjoint.to_bits() << 1)) == 0
    }

    /// Returns the adjoint of the variable `k`: the derivative of the seeded sum with respect to
    /// it, after a sweep of all operations.
    #[inline]
    pub fn adjoint(&self, k: usize) -> f64 {
        self.adjoints[k + 1]
    }
}

impl Recorded {
    /// Creates the independent variable `k`, at `value`.
    #[inline(always)]
    pub fn variable(value: f64, k: usize) -> Self {
        Self {
            value,
            node: k as u32 + 1,
        }
    }

    /// Returns `value`, computed from `self` with the partial derivative `partial`.
    #[inline(always)]
    fn chain(self, value: f64, partial: f64) -> Self {
        self.combine(partial, Self::lift(0.0), 0.0, value)
    }

    /// Returns `value`, computed from `self` and `other` with the partial derivatives `a` and `b`.
    #[inline(always)]
    fn combine(self, a: f64, other: Self, b: f64, value: f64) -> Self {
        let operands = [self.node, other.node];
        if operands == [CONSTANT; 2] {
            return Self::lift(value);
        }
        push(
            Node {
                operands,
                partials: [a, b],
            },
            value,
        )
    }

    /// Returns the product with a constant.
    #[inline(always)]
    fn times(self, factor: f64) -> Self {
        let value = self.value * factor;
        if self.node == CONSTANT || factor == 0.0 {
            Self::lift(value)
        } else if factor == 1.0 {
            self
        } else {
            self.chain(value, factor)
        }
    }
}

/// Appends an operation with the result `value`.
///
/// While there is room it calls no function, so that numbers stay in registers.
#[inline(always)]
fn push(node: Node, value: f64) -> Recorded {
    let index = OPERATIONS.with_borrow_mut(|operations| {
        let count = operations.nodes.len();
        if count == operations.nodes.capacity() {
            return None;
        }
        operations.nodes.push(node);
        Some(operations.first + count as u32)
    });
    match index {
        Some(node) => Recorded { value, node },
        None => push_beyond_capacity(node, value),
    }
}

/// Appends an operation with the result `value`, with more memory.
#[cold]
#[inline(never)]
fn push_beyond_capacity(node: Node, value: f64) -> Recorded {
    OPERATIONS.with_borrow_mut(|operations| {
        let index = operations.first + operations.nodes.len() as u32;
        operations.nodes.push(node);
        Recorded { value, node: index }
    })
}

/// Appends the nodes of one operation, and returns the index of its result.
#[inline(always)]
fn push_all<const N: usize>(mut nodes: [Node; N]) -> u32 {
    nodes[N - 1].operands[0] &= !CONTINUED;
    OPERATIONS.with_borrow_mut(|operations| {
        operations.nodes.extend_from_slice(&nodes);
        operations.first + operations.nodes.len() as u32 - 1
    })
}

/// Appends those nodes of one operation that are marked, and returns the index of its result; that
/// of a constant if there are none.
#[inline(never)]
fn push_some(nodes: &[Node], varies: &[bool]) -> u32 {
    let marked = nodes.iter().zip(varies).filter(|(_, varies)| **varies);
    push_each(marked.map(|(node, _)| *node))
}

/// Appends the nodes of one operation, each with [`CONTINUED`], and returns the index of its result;
/// that of a constant if there are none.
#[inline(always)]
fn push_each(nodes: impl Iterator<Item = Node>) -> u32 {
    OPERATIONS.with_borrow_mut(|operations| {
        let start = operations.nodes.len();
        operations.nodes.extend(nodes);
        match operations.nodes[start..].last_mut() {
            None => CONSTANT,
            Some(last) => {
                last.operands[0] &= !CONTINUED;
                operations.first + operations.nodes.len() as u32 - 1
            }
        }
    })
}

impl Scalar for Recorded {
    type Constant = f64;
    type Mask = bool;

    const IS_OUTLINED: bool = true;

    const FUSES: bool = true;

    #[inline(always)]
    fn sum_of_products<const N: usize>(terms: [(Self, Self, f64); N]) -> Self {
        let value = terms.iter().fold(0.0, |sum, (a, b, k)| sum + a.value * (b.value * k));
        // Products with the constant zero are constants, as one by one.
        let varies = |(a, b, _): &(Self, Self, f64)| !a.is_zero() & !b.is_zero() & (a.node | b.node != CONSTANT);
        let nodes = terms.map(|(a, b, k)| Node {
            operands: [a.node | CONTINUED, b.node],
            partials: [b.value * k, a.value * k],
        });
        let node = match terms.iter().all(varies) {
            true => push_all(nodes),
            false => push_some(&nodes, &terms.each_ref().map(varies)),
        };
        Self { value, node }
    }

    #[inline]
    fn with_partials(value: f64, terms: impl Iterator<Item = (Self, f64)>) -> Self {
        let mut varying = terms.filter(|(x, _)| x.node != CONSTANT);
        let nodes = std::iter::from_fn(|| {
            let (first, partial) = varying.next()?;
            let (second, other) = varying.next().unwrap_or((Self::lift(0.0), 0.0));
            Some(Node {
                operands: [first.node | CONTINUED, second.node],
                partials: [partial, other],
            })
        });
        let node = push_each(nodes);
        Self { value, node }
    }

    #[inline(always)]
    fn numbers(constants: &[f64]) -> &[f64] {
        constants
    }

    #[inline(always)]
    fn number(value: f64) -> Self {
        Self { value, node: CONSTANT }
    }

    #[inline(always)]
    fn value(self) -> f64 {
        self.value
    }

    #[inline(never)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, 0.5 / root)
    }

    #[inline(never)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = Scalar::sin_cos(self.value);
        (self.chain(s, c), self.chain(c, -s))
    }

    #[inline(never)]
    fn atan2(self, x: Self) -> Self {
        let square = self.value * self.value + x.value * x.value;
        let angle = Scalar::atan2(self.value, x.value);
        self.combine(x.value / square, x, -self.value / square, angle)
    }

    #[inline(never)]
    fn exp(self) -> Self {
        let value = Scalar::exp(self.value);
        self.chain(value, value)
    }

    #[inline(never)]
    fn tanh(self) -> Self {
        let t = Scalar::tanh(self.value);
        self.chain(t, 1.0 - t * t)
    }

    #[inline]
    fn round(self) -> Self {
        Self::lift(self.value.round())
    }

    #[inline(always)]
    fn exceeds(self, limit: f64) -> bool {
        self.value > limit
    }

    #[inline(always)]
    fn select(condition: bool, yes: Self, no: Self) -> Self {
        if condition { yes } else { no }
    }
}

impl Add for Recorded {
    type Output = Self;

    #[inline(never)]
    fn add(self, b: Self) -> Self {
        let value = self.value + b.value;
        match (self.node, b.node) {
            (node, CONSTANT) | (CONSTANT, node) => Self { value, node },
            _ => self.combine(1.0, b, 1.0, value),
        }
    }
}

impl Sub for Recorded {
    type Output = Self;

    #[inline(never)]
    fn sub(self, b: Self) -> Self {
        let value = self.value - b.value;
        match (self.node, b.node) {
            (node, CONSTANT) => Self { value, node },
            _ => self.combine(1.0, b, -1.0, value),
        }
    }
}

impl Mul for Recorded {
    type Output = Self;

    #[inline(never)]
    fn mul(self, b: Self) -> Self {
        match (self.node, b.node) {
            (_, CONSTANT) => self.times(b.value),
            (CONSTANT, _) => b.times(self.value),
            _ => self.combine(b.value, b, self.value, self.value * b.value),
        }
    }
}

impl Div for Recorded {
    type Output = Self;

    #[inline(never)]
    fn div(self, b: Self) -> Self {
        let (quotient, inverse) = (self.value / b.value, 1.0 / b.value);
        self.combine(inverse, b, -quotient * inverse, quotient)
    }
}

impl Neg for Recorded {
    type Output = Self;

    #[inline(never)]
    fn neg(self) -> Self {
        self.chain(-self.value, -1.0)
    }
}

impl AddAssign for Recorded {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl SubAssign for Recorded {
    #[inline]
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl MulAssign for Recorded {
    #[inline]
    fn mul_assign(&mut self, b: Self) {
        *self = *self * b;
    }
}

impl DivAssign for Recorded {
    #[inline]
    fn div_assign(&mut self, b: Self) {
        *self = *self / b;
    }
}

impl PartialOrd for Recorded {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl Zero for Recorded {
    #[inline(always)]
    fn zero() -> Self {
        Self::lift(0.0)
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        (self.node == CONSTANT) & (self.value == 0.0)
    }
}

impl One for Recorded {
    #[inline(always)]
    fn one() -> Self {
        Self::lift(1.0)
    }
}
