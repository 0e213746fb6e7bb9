//! Learning curves: the metrics of a run as an SVG picture.

use std::{fs, io, path::Path};

use plotters::{
    drawing::DrawingAreaErrorKind,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};
use thiserror::Error;

use crate::metrics::CLASSES;

/// One line of `metrics.csv`, as far as the curves need it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Games played.
    pub games: u64,
    /// Seconds of work.
    pub seconds: f64,
    /// Games behind the weights that were played against.
    pub rival_games: u64,
    /// Points a game against them.
    pub rival_points: f64,
    /// Half the width of its 95 % interval.
    pub rival_interval: f64,
    /// Error rate on all reference decisions, in mEMG.
    pub error: Option<f64>,
    /// Error rates on the decisions of each of [`CLASSES`].
    pub class_errors: [Option<f64>; CLASSES.len()],
}

/// What is wrong with a metrics file.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Fault {
    /// The first line does not name a column.
    #[error("no column {0}")]
    Column(String),
    /// A line has more or fewer fields than the first.
    #[error("line {line} has {found} fields instead of {expected}: {text:?}")]
    Fields {
        /// Counted from 1.
        line: usize,
        /// Fields of the line.
        found: usize,
        /// Fields of the first line.
        expected: usize,
        /// The line.
        text: String,
    },
    /// A field holds something else than its number.
    #[error("line {line}: {column} is {text:?}, not a number")]
    Number {
        /// Counted from 1.
        line: usize,
        /// The column.
        column: String,
        /// The field.
        text: String,
    },
}

/// Why there is no picture.
#[derive(Debug, Error)]
pub enum PlotError {
    /// The metrics could not be read.
    #[error("{path}: {error}")]
    Io {
        /// Which file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The metrics are malformed.
    #[error("{path}: {fault}")]
    Malformed {
        /// Which file.
        path: String,
        /// What is wrong.
        fault: Fault,
    },
    /// There is no measurement that could be drawn.
    #[error("nothing to plot")]
    Nothing,
    /// The drawing library failed.
    #[error("cannot draw: {0}")]
    Draw(#[from] DrawingAreaErrorKind<io::Error>),
}

/// Reads a metrics file.
///
/// # Errors
/// [`PlotError::Io`] and [`PlotError::Malformed`].
pub fn read(path: &Path) -> Result<Vec<Row>, PlotError> {
    let name = || path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| PlotError::Io { path: name(), error })?;
    parse(&text).map_err(|fault| PlotError::Malformed { path: name(), fault })
}

/// Reads the text of a metrics file. Columns go by their names; only error rates may be empty.
///
/// # Errors
/// The first fault.
pub fn parse(text: &str) -> Result<Vec<Row>, Fault> {
    let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        let index = header.iter().position(|column| *column == name);
        index.ok_or_else(|| Fault::Column(name.to_owned()))
    };
    let [games, seconds, rival_games, rival_points, rival_interval, error] =
        ["games", "seconds", "rival_games", "rival_points", "rival_interval", "error"].map(column);
    let (games, seconds, rival_games) = (games?, seconds?, rival_games?);
    let (rival_points, rival_interval, error) = (rival_points?, rival_interval?, error?);
    let mut classes = [0; CLASSES.len()];
    for (index, class) in classes.iter_mut().zip(CLASSES) {
        *index = column(&format!("error_{class}"))?;
    }

    let lines = text.lines().enumerate().skip(1).map(|(index, line)| (index + 1, line));
    lines
        .map(|(line, text)| {
            let fields: Vec<&str> = text.split(',').collect();
            let (found, expected) = (fields.len(), header.len());
            if found != expected {
                return Err(Fault::Fields { line, found, expected, text: text.to_owned() });
            }
            let fault =
                |column: usize| Fault::Number { line, column: header[column].into(), text: fields[column].into() };
            // Columns that are not drawn are checked for this much: an empty field is a sign of a damaged line.
            if let Some(empty) = (0..found).find(|&i| fields[i].is_empty() && !header[i].starts_with("error")) {
                return Err(fault(empty));
            }
            let whole = |column: usize| fields[column].parse::<u64>().map_err(|_| fault(column));
            let number = |column: usize| fields[column].parse::<f64>().map_err(|_| fault(column));
            let optional = |column: usize| (!fields[column].is_empty()).then(|| number(column)).transpose();
            let mut class_errors = [None; CLASSES.len()];
            for (class_error, column) in class_errors.iter_mut().zip(classes) {
                *class_error = optional(column)?;
            }
            Ok(Row {
                games: whole(games)?,
                seconds: number(seconds)?,
                rival_games: whole(rival_games)?,
                rival_points: number(rival_points)?,
                rival_interval: number(rival_interval)?,
                error: optional(error)?,
                class_errors,
            })
        })
        .collect()
}

/// Error rates that readers know, with their mEMG on the reference decisions.
const LANDMARKS: [(&str, f64); 2] = [("GNU Backgammon 0-ply 2.52", 2.52), ("pubeval 38", 37.9)];

// The picture in pixels.
const WIDTH: f64 = 800.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 680.0;
const ERRORS_HEIGHT: f64 = 290.0;
const POINTS_HEIGHT: f64 = 170.0;
const TITLE_SIZE: f64 = 17.0;
const HEADING_SIZE: f64 = 13.0;
const LABEL_SIZE: f64 = 12.0;
/// Labels closer than this would touch.
const LABEL_GAP: f64 = 16.0;
/// The drawing library places everything on whole units; several to a pixel keep the curves smooth.
const UNITS: f64 = 4.0;

const INK: RGBColor = RGBColor(0x1f, 0x29, 0x37);
const MUTED: RGBColor = RGBColor(0x5b, 0x64, 0x70);
const FRAME: RGBColor = RGBColor(0x9c, 0xa3, 0xaf);
const PALE: RGBColor = RGBColor(0xcf, 0xd4, 0xdb);
const GRID: RGBColor = RGBColor(0xe9, 0xeb, 0xee);
/// Apart for colour-blind eyes, too.
const CLASS_COLOURS: [RGBColor; CLASSES.len()] =
    [RGBColor(0x00, 0x72, 0xb2), RGBColor(0xd5, 0x5e, 0x00), RGBColor(0x00, 0x9e, 0x73), RGBColor(0xb0, 0x5a, 0x92)];

// Beyond these a value tells nothing more, and would only squeeze the others.
const LEAST_ERROR: f64 = 0.1;
const MOST_ERROR: f64 = 1e5;
const MOST_POINTS: f64 = 1e6;

/// A place in pixels.
type Place = (f64, f64);
type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;

/// Draws the error rates, if any were measured, and below them the points against earlier weights.
///
/// # Errors
/// [`PlotError::Nothing`] and [`PlotError::Draw`].
pub fn svg(rows: &[Row]) -> Result<String, PlotError> {
    let curves = error_curves(rows);
    let duels: Vec<&Row> = rows.iter().filter(|row| row.rival_points.abs() <= MOST_POINTS).collect();
    if curves.is_empty() && duels.is_empty() {
        return Err(PlotError::Nothing);
    }
    let x = games_axis(rows);
    let mut bottom = 34.0;
    let mut panel = |height: f64| {
        let top = bottom + 38.0;
        bottom = top + height;
        (top, bottom)
    };
    let errors = (!curves.is_empty()).then(|| panel(ERRORS_HEIGHT));
    let points = (!duels.is_empty()).then(|| panel(POINTS_HEIGHT));
    let height = bottom + 50.0;

    let mut text = String::new();
    {
        let size = ((UNITS * WIDTH) as u32, (UNITS * height) as u32);
        let canvas = Canvas { area: SVGBackend::with_string(&mut text, size).into_drawing_area() };
        // A background of its own keeps the picture readable on dark pages.
        canvas.area.fill(&WHITE)?;
        canvas.text(&title(rows), (LEFT, 26.0), Style { size: TITLE_SIZE, bold: true, ..Style::default() })?;
        if let Some((top, bottom)) = errors {
            draw_errors(&canvas, &curves, &x, top, bottom)?;
        }
        if let Some((top, bottom)) = points {
            draw_points(&canvas, &duels, &x, top, bottom)?;
        }
        let style = Style { colour: MUTED, anchor: HPos::Center, ..Style::default() };
        for (value, label) in &x.ticks {
            canvas.text(label, (x.place(*value, LEFT, RIGHT), bottom + 14.0), style)?;
        }
        canvas.text(x.name, (f64::midpoint(LEFT, RIGHT), bottom + 34.0), style)?;
        canvas.area.present()?;
    }
    // The view box stays in units, the size is in pixels. Round joins keep zigzags from growing thorns.
    let units = format!("width=\"{}\" height=\"{}\"", UNITS * WIDTH, UNITS * height);
    let pixels = format!("width=\"{WIDTH}\" height=\"{height}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"");
    Ok(text.replacen(&units, &pixels, 1))
}

/// A class's error rates, or those of all decisions: games and mEMG.
struct Curve {
    name: &'static str,
    colour: RGBColor,
    strong: bool,
    points: Vec<(f64, f64)>,
    /// The last of them, which may lie below what is drawn.
    last: f64,
}

/// All curves with at least a point; that of all decisions comes last and so lies on top.
fn error_curves(rows: &[Row]) -> Vec<Curve> {
    let curve = |name, colour, strong, error: &dyn Fn(&Row) -> Option<f64>| {
        let point = |row: &Row| Some((row.games as f64, error(row).filter(|error| error.is_finite())?));
        let measured: Vec<(f64, f64)> = rows.iter().filter_map(point).collect();
        let last = measured.last().map_or(0.0, |point| point.1.clamp(0.0, MOST_ERROR));
        let points = measured.into_iter().map(|(games, error)| (games, error.clamp(LEAST_ERROR, MOST_ERROR)));
        Curve { name, colour, strong, points: points.collect(), last }
    };
    let classes = (0..CLASSES.len()).map(|i| curve(CLASSES[i], CLASS_COLOURS[i], false, &|row| row.class_errors[i]));
    let total = curve("total", INK, true, &|row| row.error);
    classes.chain([total]).filter(|curve| !curve.points.is_empty()).collect()
}

fn draw_errors(canvas: &Canvas<'_>, curves: &[Curve], x: &Axis, top: f64, bottom: f64) -> Drawn {
    let errors = || curves.iter().flat_map(|curve| &curve.points).map(|(_, error)| *error);
    let mut least = errors().fold(f64::INFINITY, f64::min) / 1.2;
    let mut most = errors().fold(0.0, f64::max) * 1.2;
    // A landmark just outside is worth the room: it shows how near the run has come.
    let landmarks = LANDMARKS.iter().filter(|(_, error)| (least / 1.6..most * 1.6).contains(error));
    let landmarks: Vec<&(&str, f64)> = landmarks.collect();
    for (_, error) in &landmarks {
        least = least.min(error / 1.15);
        most = most.max(error * 1.15);
    }
    let y = Axis::logarithmic(least, most);
    let frame = Frame { canvas, x, y: &y, top, bottom };
    frame.draw("Error rate in mEMG a decision (logarithmic, lower is better)")?;

    let lines: Vec<Vec<Place>> = curves.iter().map(|curve| frame.places(&curve.points)).collect();
    for (name, error) in landmarks {
        let height = y.place(*error, bottom, top);
        canvas.dashes([(LEFT, height), (RIGHT, height)], MUTED)?;
        let style = Style { colour: MUTED, anchor: HPos::Right, ..Style::default() };
        canvas.text(name, frame.free_place(name, height, &lines), style)?;
    }
    for (curve, line) in curves.iter().zip(&lines) {
        canvas.line(line, curve.colour, if curve.strong { 2.5 } else { 1.25 })?;
        if curve.strong || line.len() == 1 {
            frame.dots(line, curve.colour, if curve.strong { 2.5 } else { 2.0 })?;
        }
    }

    let ends = curves.iter().zip(&lines).filter_map(|(curve, line)| Some((curve, line.last()?.1)));
    let mut ends: Vec<(&Curve, f64)> = ends.collect();
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let heights = spread(&ends.iter().map(|end| end.1).collect::<Vec<_>>(), top, bottom);
    for ((curve, end), height) in ends.into_iter().zip(heights) {
        canvas.line(&[(RIGHT + 4.0, end), (RIGHT + 14.0, height)], curve.colour, 1.0)?;
        let style = Style { colour: curve.colour, bold: curve.strong, ..Style::default() };
        let decimals = if curve.last < 100.0 { 2 } else { 0 };
        canvas.text(&format!("{} {:.decimals$}", curve.name, curve.last), (RIGHT + 18.0, height), style)?;
    }
    Ok(())
}

fn draw_points(canvas: &Canvas<'_>, rows: &[&Row], x: &Axis, top: f64, bottom: f64) -> Drawn {
    let interval = |row: &Row| row.rival_interval.abs().min(MOST_POINTS);
    let most =
        |rows: &mut dyn Iterator<Item = &&Row>| rows.map(|row| row.rival_points + interval(row)).fold(0.0, f64::max);
    // A win over untrained weights is so high that the scale would have no room for anything else.
    let usual = most(&mut rows.iter().filter(|row| row.rival_games > 0));
    let outlier = |row: &Row| usual > 0.0 && row.rival_games == 0 && row.rival_points > 1.5 * usual;
    let (outliers, rows): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| outlier(row));
    let least = rows.iter().map(|row| row.rival_points - interval(row)).fold(0.0, f64::min);
    let most = most(&mut rows.iter());
    let span = (most - least).max(0.02);
    let above = if outliers.is_empty() { 0.08 } else { 0.24 };
    let y = Axis::linear(least - 0.08 * span, most + above * span, 5);
    let frame = Frame { canvas, x, y: &y, top, bottom };
    frame.draw("Points a game against its own earlier weights, replaced when the games double (95 % interval)")?;
    let zero = y.place(0.0, bottom, top);
    canvas.line(&[(LEFT, zero), (RIGHT, zero)], FRAME, 1.0)?;

    let colour = CLASS_COLOURS[0];
    // Against another rival begins another curve.
    for rows in rows.chunk_by(|a, b| a.rival_games == b.rival_games) {
        let places = |value: &dyn Fn(&Row) -> f64| {
            frame.places(&rows.iter().map(|row| (row.games as f64, value(row))).collect::<Vec<_>>())
        };
        let line = places(&|row| row.rival_points);
        let lows = places(&|row| row.rival_points - interval(row));
        let highs = places(&|row| row.rival_points + interval(row));
        let (cap, grey) = if x.crowded { (0.0, PALE) } else { (3.0, FRAME) };
        for ((x, low), (_, high)) in lows.into_iter().zip(highs) {
            canvas.line(&[(x, low), (x, high)], grey, 1.25)?;
            for end in [low, high] {
                canvas.line(&[(x - cap, end), (x + cap, end)], grey, 1.25)?;
            }
        }
        canvas.line(&line, colour, 1.75)?;
        frame.dots(&line, colour, 3.0)?;
    }
    if let Some(row) = outliers.first() {
        let left = x.place(row.games as f64, LEFT, RIGHT);
        canvas.triangle((left, top + 10.0), colour)?;
        let text = format!("{:+.2} against untrained weights", row.rival_points);
        let style = Style { colour: MUTED, ..Style::default() };
        // Late in a short run the text has more room to the left.
        let (place, anchor) =
            if left + 8.0 + width(&text) < RIGHT { (left + 9.0, HPos::Left) } else { (left - 9.0, HPos::Right) };
        canvas.text(&text, (place, top + 10.0), Style { anchor, ..style })?;
    }
    if let Some(row) = rows.last() {
        let height = y.place(row.rival_points, bottom, top);
        let decimals = if row.rival_points.abs().max(interval(row)) < 10.0 { 3 } else { 0 };
        let text = format!("{:+.decimals$} ± {:.decimals$}", row.rival_points, interval(row));
        canvas.text(&text, (RIGHT + 10.0, height), Style { colour, ..Style::default() })?;
    }
    Ok(())
}

fn title(rows: &[Row]) -> String {
    let games = rows.iter().map(|row| row.games).max().unwrap_or_default();
    let seconds = rows.iter().map(|row| row.seconds).filter(|seconds| seconds.is_finite()).fold(0.0, f64::max);
    let time = match seconds {
        ..60.0 => format!("{seconds:.0} s"),
        ..600.0 => format!("{:.1} min", seconds / 60.0),
        ..3600.0 => format!("{:.0} min", seconds / 60.0),
        ..36e3 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    };
    format!("{} games of self-play in {time}", grouped(games))
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// Games from 0, in units that keep the labels short.
fn games_axis(rows: &[Row]) -> Axis {
    let most = rows.iter().map(|row| row.games).max().unwrap_or_default().max(1) as f64;
    let (unit, name) = match most {
        ..5e3 => (1.0, "games"),
        ..2e6 => (1e3, "games (thousands)"),
        ..2e9 => (1e6, "games (millions)"),
        _ => (1e9, "games (billions)"),
    };
    let mut ticks = even_ticks(0.0, most / unit, 6);
    for (value, _) in &mut ticks {
        *value *= unit;
    }
    Axis { least: 0.0, most, logarithmic: false, ticks, name, crowded: rows.len() > 60 }
}

/// What values an axis shows, and where it names them.
struct Axis {
    least: f64,
    most: f64,
    logarithmic: bool,
    ticks: Vec<(f64, String)>,
    name: &'static str,
    /// Whether marks at every measurement would run into each other.
    crowded: bool,
}

impl Axis {
    fn linear(least: f64, most: f64, ticks: usize) -> Self {
        let ticks = even_ticks(least, most, ticks);
        Self { least, most, logarithmic: false, ticks, name: "", crowded: false }
    }

    fn logarithmic(least: f64, most: f64) -> Self {
        let decades = least.log10().floor() as i32..=most.log10().ceil() as i32;
        let ticks = |digits: &'static [f64]| {
            let values = decades.clone().flat_map(|decade| digits.iter().map(move |digit| (digit, decade)));
            let tick = |(digit, decade): (&f64, i32)| {
                let value = digit * 10_f64.powi(decade);
                (value, format!("{value:.*}", (-decade).max(0) as usize))
            };
            values.map(tick).filter(|(value, _)| (least..=most).contains(value)).collect::<Vec<_>>()
        };
        let mut chosen = ticks(&[1.0, 2.0, 5.0]);
        if chosen.len() > 12 {
            chosen = ticks(&[1.0]);
        } else if chosen.len() < 3 {
            chosen = even_ticks(least, most, 5);
        }
        Self { least, most, logarithmic: true, ticks: chosen, name: "", crowded: false }
    }

    /// Where a value lies between two ends.
    fn place(&self, value: f64, from: f64, to: f64) -> f64 {
        let scale = |value: f64| if self.logarithmic { value.ln() } else { value };
        let share = (scale(value) - scale(self.least)) / (scale(self.most) - scale(self.least));
        from + share.clamp(0.0, 1.0) * (to - from)
    }
}

/// Round values at equal distances, about as many as asked for.
fn even_ticks(least: f64, most: f64, count: usize) -> Vec<(f64, String)> {
    let distance = (most - least) / count as f64;
    let power = distance.log10().floor();
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * 10_f64.powf(power));
    let step = steps.into_iter().find(|step| *step >= distance).unwrap_or(steps[3]);
    // Of a step like 0.05, not of the distance, which may be 0.04 or 0.009.
    let decimals = (-step.log10() - 1e-9).ceil().max(0.0) as usize;
    let indices = (least / step - 1e-9).ceil() as i64..=(most / step + 1e-9).floor() as i64;
    indices.map(|index| index as f64 * step).map(|value| (value, format!("{value:.decimals$}"))).collect()
}

/// Moves labels, sorted from top to bottom, as little as possible until none touches the next.
fn spread(heights: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    // Groups of touching labels: the mean place of their first label, and how many they are.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for &height in heights {
        let mut group = (height, 1);
        while let Some(&(first, count)) = groups.last()
            && first + count as f64 * LABEL_GAP > group.0
        {
            groups.pop();
            let moved = group.0 - count as f64 * LABEL_GAP;
            let together = count + group.1;
            group = ((first * count as f64 + moved * group.1 as f64) / together as f64, together);
        }
        groups.push(group);
    }
    let places = groups.iter().flat_map(|&(first, count)| (0..count).map(move |i| first + i as f64 * LABEL_GAP));
    // Keeping inside the diagram brings no label nearer to the next, as each end leaves room for those beyond.
    let count = heights.len();
    places
        .enumerate()
        .map(|(i, place)| place.max(top + i as f64 * LABEL_GAP).min(bottom - (count - 1 - i) as f64 * LABEL_GAP))
        .collect()
}

/// How wide a label is in a wide font; the viewer chooses which.
fn width(text: &str) -> f64 {
    0.62 * LABEL_SIZE * text.chars().count() as f64
}

/// One of the two diagrams.
struct Frame<'a, 'svg> {
    canvas: &'a Canvas<'svg>,
    x: &'a Axis,
    y: &'a Axis,
    top: f64,
    bottom: f64,
}

impl Frame<'_, '_> {
    fn draw(&self, heading: &str) -> Drawn {
        let Self { canvas, top, bottom, .. } = *self;
        canvas.text(heading, (LEFT, top - 14.0), Style { size: HEADING_SIZE, ..Style::default() })?;
        for (value, _) in &self.x.ticks {
            let x = self.x.place(*value, LEFT, RIGHT);
            canvas.line(&[(x, top), (x, bottom)], GRID, 1.0)?;
        }
        let style = Style { colour: MUTED, anchor: HPos::Right, ..Style::default() };
        for (value, label) in &self.y.ticks {
            let y = self.y.place(*value, bottom, top);
            canvas.line(&[(LEFT, y), (RIGHT, y)], GRID, 1.0)?;
            canvas.text(label, (LEFT - 8.0, y), style)?;
        }
        canvas.line(&[(LEFT, top), (LEFT, bottom), (RIGHT, bottom)], FRAME, 1.0)
    }

    fn places(&self, points: &[(f64, f64)]) -> Vec<Place> {
        let place = |&(x, y): &(f64, f64)| (self.x.place(x, LEFT, RIGHT), self.y.place(y, self.bottom, self.top));
        points.iter().map(place).collect()
    }

    fn dots(&self, line: &[Place], colour: RGBColor, radius: f64) -> Drawn {
        if self.x.crowded && line.len() > 1 {
            return Ok(());
        }
        line.iter().try_for_each(|place| self.canvas.dot(*place, colour, radius))
    }

    /// Where a label of a horizontal line may end without crossing a curve; the right end is tried first.
    fn free_place(&self, label: &str, height: f64, lines: &[Vec<Place>]) -> Place {
        let (width, margin) = (width(label), 8.0);
        let room = RIGHT - LEFT - width - 2.0 * margin;
        let places = (0..=20).flat_map(|step| {
            let right = RIGHT - margin - room * f64::from(step) / 20.0;
            [(right, height - 10.0), (right, height + 10.0)]
        });
        let free = |&(right, middle): &Place| {
            let inside = |(x, y): Place| (right - width - 6.0..right + 6.0).contains(&x) && (y - middle).abs() < 11.0;
            let crosses = |line: &Vec<Place>| {
                line.iter().any(|place| inside(*place))
                    || line.windows(2).any(|ends| {
                        let ((x, y), (to_x, to_y)) = (ends[0], ends[1]);
                        (1..64).map(|i| f64::from(i) / 64.0).any(|t| inside((x + t * (to_x - x), y + t * (to_y - y))))
                    })
            };
            self.top < middle - 8.0 && middle + 8.0 < self.bottom && !lines.iter().any(crosses)
        };
        let otherwise = (RIGHT - margin, height - 10.0);
        places.into_iter().find(free).unwrap_or(otherwise)
    }
}

#[derive(Clone, Copy)]
struct Style {
    size: f64,
    colour: RGBColor,
    bold: bool,
    anchor: HPos,
}

impl Default for Style {
    fn default() -> Self {
        Self { size: LABEL_SIZE, colour: INK, bold: false, anchor: HPos::Left }
    }
}

/// What is drawn on, in pixels.
struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
}

impl Canvas<'_> {
    fn line(&self, places: &[Place], colour: RGBColor, width: f64) -> Drawn {
        let places: Vec<(i32, i32)> = places.iter().map(|place| units(*place)).collect();
        self.area.draw(&PathElement::new(places, colour.stroke_width((UNITS * width) as u32)))
    }

    fn dashes(&self, ends: [Place; 2], colour: RGBColor) -> Drawn {
        let (dash, gap) = ((UNITS * 1.5) as u32, (UNITS * 3.5) as u32);
        let style = colour.stroke_width((UNITS * 1.25) as u32);
        let mut dashes = DashedLineSeries::new(ends.map(units), dash, gap, style).into_iter();
        dashes.try_for_each(|dashes| self.area.draw(&dashes))
    }

    fn dot(&self, place: Place, colour: RGBColor, radius: f64) -> Drawn {
        self.area.draw(&Circle::new(units(place), (UNITS * radius) as i32, colour.filled()))
    }

    fn triangle(&self, place: Place, colour: RGBColor) -> Drawn {
        self.area.draw(&TriangleMarker::new(units(place), (UNITS * 5.0) as i32, colour.filled()))
    }

    /// Text beside, or around, a place, at its middle height.
    fn text(&self, text: &str, place: Place, style: Style) -> Drawn {
        // The SVG backend divides font sizes by 1.24.
        let font = ("sans-serif", 1.24 * UNITS * style.size).into_font();
        let font = if style.bold { font.style(FontStyle::Bold) } else { font };
        let font = font.color(&style.colour).pos(Pos::new(style.anchor, VPos::Center));
        self.area.draw(&Text::new(text, units(place), font))
    }
}

fn units((x, y): Place) -> (i32, i32) {
    ((UNITS * x).round() as i32, (UNITS * y).round() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "games,positions,seconds,lambda,rate,contact_loss,race_loss,rival_games,rival_points,\
                          rival_interval,error,error_contact,error_crashed,error_race,error_bearoff";

    fn row(games: u64, error: Option<f64>) -> Row {
        Row {
            games,
            seconds: games as f64 / 100.0,
            rival_games: games / 2,
            rival_points: 0.05,
            rival_interval: 0.02,
            error,
            class_errors: [error; 4],
        }
    }

    /// The texts of the picture.
    fn labels(svg: &str) -> Vec<&str> {
        let texts = svg.split("</text>").filter_map(|part| part.rsplit_once("<text ")?.1.split_once('>'));
        texts.map(|(_, label)| label.trim()).collect()
    }

    fn check(svg: &str) {
        assert!(svg.starts_with("<svg width=\"800\" height=\""), "{}", &svg[..80]);
        assert!(svg.ends_with("</svg>\n"));
        for tag in ["svg", "text"] {
            let (opened, closed) =
                (svg.matches(&format!("<{tag} ")).count(), svg.matches(&format!("</{tag}>")).count());
            assert_eq!(opened, closed, "{tag}");
        }
        assert!(svg.matches('<').count() == svg.matches('>').count());
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn columns_go_by_name() {
        let text = format!("{HEADER}\n1000,9,3.5,0.7,1e-3,1.2,NaN,500,0.125,0.02,30.5,31,32,33,\n");
        let expected = Row {
            games: 1000,
            seconds: 3.5,
            rival_games: 500,
            rival_points: 0.125,
            rival_interval: 0.02,
            error: Some(30.5),
            class_errors: [Some(31.0), Some(32.0), Some(33.0), None],
        };
        assert_eq!(parse(&text), Ok(vec![expected.clone()]));
        let backwards = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",");
        let text: String = text.lines().map(|line| backwards(line) + "\r\n").collect();
        assert_eq!(parse(&text), Ok(vec![expected]));
        assert_eq!(parse(HEADER), Ok(vec![]));
    }

    #[test]
    fn faults_are_named() {
        let good = "1000,9,3.5,0.7,1e-3,1.2,0.3,500,0.125,0.02,,,,,";
        let lines = |line: &str| format!("{HEADER}\n{good}\n{line}\n");
        for (text, message) in [
            (String::new(), "no column games"),
            (HEADER.replace("rival_interval", "interval"), "no column rival_interval"),
            (HEADER.replace("error_race", "race"), "no column error_race"),
            (lines("1,2,3"), "line 3 has 3 fields instead of 15: \"1,2,3\""),
            (lines(""), "line 3 has 1 fields instead of 15: \"\""),
            (lines(&good.replace("1000", "-5")), "line 3: games is \"-5\", not a number"),
            (lines(&good.replace("0.125", "much")), "line 3: rival_points is \"much\", not a number"),
            (lines(&good.replace("0.02,", "0.02,1.x")), "line 3: error is \"1.x\", not a number"),
            (lines(&good.replace("0.7", "")), "line 3: lambda is \"\", not a number"),
            (lines(&good.replace("0.125", "")), "line 3: rival_points is \"\", not a number"),
        ] {
            let fault = parse(&text).unwrap_err();
            assert_eq!(fault.to_string(), message);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        assert!(read(&path).unwrap_err().to_string().starts_with(&format!("{}: ", path.display())));
        fs::write(&path, lines("1,2,3")).unwrap();
        let message = read(&path).unwrap_err().to_string();
        assert!(message.contains("metrics.csv: line 3 has 3 fields"), "{message}");
    }

    #[test]
    fn everything_is_labelled() {
        let rows: Vec<Row> = (1..=20).map(|i| row(i * 500_000, Some(60.0 / i as f64))).collect();
        let svg = svg(&rows).unwrap();
        check(&svg);
        let labels = labels(&svg);
        for label in [
            "10,000,000 games of self-play in 28 h",
            "GNU Backgammon 0-ply 2.52",
            "pubeval 38",
            "total 3.00",
            "contact 3.00",
            "crashed 3.00",
            "race 3.00",
            "bearoff 3.00",
            "games (millions)",
            "10",
            "+0.050 ± 0.020",
        ] {
            assert!(labels.contains(&label), "{label}: {labels:?}");
        }
    }

    #[test]
    fn no_error_is_labelled_as_such() {
        let svg = svg(&[Row { class_errors: [None, None, None, Some(0.0)], ..row(1000, Some(5.0)) }]).unwrap();
        assert!(labels(&svg).contains(&"bearoff 0.00"));
    }

    #[test]
    fn landmarks_far_away_are_left_out() {
        let svg = svg(&[row(1000, Some(1000.0)), row(2000, Some(500.0))]).unwrap();
        assert!(!svg.contains("GNU") && !svg.contains("pubeval"));
    }

    #[test]
    fn without_reference_only_the_points_are_drawn() {
        let svg = svg(&[row(1000, None), row(2000, None)]).unwrap();
        check(&svg);
        assert!(svg.contains("Points a game") && !svg.contains("mEMG") && !svg.contains("pubeval"));
    }

    #[test]
    fn nothing_to_plot() {
        assert!(matches!(svg(&[]), Err(PlotError::Nothing)));
        let nothing = Row { rival_points: f64::NAN, ..row(1, Some(f64::INFINITY)) };
        assert!(matches!(svg(&[nothing]), Err(PlotError::Nothing)));
    }

    #[test]
    fn an_untrained_rival_does_not_set_the_scale() {
        let untrained = Row { rival_games: 0, rival_points: 2.25, ..row(1000, None) };
        let with = svg(&[untrained.clone(), row(2000, None)]).unwrap();
        assert!(labels(&with).contains(&"+2.25 against untrained weights"));
        assert!(!labels(&with).contains(&"2"));
        let alone = svg(&[untrained]).unwrap();
        assert!(!alone.contains("untrained") && labels(&alone).contains(&"2"));
    }

    #[test]
    fn any_values_are_drawn() {
        let extremes = [0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY];
        for games in [0, 1, 3, 999, 1 << 40, u64::MAX] {
            check(&svg(&[row(games, Some(5.0))]).unwrap());
            check(&svg(&vec![row(games, Some(5.0)); 100]).unwrap());
            for value in extremes {
                for other in extremes {
                    let strange = Row {
                        seconds: value,
                        rival_points: value,
                        rival_interval: other,
                        error: Some(other),
                        class_errors: [Some(value), None, Some(other), Some(0.0)],
                        ..row(games, None)
                    };
                    check(&svg(&[strange.clone(), row(7, Some(3.0))]).unwrap());
                    check(&svg(&[row(u64::MAX, None), strange]).unwrap());
                }
            }
        }
    }

    #[test]
    fn ticks_are_round() {
        let labels = |ticks: Vec<(f64, String)>| ticks.into_iter().map(|tick| tick.1).collect::<Vec<_>>();
        assert_eq!(labels(even_ticks(0.0, 10.0, 6)), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(even_ticks(-0.012, 0.031, 5)), ["-0.01", "0.00", "0.01", "0.02", "0.03"]);
        assert_eq!(labels(Axis::logarithmic(0.4, 30.0).ticks), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(labels(Axis::logarithmic(2.2, 4.4).ticks), ["2.5", "3.0", "3.5", "4.0"]);
    }

    #[test]
    fn labels_keep_apart() {
        assert_eq!(spread(&[10.0, 100.0], 0.0, 200.0), [10.0, 100.0]);
        assert_eq!(spread(&[50.0, 50.0, 50.0], 0.0, 200.0), [34.0, 50.0, 66.0]);
        for heights in [[0.0; 5], [200.0; 5], [0.0, 1.0, 99.0, 199.0, 200.0]] {
            let places = spread(&heights, 0.0, 200.0);
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_GAP - 1e-9), "{places:?}");
            assert!(places.iter().all(|place| (0.0..=200.0).contains(place)), "{places:?}");
        }
    }
}
