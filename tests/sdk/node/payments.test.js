// Payment intents from their creation to their end.

import { deepEqual, equal, match, ok } from "node:assert/strict";

import Stripe from "stripe";

import { LAMP, lamp, refusal, story } from "../lib/story.js";

story("a payment intent is created and then confirmed", async ({ stripe }) => {
  const intent = await stripe.paymentIntents.create(LAMP);
  equal(intent.status, "requires_payment_method");
  ok(intent.client_secret.startsWith(`${intent.id}_secret_`));

  const paid = await stripe.paymentIntents.confirm(intent.id, { payment_method: "pm_card_visa" });
  deepEqual([paid.id, paid.status, paid.amount_received], [intent.id, "succeeded", 4200]);

  const again = await stripe.paymentIntents.retrieve(intent.id, { expand: ["latest_charge", "payment_method"] });
  ok(again.latest_charge.paid);
  equal(again.latest_charge.payment_method_details.card.last4, "4242");
  equal(again.payment_method.card.brand, "visa");
});

story("one call creates and confirms", async ({ stripe }) => {
  const intent = await stripe.paymentIntents.create(lamp());
  equal(intent.status, "succeeded");
  equal(intent.lastResponse.statusCode, 200);
  match(intent.lastResponse.requestId, /^req_/);
});

story("what succeeded cannot be confirmed again", async ({ stripe, simulator }) => {
  const intent = await stripe.paymentIntents.create(lamp());
  const error = await refusal(stripe.paymentIntents.confirm(intent.id));
  ok(error instanceof Stripe.errors.StripeInvalidRequestError);
  equal(error.code, "payment_intent_unexpected_state");
  equal(error.payment_intent.status, "succeeded");
  equal(await simulator.charges(), 1);
});

story("an intent is canceled for good", async ({ stripe, simulator }) => {
  const intent = await stripe.paymentIntents.create({ ...LAMP, payment_method: "pm_card_visa" });
  const canceled = await stripe.paymentIntents.cancel(intent.id, { cancellation_reason: "abandoned" });
  deepEqual([canceled.status, canceled.cancellation_reason], ["canceled", "abandoned"]);
  const error = await refusal(stripe.paymentIntents.confirm(intent.id));
  ok(error instanceof Stripe.errors.StripeInvalidRequestError);
  equal(await simulator.charges(), 0);
});

for (const [params, code, param] of [
  [{ currency: "usd" }, "parameter_missing", "amount"],
  [{ ...LAMP, amount: 1 }, "amount_too_small", "amount"],
  [{ ...LAMP, color: "red" }, "parameter_unknown", "color"],
  [{ ...LAMP, payment_method: "pm_card_unheard_of" }, "resource_missing", "payment_method"],
]) {
  story(`a bad parameter is named: ${code}`, async ({ stripe }) => {
    const error = await refusal(stripe.paymentIntents.create(params));
    ok(error instanceof Stripe.errors.StripeInvalidRequestError);
    deepEqual([error.statusCode, error.code, error.param], [400, code, param]);
  });
}

story("an unknown intent is not found", async ({ stripe }) => {
  const error = await refusal(stripe.paymentIntents.retrieve("pi_unknown"));
  ok(error instanceof Stripe.errors.StripeInvalidRequestError);
  deepEqual([error.statusCode, error.code], [404, "resource_missing"]);
});

story("a wrong key is refused and not shown", async ({ stripe }) => {
  const error = await refusal(stripe.paymentIntents.list({}, { apiKey: "sk_test_of_somebody_else" }));
  ok(error instanceof Stripe.errors.StripeAuthenticationError);
  ok(!error.message.includes("of_somebody"));
});
