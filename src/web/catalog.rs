//! The goods.

use axum::{extract::State, http::StatusCode, response::Response};

use super::{error::PageError, path::Path, show, views, visitor::Visitor};
use crate::{
    app::App,
    catalog::{self, Product},
};

/// `GET /`.
pub async fn list(State(app): State<App>, visitor: Visitor) -> Result<Response, PageError> {
    let products = catalog::list(&app.till.db).await?;
    let page = views::CatalogPage {
        chrome: visitor.chrome(&app).await?,
        products: products.iter().map(view).collect(),
    };
    show::page(StatusCode::OK, &page)
}

/// `GET /products/{sku}`.
pub async fn product(
    State(app): State<App>,
    visitor: Visitor,
    Path(sku): Path<String>,
) -> Result<Response, PageError> {
    let product = find(&app, &sku).await?;
    let page = views::ProductPage {
        chrome: visitor.chrome(&app).await?,
        product: view(&product),
        quantity: "1".to_owned(),
        error: None,
    };
    show::page(StatusCode::OK, &page)
}

/// The product named by a text from outside.
pub async fn find(app: &App, sku: &str) -> Result<Product, PageError> {
    let sku = sku.parse().map_err(|_| PageError::NotFound)?;
    let product = catalog::find(&app.till.db, &sku).await?;
    product.ok_or(PageError::NotFound)
}

/// What a page shows of a product.
pub fn view(product: &Product) -> views::Product {
    views::Product {
        sku: product.sku.to_string(),
        name: product.name.clone(),
        description: product.description.clone(),
        price: product.price().to_string(),
        stock: product.stock,
    }
}
