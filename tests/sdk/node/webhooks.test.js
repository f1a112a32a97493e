// Real deliveries to a real receiver, verified by the SDK's own function.

import { deepEqual, equal, throws } from "node:assert/strict";

import Stripe from "stripe";

import { lamp, storyWithReceiver } from "../lib/story.js";

const SECRET = "whsec_of_the_tests";
const { StripeSignatureVerificationError } = Stripe.errors;

storyWithReceiver(SECRET, "the SDK verifies a delivery and reads its event", async ({ stripe, receiver }) => {
  const intent = await stripe.paymentIntents.create(lamp(), { idempotencyKey: "cart-7" });
  const { body, signature } = await receiver.waitsFor("payment_intent.succeeded");
  const event = stripe.webhooks.constructEvent(body, signature, SECRET);
  deepEqual([event.type, event.data.object.id], ["payment_intent.succeeded", intent.id]);
  equal(event.request.idempotency_key, "cart-7");
  equal(event.api_version, Stripe.API_VERSION);
  equal((await stripe.events.retrieve(event.id)).data.object.id, intent.id);
  equal((await stripe.webhooks.constructEventAsync(body, signature, SECRET)).id, event.id);
});

storyWithReceiver(SECRET, "another secret or a changed body does not verify", async ({ stripe, receiver }) => {
  await stripe.paymentIntents.create(lamp());
  const { body, signature } = await receiver.waitsFor("payment_intent.succeeded");
  const changed = body.toString().replaceAll("4200", "4300");
  const { webhooks } = stripe;
  throws(() => webhooks.constructEvent(body, signature, "whsec_of_somebody_else"), StripeSignatureVerificationError);
  throws(() => webhooks.constructEvent(changed, signature, SECRET), StripeSignatureVerificationError);
});

storyWithReceiver(SECRET, "a bad signature is noticed", async ({ stripe, simulator, receiver }) => {
  const on = { webhook: "payment_intent.succeeded" };
  await simulator.control("POST", "faults", { on, fault: "bad_signature" });
  await stripe.paymentIntents.create(lamp());
  const { body, signature } = await receiver.waitsFor("payment_intent.succeeded");
  throws(() => stripe.webhooks.constructEvent(body, signature, SECRET), StripeSignatureVerificationError);
});
