use super::Chrome;

/// `GET /`: everything that is for sale.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "catalog.html")]
pub struct CatalogPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// The goods, in the order in which they are shown.
    pub products: Vec<Product>,
}

/// `GET /products/{sku}`: one product.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "product.html")]
pub struct ProductPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// The product.
    pub product: Product,
    /// The number of units in the form: "1", or what was typed.
    pub quantity: String,
    /// Why that many could not be put into the cart.
    pub error: Option<String>,
}

/// A product as it is offered.
#[derive(Clone, Debug, Default)]
pub struct Product {
    /// The SKU: letters, digits and hyphens, since it is part of addresses.
    pub sku: String,
    /// The name.
    pub name: String,
    /// A sentence or two.
    pub description: String,
    /// The price of one unit, such as "€4.90".
    pub price: String,
    /// The units on hand. With none there is no button.
    pub stock: i64,
}

impl Product {
    /// From how few units on the number is worth telling.
    const FEW: i64 = 10;

    /// "In stock", "Only 3 left" or "Sold out".
    pub fn availability(&self) -> String {
        match self.stock {
            ..=0 => "Sold out".to_owned(),
            1..=Self::FEW => format!("Only {} left", self.stock),
            _ => "In stock".to_owned(),
        }
    }
}
