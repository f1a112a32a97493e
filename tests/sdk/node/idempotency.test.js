// One key, one effect.

import { deepEqual, equal, match, ok } from "node:assert/strict";

import Stripe from "stripe";

import { eventually } from "../lib/simulator.js";
import { lamp, refusal, story } from "../lib/story.js";

const KEY = { idempotencyKey: "cart-7" };

story("a repeat gets the same answer, and says so", async ({ stripe, simulator }) => {
  const first = await stripe.paymentIntents.create(lamp(), KEY);
  const again = await stripe.paymentIntents.create(lamp(), KEY);
  deepEqual(again, first);
  equal(first.lastResponse.headers["idempotent-replayed"], undefined);
  equal(again.lastResponse.headers["idempotent-replayed"], "true");
  equal(again.lastResponse.idempotencyKey, "cart-7");
  equal(again.lastResponse.headers["original-request"], first.lastResponse.requestId);
  equal(await simulator.charges(), 1);
});

for (const paymentMethod of ["pm_card_visa", "pm_card_chargeDeclined"]) {
  story(`the same answer is the same bytes: ${paymentMethod}`, async ({ simulator }) => {
    const bodies = [];
    const stripe = simulator.sdk({ httpClient: recordingClient(bodies) });
    await stripe.paymentIntents.create(lamp(paymentMethod), KEY).catch(() => {});
    await stripe.paymentIntents.create(lamp(paymentMethod), KEY).catch(() => {});
    match(bodies[0], /"pi_\w+"/);
    equal(bodies[1], bodies[0]);
  });
}

/** The SDK hands objects on, and keeps the bytes to itself. */
function recordingClient(bodies) {
  return Stripe.createFetchHttpClient(async (url, init) => {
    const answer = await fetch(url, init);
    bodies.push(await answer.clone().text());
    return answer;
  });
}

story("a key is good for one request only", async ({ stripe, simulator }) => {
  await stripe.paymentIntents.create(lamp(), KEY);
  const error = await refusal(stripe.paymentIntents.create(lamp("pm_card_visa", { amount: 4300 }), KEY));
  ok(error instanceof Stripe.errors.StripeIdempotencyError);
  deepEqual([error.statusCode, error.rawType], [400, "idempotency_error"]);
  equal(await simulator.charges(), 1);
});

story("a key in use is a conflict", async ({ simulator }) => {
  const stripe = simulator.sdk({ maxNetworkRetries: 0 });
  await simulator.fault("payment_intents.create", "delay", { delay_ms: 2000 });
  const first = stripe.paymentIntents.create(lamp(), KEY);
  await eventually(async () => (await simulator.requests()).length > 0);
  const error = await refusal(stripe.paymentIntents.create(lamp(), KEY));
  ok(error instanceof Stripe.errors.StripeAPIError);
  deepEqual([error.statusCode, error.code], [409, "idempotency_key_in_use"]);
  equal((await first).status, "succeeded");
  equal(await simulator.charges(), 1);
});
