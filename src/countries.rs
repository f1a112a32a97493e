//! The countries that goods are sent to.

/// Where we send to: ISO 3166-1 code and name, in the order of the names.
pub const COUNTRIES: [(&str, &str); 12] = [
    ("AT", "Austria"),
    ("BE", "Belgium"),
    ("DK", "Denmark"),
    ("FR", "France"),
    ("DE", "Germany"),
    ("IE", "Ireland"),
    ("IT", "Italy"),
    ("NL", "Netherlands"),
    ("ES", "Spain"),
    ("SE", "Sweden"),
    ("CH", "Switzerland"),
    ("GB", "United Kingdom"),
];

/// The name of a country that we send to; of any other its code.
pub fn country_name(code: &str) -> &str {
    let known = COUNTRIES.iter().find(|(known, _)| *known == code);
    known.map_or(code, |(_, name)| name)
}
