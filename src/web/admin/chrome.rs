//! What is around each of the operator's pages.

/// The pages that can be gone to from every other: address and name.
const PAGES: [(&str, &str); 10] = [
    ("/admin", "Overview"),
    ("/admin/checkouts", "Checkouts"),
    ("/admin/orders", "Orders"),
    ("/admin/customers", "Customers"),
    ("/admin/refunds", "Refunds"),
    ("/admin/events", "Events"),
    ("/admin/outbox", "Outbox"),
    ("/admin/mail", "Mail"),
    ("/admin/discrepancies", "Discrepancies"),
    ("/admin/audit", "Audit"),
];

/// What is around a page.
#[derive(Clone, Debug)]
pub struct Chrome {
    here: &'static str,
}

/// A link to one of the pages.
pub struct Link {
    /// Where to.
    pub url: &'static str,
    /// What it says.
    pub label: &'static str,
    /// Whether it leads to where one is.
    pub is_here: bool,
}

impl Chrome {
    /// Around the page at `here`, or one below it.
    pub fn at(here: &'static str) -> Self {
        Self { here }
    }

    /// The links of the navigation.
    pub fn links(&self) -> [Link; PAGES.len()] {
        PAGES.map(|(url, label)| Link {
            url,
            label,
            is_here: url == self.here,
        })
    }
}
