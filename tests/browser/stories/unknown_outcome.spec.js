// The provider charges, and its answer gets lost until the shop gives up asking. What the customer does then decides
// nothing: there is one charge and one order.

import { expect, expectOf, expectOnePurchase, test } from "../lib/test.js";

test.beforeEach(async ({ visitor, shop }) => {
  await visitor.getsReadyToPay();
  await shop.losesTouch();
});

test("R01: the customer waits, and the page renews itself", async ({ visitor, shop }) => {
  await visitor.pays();
  await visitor.isToldToWait();
  await expect(visitor.page.locator("main")).not.toContainText(/failed|declined|error/i);
  await shop.findsTouch();
  // Nobody touches anything any more.
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});

test("R77: the page has a plain link for who does not want to wait", async ({ visitor, shop }) => {
  await visitor.pays();
  await visitor.isToldToWait();
  await expect(visitor.page.getByRole("link", { name: "Check again" })).toHaveAttribute(
    "href",
    new URL(visitor.page.url()).pathname,
  );
  await shop.findsTouch();
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});

test("R05: the customer goes Back, and the browser asks anew", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.pays();
  await visitor.isToldToWait();
  const status = page.url();
  await page.goBack();
  await visitor.isToldToWait();
  expect(page.url()).toBe(status);
  await shop.findsTouch();
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});

test("R05: the customer goes Back to a form that the browser kept, and pays again", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.keepsForm();
  await visitor.pays();
  await visitor.isToldToWait();
  const status = page.url();
  await page.goBack();
  await visitor.fillsIn();
  await visitor.pays();
  await visitor.isToldToWait();
  expect(page.url()).toBe(status);
  await shop.findsTouch();
  await visitor.isToldThatItIsPaid();
  expect(shop.repeats).toBe(1);
  await expectOnePurchase(shop);
});

test("R05: the customer opens the checkout afresh", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.pays();
  await visitor.isToldToWait();
  const status = page.url();
  await visitor.goes("/checkout");
  await visitor.isToldToWait();
  expect(page.url()).toBe(status);
  await shop.findsTouch();
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});

test("R05: a form with a key of its own, opened before, is submitted too", async ({ visitor, shop }) => {
  const other = await visitor.opensTab();
  await other.goes("/checkout");
  await other.fillsIn();
  await visitor.pays();
  await visitor.isToldToWait();
  await other.pays();
  await other.isToldToWait();
  expect(other.page.url()).toBe(visitor.page.url());
  await shop.findsTouch();
  await other.isToldThatItIsPaid();
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});

test("R52: the cart is shown as being paid, and cannot be paid twice", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.pays();
  await visitor.isToldToWait();
  await visitor.goes("/cart");
  await expect(page.getByRole("heading", { name: "This cart is being paid" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Check out" })).toHaveCount(0);
  await page.getByRole("link", { name: "See how the payment is doing" }).click();
  await shop.findsTouch();
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});

test("R11: another cart is bought only by who says that it is another purchase", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.pays();
  await visitor.isToldToWait();
  const first = page.url();
  await visitor.putsLampIntoCart();
  await visitor.opensCheckout();
  await expect(page.getByRole("group", { name: "Is this another purchase?" })).toContainText(
    "We are still checking its payment.",
  );
  await visitor.fillsIn();
  await visitor.pays();
  await expect(page).toHaveTitle(/^Error/);
  const box = page.getByRole("checkbox", { name: "I know; this is another purchase" });
  await expect(box).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator("#name")).toHaveValue("Ada Lovelace");
  await expectOf(shop, { checkouts: 1, paid: 0, charged: 1, lamps: 1 });
  await shop.findsTouch();
  await box.check();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  expect(page.url()).not.toBe(first);
  await page.goto(first);
  await visitor.isToldThatItIsPaid();
  await expectOf(shop, { checkouts: 2, paid: 2 });
});
