//! Integration as in a Model Exchange importer: steps, event indicators, event location.

/// Calls of an importer at each stage of the integration, in its own order.
pub trait Calls {
    /// Returns derivatives at a trial point.
    fn derivatives(&mut self, t: f64, x: &[f64]) -> Vec<f64>;
    /// Returns event indicators at a trial point.
    fn indicators(&mut self, t: f64, x: &[f64]) -> Vec<f64>;
    /// Accepts a step.
    fn accepted(&mut self, t: f64, x: &[f64]);
    /// Handles an event; returns the states after it.
    fn event(&mut self, t: f64, x: &[f64]) -> Vec<f64>;
    /// Returns the time of the next scheduled event, s.
    fn next_event(&self) -> f64;
}

/// Integrates by the classical Runge–Kutta method with a fixed step, stopped at time events and, by
/// bisection, at sign changes of an indicator. Returns the states at `end` and the times of all
/// events.
pub fn integrate(importer: &mut impl Calls, mut x: Vec<f64>, start: f64, end: f64, step: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut t, mut events) = (start, Vec::new());
    let mut z = importer.indicators(t, &x);
    while t < end {
        let due = importer.next_event();
        let h = step.min(end - t).min(due - t);
        let changed = |z: &[f64], now: &[f64]| z.iter().zip(now).any(|(a, b)| (*a > 0.0) != (*b > 0.0));
        let mut ahead = runge_kutta(importer, t, h, &x);
        let mut h_event = h;
        if changed(&z, &importer.indicators(t + h, &ahead)) {
            let mut before = 0.0;
            // 50 halvings of a step of a millisecond reach the spacing of floating-point numbers.
            for _ in 0..50 {
                let middle = 0.5 * (before + h_event);
                let trial = runge_kutta(importer, t, middle, &x);
                if changed(&z, &importer.indicators(t + middle, &trial)) {
                    (h_event, ahead) = (middle, trial);
                } else {
                    before = middle;
                }
            }
        }
        let state_event = changed(&z, &importer.indicators(t + h_event, &ahead));
        t = if h_event == due - t {
            due
        } else if h_event == end - t {
            end
        } else {
            t + h_event
        };
        x = ahead;
        importer.accepted(t, &x);
        if state_event || t == due {
            x = importer.event(t, &x);
            events.push(t);
        }
        z = importer.indicators(t, &x);
        assert!(events.len() < 1000, "chattering: {:?}", &events[..20]);
    }
    // The FMU is evaluated at the end, not at the last trial point.
    importer.derivatives(t, &x);
    (x, events)
}

fn runge_kutta(importer: &mut impl Calls, t: f64, h: f64, x: &[f64]) -> Vec<f64> {
    let ahead = |k: &[f64], h: f64| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + h * k).collect() };
    let k1 = importer.derivatives(t, x);
    let k2 = importer.derivatives(t + h / 2.0, &ahead(&k1, h / 2.0));
    let k3 = importer.derivatives(t + h / 2.0, &ahead(&k2, h / 2.0));
    let k4 = importer.derivatives(t + h, &ahead(&k3, h));
    (0..x.len())
        .map(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
        .collect()
}
