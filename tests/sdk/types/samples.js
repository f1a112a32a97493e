// Every kind of object that the simulator gives, by every operation and in every state it can be brought into.

import Stripe from "stripe";

import { lamp, LAMP } from "../lib/story.js";

const RETURN_URL = "https://shop.example/after";

/** Each sample: `{ operation, type, state, body }`, where `type` is what the SDK promises to those who call it. */
export async function collectSamples(simulator) {
  const collector = new Collector(simulator);
  const kinds = [paymentIntents, refusals, customers, paymentMethods, refunds, disputes, webhookEndpoints, balance, charges, events];
  for (const collect of kinds) await collect(collector.stripe, collector);
  return collector.samples;
}

async function paymentIntents(stripe, { take, simulator }) {
  const { paymentIntents } = stripe;
  const create = (state, params) => take("Stripe.PaymentIntent", state, paymentIntents.create(params));

  const unpaid = await create("requires_payment_method", LAMP);
  await create("requires_confirmation", { ...LAMP, payment_method: "pm_card_visa" });
  const held = await create("requires_capture", lamp("pm_card_visa", { capture_method: "manual" }));
  await take("Stripe.PaymentIntent", "captured in part", paymentIntents.capture(held.id, { amount_to_capture: 1200 }));
  await create("succeeded", lamp());
  await create("succeeded, with everything", lamp("pm_card_visa", {
    capture_method: "automatic",
    description: "A lamp",
    metadata: { cart: "7" },
    receipt_email: "buyer@shop.example",
    setup_future_usage: "off_session",
    shipping: { name: "A Buyer", address: { line1: "1 High Street", city: "Springfield", country: "US" } },
    statement_descriptor_suffix: "LAMP",
  }));
  const automatic = { payment_method_types: undefined, automatic_payment_methods: { enabled: true, allow_redirects: "never" } };
  await create("succeeded, automatic payment methods", lamp("pm_card_visa", automatic));
  await create("requires_action, in a frame", lamp("pm_card_threeDSecure2Required"));

  const asked = await create("requires_action", lamp("pm_card_threeDSecure2Required", { return_url: RETURN_URL }));
  await simulator.customer(asked.next_action.redirect_to_url.url, "refuse");
  await take("Stripe.PaymentIntent", "authentication failed", paymentIntents.retrieve(asked.id));

  await debits(create, stripe, take);
  const changes = { description: "Another lamp", metadata: { cart: "8" } };
  await take("Stripe.PaymentIntent", "changed", paymentIntents.update(unpaid.id, changes));
  await take("Stripe.PaymentIntent", "succeeded", paymentIntents.confirm(unpaid.id, { payment_method: "pm_card_visa" }));
  const expanded = paymentIntents.retrieve(unpaid.id, { expand: ["latest_charge", "payment_method"] });
  await take("Stripe.PaymentIntent", "succeeded, expanded", expanded);
  const canceled = paymentIntents.cancel(asked.id, { cancellation_reason: "abandoned" });
  await take("Stripe.PaymentIntent", "canceled", canceled);
  await take("Stripe.ApiList<Stripe.PaymentIntent>", "a page", paymentIntents.list({ limit: 100 }));
  const found = paymentIntents.search({ query: "metadata['cart']:'7'" });
  await take("Stripe.ApiSearchResult<Stripe.PaymentIntent>", "found", found);
}

/** Bank accounts: the bank takes its time. */
async function debits(create, stripe, take) {
  const mandate_data = { customer_acceptance: { type: "offline" } };
  for (const [payment_method, type, currency] of [
    ["pm_usBankAccount_success", "us_bank_account", "usd"],
    ["pm_usBankAccount_insufficientFunds", "us_bank_account", "usd"],
    ["pm_usBankAccount_processing", "us_bank_account", "usd"],
    ["pm_sepaDebit_success_de", "sepa_debit", "eur"],
    ["pm_sepaDebit_failed_de", "sepa_debit", "eur"],
  ]) {
    const debit = { payment_method_types: [type], currency, mandate_data };
    const { latest_charge } = await create(`processing: ${payment_method}`, lamp(payment_method, debit));
    const { payment_method_details: details } = await stripe.charges.retrieve(latest_charge);
    await take("Stripe.Mandate", type, stripe.mandates.retrieve(details[type].mandate));
  }
}

async function refusals(stripe, { take, takeError }) {
  const { paymentIntents } = stripe;
  for (const paymentMethod of [
    "pm_card_chargeDeclined",
    "pm_card_chargeDeclinedExpiredCard",
    "pm_card_chargeDeclinedIncorrectCvc",
    "pm_card_chargeDeclinedProcessingError",
  ]) {
    const error = await takeError(paymentMethod, paymentIntents.create(lamp(paymentMethod)));
    await take("Stripe.PaymentIntent", paymentMethod, paymentIntents.retrieve(error.payment_intent.id));
  }
  const absent = lamp("pm_card_authenticationRequired", { off_session: true });
  await takeError("off_session", paymentIntents.create(absent));
  await takeError("bad parameter", paymentIntents.create({ ...LAMP, amount: 1 }));
  await takeError("unknown id", paymentIntents.retrieve("pi_unknown"));
  const paid = await paymentIntents.create(lamp());
  await takeError("unexpected state", paymentIntents.confirm(paid.id));
  await takeError("unexpected state", paymentIntents.cancel(paid.id));
  const key = { idempotencyKey: "cart-7" };
  await paymentIntents.create(lamp(), key);
  await takeError("idempotency", paymentIntents.create(LAMP, key));
}

async function customers(stripe, { take }) {
  const { customers } = stripe;
  const address = { line1: "1 High Street", city: "Springfield", country: "US" };
  await take("Stripe.Customer", "nothing known", customers.create());
  const known = customers.create({
    address,
    description: "A regular",
    email: "ann@shop.example",
    metadata: { since: "2020" },
    name: "Ann",
    phone: "+15550100",
    shipping: { address, name: "Ann" },
  });
  const { id } = await take("Stripe.Customer", "much known", known);
  await take("Stripe.Customer", "changed", customers.update(id, { name: "Anna", description: "" }));
  await stripe.paymentMethods.attach("pm_card_visa", { customer: id });
  await stripe.paymentIntents.create(lamp("pm_card_visa", { customer: id }));
  await take("Stripe.ApiList<Stripe.PaymentMethod>", "a page", customers.listPaymentMethods(id));
  await take("Stripe.ApiList<Stripe.Customer>", "a page", customers.list());
  await take("Stripe.ApiSearchResult<Stripe.Customer>", "found", customers.search({ query: "email:'ann@shop.example'" }));
  await take("Stripe.Customer | Stripe.DeletedCustomer", "known", customers.retrieve(id));
  await take("Stripe.DeletedCustomer", "deleted", customers.del(id));
  await take("Stripe.Customer | Stripe.DeletedCustomer", "deleted", customers.retrieve(id));
}

async function paymentMethods(stripe, { take, takeError }) {
  const { paymentMethods } = stripe;
  const customer = (await stripe.customers.create()).id;
  const billing_details = { name: "Ann", address: { line1: "1 High Street", country: "US" } };
  const card = { token: "tok_visa" };
  const { id } = await take("Stripe.PaymentMethod", "card", paymentMethods.create({ type: "card", card, billing_details }));
  await take("Stripe.PaymentMethod", "attached", paymentMethods.attach(id, { customer }));
  await take("Stripe.PaymentMethod", "changed", paymentMethods.update(id, { metadata: { for: "tests" } }));
  await take("Stripe.PaymentMethod", "attached", paymentMethods.retrieve(id));
  await take("Stripe.ApiList<Stripe.PaymentMethod>", "a page", paymentMethods.list({ customer }));
  await take("Stripe.PaymentMethod", "detached", paymentMethods.detach(id));
  await takeError("used up", paymentMethods.attach(id, { customer }));
}

async function refunds(stripe, { take, takeError, simulator }) {
  const { refunds } = stripe;
  for (const paymentMethod of ["pm_card_visa", "pm_card_pendingRefund", "pm_card_refundFail"]) {
    const { id, latest_charge } = await stripe.paymentIntents.create(lamp(paymentMethod));
    const reason = "requested_by_customer";
    const refund = await take("Stripe.Refund", paymentMethod, refunds.create({ payment_intent: id, reason }));
    await simulator.control("POST", "settle", {});
    await take("Stripe.Refund", `${paymentMethod}, settled`, refunds.retrieve(refund.id));
    await take("Stripe.Refund", "changed", refunds.update(refund.id, { metadata: { return: "7" } }));
    await takeError("cancel", refunds.cancel(refund.id));
    // The SDK has no function for it any more.
    const list = stripe.rawRequest("GET", `/v1/charges/${latest_charge}/refunds`);
    await take("Stripe.ApiList<Stripe.Refund>", "of a charge", list);
  }
  await take("Stripe.ApiList<Stripe.Refund>", "a page", refunds.list());
  const { id } = await stripe.paymentIntents.create(lamp());
  await takeError("too much", refunds.create({ payment_intent: id, amount: 4201 }));
}

async function disputes(stripe, { take, takeError, simulator }) {
  const { disputes } = stripe;
  for (const complaint of ["", "ProductNotReceived", "Inquiry"]) {
    await stripe.paymentIntents.create(lamp(`pm_card_createDispute${complaint}`));
  }
  await simulator.control("POST", "settle", {});
  const { data } = await take("Stripe.ApiList<Stripe.Dispute>", "a page", disputes.list());
  for (const { id } of data) {
    const { status } = await take("Stripe.Dispute", "open", disputes.retrieve(id));
    if (status === "needs_response") await take("Stripe.Dispute", "lost", disputes.close(id));
    else await takeError("close", disputes.close(id));
  }
  const { id: paid } = await stripe.paymentIntents.create(lamp("pm_card_createDispute"));
  await simulator.control("POST", "settle", {});
  const { data: [{ id }] } = await disputes.list({ payment_intent: paid });
  const evidence = { uncategorized_text: "winning_evidence" };
  await take("Stripe.Dispute", "under review", disputes.update(id, { evidence }));
  await simulator.control("POST", "settle", {});
  await take("Stripe.Dispute", "won", disputes.retrieve(id));
}

async function webhookEndpoints(stripe, { take }) {
  const { webhookEndpoints } = stripe;
  const url = "http://127.0.0.1:9/";
  const wanted = webhookEndpoints.create({ url, enabled_events: ["*"], description: "Nobody is there" });
  const { id } = await take("Stripe.WebhookEndpoint", "enabled", wanted);
  await take("Stripe.WebhookEndpoint", "enabled", webhookEndpoints.retrieve(id));
  await take("Stripe.WebhookEndpoint", "disabled", webhookEndpoints.update(id, { disabled: true }));
  await take("Stripe.ApiList<Stripe.WebhookEndpoint>", "a page", webhookEndpoints.list());
  await take("Stripe.DeletedWebhookEndpoint", "deleted", webhookEndpoints.del(id));
}

async function balance(stripe, { take }) {
  await take("Stripe.Balance", "some", stripe.balance.retrieve());
  const list = stripe.balanceTransactions.list({ limit: 100 });
  const { data } = await take("Stripe.ApiList<Stripe.BalanceTransaction>", "a page", list);
  for (const type of new Set(data.map((it) => it.type))) {
    const { id } = data.find((it) => it.type === type);
    await take("Stripe.BalanceTransaction", type, stripe.balanceTransactions.retrieve(id));
  }
}

async function charges(stripe, { take }) {
  const page = await take("Stripe.ApiList<Stripe.Charge>", "a page", stripe.charges.list({ limit: 100 }));
  for (const { id, status, captured } of page.data) {
    await take("Stripe.Charge", `${status}${captured ? "" : ", not captured"}`, stripe.charges.retrieve(id));
  }
}

/** One of each type. Being the last, it finds all that happened before. */
async function events(stripe, { take, simulator }) {
  await simulator.control("POST", "settle", {});
  const listening = { url: "http://127.0.0.1:9/", enabled_events: ["*"] };
  const endpoint = (await stripe.webhookEndpoints.create(listening)).id;
  const types = new Set();
  for await (const { id, type } of stripe.events.list({ limit: 100 })) {
    if (types.has(type)) continue;
    types.add(type);
    await take(`Extract<Stripe.Event, { type: "${type}" }>`, type, stripe.events.retrieve(id));
  }
  await take("Stripe.ApiList<Stripe.Event>", "a page", stripe.events.list({ limit: 20 }));
  const { data: [newest] } = await stripe.events.list({ limit: 1 });
  const again = stripe.rawRequest("POST", `/v1/events/${newest.id}/retry`, { webhook_endpoint: endpoint });
  await take(`Extract<Stripe.Event, { type: "${newest.type}" }>`, "sent again", again);
}

class Collector {
  samples = [];
  #body;

  constructor(simulator) {
    this.simulator = simulator;
    // The SDK adds to what it hands on, so the answers are taken from the wire.
    const httpClient = Stripe.createFetchHttpClient(async (url, init) => {
      const answer = await fetch(url, init);
      this.#body = await answer.clone().json();
      return answer;
    });
    this.stripe = simulator.sdk({ httpClient });
  }

  /** Waits for a call, and keeps what it was answered with. */
  take = async (type, state, call) => {
    const object = await call;
    await this.#keep(type, state, this.#body);
    return object;
  };

  /** The same for a call that is refused. */
  takeError = async (state, call) => {
    const isRefused = await call.then(() => false, () => true);
    if (!isRefused) throw new Error(`not refused: ${state}`);
    // All errors have one shape, and this is the declaration's name for it.
    await this.#keep("Stripe.PaymentIntent.LastPaymentError", state, this.#body.error);
    return this.#body.error;
  };

  /** The journal knows by its own name what was called. */
  async #keep(type, state, body) {
    const { data: [{ operation }] } = await this.simulator.control("GET", "requests");
    this.samples.push({ operation, type, state, body });
  }
}
