// The bank refuses: as what kind of error the SDK raises it, and what is left behind.

import { deepEqual, equal, ok } from "node:assert/strict";

import Stripe from "stripe";

import { LAMP, lamp, refusal, story } from "../lib/story.js";

for (const [paymentMethod, code, declineCode] of [
  ["pm_card_chargeDeclined", "card_declined", "generic_decline"],
  ["pm_card_chargeDeclinedInsufficientFunds", "card_declined", "insufficient_funds"],
  ["pm_card_visa_chargeDeclinedLostCard", "card_declined", "lost_card"],
  ["pm_card_chargeDeclinedExpiredCard", "expired_card", "expired_card"],
  ["pm_card_chargeDeclinedIncorrectCvc", "incorrect_cvc", "incorrect_cvc"],
  ["pm_card_chargeDeclinedProcessingError", "processing_error", "processing_error"],
]) {
  story(`a decline is a card error: ${declineCode}`, async ({ stripe }) => {
    const error = await refusal(stripe.paymentIntents.create(lamp(paymentMethod)));
    ok(error instanceof Stripe.errors.StripeCardError);
    equal(error.statusCode, 402);
    deepEqual([error.rawType, error.code, error.decline_code], ["card_error", code, declineCode]);
  });
}

story("the error has the intent, which another card can pay", async ({ stripe, simulator }) => {
  const error = await refusal(stripe.paymentIntents.create(lamp("pm_card_chargeDeclined")));
  const intent = error.payment_intent;
  equal(intent.status, "requires_payment_method");
  equal(intent.payment_method, null);
  equal(intent.last_payment_error.decline_code, "generic_decline");
  equal(intent.last_payment_error.payment_method.card.last4, "0002");
  equal((await stripe.charges.retrieve(error.charge)).status, "failed");

  const paid = await stripe.paymentIntents.confirm(intent.id, { payment_method: "pm_card_mastercard" });
  deepEqual([paid.id, paid.status], [intent.id, "succeeded"]);
  equal(await simulator.charges(), 1);
});

story("a later confirmation is declined as well", async ({ stripe, simulator }) => {
  const intent = await stripe.paymentIntents.create(LAMP);
  const error = await refusal(stripe.paymentIntents.confirm(intent.id, { payment_method: "pm_card_chargeDeclined" }));
  ok(error instanceof Stripe.errors.StripeCardError);
  equal(error.payment_intent.id, intent.id);
  equal(await simulator.charges(), 0);
});
