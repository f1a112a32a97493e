//! The file of an import, read as a whole: either every row of it is valid, or the rows that are not are named.

use std::{
    collections::HashMap,
    io::{self, Read},
};

use csv::{ByteRecord, ReaderBuilder};

use super::problems::Problems;
use crate::{
    catalog::Sku,
    money::{Currency, Money},
};

/// The columns, each of which the header names once, in any order.
const COLUMNS: [&str; 5] = ["sku", "name", "price", "stock", "description"];

/// Far more than any catalog of this shop, and no danger to its memory.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

const NAME_CHARS_MAX: usize = 100;
const DESCRIPTION_CHARS_MAX: usize = 2_000;

/// More than anybody stores; what is added up of it still fits.
const STOCK_MAX: i64 = 1_000_000_000;

/// A valid row.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where it begins.
    pub line: u64,
    /// The product.
    pub sku: Sku,
    /// What it is called.
    pub name: String,
    /// What one costs, tax included.
    pub price: Money,
    /// How many units were delivered so far, sold or not.
    pub stock: i64,
    /// A sentence or two.
    pub description: String,
}

/// Reads the rows, in the order of their SKUs.
pub fn read(from: impl Read, currency: Currency) -> Result<Vec<Entry>, Unreadable> {
    let mut bytes = Vec::new();
    from.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > BYTES_MAX) {
        return Err(Unreadable::TooLong);
    }
    let mut problems = Problems::default();
    quotes_are_closed(&bytes, &mut problems);
    let entries = rows(&bytes, currency, &mut problems);
    problems.or(entries).map_err(Unreadable::Refused)
}

/// A quote within quotes is doubled, so all of a file come in pairs (RFC 4180, section 2). One that is never closed takes the
/// rest of the file for its text, and so does a file that was cut off.
fn quotes_are_closed(bytes: &[u8], problems: &mut Problems) {
    let is_quote = |byte: &u8| *byte == b'"';
    let quotes = bytes.iter().filter(|byte| is_quote(byte)).count();
    if quotes % 2 == 0 {
        return;
    }
    let before_last = bytes.rsplitn(2, is_quote).nth(1).unwrap_or_default();
    let line = before_last.split(|byte| *byte == b'\n').count();
    let line = u64::try_from(line).unwrap_or(u64::MAX);
    problems.add(line, "quotes", "one is opened and never closed");
}

fn rows(bytes: &[u8], currency: Currency, problems: &mut Problems) -> Vec<Entry> {
    let mut lines = Lines {
        bytes,
        at: 0,
        line: 1,
    };
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes);
    let mut record = ByteRecord::new();
    // Reading from memory does not fail.
    let mut next = |record: &mut ByteRecord| {
        let found = reader.read_byte_record(record).unwrap_or(false);
        let start = record.position().map_or(0, csv::Position::byte);
        found.then(|| lines.of(start))
    };
    let Some(columns) = next(&mut record).and_then(|line| columns(&record, line, problems)) else {
        if problems.is_empty() {
            problems.add(
                1,
                "header",
                "it is missing: the first line is sku,name,price,stock,description",
            );
        }
        return Vec::new();
    };
    let mut entries: Vec<Entry> = Vec::new();
    let mut seen: HashMap<Sku, u64> = HashMap::new();
    while let Some(line) = next(&mut record) {
        let mut row = Row {
            record: &record,
            columns,
            line,
            problems,
        };
        let Some(entry) = row.entry(currency) else {
            continue;
        };
        match seen.insert(entry.sku.clone(), line) {
            Some(first) => {
                problems.add(
                    line,
                    "sku",
                    format!("{} is in line {first} already", entry.sku),
                );
                seen.insert(entry.sku, first);
            }
            None => entries.push(entry),
        }
    }
    // The order in which purchases take them too: nobody waits in a circle.
    entries.sort_by(|a, b| a.sku.cmp(&b.sku));
    entries
}

/// The places of the columns, when the header names exactly these.
fn columns(header: &ByteRecord, line: u64, problems: &mut Problems) -> Option<[usize; 5]> {
    let named: Vec<String> = header
        .iter()
        .map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned())
        .collect();
    for unknown in named
        .iter()
        .filter(|name| !COLUMNS.contains(&name.as_str()))
    {
        problems.add(line, "header", format!("there is no column {unknown:?}"));
    }
    let mut places = [0; 5];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let mut found = named.iter().enumerate().filter(|(_, name)| *name == column);
        match (found.next(), found.next()) {
            (Some((at, _)), None) => *place = at,
            (None, _) => problems.add(line, "header", format!("the column {column} is missing")),
            (Some(_), Some(_)) => problems.add(
                line,
                "header",
                format!("the column {column} is there twice"),
            ),
        }
    }
    (problems.is_empty()).then_some(places)
}

/// A row that is being read.
struct Row<'a> {
    record: &'a ByteRecord,
    columns: [usize; 5],
    line: u64,
    problems: &'a mut Problems,
}

impl Row<'_> {
    /// The entry, or `None` and all that is wrong with it.
    fn entry(&mut self, currency: Currency) -> Option<Entry> {
        let (has, needs) = (self.record.len(), COLUMNS.len());
        if has != needs {
            self.problems.add(
                self.line,
                "row",
                format!("it has {has} fields, and the header has {needs}"),
            );
            return None;
        }
        let [sku, name, price, stock, description] = self.columns;
        let sku = self.field("sku", sku, |text| {
            text.parse::<Sku>().map_err(|error| error.to_string())
        });
        let name = self.field("name", name, name_of);
        let price = self.field("price", price, |text| price_of(text, currency));
        let stock = self.field("stock", stock, stock_of);
        let description = self.field("description", description, description_of);
        Some(Entry {
            line: self.line,
            sku: sku?,
            name: name?,
            price: price?,
            stock: stock?,
            description: description?,
        })
    }

    fn field<T>(
        &mut self,
        column: &'static str,
        place: usize,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let bytes = self.record.get(place).unwrap_or_default();
        let parsed = match str::from_utf8(bytes) {
            Ok(text) => parse(text.trim()),
            Err(_) => Err("it is not UTF-8".to_owned()),
        };
        parsed
            .map_err(|what| self.problems.add(self.line, column, what))
            .ok()
    }
}

fn name_of(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    printable(text, NAME_CHARS_MAX, |_| false)
}

/// A paragraph may have more than one line.
fn description_of(text: &str) -> Result<String, String> {
    printable(text, DESCRIPTION_CHARS_MAX, |letter| {
        matches!(letter, '\n' | '\r')
    })
}

fn printable(
    text: &str,
    chars_max: usize,
    is_allowed: impl Fn(char) -> bool,
) -> Result<String, String> {
    if text.chars().count() > chars_max {
        return Err(format!("it is too long: {chars_max} characters at most"));
    }
    if text
        .chars()
        .any(|letter| letter.is_control() && !is_allowed(letter))
    {
        return Err("it has characters that cannot be printed".to_owned());
    }
    Ok(text.to_owned())
}

fn price_of(text: &str, currency: Currency) -> Result<Money, String> {
    let price = Money::parse(text, currency).map_err(|error| error.to_string())?;
    if price.minor == 0 {
        return Err("nothing is sold for nothing".to_owned());
    }
    Ok(price)
}

fn stock_of(text: &str) -> Result<i64, String> {
    let is_number = text.bytes().all(|digit| digit.is_ascii_digit());
    let stock = text
        .parse()
        .ok()
        .filter(|stock| is_number && *stock <= STOCK_MAX);
    stock.ok_or_else(|| format!("not a whole number from 0 to {STOCK_MAX}"))
}

/// Which line a place in the file is on. The places come in order.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// A record begins where the last one ended: its first own byte is behind the line breaks.
    fn of(&mut self, start: u64) -> u64 {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        while let Some(byte) = self.bytes.get(self.at) {
            if self.at >= start && !matches!(byte, b'\n' | b'\r') {
                break;
            }
            if *byte == b'\n' {
                self.line += 1;
            }
            self.at += 1;
        }
        self.line
    }
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It could not be.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It cannot be a catalog.
    #[error("longer than {} MiB", BYTES_MAX / 1024 / 1024)]
    TooLong,
    /// Rows of it are wrong.
    #[error("rows of it are wrong")]
    Refused(Problems),
}
