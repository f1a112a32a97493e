//! What is understood, and what is refused with which words.

use serde_json::{Value, json};

use super::{Fault, Index, Kind, parse};

const INDEX: Index = Index {
    kind: "thing",
    resource: "things",
    fields: &[
        ("amount", Kind::Number),
        ("status", Kind::Token),
        ("card.last4", Kind::Token),
        ("note", Kind::Text),
    ],
};

fn thing() -> Value {
    json!({
        "amount": 1000,
        "status": "succeeded",
        "card": { "last4": "4242" },
        "note": "Leave it at the Door",
        "customer": null,
        "metadata": { "order": "Seven", "a/b~c": "it's \"so\"" }
    })
}

fn matches(query: &str) -> bool {
    parse(query, &INDEX).unwrap().matches(&thing())
}

fn fault(query: &str) -> Fault {
    parse(query, &INDEX).unwrap_err()
}

#[test]
fn a_clause_compares_one_field() {
    for query in [
        "amount:1000",
        "amount:'1000'",
        "amount>999",
        "amount>=1000",
        "amount<1000.5",
        "amount<=\"1000\"",
        "status:'succeeded'",
        "status:\"SUCCEEDED\"",
        "card.last4:4242",
        "note~'the door'",
        "-note~'window'",
        "note:'leave it at the door'",
        "metadata['order']:'seven'",
        "metadata[\"order\"]:\"Seven\"",
        r#"metadata['a/b~c']:'it\'s "so"'"#,
        r#"metadata["a/b~c"]:"it's \"so\"""#,
        "metadata['none']:null",
        "-metadata['order']:null",
        "-amount:1",
        "-status:'canceled'",
        "  amount:1000  ",
    ] {
        assert!(matches(query), "{query}");
    }
    for query in [
        "amount>1000",
        "amount<1000",
        "amount:1",
        "amount:null",
        "status:'succeed'",
        "metadata['order']:null",
        "metadata['none']:'x'",
        "-status:'succeeded'",
    ] {
        assert!(!matches(query), "{query}");
    }
}

#[test]
fn clauses_are_joined_by_one_word() {
    for query in [
        "amount:1000 status:'succeeded'",
        "amount:1000 AND status:'succeeded'",
        "amount:1000   and   -amount:1 AND status:'succeeded'",
        "amount:1 OR status:'succeeded'",
        "amount:1 or amount:2 or amount:1000",
    ] {
        assert!(matches(query), "{query}");
    }
    assert!(!matches("amount:1000 AND status:'x'"));
    assert!(!matches("amount:1 OR status:'x'"));
    for query in [
        "amount:1 AND amount:2 OR amount:3",
        "amount:1 OR amount:2 AND amount:3",
        "amount:1 amount:2 OR amount:3",
        "amount:1 OR amount:2 amount:3",
    ] {
        assert_eq!(fault(query), Fault::Mixed, "{query}");
    }
    let clauses = |number| vec!["amount:1000"; number].join(" ");
    assert!(matches(&clauses(10)));
    assert_eq!(fault(&clauses(11)), Fault::TooManyClauses);
}

#[test]
fn what_cannot_be_understood_is_refused_where_it_goes_wrong() {
    for (query, expected, position) in [
        ("", "a field", 1),
        ("   ", "a field", 4),
        ("-", "a field", 2),
        ("'x'", "a field", 1),
        ("amount", "an operator", 7),
        ("amount=1", "an operator", 7),
        ("amount:", "a value in quotes", 8),
        ("amount: 1", "a value in quotes", 8),
        ("status:succeeded", "a value in quotes", 8),
        ("status:'succeeded", "a closing quote", 18),
        ("metadata[order]:'7'", "a key in quotes", 10),
        ("metadata['order':'7'", "a closing bracket", 17),
        ("amount:1 AND", "a field", 13),
        ("amount:1 AND ", "a field", 14),
        ("amount:1e3", "a value in quotes", 8),
    ] {
        let fault = fault(query);
        assert_eq!(fault, Fault::Syntax { expected, position }, "{query}");
    }
}

#[test]
fn fields_and_operators_must_fit() {
    let operator = |operator, field: &str| Fault::Operator {
        operator,
        field: field.to_owned(),
    };
    assert_eq!(fault("status>'a'"), operator(">", "status"));
    assert_eq!(fault("status~'succ'"), operator("~", "status"));
    assert_eq!(fault("amount~'100'"), operator("~", "amount"));
    assert_eq!(fault("amount>null"), operator(">", "amount"));
    assert_eq!(fault("metadata['a']~'abc'"), operator("~", "metadata[a]"));
    assert_eq!(
        fault("amount>'ten'"),
        Fault::NotANumber("amount".to_owned())
    );
    for field in ["emial", "metadata", "card", "amount.x"] {
        let unknown = Fault::UnknownField {
            field: field.to_owned(),
            resource: "things",
        };
        assert_eq!(fault(&format!("{field}:'x'")), unknown);
    }
}
