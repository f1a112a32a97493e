//! What all the lists have in common: a page of all rows, or of those that somebody looks for, and the ways to the pages
//! before and after.

use super::{
    error::Failure,
    list::{Around, Cell, ListPage, Search, Table},
    params::Params,
};
use crate::{
    db::Db,
    paging::Page,
    search::{self, Searchable},
};

/// One list.
pub struct Listing<R> {
    /// Its address.
    pub here: &'static str,
    /// What is listed.
    pub title: &'static str,
    /// What the reader has to know about it.
    pub intro: &'static str,
    /// What rows are found by, in words that follow "Find by".
    pub found_by: &'static str,
    /// What each column says.
    pub columns: &'static [&'static str],
    /// A cell for each column.
    pub row: fn(&R) -> Vec<Cell>,
}

impl<R: Searchable> Listing<R> {
    /// The page that is asked for.
    pub async fn page(&self, db: &Db, params: &Params) -> Result<ListPage, Failure> {
        let found = self.find(db, params).await?;
        Ok(self.show(params, found))
    }

    /// The same with what waits for somebody before all of it, unless something is looked for.
    pub async fn page_behind(
        &self,
        first: impl Future<Output = sqlx::Result<Table>>,
        db: &Db,
        params: &Params,
    ) -> Result<ListPage, Failure> {
        let mut page = self.page(db, params).await?;
        if page.search.typed.is_empty() {
            page.tables.insert(0, first.await?);
        }
        Ok(page)
    }

    /// The rows that are asked for. `None` when nothing can be found by what was typed.
    pub async fn find(&self, db: &Db, params: &Params) -> sqlx::Result<Option<Page<R>>> {
        search::page(db, params.text("q"), &params.turn()).await
    }

    /// What was found, as a page.
    pub fn show(&self, params: &Params, found: Option<Page<R>>) -> ListPage {
        let typed = params.text("q");
        let mut page = ListPage {
            search: Search {
                action: self.here,
                found_by: self.found_by,
                typed: typed.to_owned(),
            },
            ..ListPage::of(self.here, self.title, self.intro)
        };
        match found {
            None => page.notice = Some(format!("Nothing can be found by “{typed}” here.")),
            Some(found) if found.rows.is_empty() && !typed.is_empty() => {
                page.notice = Some(format!("Nothing is found by “{typed}”."));
            }
            Some(found) => {
                page.around = Around::of(&found, self.here, typed);
                let heading = if typed.is_empty() { "All" } else { "Found" };
                page.tables.push(self.table(heading, &found.rows));
            }
        }
        page
    }

    /// Some of its rows.
    pub fn table(&self, heading: &'static str, rows: &[R]) -> Table {
        Table {
            heading,
            empty: "None.",
            columns: self.columns,
            rows: rows.iter().map(self.row).collect(),
            form: None,
        }
    }
}
