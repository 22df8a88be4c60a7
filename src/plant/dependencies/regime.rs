use crate::elements::{DcMotor, Hold};
use crate::plant::model::Model;
use crate::spec::JointMotion;

/// Parts of the discrete state, and switches, that determine which equations are evaluated.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Regime {
    pub motions: Vec<JointMotion>,
    /// For each joint's servo with feed-forward, then each attitude servo with it, true if it is on.
    pub fed: Vec<bool>,
    /// For each joint whose dry friction sticks, true if it slides.
    pub slides: Vec<bool>,
    /// True if all motors, their voltages and torques of a controller are at their limits.
    pub limited: bool,
    /// True if all captures are active.
    pub captured: bool,
    /// State of all points of contacts that may rest.
    pub rests: Hold,
    /// Index of the ANCF element on which frames lie. A frame's position is a parameter, which can
    /// move the frame to another element.
    pub element: usize,
    /// True if the first samples of sensors are taken.
    pub measured: bool,
}

impl Regime {
    /// Returns the regimes of a model: each pair of joints in each pair of motions, of which sticking
    /// by dry friction and sliding are two, within limits and at them, with and without captures, with all
    /// points of contacts free, sticking and sliding,
    /// frames of ANCF beams on each of the `elements`. With `at_start`, joints have their initial
    /// motions and no capture is active.
    pub fn all(model: &Model, elements: usize, at_start: bool) -> Vec<Self> {
        let drives: Vec<_> = (model.elements.drives.iter())
            .filter(|drive| drive.mode().is_some())
            .collect();
        let sticking = &model.elements.sticking;
        // The motions of a switched joint; one whose dry friction sticks has two of `Loads`.
        let motion = |k: usize, level: usize| {
            let initial = [drives[k].motion()];
            let motions = if at_start { &initial } else { drives[k].motions() };
            let holds = sticking.iter().any(|friction| friction.body == drives[k].body);
            let held = motions.iter().find(|&&motion| holds && motion == JointMotion::Loads);
            let is_held = held.is_some() && level % (motions.len() + 1) == motions.len();
            match held.filter(|_| is_held) {
                Some(&loads) => (loads, false),
                None => (motions[level % (motions.len() + usize::from(held.is_some()))], true),
            }
        };
        let slides = |k: usize, levels: &[usize], first: usize| {
            let drive = drives.iter().position(|drive| drive.body == sticking[k].body);
            drive.map_or_else(
                || levels[first + k].is_multiple_of(2),
                |drive| motion(drive, levels[drive]).1,
            )
        };
        let fed = drives.len()..drives.len() + model.servos().fed().count();
        // A locked joint, a servo that is off and an attitude servo that is on are three factors.
        let attitudes = ons(model.servos().fed_attitudes().count());
        let factors = fed.end + sticking.len();
        let levels = JointMotion::ALL.len() + usize::from(!sticking.is_empty());
        let has_limits = !model.elements.motors.is_empty()
            || model.elements.dc_motors.iter().any(DcMotor::is_limited)
            || model.controller().is_some();
        let captures = !at_start && model.elements.captures().next().is_some();
        let holds = [Hold::Free, Hold::Sticking, Hold::Sliding];
        let rests = &holds[..if model.elements.rest_points() == 0 { 1 } else { 3 }];
        let both = |is_possible: bool| [false, true].into_iter().take(1 + usize::from(is_possible));
        let mut regimes = Vec::new();
        for levels in pairs(factors, levels) {
            let rest = both(has_limits).flat_map(|limited| both(captures).map(move |captured| (limited, captured)));
            let rest = rest.flat_map(|rest| (0..elements).map(move |i| (rest, i)));
            let rest = rest.flat_map(|rest| attitudes.iter().map(move |on| (rest, on)));
            let rest = rest.flat_map(|rest| rests.iter().map(move |&rests| (rest, rests)));
            for ((((limited, captured), element), on), rests) in rest {
                let joints = fed.clone().map(|k| levels[k] % 2 == 0);
                let regime = Self {
                    motions: (0..drives.len()).map(|k| motion(k, levels[k]).0).collect(),
                    fed: joints.chain(on.iter().copied()).collect(),
                    slides: (0..sticking.len()).map(|k| slides(k, &levels, fed.end)).collect(),
                    limited,
                    captured,
                    rests,
                    element,
                    measured: !at_start,
                };
                if !regimes.contains(&regime) {
                    regimes.push(regime);
                }
            }
        }
        regimes
    }
}

/// Returns combinations of `n` switches: all on, all off, and each alone on or off.
fn ons(n: usize) -> Vec<Vec<bool>> {
    let mut combinations = vec![vec![true; n]];
    if n > 0 {
        combinations.push(vec![false; n]);
    }
    if n > 1 {
        combinations.extend((0..n).map(|on| (0..n).map(|k| k == on).collect()));
    }
    if n > 2 {
        combinations.extend((0..n).map(|off| (0..n).map(|k| k != off).collect()));
    }
    combinations
}

/// Returns combinations of levels for `n` factors in which each pair of factors takes each pair of
/// `levels` at least once. For each binary digit and each pair of levels, one combination gives the
/// first level to the factors whose number has the digit 0 and the second to the others; two
/// different factors differ in some digit.
pub(super) fn pairs(n: usize, levels: usize) -> Vec<Vec<usize>> {
    let digits = usize::BITS - n.saturating_sub(1).leading_zeros();
    let each = (0..digits.max(1)).flat_map(|digit| (0..levels * levels).map(move |pair| (digit, pair)));
    each.map(|(digit, pair)| {
        let level = |k: usize| {
            if k >> digit & 1 == 0 {
                pair / levels
            } else {
                pair % levels
            }
        };
        (0..n).map(level).collect()
    })
    .collect()
}
