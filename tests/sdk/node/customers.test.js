// Customers, and the cards they leave behind.

import { deepEqual, equal, ok } from "node:assert/strict";

import Stripe from "stripe";

import { lamp, refusal, story } from "../lib/story.js";

const ANN = { email: "ann@shop.example", name: "Ann", metadata: { since: "2020" } };
const ids = ({ data }) => data.map((object) => object.id);

story("a customer is looked at, changed and deleted", async ({ stripe }) => {
  const { id } = await stripe.customers.create(ANN);
  const changed = await stripe.customers.update(id, { name: "Anna", metadata: { since: "", tier: "gold" } });
  deepEqual([changed.name, changed.email, changed.metadata], ["Anna", ANN.email, { tier: "gold" }]);
  deepEqual(ids(await stripe.customers.list({ email: ANN.email })), [id]);
  ok((await stripe.customers.del(id)).deleted);
  ok((await stripe.customers.retrieve(id)).deleted);
  const error = await refusal(stripe.customers.update(id, { name: "Ann" }));
  ok(error instanceof Stripe.errors.StripeInvalidRequestError);
});

story("a card is attached, paid with and detached", async ({ stripe, simulator }) => {
  const ann = await stripe.customers.create(ANN);
  const card = await stripe.paymentMethods.attach("pm_card_visa", { customer: ann.id });
  equal(card.customer, ann.id);
  deepEqual(ids(await stripe.customers.listPaymentMethods(ann.id)), [card.id]);
  deepEqual(ids(await stripe.paymentMethods.list({ customer: ann.id, type: "card" })), [card.id]);

  const paid = await stripe.paymentIntents.create(lamp(card.id, { customer: ann.id, off_session: true }));
  deepEqual([paid.status, paid.customer, paid.payment_method], ["succeeded", ann.id, card.id]);
  equal((await stripe.charges.retrieve(paid.latest_charge)).customer, ann.id);

  equal((await stripe.paymentMethods.detach(card.id)).customer, null);
  deepEqual(ids(await stripe.customers.listPaymentMethods(ann.id)), []);
  equal(await simulator.charges(), 1);
});

story("another customer's card is refused", async ({ stripe, simulator }) => {
  const ann = await stripe.customers.create(ANN);
  const bob = await stripe.customers.create({ name: "Bob" });
  const card = await stripe.paymentMethods.attach("pm_card_visa", { customer: ann.id });
  for (const more of [{ customer: bob.id }, {}]) {
    const error = await refusal(stripe.paymentIntents.create(lamp(card.id, more)));
    ok(error instanceof Stripe.errors.StripeInvalidRequestError);
  }
  equal(await simulator.charges(), 0);
});

story("a customer's payments are listed", async ({ stripe }) => {
  const ann = await stripe.customers.create(ANN);
  await stripe.paymentIntents.create(lamp());
  const made = [];
  for (let count = 0; count < 3; count++) {
    made.push((await stripe.paymentIntents.create(lamp("pm_card_visa", { customer: ann.id }))).id);
  }
  const intents = await stripe.paymentIntents.list({ customer: ann.id, limit: 2 }).autoPagingToArray({ limit: 10 });
  deepEqual(ids({ data: intents }), made.toReversed());
});
