use super::Point;
use grapple::algebra::Vec3;

/// A parallel projection with z up: direction of view and scale.
pub struct View {
    /// Direction towards the viewer.
    pub eye: Vec3<f64>,
    right: Vec3<f64>,
    up: Vec3<f64>,
    /// The point in space that is projected to `origin` on the sheet.
    centre: Vec3<f64>,
    origin: Point,
    /// Units of the drawing per metre.
    pub scale: f64,
    /// Size of the sheet.
    pub size: [f64; 2],
}

const WIDTH: f64 = 960.0;
const HEIGHTS: (f64, f64) = (360.0, 700.0);
const MARGIN: f64 = 95.0;

impl View {
    /// Returns the view with the largest spread of `places`, scaled so that `extent`, points around
    /// everything that is drawn, fills the sheet.
    pub fn of(places: &[Vec3<f64>], extent: &[Vec3<f64>]) -> Self {
        let centre = places.iter().sum::<Vec3<f64>>() / places.len().max(1) as f64;
        let mut view = Self::towards(30.0, centre);
        for azimuth in [-60.0, -30.0, 60.0] {
            let other = Self::towards(azimuth, centre);
            // A margin of 1 %, so that round-off does not decide between equal views.
            if other.spread(places) > 1.01 * view.spread(places) {
                view = other;
            }
        }
        view.fit(extent);
        view
    }

    /// Returns the view from an azimuth (degrees from x to y) at an elevation of 30°.
    fn towards(azimuth: f64, centre: Vec3<f64>) -> Self {
        let ((sa, ca), (se, ce)) = (azimuth.to_radians().sin_cos(), 30_f64.to_radians().sin_cos());
        Self {
            eye: Vec3::new(ce * ca, ce * sa, se),
            right: Vec3::new(-sa, ca, 0.0),
            up: Vec3::new(-se * ca, -se * sa, ce),
            centre,
            origin: [0.0; 2],
            scale: 1.0,
            size: [WIDTH, HEIGHTS.0],
        }
    }

    /// Returns a measure of the area over which the points spread on the sheet (determinant of
    /// their second moments), plus a small measure of their length: collinear points have no area.
    fn spread(&self, places: &[Vec3<f64>]) -> f64 {
        let [mut xx, mut xy, mut yy] = [0.0; 3];
        for place in places {
            let [x, y] = self.direction(&(place - self.centre));
            xx += x * x;
            xy += x * y;
            yy += y * y;
        }
        (xx * yy - xy * xy).max(0.0) + 1e-2 * (xx + yy).powi(2)
    }

    fn fit(&mut self, around: &[Vec3<f64>]) {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for point in around {
            let flat = self.direction(&(point - self.centre));
            for i in 0..2 {
                low[i] = low[i].min(flat[i]);
                high[i] = high[i].max(flat[i]);
            }
        }
        let [wide, high_up] = [0, 1].map(|i| (high[i] - low[i]).max(1e-9));
        let space = [WIDTH - 2.0 * MARGIN, HEIGHTS.1 - 2.0 * MARGIN];
        self.scale = (space[0] / wide).min(space[1] / high_up);
        self.size[1] = (self.scale * high_up + 2.0 * MARGIN).clamp(HEIGHTS.0, HEIGHTS.1);
        self.origin = [0, 1].map(|i| 0.5 * self.size[i] - 0.5 * self.scale * (low[i] + high[i]));
    }

    /// Projects a point in space to the sheet.
    pub fn point(&self, p: &Vec3<f64>) -> Point {
        let [x, y] = self.direction(&(p - self.centre));
        [self.origin[0] + self.scale * x, self.origin[1] + self.scale * y]
    }

    /// Projects a vector in space: components right and down, m.
    pub fn direction(&self, d: &Vec3<f64>) -> Point {
        [self.right.dot(d), -self.up.dot(d)]
    }

    /// Converts a length on the sheet to m.
    pub fn metres(&self, length: f64) -> f64 {
        length / self.scale
    }
}
