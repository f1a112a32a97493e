// Pay is pressed more often than meant.

import { expect, expectOnePurchase, test } from "../lib/test.js";

test("buying by hand", async ({ visitor, shop }) => {
  await visitor.goes("/");
  await visitor.putsIntoCart("Desk lamp");
  await visitor.opensCheckout();
  await visitor.fillsIn();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await visitor.page.getByRole("link", { name: "See your order" }).click();
  await expect(visitor.heading).toHaveText(/^Order /);
  await expect(visitor.page.locator("main")).toContainText("€24.90");
  await expect(visitor.page.locator("main")).toContainText("ada@example.org");
  await visitor.goes("/cart");
  await expect(visitor.page.locator("main")).toContainText("It is empty.");
  await expectOnePurchase(shop);
});

test("buying with the keyboard alone", async ({ visitor, shop }) => {
  await visitor.getsReadyToPay();
  await visitor.page.locator("#city").press("Enter");
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});

test("R01: a double click on Pay", async ({ visitor, shop }) => {
  await visitor.getsReadyToPay();
  await visitor.payButton.dblclick();
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});

test("R01: a triple click on Pay while the provider takes two seconds", async ({ visitor, shop }) => {
  await visitor.getsReadyToPay();
  await shop.fault({ on: { operation: "payment_intents.create" }, fault: "delay", delay_ms: 2000 });
  await visitor.payButton.click({ clickCount: 3, delay: 20 });
  await visitor.isToldThatItIsPaid();
  await expect.poll(() => shop.repeats).toBeGreaterThan(0);
  await expectOnePurchase(shop);
});

test("R01: Pay is pressed again while the first time is still being worked on", async ({ visitor, shop }) => {
  await visitor.getsReadyToPay();
  await shop.fault({ on: { operation: "payment_intents.create" }, fault: "delay", delay_ms: 2000 });
  await visitor.payButton.scrollIntoViewIfNeeded();
  const { x, y } = await visitor.payButton.boundingBox();
  const sent = visitor.page.waitForRequest((request) => request.method() === "POST");
  await visitor.page.mouse.click(x + 10, y + 10);
  await sent;
  await expect.poll(() => shop.log).toContain("checkout submitted");
  await visitor.page.mouse.click(x + 10, y + 10);
  await visitor.isToldThatItIsPaid();
  await expect.poll(() => shop.repeats).toBeGreaterThan(0);
  await expectOnePurchase(shop);
});

test("R05: two tabs with one cart, both submitted", async ({ visitor, shop }) => {
  await visitor.getsReadyToPay();
  const other = await visitor.opensTab();
  await other.goes("/checkout");
  await other.fillsIn();
  expect(await other.key()).not.toBe(await visitor.key());
  await Promise.all([visitor.pays(), other.pays()]);
  await visitor.isToldThatItIsPaid();
  await other.isToldThatItIsPaid();
  expect(other.page.url()).toBe(visitor.page.url());
  await expectOnePurchase(shop);
});

test("R77: the script cannot be loaded", async ({ visitor, shop, context, complaints }) => {
  complaints.allowed.push(/status of 500.*\/static\/app/);
  await context.route("**/static/app*.js*", (route) => route.fulfill({ status: 500, body: "" }));
  await visitor.getsReadyToPay();
  await visitor.payButton.dblclick();
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});
