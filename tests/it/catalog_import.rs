//! The catalog from a file, by the command.

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
    time::Duration,
};

use futures_util::future::join_all;

use crate::world::{Expected, ONCE, Shop, Visitor};

const HEADER: &str = "sku,name,price,stock,description\n";

/// `boring-checkout catalog import` of a file with this text, on the shop's database.
async fn imports(shop: &Shop, text: impl Into<Vec<u8>>, flags: &[&str]) -> Output {
    let file = tempfile::Builder::new()
        .suffix(".csv")
        .tempfile()
        .expect("a file");
    std::fs::write(file.path(), text.into()).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    command
        .args(["catalog", "import"])
        .arg(file.path())
        .args(flags);
    command.args(["--database-url", &shop.database.url(), "--log", "warn"]);
    command.stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output()).await;
    output.expect("no panic").expect("it starts")
}

async fn imported(shop: &Shop, text: &str) -> String {
    let output = imports(shop, text, &[]).await;
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Nothing is imported, and standard error says so; its lines without the file's name.
async fn refused(shop: &Shop, text: impl Into<Vec<u8>>) -> Vec<String> {
    let output = imports(shop, text, &[]).await;
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty(), "{said}");
    let lines: Vec<_> = said.lines().collect();
    let (last, problems) = lines.split_last().expect("it says something");
    assert_eq!(*last, "boring-checkout: nothing was imported");
    problems
        .iter()
        .map(|line| {
            line.split_once(".csv:")
                .expect("it names the file")
                .1
                .to_owned()
        })
        .collect()
}

async fn product(shop: &Shop, sku: &str) -> (String, i64, i64, i64) {
    let product = shop
        .db()
        .query("select name, price_minor, stock, stocked from products where sku = $1");
    product.bind(sku).fetch_one().await.expect("the product")
}

#[tokio::test]
async fn products_are_inserted_or_updated_on_their_sku_and_the_same_file_again_changes_nothing() {
    let shop = Shop::open().await;
    let text = format!(
        "{HEADER}TEA-01,Better tea,5.90,250,\"Twenty bags,\nof \"\"tea\"\".\"\nJAR-01,Jar,3.3,7,\n"
    );

    assert_eq!(
        imported(&shop, &text).await,
        "2 products: 1 new, 1 changed, 0 as they were\n"
    );
    // Of 200 that were delivered when the shop opened, and 50 more.
    assert_eq!(
        product(&shop, "TEA-01").await,
        ("Better tea".to_owned(), 590, 250, 250)
    );
    assert_eq!(
        product(&shop, "JAR-01").await,
        ("Jar".to_owned(), 330, 7, 7)
    );
    let page = shop.visitor().sees("/products/TEA-01").await;
    assert!(
        page.text("main").contains("Twenty bags, of \"tea\"."),
        "{}",
        page.text("main")
    );

    // Somebody buys in between, which is no reason to put anything back on the shelf.
    let buyer = shop.visitor().with_cart("TEA-01", 3).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    assert_eq!(
        imported(&shop, &text).await,
        "2 products: 0 new, 0 changed, 2 as they were\n"
    );
    assert_eq!(product(&shop, "TEA-01").await.2, 247);

    // Two more jars came, and the columns are in another order, with a mark of a spreadsheet in front of them.
    let more = "\u{feff}name, stock ,price,sku,description\r\nJar,9,3.30,JAR-01,\r\n";
    assert_eq!(
        imported(&shop, more).await,
        "1 product: 0 new, 1 changed, 0 as they were\n"
    );
    assert_eq!(
        product(&shop, "JAR-01").await,
        ("Jar".to_owned(), 330, 9, 9)
    );
    shop.expects(Expected {
        charges: 1,
        orders: 1,
        sold: 3,
    })
    .await;
}

#[tokio::test]
async fn each_bad_row_is_named_by_its_line_and_nothing_is_imported() {
    let shop = Shop::open().await;
    let good = "JAR-01,Jar,3.30,7,A jar.";
    let long = "x".repeat(101);
    for (row, problem) in [
        (
            "jar-01,Jar,3.30,7,",
            "sku: a SKU has capital letters, digits and dashes, 32 at most",
        ),
        (
            ",Jar,3.30,7,",
            "sku: a SKU has capital letters, digits and dashes, 32 at most",
        ),
        ("JAR-02,,3.30,7,", "name: it is empty"),
        (
            &format!("JAR-02,{long},3.30,7,"),
            "name: it is too long: 100 characters at most",
        ),
        (
            "JAR-02,Jar\0,3.30,7,",
            "name: it has characters that cannot be printed",
        ),
        (
            "JAR-02,\"Ja\nr\",3.30,7,",
            "name: it has characters that cannot be printed",
        ),
        (
            "JAR-02,Jar,3.333,7,",
            "price: too many decimals: an amount of EUR is written like 4.90",
        ),
        (
            "JAR-02,Jar,\"3,30\",7,",
            "price: not an amount such as 4.90",
        ),
        ("JAR-02,Jar,-1,7,", "price: not an amount such as 4.90"),
        ("JAR-02,Jar,0.00,7,", "price: nothing is sold for nothing"),
        (
            "JAR-02,Jar,1000000,7,",
            "price: too much: €999999.99 is the most",
        ),
        (
            "JAR-02,Jar,3.30,-7,",
            "stock: not a whole number from 0 to 1000000000",
        ),
        (
            "JAR-02,Jar,3.30,+7,",
            "stock: not a whole number from 0 to 1000000000",
        ),
        (
            "JAR-02,Jar,3.30,7.5,",
            "stock: not a whole number from 0 to 1000000000",
        ),
        (
            "JAR-02,Jar,3.30,,",
            "stock: not a whole number from 0 to 1000000000",
        ),
        (
            "JAR-02,Jar,3.30,99999999999999999999,",
            "stock: not a whole number from 0 to 1000000000",
        ),
        (
            "JAR-02,Jar,3.30,7,\u{7}",
            "description: it has characters that cannot be printed",
        ),
        (
            "JAR-02,Jar,3.30,7",
            "row: it has 4 fields, and the header has 5",
        ),
        (
            "JAR-02,Jar,3.30,7,A jar,and more",
            "row: it has 6 fields, and the header has 5",
        ),
        ("JAR-01,Jar,3.30,7,", "sku: JAR-01 is in line 2 already"),
    ] {
        let problems = refused(&shop, format!("{HEADER}{good}\n{row}\n")).await;
        assert_eq!(problems, [format!("3: {problem}")]);
    }
    for (header, problem) in [
        (
            "sku,name,price,stock\n",
            "1: header: the column description is missing",
        ),
        (
            "sku,name,price,stock,description,sku\n",
            "1: header: the column sku is there twice",
        ),
        (
            "SKU,name,price,stock,description\n",
            "1: header: there is no column \"SKU\"",
        ),
        (
            "",
            "1: header: it is missing: the first line is sku,name,price,stock,description",
        ),
    ] {
        assert_eq!(refused(&shop, header).await[0], problem);
    }
    let latin = [HEADER.as_bytes(), b"JAR-02,Gef\xe4\xdf,3.30,7,\n"].concat();
    assert_eq!(refused(&shop, latin).await, ["2: name: it is not UTF-8"]);
    assert_eq!(shop.count("select count(*) from products").await, 8);
}

/// Where a row begins, whatever the file has between its rows.
#[tokio::test]
async fn lines_are_counted_as_an_editor_does() {
    let shop = Shop::open().await;
    let text = format!(
        "\n{HEADER}\r\n\nJAR-01,Jar,3.30,7,\"two\r\nlines\"\r\n\r\nJAR-02,Jar,x,7,\r\nJAR-03,Jar,3.30,x,"
    );
    let problems = refused(&shop, text).await;
    assert_eq!(problems.len(), 2);
    assert!(problems[0].starts_with("8: price:"), "{problems:?}");
    assert!(problems[1].starts_with("9: stock:"), "{problems:?}");
}

#[tokio::test]
async fn of_many_problems_the_first_few_are_named() {
    let shop = Shop::open().await;
    let rows: Vec<_> = (0..25).map(|n| format!("JAR-{n},Jar,,7,\n")).collect();
    let rows = rows.concat();
    let problems = refused(&shop, format!("{HEADER}{rows}")).await;
    assert_eq!(problems.len(), 11, "{problems:?}");
    assert!(problems[9].starts_with("11: price:"));
    assert!(problems[10].ends_with("15 more"));
}

/// Who takes away more than is left has miscounted. It is found before anything is written, and the row is named.
#[tokio::test]
async fn what_is_sold_or_held_was_delivered() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("LMP-01", 5).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let lamps = |stock| format!("{HEADER}JAR-01,Jar,3.30,7,\nLMP-01,Desk lamp,24.90,{stock},\n");

    let problems = refused(&shop, lamps(4)).await;
    assert_eq!(
        problems,
        ["3: stock: 5 of them are sold or held already, so it is 5 at least"]
    );
    assert_eq!(shop.count("select count(*) from products").await, 8);

    imported(&shop, &lamps(5)).await;
    assert_eq!(product(&shop, "LMP-01").await.2, 0);
    shop.expects(Expected {
        charges: 1,
        orders: 1,
        sold: 5,
    })
    .await;
}

#[tokio::test]
async fn a_catalog_has_one_currency_and_changes_it_as_a_whole() {
    let shop = Shop::open().await;
    let tea = format!("{HEADER}TEA-01,Plain black tea,500,200,\n");
    let output = imports(&shop, tea.as_str(), &["--currency", "jpy"]).await;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("7 products that are not in it are priced in EUR"),
        "{said}"
    );
    assert_eq!(product(&shop, "TEA-01").await.1, 490);

    let thousandths = format!("{HEADER}TEA-01,Tea,0.005,200,\n");
    let output = imports(&shop, thousandths.as_str(), &["--currency", "bhd"]).await;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains(":2: price: the last of three decimals must be 0 in BHD"),
        "{said}"
    );

    let skus: Vec<(String,)> = shop
        .db()
        .query("select sku from products")
        .fetch_all()
        .await
        .expect("goods");
    let rows = skus
        .iter()
        .map(|(sku,)| format!("{sku},Anything,500,1000,\n"));
    let rows = rows.collect::<Vec<_>>().concat();
    let output = imports(&shop, format!("{HEADER}{rows}"), &["--currency", "jpy"]).await;
    assert!(output.status.success(), "{output:?}");
    let ready = shop.visitor().sees("/readyz").await;
    assert_eq!(ready.status, 503);
    let why = "the catalog has prices in JPY, and the shop sells in EUR";
    assert!(ready.html.contains(why), "{}", ready.html);
    // Who has the old total on the screen pays nothing.
    shop.alters("update products set currency = 'eur' where sku = 'TEA-01'")
        .await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    shop.alters("update products set currency = 'jpy' where sku = 'TEA-01'")
        .await;
    assert_eq!(buyer.submits(&form).await.location(), "/cart");
    shop.expects(crate::world::NOTHING).await;
}

#[tokio::test]
async fn standard_input_fills_a_database_that_is_not_there_yet() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    command.args([
        "catalog",
        "import",
        "-",
        "--database-url",
        "sqlite://new/shop.db",
    ]);
    command
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut running = command.spawn().expect("it starts");
    let mut input = running.stdin.take().expect("piped");
    input
        .write_all(format!("{HEADER}JAR-01,Jar,3.30,7,\n").as_bytes())
        .expect("written");
    drop(input);
    let output = tokio::task::spawn_blocking(move || running.wait_with_output()).await;
    let output = output.expect("no panic").expect("it ends");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "1 product: 1 new, 0 changed, 0 as they were\n"
    );
    let missing = Command::new(env!("CARGO_BIN_EXE_boring-checkout"))
        .args(["catalog", "import", "nowhere.csv"])
        .current_dir(folder.path())
        .output()
        .expect("it starts");
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot read nowhere.csv"));
}

/// An operator who imports in a loop, with prices that go up and down and stock that comes in, while customers buy.
#[tokio::test]
async fn r51_r70_purchases_and_imports_do_not_get_in_each_others_way() {
    let shop = Shop::open().await;
    let file = |round: i64| {
        // Behind the order in which purchases take their goods, and in front of it.
        let price = if round % 2 == 0 { "4.90" } else { "5.90" };
        let delivered = 200 + round;
        format!(
            "{HEADER}TEA-01,Tea,{price},{delivered},\nMUG-01,Mug,9.50,80,\nJAR-01,Jar,3.30,7,\nBOX-01,Box,2.40,150,\n"
        )
    };
    let rounds = 12;
    let importing = async {
        for round in 1..=rounds {
            imported(&shop, &file(round)).await;
        }
    };
    let buying = join_all((0..24).map(|_| buys_at_some_price(&shop)));
    let ((), charged) = tokio::join!(importing, buying);

    assert_eq!(shop.provider.charged().await, charged.iter().sum::<i64>());
    let (_, _, stock, stocked) = product(&shop, "TEA-01").await;
    assert_eq!((stock, stocked), (200 + rounds - 24, 200 + rounds));
    shop.expects(Expected {
        charges: 24,
        orders: 24,
        sold: 48,
    })
    .await;
}

/// Buys two products, and agrees to each total that is asked for instead. Returns the total that was agreed.
async fn buys_at_some_price(shop: &Shop) -> i64 {
    let buyer: Visitor = shop.visitor().with_cart("TEA-01", 1).await;
    buyer.adds("BOX-01", 1).await;
    let mut form = buyer.opens_checkout().await;
    for _ in 0..50 {
        let answer = buyer.submits(&form).await;
        if answer.status == 303 {
            let total: i64 = form.field("quoted_total").parse().expect("a number");
            assert!([730, 830].contains(&total), "{total}");
            assert_eq!(buyer.waits_at(answer.location()).await, "Paid");
            return total;
        }
        assert_eq!(answer.status, 409, "{}", answer.html);
        form = answer.form();
    }
    panic!("the price changes faster than anybody can agree to it");
}

#[tokio::test]
async fn a_hundred_thousand_products_take_seconds() {
    let shop = Shop::open().await;
    let rows = (0..100_000).map(|n| format!("P-{n:06},Product {n},4.90,10,Like all the others.\n"));
    let rows = rows.collect::<Vec<_>>().concat();
    let text = format!("{HEADER}{rows}");
    let begun = std::time::Instant::now();
    assert_eq!(
        imported(&shop, &text).await,
        "100000 products: 100000 new, 0 changed, 0 as they were\n"
    );
    println!("the first time {:?}", begun.elapsed());
    let again = std::time::Instant::now();
    assert_eq!(
        imported(&shop, &text).await,
        "100000 products: 0 new, 0 changed, 100000 as they were\n"
    );
    println!("again {:?}", again.elapsed());
    // Unoptimized, and beside other tests.
    assert!(
        begun.elapsed() < Duration::from_mins(2),
        "{:?}",
        begun.elapsed()
    );
    let buyer = shop.visitor().with_cart("P-099999", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.expects(ONCE).await;
}

/// A quote that nobody closes would take all that follows for a description.
#[tokio::test]
async fn a_file_that_was_cut_off_is_not_imported() {
    let shop = Shop::open().await;
    let header = "sku,name,price,stock,description\n";
    for (rest, line) in [
        ("TEA-01,Tea,1.00,200,\"open\nMUG-01,Mug,9.99,900,d\n", 2),
        (
            "TEA-01,Tea,1.00,200,\"\"\nMUG-01,Mug,9.99,900,\"Twenty b",
            3,
        ),
        ("TEA-01,Tea,1.00,200,5\" wide\n", 2),
    ] {
        let said = refused(&shop, format!("{header}{rest}")).await;
        let quotes = format!("{line}: quotes: one is opened and never closed");
        assert!(said.contains(&quotes), "{said:?}");
    }
}
