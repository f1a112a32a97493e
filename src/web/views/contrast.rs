//! The colours of `static/css/base.css`, measured as WCAG 2.2 does it.

use super::super::assets::Assets;

/// What meets as text and ground. Everything on a panel is also listed on the panel's ground.
const TEXT: [(&str, &str); 26] = [
    ("ink", "ground"),
    ("ink", "surface"),
    ("ink", "tile"),
    ("ink", "good-ground"),
    ("ink", "wait-ground"),
    ("ink", "bad-ground"),
    ("ink-soft", "ground"),
    ("ink-soft", "surface"),
    ("ink-soft", "tile"),
    ("ink-soft", "wait-ground"),
    ("accent", "ground"),
    ("accent", "surface"),
    ("accent", "tile"),
    ("accent", "wait-ground"),
    ("accent", "good-ground"),
    ("accent-hover", "ground"),
    ("accent-hover", "bad-ground"),
    ("on-accent", "accent"),
    ("on-accent", "accent-hover"),
    ("good", "good-ground"),
    ("wait", "wait-ground"),
    ("wait", "tile"),
    ("bad", "bad-ground"),
    ("bad", "tile"),
    ("bad", "surface"),
    ("bad", "ground"),
];

/// What is not read but has to be seen: the frames of fields and of the focus.
const EDGES: [(&str, &str); 4] = [
    ("edge", "ground"),
    ("edge", "surface"),
    ("accent", "tile"),
    ("bad", "surface"),
];

#[test]
fn text_can_be_read_in_the_light_and_in_the_dark() {
    let css = Assets::get("css/base.css").expect("the base stylesheet");
    let css = String::from_utf8(css.data.into_owned()).expect("UTF-8");
    let (light, dark) = css
        .split_once("@media (prefers-color-scheme: dark)")
        .expect("a dark scheme");

    for (scheme, css) in [("light", light), ("dark", dark)] {
        for (pairs, least) in [(TEXT.as_slice(), 4.5), (EDGES.as_slice(), 3.0)] {
            for (front, back) in pairs {
                let contrast = contrast(colour(css, front), colour(css, back));
                assert!(
                    contrast >= least,
                    "{scheme}: {front} on {back} has {contrast:.2}, less than {least}"
                );
            }
        }
    }
}

/// The six hexadecimal digits after `--name:`.
fn colour(css: &str, name: &str) -> [u8; 3] {
    let (_, rest) = css.split_once(&format!("--{name}: #")).expect(name);
    let mut rgb = [0; 3];
    hex::decode_to_slice(rest.get(..6).expect(name), &mut rgb).expect(name);
    rgb
}

fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance(rgb: [u8; 3]) -> f64 {
    let [red, green, blue] = rgb.map(|channel| {
        let channel = f64::from(channel) / 255.0;
        if channel <= 0.04045 {
            channel / 12.92
        } else {
            ((channel + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}
