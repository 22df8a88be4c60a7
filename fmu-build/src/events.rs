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
        Some(self.text.strip_prefix("contact \"")?.split_once('"')?.0)
    }

    /// Whether a contact's impulse acted.
    pub fn is_impact(&self) -> bool {
        self.deed().starts_with("strikes,") || self.deed().starts_with("captures,")
    }

    /// What the contact does.
    pub fn deed(&self) -> &'a str {
        self.contact().map_or(self.text, |name| {
            self.text["contact \"\" ".len() + name.len()..].trim_start()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_with_a_time_is_an_event() {
        let strike =
            Event::told("t = 4.878938718180929 s: contact \"latch\" captures, \"probe\" with \"port\": 11 N.s");
        let strike = strike.expect("it has a time");
        assert_eq!((strike.time, strike.contact()), (4.878938718180929, Some("latch")));
        assert_eq!(strike.deed(), "captures, \"probe\" with \"port\": 11 N.s");
        assert!(strike.is_impact());
        let release = Event::told("t = 9 s: contact \"latch\" lets go").expect("it has a time");
        assert_eq!((release.deed(), release.is_impact()), ("lets go", false));

        let brake = Event::told("t = 20 s: joint \"yaw\" is locked; it had 0.1 rad/s").expect("it has a time");
        assert_eq!((brake.time, brake.contact()), (20.0, None));
        assert_eq!(brake.deed(), brake.text);

        assert_eq!(
            Event::told("body \"boom\" bends beyond its linear limit at t = 2 s"),
            None
        );
    }
}
