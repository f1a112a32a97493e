// Endpoints that are set up through the API, and secrets that change while events are on their way.

import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";

import Stripe from "stripe";

import { lamp, refusal, storyWithReceiver } from "../lib/story.js";

/** Hears of payments that succeeded. Only now does the SDK learn its secret. */
async function makeEndpoint(stripe, receiver, more = {}) {
  return stripe.webhookEndpoints.create({ url: receiver.url, enabled_events: ["payment_intent.succeeded"], ...more });
}

function verifies({ body, signature }, secret) {
  try {
    return Boolean(new Stripe("sk_test_boring").webhooks.constructEvent(body, signature, secret));
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) return false;
    throw error;
  }
}

storyWithReceiver(null, "an endpoint hears what it wants to hear", async ({ stripe, receiver }) => {
  const endpoint = await makeEndpoint(stripe, receiver);
  match(endpoint.secret, /^whsec_/);
  const intent = await stripe.paymentIntents.create(lamp());
  const { body, signature } = await receiver.waitsFor("payment_intent.succeeded");
  equal(stripe.webhooks.constructEvent(body, signature, endpoint.secret).data.object.id, intent.id);
  equal(receiver.deliveries.length, 1);
});

storyWithReceiver(null, "an endpoint is looked at, changed and deleted", async ({ stripe, receiver }) => {
  const { id } = await makeEndpoint(stripe, receiver);
  const again = await stripe.webhookEndpoints.retrieve(id);
  deepEqual([again.status, again.enabled_events], ["enabled", ["payment_intent.succeeded"]]);
  equal(again.secret, undefined);

  const changes = { enabled_events: ["*"], disabled: true, metadata: { for: "tests" } };
  const changed = await stripe.webhookEndpoints.update(id, changes);
  deepEqual([changed.status, changed.enabled_events, changed.metadata.for], ["disabled", ["*"], "tests"]);
  deepEqual((await stripe.webhookEndpoints.list()).data.map((endpoint) => endpoint.id), [id]);

  ok((await stripe.webhookEndpoints.del(id)).deleted);
  const error = await refusal(stripe.webhookEndpoints.retrieve(id));
  deepEqual([error.statusCode, error.code], [404, "resource_missing"]);
});

storyWithReceiver(null, "while a secret is rolled both verify", async ({ stripe, simulator, receiver }) => {
  const { id, secret } = await makeEndpoint(stripe, receiver);
  const rolled = await simulator.control("POST", `webhook_endpoints/${id}/roll`, { overlap_seconds: 3600 });
  equal(rolled.id, id);
  notEqual(rolled.secret, secret);
  await stripe.paymentIntents.create(lamp());
  const delivery = await receiver.waitsFor("payment_intent.succeeded");
  ok(verifies(delivery, secret));
  ok(verifies(delivery, rolled.secret));
});

storyWithReceiver(null, "once a secret is rolled the old one does not verify", async ({ stripe, simulator, receiver }) => {
  const { id, secret } = await makeEndpoint(stripe, receiver);
  const rolled = await simulator.control("POST", `webhook_endpoints/${id}/roll`, { overlap_seconds: 3600 });
  await simulator.control("POST", "clock", { advance_seconds: 3601 });
  await stripe.paymentIntents.create(lamp());
  const delivery = await receiver.waitsFor("payment_intent.succeeded");
  ok(!verifies(delivery, secret));
  ok(verifies(delivery, rolled.secret));
});

storyWithReceiver(null, "an endpoint has its own version of the API", async ({ stripe, receiver }) => {
  const version = "2026-07-29.dahlia";
  const { secret } = await makeEndpoint(stripe, receiver, { api_version: version });
  await stripe.paymentIntents.create(lamp());
  const { body, signature } = await receiver.waitsFor("payment_intent.succeeded");
  equal(stripe.webhooks.constructEvent(body, signature, secret).api_version, version);
});
