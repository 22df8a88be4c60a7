//! What the FMU says of an instant of the run: impacts, captures, releases, brakes, changes of method.

/// A message that tells its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// When, s.
    pub time: f64,
    /// What happened.
    pub text: &'a str,
}

impl<'a> Event<'a> {
    /// The event that a message tells, `t = 1.5 s: …`. `None` of one without a time.
    pub fn told(message: &'a str) -> Option<Self> {
        let (time, text) = message.strip_prefix("t = ")?.split_once(" s: ")?;
        Some(Self {
            time: time.parse().ok()?,
            text,
        })
    }

    /// The name of the contact that it is about.
    pub fn contact(&self) -> Option<&'a str> {
        Some(self.of("contact")?.0)
    }

    /// Whether a contact's impulse acted.
    pub fn is_impact(&self) -> bool {
        let action = self.action();
        self.contact().is_some() && (action.starts_with("strikes,") || action.starts_with("captures,"))
    }

    /// The name of the port at which an impulse acted.
    pub fn struck_port(&self) -> Option<&'a str> {
        let (port, what) = self.of("port")?;
        what.starts_with("is struck ").then_some(port)
    }

    /// What the contact does; of another event, all of it.
    pub fn action(&self) -> &'a str {
        self.of("contact").map_or(self.text, |(_, action)| action)
    }

    /// The name of the thing that it is about, if it is of that kind, and what is told of it.
    fn of(&self, kind: &str) -> Option<(&'a str, &'a str)> {
        let named = self.text.strip_prefix(kind)?.strip_prefix(" \"")?;
        named.split_once("\" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grapple::plant::{Model, Plant};
    use grapple::simulation::Simulation;
    use std::path::Path;
    use std::sync::Arc;

    /// Two bodies that strike, are captured and let go, an impulse from outside, a strike out of reach, and a brake.
    const SPEC: &str = r#"
        name = "events"
        [body.a]
        mass = 1.0
        inertia = [1.0, 1.0, 1.0]
        start = { velocity = [0.1, 0.0, 0.0] }
        [body.b]
        mass = 2.0
        inertia = [1.0, 2.0, 2.0]
        start = { position = [1.0, 0.0, 0.0] }
        [body.rotor]
        mass = 0.1
        inertia = [0.1, 0.1, 0.1]
        [joint.axle]
        type = "revolute"
        parent = "b"
        child = "rotor"
        motions = ["loads", "locked"]
        start = { rate = 0.5 }
        [frame.tip]
        body = "a"
        origin = [0.5, 0.0, 0.0]
        [frame.pad]
        body = "b"
        origin = [-0.5, 0.0, 0.0]
        [contact.bump]
        a = "tip"
        b = "pad"
        normal = [-1.0, 0.0, 0.0]
        e = 0.5
        reach = 1.0
        [contact.latch]
        a = "tip"
        b = "pad"
        law = "capture_grasp"
        reach = 1.0
        [contact.far]
        a = "a"
        b = "b"
        e = 0.5
        [port.push]
        frame = "a"
        impulse = true
        [signal."bump.impact"]
        type = "step"
        from = 0.1
        from_importer = false
        [signal."latch.capture"]
        type = "constant"
        from = 0.2
        until = 0.3
        from_importer = false
        [signal."far.impact"]
        type = "step"
        from = 0.4
        from_importer = false
        [signal."push.impulse[1]"]
        type = "constant"
        amplitude = 2.0
        from_importer = false
        [signal."push.impact"]
        type = "step"
        from = 0.5
        from_importer = false
        [signal."axle.motion"]
        type = "step"
        from = 0.6
        from_importer = false
    "#;

    fn messages() -> Vec<String> {
        let model = Model::read(SPEC, Path::new("")).unwrap_or_else(|error| panic!("{error}"));
        let plant = Plant::new(Arc::new(model)).expect("its numbers are right");
        let mut simulation = Simulation::new(plant).expect("it has a solver");
        simulation.initialise(0.0, None, 1e9).expect("it starts");
        let mut messages = Vec::new();
        simulation.advance(1.0, &mut messages).expect("it runs");
        messages
    }

    #[test]
    fn what_the_fmu_tells_of_an_instant_is_understood() {
        let messages = messages();
        let events: Vec<Event> = messages.iter().filter_map(|message| Event::told(message)).collect();
        assert_eq!(events.len(), messages.len(), "{messages:#?}");
        let at = |time: f64| {
            let event = events.iter().find(|event| (event.time - time).abs() < 1e-9);
            event.unwrap_or_else(|| panic!("nothing at {time} s: {messages:#?}"))
        };
        for (time, contact, is_impact, action) in [
            (0.1, "bump", true, "strikes, \"tip\" on \"pad\": "),
            (0.2, "latch", true, "captures, \"tip\" with \"pad\": "),
            (0.3, "latch", false, "lets go"),
            (0.4, "far", false, "does not strike, \"a\" on \"b\": "),
        ] {
            let event = at(time);
            assert_eq!(
                (event.contact(), event.is_impact()),
                (Some(contact), is_impact),
                "{event:?}"
            );
            assert!(event.action().starts_with(action), "{event:?}");
        }
        assert_eq!((at(0.5).struck_port(), at(0.5).contact()), (Some("push"), None));
        let brake = at(0.6);
        assert_eq!((brake.contact(), brake.struck_port()), (None, None));
        assert_eq!(brake.action(), brake.text);
    }

    #[test]
    fn what_has_no_time_is_no_event_and_what_ends_early_is_no_contact() {
        assert_eq!(Event::told("body \"boom\" bends beyond its linear limit"), None);
        for text in ["contact \"latch\"", "contact \"latch", "contact"] {
            let event = Event { time: 0.0, text };
            assert_eq!(
                (event.contact(), event.is_impact(), event.action()),
                (None, false, text)
            );
        }
    }
}
