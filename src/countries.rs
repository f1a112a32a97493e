//! The countries that goods are sent to.

/// Where we send to: ISO 3166-1 code and name.
pub const COUNTRIES: [(&str, &str); 12] = [
    ("AT", "Austria"),
    ("BE", "Belgium"),
    ("CH", "Switzerland"),
    ("DE", "Germany"),
    ("DK", "Denmark"),
    ("ES", "Spain"),
    ("FR", "France"),
    ("GB", "United Kingdom"),
    ("IE", "Ireland"),
    ("IT", "Italy"),
    ("NL", "Netherlands"),
    ("SE", "Sweden"),
];

/// The name of a country that we send to; of any other its code.
pub fn country_name(code: &str) -> &str {
    let known = COUNTRIES.iter().find(|(known, _)| *known == code);
    known.map_or(code, |(_, name)| name)
}
