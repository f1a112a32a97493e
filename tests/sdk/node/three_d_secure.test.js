// 3-D Secure: the bank wants to hear from the customer first.

import { deepEqual, equal, ok } from "node:assert/strict";

import Stripe from "stripe";

import { lamp, refusal, story } from "../lib/story.js";

const RETURN_URL = "https://shop.example/after?cart=7";

async function asksTheCustomer(stripe, paymentMethod = "pm_card_threeDSecure2Required") {
  const intent = await stripe.paymentIntents.create(lamp(paymentMethod, { return_url: RETURN_URL }));
  equal(intent.status, "requires_action");
  equal(intent.next_action.type, "redirect_to_url");
  equal(intent.next_action.redirect_to_url.return_url, RETURN_URL);
  return intent;
}

function query(url) {
  ok(url.startsWith(`${RETURN_URL}&`));
  return Object.fromEntries(new URL(url).searchParams);
}

story("the customer approves and comes back", async ({ stripe, simulator }) => {
  const intent = await asksTheCustomer(stripe);
  equal(await simulator.charges(), 0);

  const back = await simulator.customer(intent.next_action.redirect_to_url.url, "approve");
  deepEqual(query(back), {
    cart: "7",
    payment_intent: intent.id,
    payment_intent_client_secret: intent.client_secret,
    redirect_status: "succeeded",
  });
  const paid = await stripe.paymentIntents.retrieve(intent.id);
  deepEqual([paid.status, paid.next_action], ["succeeded", null]);
  equal(await simulator.charges(), 1);
});

story("the customer refuses", async ({ stripe, simulator }) => {
  const intent = await asksTheCustomer(stripe);
  const back = await simulator.customer(intent.next_action.redirect_to_url.url, "refuse");
  equal(query(back).redirect_status, "failed");
  const refused = await stripe.paymentIntents.retrieve(intent.id);
  equal(refused.status, "requires_payment_method");
  equal(refused.last_payment_error.code, "payment_intent_authentication_failure");
  equal(await simulator.charges(), 0);
});

story("the customer approves and the bank declines", async ({ stripe, simulator }) => {
  const intent = await asksTheCustomer(stripe, "pm_card_threeDSecureRequiredChargeDeclined");
  await simulator.customer(intent.next_action.redirect_to_url.url, "approve");
  const declined = await stripe.paymentIntents.retrieve(intent.id);
  equal(declined.last_payment_error.code, "card_declined");
  equal(await simulator.charges(), 0);
});

story("a customer who is not there cannot be asked", async ({ stripe }) => {
  const purchase = lamp("pm_card_authenticationRequired", { off_session: true });
  const error = await refusal(stripe.paymentIntents.create(purchase));
  ok(error instanceof Stripe.errors.StripeCardError);
  equal(error.code, "authentication_required");
  equal(error.payment_intent.status, "requires_payment_method");
});
