//! Stories of a counter that serves customers by their numbers, one batch at a time.

use std::sync::{Arc, Mutex};

use tokio::{sync::Semaphore, task::JoinHandle};

use super::{Batches, Outcome};
use crate::db::Transient;

/// Why nobody of a batch was served.
#[derive(Debug, PartialEq)]
enum Refused {
    /// For good.
    Number(u32),
    /// The counter is closed for now.
    Closed,
}

impl Transient for Refused {
    fn is_transient(&self) -> bool {
        *self == Self::Closed
    }
}

struct Counter {
    batches: Batches<u32, Refused>,
    served: Mutex<Vec<Vec<u32>>>,
    /// A batch waits for one before it is served.
    permits: Semaphore,
    fails: fn(&[u32]) -> Option<Refused>,
}

impl Counter {
    fn that_fails(fails: fn(&[u32]) -> Option<Refused>) -> Arc<Self> {
        Arc::new(Self {
            batches: Batches::default(),
            served: Mutex::default(),
            permits: Semaphore::new(0),
            fails,
        })
    }

    fn comes(self: &Arc<Self>, number: u32) -> JoinHandle<Outcome<Refused>> {
        let counter = Arc::clone(self);
        tokio::spawn(async move {
            let serve = |numbers| counter.serve(numbers);
            counter.batches.go(number, serve).await
        })
    }

    async fn serve(&self, numbers: Vec<u32>) -> Result<(), Refused> {
        self.served.lock().unwrap().push(numbers.clone());
        self.permits.acquire().await.unwrap().forget();
        (self.fails)(&numbers).map_or(Ok(()), Err)
    }

    /// All that are being served, or were.
    fn served(&self) -> Vec<Vec<u32>> {
        self.served.lock().unwrap().clone()
    }

    fn waiting(&self) -> usize {
        self.batches.waiting().len()
    }
}

async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}

/// The first is being served, and those who came after it wait.
async fn a_rush(counter: &Arc<Counter>, others: &[u32]) -> Vec<JoinHandle<Outcome<Refused>>> {
    let mut customers = vec![counter.comes(1)];
    until(|| counter.served().len() == 1).await;
    for (place, number) in others.iter().enumerate() {
        customers.push(counter.comes(*number));
        until(|| counter.waiting() > place).await;
    }
    customers
}

async fn all(customers: Vec<JoinHandle<Outcome<Refused>>>) -> Vec<Result<(), String>> {
    let mut outcomes = Vec::new();
    for customer in customers {
        let outcome = customer.await.unwrap();
        outcomes.push(outcome.map_err(|refused| format!("{refused:?}")));
    }
    outcomes
}

#[tokio::test]
async fn who_comes_while_one_is_served_is_served_with_the_others() {
    let counter = Counter::that_fails(|_| None);
    let customers = a_rush(&counter, &[2, 3, 4]).await;
    counter.permits.add_permits(2);
    assert_eq!(all(customers).await, vec![Ok(()); 4]);
    assert_eq!(counter.served(), [vec![1], vec![2, 3, 4]]);
}

#[tokio::test]
async fn one_that_cannot_be_served_is_in_nobodys_way() {
    let counter = Counter::that_fails(|numbers| numbers.contains(&3).then_some(Refused::Number(3)));
    let customers = a_rush(&counter, &[2, 3, 4]).await;
    counter.permits.add_permits(5);
    let refused = Err("Number(3)".to_owned());
    assert_eq!(all(customers).await, [Ok(()), Ok(()), refused, Ok(())]);
    assert_eq!(
        counter.served(),
        [vec![1], vec![2, 3, 4], vec![2], vec![3], vec![4]]
    );
}

#[tokio::test]
async fn while_nobody_can_be_served_nobody_is_tried_alone() {
    let counter = Counter::that_fails(|numbers| (numbers.len() > 1).then_some(Refused::Closed));
    let customers = a_rush(&counter, &[2, 3]).await;
    counter.permits.add_permits(2);
    let closed = Err("Closed".to_owned());
    assert_eq!(all(customers).await, [Ok(()), closed.clone(), closed]);
    assert_eq!(counter.served(), [vec![1], vec![2, 3]]);
}

#[tokio::test]
async fn when_one_goes_away_who_was_at_work_for_others_one_of_them_goes_on() {
    let counter = Counter::that_fails(|_| None);
    let mut customers = a_rush(&counter, &[2, 3, 4]).await;
    counter.permits.add_permits(1);
    until(|| counter.served().len() == 2).await;
    // The second is at work for the third and the fourth.
    customers.remove(1).abort();
    until(|| counter.served().len() == 3).await;
    counter.permits.add_permits(1);
    assert_eq!(all(customers).await, vec![Ok(()); 3]);
    assert_eq!(counter.served().last(), Some(&vec![3, 4]));
}
