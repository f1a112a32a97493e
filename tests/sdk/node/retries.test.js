// The SDK sends a request again by itself, with a key that it made up, and one charge comes of it.

import { deepEqual, equal, ok } from "node:assert/strict";

import Stripe from "stripe";

import { eventually } from "../lib/simulator.js";
import { lamp, refusal, story } from "../lib/story.js";

/** The statuses with which the attempts ended, all of which had one key. */
async function oneKey(simulator) {
  const requests = await simulator.requests();
  equal(new Set(requests.map((request) => request.idempotency_key)).size, 1);
  return requests.map((request) => request.status);
}

for (const fault of ["drop_request", "drop_response"]) {
  story(`a lost request or answer is tried again: ${fault}`, async ({ stripe, simulator }) => {
    await simulator.fault("payment_intents.create", fault);
    const intent = await stripe.paymentIntents.create(lamp());
    equal(intent.status, "succeeded");
    equal((await oneKey(simulator)).length, 2);
    equal(await simulator.charges(), 1);
  });
}

story("two lost answers are not too many", async ({ stripe, simulator }) => {
  await simulator.fault("payment_intents.create", "drop_response", { times: 2 });
  const intent = await stripe.paymentIntents.create(lamp());
  equal(intent.lastResponse.headers["idempotent-replayed"], "true");
  equal(await simulator.charges(), 1);
});

story("when all answers are lost the outcome is unknown, and the key finds it", async ({ stripe, simulator }) => {
  const key = { idempotencyKey: "cart-7" };
  await simulator.fault("payment_intents.create", "drop_response", { times: 10 });
  const error = await refusal(stripe.paymentIntents.create(lamp(), key));
  ok(error instanceof Stripe.errors.StripeConnectionError);
  equal(await simulator.charges(), 1);
  await simulator.control("DELETE", "faults");
  equal((await stripe.paymentIntents.create(lamp(), key)).status, "succeeded");
  equal(await simulator.charges(), 1);
});

story("a 500 of a request that was not processed is tried again", async ({ stripe, simulator }) => {
  await simulator.fault("payment_intents.create", "error_before", { status: 500, times: 2 });
  equal((await stripe.paymentIntents.create(lamp())).status, "succeeded");
  deepEqual(await oneKey(simulator), [500, 500, 200]);
  equal(await simulator.charges(), 1);
});

// `Stripe-Should-Retry: false`: the key would only bring the same answer, although the money was taken.
story("a 500 that is stored is not tried again", async ({ stripe, simulator }) => {
  await simulator.fault("payment_intents.create", "error_after", { status: 500 });
  const error = await refusal(stripe.paymentIntents.create(lamp()));
  ok(error instanceof Stripe.errors.StripeAPIError);
  equal(error.statusCode, 500);
  deepEqual(await oneKey(simulator), [500]);
  equal(await simulator.charges(), 1);
});

story("a key in use is waited for", async ({ stripe, simulator }) => {
  const key = { idempotencyKey: "cart-7" };
  await simulator.fault("payment_intents.create", "delay", { delay_ms: 700 });
  const first = stripe.paymentIntents.create(lamp(), key);
  await eventually(async () => (await simulator.requests()).length > 0);
  const second = await stripe.paymentIntents.create(lamp(), key);
  equal(second.id, (await first).id);
  deepEqual((await oneKey(simulator)).slice(0, 2), [200, 409]);
  equal(await simulator.charges(), 1);
});

story("the rate limit is no reason to hurry", async ({ stripe, simulator }) => {
  await simulator.fault("payment_intents.create", "rate_limit");
  const error = await refusal(stripe.paymentIntents.create(lamp()));
  ok(error instanceof Stripe.errors.StripeRateLimitError);
  equal(error.code, "rate_limit");
  deepEqual(await oneKey(simulator), [429]);
  equal(await simulator.charges(), 0);
});
