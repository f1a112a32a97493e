// The bank promises first, and pays when it is asked to.

import { deepEqual, equal, ok } from "node:assert/strict";

import { lamp, refusal, story } from "../lib/story.js";

async function hold(stripe) {
  const held = await stripe.paymentIntents.create(lamp("pm_card_visa", { capture_method: "manual" }));
  deepEqual([held.status, held.amount_capturable], ["requires_capture", 4200]);
  return held;
}

const captured = async (simulator) => (await simulator.control("GET", "ledger")).payment_intents.amount_succeeded;

story("what was promised is captured", async ({ stripe, simulator }) => {
  const { id } = await hold(stripe);
  equal(await captured(simulator), 0);
  const paid = await stripe.paymentIntents.capture(id);
  deepEqual([paid.status, paid.amount_received, paid.amount_capturable], ["succeeded", 4200, 0]);
  ok((await stripe.charges.retrieve(paid.latest_charge)).captured);
  equal(await captured(simulator), 4200);
});

story("a part is captured and the rest is given back", async ({ stripe, simulator }) => {
  const { id } = await hold(stripe);
  const paid = await stripe.paymentIntents.capture(id, { amount_to_capture: 1200 });
  deepEqual([paid.status, paid.amount, paid.amount_received], ["succeeded", 4200, 1200]);
  equal((await stripe.charges.retrieve(paid.latest_charge)).amount_captured, 1200);
  equal(await captured(simulator), 1200);
  equal((await stripe.refunds.create({ payment_intent: paid.id })).amount, 1200);
});

story("more than was promised is not captured", async ({ stripe, simulator }) => {
  const { id } = await hold(stripe);
  const error = await refusal(stripe.paymentIntents.capture(id, { amount_to_capture: 4201 }));
  equal(error.param, "amount_to_capture");
  equal(await captured(simulator), 0);
});

story("nothing is captured twice", async ({ stripe }) => {
  const { id } = await hold(stripe);
  await stripe.paymentIntents.capture(id);
  const error = await refusal(stripe.paymentIntents.capture(id));
  equal(error.code, "payment_intent_unexpected_state");
  equal(error.payment_intent.status, "succeeded");
});

story("a promise that is canceled is not captured", async ({ stripe, simulator }) => {
  const { id } = await hold(stripe);
  equal((await stripe.paymentIntents.cancel(id)).amount_capturable, 0);
  await refusal(stripe.paymentIntents.capture(id));
  equal(await captured(simulator), 0);
});

story("a capture whose answer was lost is made once", async ({ stripe, simulator }) => {
  const { id } = await hold(stripe);
  await simulator.fault("payment_intents.capture", "drop_response");
  equal((await stripe.paymentIntents.capture(id)).status, "succeeded");
  equal(await captured(simulator), 4200);
});
