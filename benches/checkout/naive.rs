//! The naive twin as a process: the lab plays it within the shop's own, so here it is served as the shop is.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use axum_server::accept::NoDelayAcceptor;
use boring_checkout::{
    clock::Clock,
    db::Db,
    lab::naive::{self, Naive},
    mail::post::Post,
    provider::Provider,
    secret::Secret,
    web,
};
use clap::Args;
use tokio::net::TcpListener;

use super::processes::WEBHOOK_SECRET;

#[derive(Clone, Debug, Args)]
pub struct NaiveArgs {
    #[arg(long)]
    pub listen: SocketAddr,
    #[arg(long)]
    pub database_url: String,
    #[arg(long)]
    pub provider_url: String,
    #[arg(long)]
    pub mail_folder: PathBuf,
}

/// Serves until it is killed.
pub async fn serve(args: NaiveArgs) {
    let db = Db::open(&args.database_url).await.unwrap();
    naive::create_tables(&db).await.unwrap();
    naive::fill_shelves(&db).await.unwrap();
    let provider = Provider::new(
        &args.provider_url,
        Secret::new("sk_test_boring"),
        Duration::from_secs(10),
    );
    let shop = Naive {
        db,
        provider: provider.unwrap(),
        post: Arc::new(Post::Folder(args.mail_folder)),
        mail_from: "The Naive Shop <shop@naive.example>".parse().unwrap(),
        clock: Clock::default(),
        webhook_secrets: [Secret::new(WEBHOOK_SECRET)].into(),
        public_url: format!("http://{}", args.listen),
    };
    let listener = TcpListener::bind(args.listen).await.unwrap();
    println!("The naive shop is open at http://{}", args.listen);
    let router = web::traced(naive::router(shop));
    axum_server::Server::<SocketAddr>::from_listener(listener)
        .acceptor(NoDelayAcceptor::new())
        .serve(router.into_make_service())
        .await
        .unwrap();
}
