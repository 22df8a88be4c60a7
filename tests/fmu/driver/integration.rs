//! What every Model Exchange host does between the calls: step, watch the indicators, find the event.

/// A host's calls, in its own order.
pub trait Calls {
    /// Derivatives at a trial point.
    fn derivatives(&mut self, t: f64, x: &[f64]) -> Vec<f64>;
    /// Event indicators at a trial point.
    fn indicators(&mut self, t: f64, x: &[f64]) -> Vec<f64>;
    /// A step is accepted.
    fn accepted(&mut self, t: f64, x: &[f64]);
    /// Event handling; the states after it.
    fn event(&mut self, t: f64, x: &[f64]) -> Vec<f64>;
    /// When the next time event is due, s.
    fn next_event(&self) -> f64;
}

/// The classical Runge-Kutta method at a fixed step, stopped at time events and, by bisection, at changes of
/// an indicator's sign. Gives the states at `end` and the times of all events.
pub fn integrate(host: &mut impl Calls, mut x: Vec<f64>, start: f64, end: f64, step: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut t, mut events) = (start, Vec::new());
    let mut z = host.indicators(t, &x);
    while t < end {
        let due = host.next_event();
        let h = step.min(end - t).min(due - t);
        let changed = |z: &[f64], now: &[f64]| z.iter().zip(now).any(|(a, b)| (*a > 0.0) != (*b > 0.0));
        let mut ahead = runge_kutta(host, t, h, &x);
        let mut h_event = h;
        if changed(&z, &host.indicators(t + h, &ahead)) {
            let mut before = 0.0;
            // 50 halvings of a millisecond: below the spacing of the numbers.
            for _ in 0..50 {
                let middle = 0.5 * (before + h_event);
                let trial = runge_kutta(host, t, middle, &x);
                if changed(&z, &host.indicators(t + middle, &trial)) {
                    (h_event, ahead) = (middle, trial);
                } else {
                    before = middle;
                }
            }
        }
        let state_event = changed(&z, &host.indicators(t + h_event, &ahead));
        t = if h_event == due - t {
            due
        } else if h_event == end - t {
            end
        } else {
            t + h_event
        };
        x = ahead;
        host.accepted(t, &x);
        if state_event || t == due {
            x = host.event(t, &x);
            events.push(t);
        }
        z = host.indicators(t, &x);
        assert!(events.len() < 1000, "chattering: {:?}", &events[..20]);
    }
    // The FMU stands at the end, not at the last trial point.
    host.derivatives(t, &x);
    (x, events)
}

fn runge_kutta(host: &mut impl Calls, t: f64, h: f64, x: &[f64]) -> Vec<f64> {
    let ahead = |k: &[f64], h: f64| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + h * k).collect() };
    let k1 = host.derivatives(t, x);
    let k2 = host.derivatives(t + h / 2.0, &ahead(&k1, h / 2.0));
    let k3 = host.derivatives(t + h / 2.0, &ahead(&k2, h / 2.0));
    let k4 = host.derivatives(t + h, &ahead(&k3, h));
    (0..x.len())
        .map(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
        .collect()
}
