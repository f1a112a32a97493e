//! What there is: the shop's database, the memory of its processes, the wire, and the provider's ledger.

/// A rendered checkout form, by its place in [`Scene::forms`](crate::Scene). It has a key of its own.
pub type Form = u8;
/// A checkout, by its place in [`State::checkouts`].
pub type Id = u8;

/// The whole world at one moment. The lists that have no order of their own are kept sorted, so that the same world is
/// the same state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Units that a new checkout could take. In the database.
    pub shelf: i8,
    /// The rows. In the database.
    pub checkouts: Vec<Checkout>,
    /// What the shop's processes are in the middle of. A crash forgets all of it.
    pub memory: Vec<Task>,
    /// What is under way between the shop and the provider.
    pub wire: Vec<Message>,
    /// The payments, as the provider knows them.
    pub payments: Vec<Payment>,
    /// How much may still go wrong.
    pub troubles: u8,
}

/// One attempt to buy a cart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checkout {
    /// The form, whose key it has.
    pub form: Form,
    /// Where it stands.
    pub status: Status,
    /// The unit that it took from the shelf.
    pub goods: Goods,
    /// How long ago it was submitted.
    pub age: Age,
    /// The orders that were made of it.
    pub orders: u8,
    /// Its payment came too late, and is to be given back.
    pub owes_refund: bool,
    /// Its customer was told that nothing was charged, when something was.
    pub misled: bool,
    /// How often it was driven. Counted only where each attempt has a key of its own.
    pub attempts: u8,
}

/// Where a checkout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// In a transaction that is still open: nobody else sees it, and a crash undoes it.
    Uncommitted,
    /// Undone. It never was.
    Undone,
    /// Undecided.
    Pending,
    /// Bought.
    Paid,
    /// The provider said no.
    Declined,
    /// It never got to the provider.
    Canceled,
}

/// What became of a checkout's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goods {
    Held,
    Sold,
    Back,
}

/// How old a checkout is, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Age {
    /// Its key may be sent.
    Fresh,
    /// 23 hours have passed: the shop takes no chances with its key.
    Old,
    /// 24 hours have passed: the provider has forgotten its key.
    Forgotten,
}

/// Something that a process of the shop is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Task {
    /// It has looked for a checkout of this form or cart, and for stock: nothing is in the way. Only where a guard is
    /// missing that would make looking pointless.
    Looked(Form),
    /// The request that submitted a checkout, or repeats it. Only where nobody else takes checkouts forward.
    Request(Id),
    /// It waits for the provider's answer.
    Waits(Request),
    /// It knows how the payment stands.
    Knows(Id, Outcome),
    /// It has marked an event, and not yet acted on it.
    Marked(Event),
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Message {
    /// From the shop to the provider.
    Request(Request),
    /// From the provider to the shop. It stays until the shop has acknowledged it: so much the provider promises.
    Event(Event),
}

/// "Charge this, under this key."
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Request {
    /// What is charged.
    pub checkout: Id,
    /// The key: the same each time, or the number of the attempt.
    pub key: u8,
}

/// "This is how the payment of this checkout stands."
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Event {
    pub checkout: Id,
    pub outcome: Outcome,
}

/// How a payment ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The money arrived.
    Paid,
    /// The card was refused.
    Declined,
    /// There is no such payment.
    NeverCharged,
}

/// A payment at the provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Payment {
    /// What it is for: the shop's id, in its metadata.
    pub checkout: Id,
    /// Its key, as long as the provider remembers it.
    pub key: Option<u8>,
    /// How it ended at first: what is answered to each request under its key.
    pub first: Outcome,
    /// How it stands.
    pub now: Outcome,
    /// The money was given back.
    pub refunded: bool,
}

impl State {
    /// The checkout named `id`.
    pub fn checkout(&self, id: Id) -> &Checkout {
        &self.checkouts[usize::from(id)]
    }

    /// The same, to be written.
    pub fn row(&mut self, id: Id) -> &mut Checkout {
        &mut self.checkouts[usize::from(id)]
    }

    /// All checkouts, with their names.
    pub fn rows(&self) -> impl Iterator<Item = (Id, &Checkout)> {
        (0..).zip(&self.checkouts)
    }

    /// The payments of a checkout.
    pub fn payments_of(&self, id: Id) -> impl Iterator<Item = &Payment> {
        self.payments
            .iter()
            .filter(move |payment| payment.checkout == id)
    }

    /// Makes worlds the same that nobody could tell apart.
    pub fn tidy(&mut self) {
        self.memory.sort_unstable();
        self.wire.sort_unstable();
        for id in (0..).take(self.checkouts.len()) {
            let over = self.checkout(id).status != Status::Pending && self.drivers(id) == 0;
            if over && !self.is_under_way(id) {
                self.row(id).age = Age::Fresh;
                for payment in self.payments.iter_mut().filter(|it| it.checkout == id) {
                    payment.key = None;
                }
            }
        }
    }

    /// A process is not in the middle of this any more.
    pub fn forget(&mut self, task: Task) {
        remove(&mut self.memory, &task);
    }

    /// A message is not under way any more.
    pub fn take(&mut self, message: Message) {
        remove(&mut self.wire, &message);
    }

    /// The requests on the wire.
    pub fn requests(&self) -> impl Iterator<Item = Request> {
        self.wire.iter().filter_map(|message| match message {
            Message::Request(request) => Some(*request),
            Message::Event(_) => None,
        })
    }

    /// The payment that the provider has under the key of `request`.
    pub fn under_key(&self, request: Request) -> Option<&Payment> {
        self.payments_of(request.checkout)
            .find(|payment| payment.key == Some(request.key))
    }

    /// Whether there is an answer to `request`, or may be yet.
    pub fn may_be_answered(&self, request: Request) -> bool {
        self.under_key(request).is_some() || self.requests().any(|other| other == request)
    }

    /// Whether the provider may yet hear of this checkout.
    pub fn is_under_way(&self, id: Id) -> bool {
        self.requests().any(|request| request.checkout == id)
    }

    /// How many are at work on a checkout.
    pub fn drivers(&self, id: Id) -> usize {
        self.memory
            .iter()
            .filter(|task| task.drives() == Some(id))
            .count()
    }
}

impl Task {
    /// The checkout that it takes forward.
    pub fn drives(self) -> Option<Id> {
        match self {
            Self::Waits(Request { checkout, .. }) | Self::Knows(checkout, _) => Some(checkout),
            Self::Looked(_) | Self::Request(_) | Self::Marked(_) => None,
        }
    }
}

impl Checkout {
    /// Whether its cart cannot be bought by another one.
    pub fn is_live(&self) -> bool {
        matches!(
            self.status,
            Status::Uncommitted | Status::Pending | Status::Paid
        )
    }
}

impl Payment {
    /// Whether the customer's money is with the shop.
    pub fn is_kept(&self) -> bool {
        self.now == Outcome::Paid && !self.refunded
    }
}

fn remove<T: PartialEq>(all: &mut Vec<T>, one: &T) {
    if let Some(at) = all.iter().position(|it| it == one) {
        all.remove(at);
    }
}
