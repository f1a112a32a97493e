//! What somebody typed, on a form or into a program: whether it can be used, and if not, what to say.

use crate::mail;

/// The most characters of an e-mail address: RFC 5321, section 4.5.3.1.3, less the angle brackets of a path.
pub const EMAIL_MAX: usize = 254;

/// The most characters of a name.
pub const NAME_MAX: usize = 100;

/// What is wrong with a text; `None` when nothing is.
pub fn wrong_text(text: &str, chars_max: usize, when_empty: &str) -> Option<String> {
    if text.is_empty() {
        Some(when_empty.to_owned())
    } else if text.chars().count() > chars_max {
        Some(format!("This is too long: {chars_max} characters at most."))
    } else if text.chars().any(char::is_control) {
        // A line break could become a header of a mail, and PostgreSQL stores no NUL.
        Some("This has characters that cannot be printed.".to_owned())
    } else {
        None
    }
}

/// What is wrong with a name.
pub fn wrong_name(text: &str) -> Option<String> {
    wrong_text(text, NAME_MAX, "Enter your name.")
}

/// What is wrong with an e-mail address. Finds typing mistakes, not more: whether it exists only a mail to it can tell.
pub fn wrong_email(text: &str) -> Option<String> {
    let well_formed = || {
        text.split_once('@').is_some_and(|(local, domain)| {
            let one_at = !domain.contains('@');
            let dotted =
                domain.split('.').count() > 1 && domain.split('.').all(|label| !label.is_empty());
            !local.is_empty() && one_at && dotted && !text.contains(char::is_whitespace)
        }) && mail::can_be_sent_to(text)
    };
    wrong_text(text, EMAIL_MAX, "Enter your e-mail address.").or_else(|| {
        (!well_formed()).then(|| "Enter an e-mail address such as name@example.com.".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_at_and_a_domain() {
        for good in [
            "a@b.example",
            "o'neill+tag@mail.example.com",
            "köln@bücher.example",
        ] {
            assert_eq!(wrong_email(good), None, "{good}");
        }
        for bad in [
            "",
            "a",
            "a@b",
            "@b.example",
            "a@",
            "a@@b.example",
            "a b@c.example",
            "a@.b",
            "a@b.example\0",
            // No mail program could send to these.
            "a..b@example.com",
            "a@-x.example",
            "a,b@x.example",
            "a@[127.0.0.1]",
        ] {
            assert!(wrong_email(bad).is_some(), "{bad:?}");
        }
    }

    #[test]
    fn a_text_may_have_its_longest_length_and_no_more() {
        for (length, good) in [(100, true), (101, false)] {
            let found = wrong_text(&"ü".repeat(length), 100, "Enter something.");
            assert_eq!(found.is_none(), good, "{length}");
        }
    }
}
