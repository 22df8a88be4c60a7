use crate::error::rounded;

/// Instant as modified Julian date in terrestrial time (TT), days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch(pub f64);

/// Seconds by which TT is ahead of international atomic time.
const TT_TAI: f64 = 32.184;

/// Seconds in a day.
const DAY: f64 = 86_400.0;

/// Modified Julian dates (UTC) from which another difference TAI − UTC holds, s (IERS Bulletin C).
const LEAP_SECONDS: [(f64, f64); 28] = [
    (41_317.0, 10.0),
    (41_499.0, 11.0),
    (41_683.0, 12.0),
    (42_048.0, 13.0),
    (42_413.0, 14.0),
    (42_778.0, 15.0),
    (43_144.0, 16.0),
    (43_509.0, 17.0),
    (43_874.0, 18.0),
    (44_239.0, 19.0),
    (44_786.0, 20.0),
    (45_151.0, 21.0),
    (45_516.0, 22.0),
    (46_247.0, 23.0),
    (47_161.0, 24.0),
    (47_892.0, 25.0),
    (48_257.0, 26.0),
    (48_804.0, 27.0),
    (49_169.0, 28.0),
    (49_534.0, 29.0),
    (50_083.0, 30.0),
    (50_630.0, 31.0),
    (51_179.0, 32.0),
    (53_736.0, 33.0),
    (54_832.0, 34.0),
    (56_109.0, 35.0),
    (57_204.0, 36.0),
    (57_754.0, 37.0),
];

impl Epoch {
    /// Modified Julian date of J2000, 2000 January 1, 12:00 TT.
    pub const J2000: f64 = 51_544.5;

    /// First and last year of the ephemerides' validity: UTC has whole leap seconds since 1972.
    pub const YEARS: [i64; 2] = [1972, 2099];

    /// Returns the difference TT − UTC at this instant, s.
    pub fn ahead_of_utc(self) -> f64 {
        let since = |(day, offset): &&(f64, f64)| self.0 >= day + (offset + TT_TAI) / DAY;
        let last = LEAP_SECONDS.iter().rev().find(since);
        TT_TAI + last.unwrap_or(&LEAP_SECONDS[0]).1
    }

    /// Returns the reason for which the instant is outside the ephemerides' validity; `None` if it
    /// is inside.
    pub fn out_of_range(self) -> Option<String> {
        let [first, last] = Self::YEARS;
        let [begin, end] = [first, last + 1].map(|year| days(year, 1, 1) as f64);
        (!(begin..=end).contains(&self.0)).then(|| {
            format!(
                "the modified Julian date {} is not in the years {first} to {last}, for which the positions of Sun and \
                 Moon are computed",
                rounded(self.0, 9)
            )
        })
    }

    /// Reads `2026-03-20T12:00:00` in UTC, or with ` TT` in terrestrial time. The time may be left
    /// out, seconds may have decimals, and `Z` may end it.
    ///
    /// # Errors
    /// The reason for which the text is no such date.
    pub fn read(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!(
                "\"{text}\" is not an epoch: {what}; write date and time in UTC, \"2026-03-20T12:00:00\", or in \
                 terrestrial time, \"2026-03-20T12:00:00 TT\""
            )
        };
        let (rest, in_tt) = match text.trim().strip_suffix("TT") {
            Some(rest) => (rest.trim_end(), true),
            None => (text.trim(), false),
        };
        let rest = rest.strip_suffix(['Z', 'z']).unwrap_or(rest);
        let (date, time) = rest.split_once(['T', 't', ' ']).unwrap_or((rest, "00:00:00"));
        let parts: Option<Vec<i64>> = date.split('-').map(|part| digits(part)?.parse().ok()).collect();
        let Some([year, month, day]) = parts.as_deref() else {
            return Err(wrong("the date is not year-month-day"));
        };
        let (year, month, day) = (*year, *month, *day);
        let [first, last] = Self::YEARS;
        if !(first..=last).contains(&year) {
            return Err(wrong(&format!(
                "the year is not in {first} to {last}, for which the positions of Sun and Moon are computed"
            )));
        }
        if !(1..=12).contains(&month) {
            return Err(wrong("the month is not in 1 to 12"));
        }
        let in_month = days(year + month / 12, month % 12 + 1, 1) - days(year, month, 1);
        if !(1..=in_month).contains(&day) {
            return Err(wrong(&format!("the month has {in_month} days")));
        }
        let seconds = seconds(time).ok_or_else(|| wrong("the time is not hours:minutes:seconds"))?;
        let mut instant = days(year, month, day) as f64;
        if !in_tt {
            let since = |(first, _): &&(f64, f64)| instant >= *first;
            let offset = LEAP_SECONDS.iter().rev().find(since).unwrap_or(&LEAP_SECONDS[0]).1;
            instant += (offset + TT_TAI) / DAY;
        }
        Ok(Self(instant + seconds / DAY))
    }
}

/// Returns the text if it has digits only.
fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.len() < 10 && text.bytes().all(|c| c.is_ascii_digit())).then_some(text)
}

/// Reads a time of day, s.
fn seconds(text: &str) -> Option<f64> {
    let parts: Vec<&str> = text.split(':').collect();
    let (hours, minutes, seconds) = match parts.as_slice() {
        [hours, minutes] => (hours, minutes, "0"),
        [hours, minutes, seconds] => (hours, minutes, *seconds),
        _ => return None,
    };
    let [h, min]: [f64; 2] = [digits(hours)?.parse().ok()?, digits(minutes)?.parse().ok()?];
    let (whole, decimals) = seconds.split_once('.').unwrap_or((seconds, "0"));
    digits(whole)?;
    digits(decimals)?;
    let s: f64 = seconds.parse().ok()?;
    (h < 24.0 && min < 60.0 && s < 61.0).then_some(h * 3600.0 + min * 60.0 + s)
}

/// Returns the modified Julian date of a day of the Gregorian calendar at 0:00 (Fliegel and Van
/// Flandern, Communications of the ACM 11, 1968).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let a = (month - 14) / 12;
    let julian = 1461 * (year + 4800 + a) / 4 + 367 * (month - 2 - 12 * a) / 12 - 3 * ((year + 4900 + a) / 100) / 4
        + day
        - 32_075;
    julian - 2_400_001
}
